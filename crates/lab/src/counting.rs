//! Threads that count: on one counter, on counters of their own, on counters that share a line; with different instructions.

mod kernels;

use crate::primitive::{Counter, Flag, Ordering};
use crate::{Error, Result};
pub use coherence::programs::counters::Layout;
use coherence::programs::counters::WORDS;
use experiment::native::pin;
pub use kernels::INSTRUCTIONS;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A plain addition to memory: the bound. Only where every thread has a counter of its own.
    PlainAdd,
    LockAdd,
    LockXadd,
    /// A loop of load and `lock cmpxchg`.
    CompareExchange,
    /// So many numbers (at least 1) claimed with one `lock xadd`, then given out by plain stores.
    Claimed(u64),
}

/// Two lines; the second one is never touched.
#[repr(align(128))]
#[derive(Default)]
struct Block([Counter; WORDS]);

/// What the threads did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// Increments of all threads.
    pub increments: u64,
    /// Exchanges that failed and were tried again; `None` for operations that cannot fail.
    pub failures: Option<u64>,
    /// From the first thread's first increment to the last one's last.
    pub wall: Duration,
    /// The share of their CPUs' time that the threads had, 1 when nothing else ran there. `None` where the kernel does not tell.
    pub share: Option<f64>,
}

impl Counted {
    /// Wall time over the increments of all threads, in ns.
    pub fn nanoseconds(&self) -> f64 {
        self.wall.as_secs_f64() * 1e9 / self.increments as f64
    }

    /// Increments of all threads in a second.
    pub fn rate(&self) -> f64 {
        self.increments as f64 / self.wall.as_secs_f64()
    }

    /// Failed exchanges for each that succeeded.
    pub fn failed(&self) -> Option<f64> {
        Some(self.failures? as f64 / self.increments as f64)
    }
}

/// Increments between two looks at the flag that ends a run: enough to lose the look in them.
const CHUNK: u64 = 1000;

/// Counts for `slice` with one thread pinned to each of `cpus` (a CPU may be there more than once), and checks the counters.
pub fn count(operation: Operation, layout: Layout, cpus: &[u32], slice: Duration) -> Result<Counted> {
    if operation == Operation::PlainAdd && layout == Layout::Shared && cpus.len() > 1 {
        return Err(Error::failed("plain additions of several threads to one counter lose increments"));
    }
    let blocks: Vec<Block> = cpus.iter().map(|_| Block::default()).collect();
    let own: Vec<Block> = cpus.iter().map(|_| Block::default()).collect();
    let stop = Flag::new(false);
    let work = |thread: usize| {
        let (block, word) = layout.place(thread);
        let (counter, mine) = (&blocks[block].0[word], &own[thread].0[0]);
        let (mut increments, mut failures) = (0, 0);
        let since = (Instant::now(), pin::thread_cpu());
        // Looks at the flag afterwards, so that a thread that comes late counts too.
        loop {
            increments += CHUNK;
            match operation {
                Operation::PlainAdd => kernels::terrace_plain_add(counter, CHUNK),
                Operation::LockAdd => kernels::terrace_lock_add(counter, CHUNK),
                Operation::LockXadd => kernels::terrace_lock_xadd(counter, CHUNK),
                Operation::CompareExchange => failures += kernels::terrace_compare_exchange(counter, CHUNK),
                Operation::Claimed(batch) => {
                    let batch = batch.max(1);
                    let batches = CHUNK.div_ceil(batch);
                    kernels::terrace_claimed(counter, mine, batch, batches);
                    increments += batch * batches - CHUNK;
                }
            }
            // Relaxed: nothing but the flag itself is told.
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        let cpu = since.1.zip(pin::thread_cpu()).map(|(before, after)| after.saturating_sub(before));
        Done { since: since.0, until: Instant::now(), cpu, increments, failures }
    };
    let done = pin::crew(cpus, work, || {
        std::thread::sleep(slice);
        stop.store(true, Ordering::Relaxed);
    })?;
    let increments = done.iter().map(|done| done.increments).sum();
    let failures = done.iter().map(|done| done.failures).sum();
    // Relaxed: the threads have been joined.
    let counted: u64 =
        blocks.iter().flat_map(|block| &block.0).map(|word| word.load(Ordering::Relaxed)).sum();
    if counted != increments {
        return Err(Error::failed(format!(
            "the counters say {counted} after {increments} increments: this machine's atomics or our kernels are wrong; \
             report it as a bug"
        )));
    }
    let first = done.iter().map(|done| done.since).min();
    let last = done.iter().map(|done| done.until).max();
    let wall = first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first);
    let used: Option<Duration> = done.iter().map(|done| done.cpu).sum();
    let places = BTreeSet::from_iter(cpus).len() as f64;
    Ok(Counted {
        increments,
        failures: (operation == Operation::CompareExchange).then_some(failures),
        wall,
        share: used.map(|used| used.as_secs_f64() / (wall.as_secs_f64() * places)),
    })
}

