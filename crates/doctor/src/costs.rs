//! What things cost on this machine, measured in less than a second: the best of a few short runs, since other work only adds.
#![allow(clippy::disallowed_types, reason = "what an atomic operation costs is the question")]

use crate::evidence::Costs;
use memory::{Mapping, Policy};
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Short enough to get through between two switches of a busy machine's CPU.
const ADDITIONS: u32 = 1 << 15;
/// As many times as long where two threads share.
const TOGETHER: u32 = 16;
const BYTES: usize = 2 << 20;
const RUNS: usize = 32;

/// A word that shares its cache lines with nothing else.
#[repr(align(256))]
struct Alone(AtomicU64);

/// Measures. What could not be had is zero, and no rule rests on it.
pub fn measure(cpus: usize) -> Costs {
    let word = Alone(AtomicU64::new(0));
    let alone = best(|| additions(&word));
    // Long enough that the two meet, and the middle one: the quickest would be one in which they did not.
    let contended = (cpus > 1).then(|| {
        let mut times = [(); 7].map(|()| {
            let (shared, start) = (Alone(AtomicU64::new(0)), Barrier::new(2));
            let run = || {
                start.wait();
                (0..TOGETHER).map(|_| additions(&shared)).sum::<Duration>() / TOGETHER
            };
            std::thread::scope(|scope| {
                let other = scope.spawn(run);
                run().max(other.join().unwrap_or_default())
            })
        });
        times.sort_unstable();
        times[times.len() / 2]
    });
    let each = |time: Duration, count: f64| time.as_secs_f64() * 1e9 / count;
    let (zero, touch) = memory_costs().unwrap_or_default();
    Costs {
        alone_ns: each(alone, f64::from(ADDITIONS)),
        // As either thread sees it. On a busy machine the two may hardly have met.
        contended_ns: contended.map(|time| each(time.max(alone), f64::from(ADDITIONS))),
        zero_ns: each(zero, BYTES as f64),
        first_touch_ns: each(touch, (BYTES / Policy::Small.granule()) as f64),
    }
}

fn best(run: impl FnMut() -> Duration) -> Duration {
    std::iter::repeat_with(run).take(RUNS).min().unwrap_or_default()
}

fn additions(word: &Alone) -> Duration {
    let since = Instant::now();
    for _ in 0..ADDITIONS {
        // Relaxed: the value is nobody's.
        black_box(word.0.fetch_add(1, Ordering::Relaxed));
    }
    since.elapsed()
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
        assert!(costs.contended_ns.is_some_and(|time| time > 0.0));
        assert_eq!(measure(1).contended_ns, None);
    }
}
