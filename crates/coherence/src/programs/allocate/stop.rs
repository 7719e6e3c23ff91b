//! Stopping all threads for a collection.

use crate::machine::Picoseconds;
use crate::simulation::{Number, park, this, unpark, work};
use std::cell::{Cell, RefCell};

/// Has all threads wait until one of them has collected: the last one to stop.
#[derive(Debug)]
pub struct Stop {
    running: Cell<u32>,
    asked: Cell<bool>,
    waiting: RefCell<Vec<Number>>,
    pause: Picoseconds,
    collections: Cell<u64>,
}

impl Stop {
    /// For so many threads; a collection takes `pause`.
    pub fn new(threads: u32, pause: Picoseconds) -> Stop {
        Stop {
            running: Cell::new(threads),
            asked: Cell::new(false),
            waiting: RefCell::new(Vec::new()),
            pause,
            collections: Cell::new(0),
        }
    }

    /// Collections so far.
    pub fn collections(&self) -> u64 {
        self.collections.get()
    }

    /// Whether somebody waits for this thread to stop.
    pub fn asked(&self) -> bool {
        self.asked.get()
    }

    /// Stops this thread until a collection is over, and has all others stop for it.
    pub fn wait(&self, collect: impl FnOnce()) {
        self.asked.set(true);
        let waiting = self.waiting.borrow().len() as u32 + 1;
        if waiting == self.running.get() {
            self.collect(collect);
            return;
        }
        self.waiting.borrow_mut().push(this());
        let collections = self.collections.get();
        while self.collections.get() == collections {
            park();
        }
    }

    /// This thread ends: nobody is to wait for it.
    pub fn leave(&self, collect: impl FnOnce()) {
        self.running.set(self.running.get() - 1);
        if self.asked.get() && self.waiting.borrow().len() as u32 == self.running.get() {
            self.collect(collect);
        }
    }

    fn collect(&self, collect: impl FnOnce()) {
        collect();
        work(self.pause);
        self.asked.set(false);
        self.collections.set(self.collections.get() + 1);
        for thread in self.waiting.take() {
            unpark(thread);
        }
    }
}
