//! What things cost on this machine, measured in less than a second: the best of a few short runs, since other work only adds.
#![allow(clippy::disallowed_types, reason = "what an atomic operation costs is the question")]

use crate::evidence::Costs;
use memory::{Mapping, Policy};
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Short enough to get through between two switches of a busy machine's CPU.
const SWAPS: u32 = 1 << 15;
/// How long those that share meet each time, and how often.
const TOGETHER: Duration = Duration::from_millis(10);
const MEETINGS: usize = 7;
/// Between two looks at the clock.
const AT_ONCE: u32 = 64;
const BYTES: usize = 2 << 20;
const RUNS: usize = 32;

/// A word that shares its cache lines with nothing else.
#[repr(align(256))]
struct Alone(AtomicU64);

/// Measures. What could not be had is zero, and no rule rests on it.
pub fn measure(cpus: usize) -> Costs {
    let word = Alone(AtomicU64::new(0));
    let alone = best(|| {
        let since = Instant::now();
        (0..SWAPS).for_each(|_| swap(&word));
        since.elapsed()
    });
    let alone_ns = alone.as_secs_f64() * 1e9 / f64::from(SWAPS);
    let (zero, touch) = memory_costs().unwrap_or_default();
    let each = |time: Duration, count: usize| time.as_secs_f64() * 1e9 / count as f64;
    Costs {
        alone_ns,
        // On a busy machine they may hardly have met.
        contended_ns: (cpus > 1).then(|| contended(cpus).max(alone_ns)),
        zero_ns: each(zero, BYTES),
        first_touch_ns: each(touch, BYTES / Policy::Small.granule()),
    }
}

/// Nanoseconds that a thread takes for one of its own to succeed where so many threads try: the middle of a few meetings, because the quickest would be one in which
/// they did not meet.
fn contended(threads: usize) -> f64 {
    let mut times = [(); MEETINGS].map(|()| {
        let (word, start) = (Alone(AtomicU64::new(0)), Barrier::new(threads));
        let run = || {
            start.wait();
            let since = Instant::now();
            let mut done = 0;
            while since.elapsed() < TOGETHER {
                (0..AT_ONCE).for_each(|_| swap(&word));
                done += AT_ONCE;
            }
            (since.elapsed(), done)
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
            let own = run();
            let all = others.into_iter().filter_map(|other| other.join().ok());
            of_one(&all.chain([own]).collect::<Vec<_>>())
        })
    });
    times.sort_by(f64::total_cmp);
    times[MEETINGS / 2]
}

/// Nanoseconds for one of a thread's own: the mean over the threads, whether they meet or take turns on a CPU.
fn of_one(threads: &[(Duration, u32)]) -> f64 {
    let each = threads.iter().map(|(time, done)| time.as_secs_f64() * 1e9 / f64::from(*done));
    each.sum::<f64>() / threads.len() as f64
}

fn best(run: impl FnMut() -> Duration) -> Duration {
    std::iter::repeat_with(run).take(RUNS).min().unwrap_or_default()
}

/// As a heap whose top threads share gives memory away.
fn swap(word: &Alone) {
    // Relaxed: the value is nobody's.
    let mut found = word.0.load(Ordering::Relaxed);
    while let Err(now) = word.0.compare_exchange(found, found + 1, Ordering::Relaxed, Ordering::Relaxed) {
        found = now;
    }
}

/// To zero memory, and to touch it for the first time.
fn memory_costs() -> memory::Result<(Duration, Duration)> {
    let (mut zero, mut touch) = (Duration::MAX, Duration::MAX);
    for _ in 0..RUNS {
        let mut mapping = Mapping::new(BYTES, Policy::Small)?;
        let since = Instant::now();
        mapping.touch()?;
        touch = touch.min(since.elapsed());
        let since = Instant::now();
        black_box(mapping.as_mut_slice()).fill(0);
        zero = zero.min(since.elapsed());
    }
    Ok((zero, touch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_costs_something() {
        let costs = measure(2);
        assert!(costs.alone_ns > 0.0 && costs.zero_ns > 0.0 && costs.first_touch_ns > 0.0, "{costs:?}");
        assert!(costs.contended_ns.is_some_and(|time| time.is_finite()), "{costs:?}");
        assert_eq!(measure(1).contended_ns, None);
    }

    #[test]
    fn a_swap_that_two_share_counts_for_the_thread_that_made_it() {
        let second = Duration::from_secs(1);
        assert_eq!(of_one(&[(second, 10), (second, 20)]), 7.5e7);
    }
}
