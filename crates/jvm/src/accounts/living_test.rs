//! A list of threads that changes while it is read.
#![allow(clippy::disallowed_types, reason = "plays a JVM that writes while its memory is read")]

use super::Accounts;
use serde_json::json;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Threads of the program, and structures that threads which end leave to new ones.
const THREADS: usize = 5_000;
const SPARE: usize = 2;
/// Lists: one that was replaced is written over soon.
const LISTS: usize = 4;
const EACH: u64 = 1_000;
/// What the memory of an ended thread holds.
const GARBAGE: u64 = 1 << 60;

/// HotSpot's structures, in our own memory.
struct Program {
    threads: Vec<[AtomicU64; 3]>,
    /// The places of threads, in each list.
    places: Vec<Vec<AtomicUsize>>,
    /// The length of each list, and where its places are.
    lists: Vec<[AtomicUsize; 2]>,
    present: AtomicUsize,
    exited: AtomicU64,
    /// What threads have allocated.
    total: AtomicU64,
    done: AtomicBool,
}

impl Program {
    fn new() -> Program {
        let places = || (0..THREADS + 1).map(|_| AtomicUsize::new(0)).collect();
        let thread = |number: usize| {
            let bytes = if number < THREADS { EACH } else { GARBAGE };
            [AtomicU64::new(bytes), AtomicU64::new(0), AtomicU64::new(0)]
        };
        let program = Program {
            threads: (0..THREADS + SPARE).map(thread).collect(),
            places: (0..LISTS).map(|_| places()).collect(),
            lists: (0..LISTS).map(|_| [AtomicUsize::new(0), AtomicUsize::new(0)]).collect(),
            present: AtomicUsize::new(0),
            exited: AtomicU64::new(7),
            total: AtomicU64::new(7 + THREADS as u64 * EACH),
            done: AtomicBool::new(false),
        };
        program.publish(&(0..THREADS).collect::<Vec<usize>>(), 0);
        program
    }

    fn address(&self, thread: usize) -> usize {
        self.threads[thread].as_ptr() as usize
    }

    /// A new list, in the place of one that was replaced.
    fn publish(&self, threads: &[usize], change: usize) {
        let (places, list) = (&self.places[change % LISTS], &self.lists[change % LISTS]);
        for (place, thread) in places.iter().zip(threads) {
            place.store(self.address(*thread), Ordering::Relaxed);
        }
        list[0].store(threads.len(), Ordering::Relaxed);
        list[1].store(places.as_ptr() as usize, Ordering::Relaxed);
        self.present.store(list.as_ptr() as usize, Ordering::Release);
    }

    /// One thread after the other ends, wherever it is in the list, and another one starts in its place in memory.
    fn run(&self, pause: Duration) {
        let mut threads: Vec<usize> = (0..THREADS).collect();
        let mut spare: Vec<usize> = (THREADS..THREADS + SPARE).collect();
        for change in 1.. {
            if self.done.load(Ordering::Relaxed) {
                return;
            }
            if threads.len() == THREADS {
                let ended = threads.remove(change * 7_919 % THREADS);
                self.publish(&threads, change);
                self.exited.fetch_add(EACH, Ordering::Release);
                self.threads[ended][0].store(GARBAGE, Ordering::Release);
                spare.push(ended);
            } else {
                let started = spare.pop().unwrap();
                self.threads[started][0].store(EACH, Ordering::Release);
                self.total.fetch_add(EACH, Ordering::Release);
                threads.push(started);
                self.publish(&threads, change);
            }
            std::thread::sleep(pause);
        }
    }

    fn accounts(&self, exited: bool) -> Accounts {
        let at = |word: *const AtomicU64| if exited { word as usize } else { 0 };
        let settings = json!({ "accounts": { "list": std::ptr::from_ref(&self.present) as usize, "length": 0, "threads": 8,
            "allocated": 0, "tlab_start": 8, "tlab_top": 16, "exited": at(&self.exited) } });
        Accounts::from_settings(std::process::id(), &settings).unwrap()
    }

    /// While it runs.
    fn while_it_runs(&self, pause: Duration, work: impl FnOnce()) {
        struct Done<'a>(&'a AtomicBool);
        impl Drop for Done<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        std::thread::scope(|scope| {
            let _done = Done(&self.done);
            scope.spawn(|| self.run(pause));
            work();
        });
    }
}

/// Between two changes of the list: some thousand changes per second, and fewer than it takes to read 5,000 threads at once.
const PAUSE: Duration = Duration::from_micros(200);
/// Only reached where it is never read: a busy machine may take seconds.
const LIMIT: Duration = Duration::from_secs(600);

#[test]
fn thousands_of_threads_are_read_although_some_come_and_go_meanwhile() {
    let program = Program::new();
    program.while_it_runs(PAUSE, || {
        let mut accounts = program.accounts(true);
        for _ in 0..20 {
            let before = program.total.load(Ordering::Acquire);
            let read = accounts.read_within(LIMIT);
            let after = program.total.load(Ordering::Acquire);
            // A thread is taken off the list before what it had is added to the sum of those that have ended.
            let bounds = before - EACH..=after;
            assert!(read.is_some_and(|bytes| bounds.contains(&bytes)), "{read:?} is not in {bounds:?}");
        }
    });
}

#[test]
fn each_of_them_has_its_own_account() {
    let program = Program::new();
    program.while_it_runs(PAUSE, || {
        for exited in [true, false] {
            let each = program.accounts(exited).of_each_within(LIMIT).unwrap();
            assert!([THREADS - 1, THREADS].contains(&each.len()), "{} threads", each.len());
            // Without the sum of ended threads nothing tells a list from a later one of the same length in its place: who loses its CPU for four changes
            // may have read of threads that ended.
            let is_right = each.values().all(|bytes| *bytes == EACH);
            assert!(is_right || !exited, "memory of an ended thread was read");
        }
    });
}