/// So many `lock xadd` of the calling thread.
pub fn uncontended_xadd(counter: &Counter, times: u64) {
    kernels::terrace_lock_xadd(counter, times);
}

/// What a thread did.
struct Done {
    since: Instant,
    until: Instant,
    cpu: Option<Duration>,
    increments: u64,
    failures: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE: Duration = Duration::from_millis(4);

    fn crowd() -> Vec<u32> {
        let places = pin::places();
        pin::round_robin(&places, 2 * places.len() as u32 + 1)
    }

    #[test]
    fn no_increment_is_lost_whatever_the_layout() {
        for layout in Layout::ALL {
            for operation in
                [Operation::LockAdd, Operation::LockXadd, Operation::CompareExchange, Operation::Claimed(64)]
            {
                let counted = count(operation, layout, &crowd(), SLICE);
                let counted = counted.unwrap_or_else(|error| panic!("{operation:?} {layout:?}: {error}"));
                assert!(counted.increments > 0);
                assert_eq!(counted.failures.is_some(), operation == Operation::CompareExchange);
            }
        }
        for layout in [Layout::Padded, Layout::FalseSharing] {
            count(Operation::PlainAdd, layout, &crowd(), SLICE).unwrap();
        }
    }

    #[test]
    fn plain_additions_to_one_counter_are_refused() {
        assert!(count(Operation::PlainAdd, Layout::Shared, &crowd(), SLICE).is_err());
        assert!(count(Operation::PlainAdd, Layout::Shared, &crowd()[..1], SLICE).is_ok());
    }

    #[test]
    fn layouts_are_what_they_are_called() {
        let address = |blocks: &[Block], layout: Layout, thread| {
            let (block, word) = layout.place(thread);
            std::ptr::from_ref(&blocks[block].0[word]).addr()
        };
        let blocks: Vec<Block> = (0..20).map(|_| Block::default()).collect();
        for thread in 0..19 {
            let at = |layout, thread| address(&blocks, layout, thread);
            assert_eq!(at(Layout::Shared, thread), at(Layout::Shared, 0));
            assert_eq!(at(Layout::Padded, thread + 1) - at(Layout::Padded, thread), 128);
            let line = |thread| at(Layout::FalseSharing, thread) / 64;
            assert_eq!(line(thread), line(thread / 8 * 8));
        }
        let distinct: std::collections::BTreeSet<_> =
            (0..20).map(|thread| address(&blocks, Layout::FalseSharing, thread)).collect();
        assert_eq!(distinct.len(), 20);
    }

    #[test]
    fn times_and_rates_are_of_all_threads_together() {
        let counted =
            Counted { increments: 1000, failures: Some(500), wall: Duration::from_micros(2), share: None };
        assert_eq!((counted.nanoseconds(), counted.failed()), (2.0, Some(0.5)));
        assert!((counted.rate() - 5e8).abs() < 1.0);
    }
}
