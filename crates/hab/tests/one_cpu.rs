//! Threads that take turns on one CPU, as those of a domain with one CPU do, and count without a locked instruction where that is enough.

use std::sync::Barrier;
use std::thread;
use terrace_hab::{Counter, Counters};

const THREADS: u64 = 4;
/// Some preemptions each: a turn is a few milliseconds.
const ADDITIONS: u64 = 20_000_000;

/// Keeps the calling thread on the first CPU that the process may use.
fn stay() {
    // SAFETY: the set is a plain value, as long as told, and 0 is the calling thread.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let bytes = size_of::<libc::cpu_set_t>();
        assert_eq!(libc::sched_getaffinity(0, bytes, &raw mut set), 0);
        let first = (0..libc::CPU_SETSIZE as usize).find(|cpu| libc::CPU_ISSET(*cpu, &set)).unwrap();
        libc::CPU_ZERO(&mut set);
        libc::CPU_SET(first, &mut set);
        assert_eq!(libc::sched_setaffinity(0, bytes, &raw const set), 0);
    }
}

/// Reads the memory afresh each time, and writes it at once.
#[inline(never)]
fn count(counters: &Counters) {
    counters.add_plainly(Counter::Buffers, 1);
}

#[test]
fn threads_of_one_cpu_lose_no_count() {
    let (counters, barrier): (Counters, _) = (Counters::default(), Barrier::new(THREADS as usize));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                stay();
                barrier.wait();
                for _ in 0..ADDITIONS {
                    count(&counters);
                }
            });
        }
    });
    assert_eq!(counters.get(Counter::Buffers), THREADS * ADDITIONS);
}
