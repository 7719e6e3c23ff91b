//! Who waits for which line.

use super::World;
use super::scheduler::{Turn, Who};
use super::thread::Number;
use crate::machine::Picoseconds;
use crate::memory::{Answer, Transfer, Want};
use rand_xoshiro::rand_core::Rng;
use std::cmp::Reverse;

/// A thread that waits for a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) thread: Number,
    pub(super) core: u32,
    pub(super) want: Want,
    pub(super) hold: Picoseconds,
    pub(super) asked: Picoseconds,
}

/// The waiting threads by line.
#[derive(Debug, Default)]
pub(super) struct Queues {
    lines: Vec<Vec<Waiter>>,
}

impl Queues {
    /// Adds a waiting thread; says whether it is the first one of its line.
    pub(super) fn join(&mut self, line: u32, waiter: Waiter) -> bool {
        let line = line as usize;
        if self.lines.len() <= line {
            self.lines.resize_with(line + 1, Vec::new);
        }
        self.lines[line].push(waiter);
        self.lines[line].len() == 1
    }
}

impl World<'_> {
    /// A line that threads wait for is free: one of them gets it, by chance, as the arbitration of a cache that is asked from many
    /// sides comes to; or several that read.
    pub(super) fn serve(&mut self, line: u32, now: Picoseconds) {
        let mut queue = std::mem::take(&mut self.queues.lines[line as usize]);
        let mut next = Picoseconds::MAX;
        // Those before `tried` have been told to ask again.
        let mut tried = 0;
        while tried < queue.len() {
            let left = (queue.len() - tried) as u64;
            let pick = tried + (self.random.next_u64() % left) as usize;
            let waiter = queue[pick];
            let answer = self.memory.ask_line(self.machine, line, waiter.core, waiter.want, now, waiter.hold);
            let (granted, time) = match answer {
                Answer::Now => (Some(waiter.core), now),
                Answer::Then(time) if waiter.want == Want::Lock => (None, time),
                Answer::Then(time) | Answer::Transfer(Transfer { end: time, .. }) => {
                    (Some(waiter.core), time)
                }
                Answer::Busy(free) => {
                    next = next.min(free);
                    queue.swap(tried, pick);
                    tried += 1;
                    if self.memory.lines()[line as usize].moving(now) {
                        break;
                    }
                    continue;
                }
            };
            queue.swap_remove(pick);
            self.memory.waited(line, now - waiter.asked);
            let thread = &mut self.threads[waiter.thread.0 as usize];
            thread.blocked = false;
            thread.wait(granted, time);
            self.turns.push(Reverse(Turn { time: thread.time, who: Who::Thread(waiter.thread) }));
        }
        if !queue.is_empty() {
            self.turns.push(Reverse(Turn { time: next, who: Who::Line(line) }));
        }
        self.queues.lines[line as usize] = queue;
    }
}
