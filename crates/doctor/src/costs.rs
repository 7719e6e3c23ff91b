//! What things cost on this machine, measured in less than a second: the best of a few short runs, since other work only adds.
#![allow(clippy::disallowed_types, reason = "what an atomic operation costs is the question")]

use crate::evidence::{Costs, CpuLimits};
use crate::placement::System;
use memory::{Mapping, Policy};
use std::hint::black_box;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::thread::{Builder, yield_now};
use std::time::{Duration, Instant};
use topology::cgroup::{self, Process};

/// Short enough to get through between two switches of a busy machine's CPU.
const SWAPS: u32 = 1 << 15;
/// How long those that share meet each time, and how often.
const TOGETHER: Duration = Duration::from_millis(10);
const MEETINGS: usize = 7;
/// Those that share at most: on a large machine more would take much of its time, and of a quota all.
const MOST_TOGETHER: usize = 16;
/// Between two looks at the clock.
const AT_ONCE: u32 = 64;
const BYTES: usize = 2 << 20;
const RUNS: usize = 32;

/// A word that shares its cache lines with nothing else.
#[repr(align(256))]
struct Alone(AtomicU64);

/// What was measured, and why something is not there.
pub struct Measured {
    /// What could not be had is zero, and no rule rests on it.
    pub costs: Costs,
    pub missing: Option<String>,
}

/// Measures, with no more threads than the process to be watched and this one may use CPUs.
pub fn measure(watched: &CpuLimits) -> Measured {
    let own = System::here().machine(std::process::id());
    let quotas = [watched.quota, cgroup::quota(Path::new("/"), Process::Own)];
    measure_with(together([watched.cpus, own.cpus], quotas), &|_| Ok(()))
}

/// Threads that share: as many as CPUs, and as a quota has CPUs' worth of time.
fn together(cpus: [usize; 2], quotas: [Option<f64>; 2]) -> usize {
    let quotas = quotas.into_iter().flatten().map(|quota| quota.ceil() as usize);
    cpus.into_iter().chain(quotas).fold(MOST_TOGETHER, usize::min).max(1)
}

/// Before a thread is started it is asked for, by its number.
type MayStart<'a> = &'a dyn Fn(usize) -> io::Result<()>;

fn measure_with(threads: usize, may_start: MayStart) -> Measured {
    let word = Alone(AtomicU64::new(0));
    let alone = best(|| {
        let since = Instant::now();
        (0..SWAPS).for_each(|_| swap(&word));
        since.elapsed()
    });
    let alone_ns = alone.as_secs_f64() * 1e9 / f64::from(SWAPS);
    let (zero, touch) = memory_costs().unwrap_or_default();
    let each = |time: Duration, count: usize| time.as_secs_f64() * 1e9 / count as f64;
    let contended = if threads > 1 { contended(threads, may_start) } else { Ok(None) };
    let missing = contended.as_ref().err().map(|error| {
        format!(
            "the cost of a compare-and-swap that CPUs share: no thread could be started for it ({error}); raise the limit of processes (ulimit -u, pids.max)"
        )
    });
    let costs = Costs {
        alone_ns,
        // On a busy machine they may hardly have met.
        contended_ns: contended.ok().flatten().map(|time| time.max(alone_ns)),
        zero_ns: each(zero, BYTES),
        first_touch_ns: each(touch, BYTES / Policy::Small.granule()),
    };
    Measured { costs, missing }
}

/// Nanoseconds that a thread takes for one of its own to succeed where so many threads try: the middle of a few meetings, because the quickest would be one in which
/// they did not meet. `None` where no thread got a CPU.
fn contended(threads: usize, may_start: MayStart) -> io::Result<Option<f64>> {
    let meetings: io::Result<Vec<_>> = (0..MEETINGS).map(|_| meeting(threads, may_start)).collect();
    let mut times: Vec<f64> = meetings?.into_iter().flatten().collect();
    times.sort_by(f64::total_cmp);
    Ok(times.get(times.len() / 2).copied())
}

/// An error where one of the threads cannot be started: then no one waits for it.
fn meeting(threads: usize, may_start: MayStart) -> io::Result<Option<f64>> {
    let (word, gate) = (Alone(AtomicU64::new(0)), Gate::default());
    std::thread::scope(|scope| {
        let mut others = Vec::new();
        for number in 1..threads {
            let start = || Builder::new().spawn_scoped(scope, || gate.pass().then(|| swaps(&word)));
            match may_start(number).and_then(|()| start()) {
                Ok(other) => others.push(other),
                Err(error) => {
                    gate.abandon();
                    return Err(error);
                }
            }
        }
        gate.open_for(others.len());
        let own = swaps(&word);
        let all = others.into_iter().filter_map(|other| other.join().ok().flatten());
        Ok(of_one(&all.chain([own]).collect::<Vec<_>>()))
    })
}

/// How long a thread tried, and how often it succeeded.
fn swaps(word: &Alone) -> (Duration, u32) {
    let since = Instant::now();
    let mut done = 0;
    while since.elapsed() < TOGETHER {
        (0..AT_ONCE).for_each(|_| swap(word));
        done += AT_ONCE;
    }
    (since.elapsed(), done)
}

/// Where threads wait until all are there. A barrier would wait for one that cannot be started, too.
#[derive(Default)]
struct Gate {
    waiting: AtomicUsize,
    state: AtomicU8,
}

const CLOSED: u8 = 0;
const OPEN: u8 = 1;
const ABANDONED: u8 = 2;

// Relaxed throughout: numbers and states are all that there is to see.
impl Gate {
    /// Waits. Whether it was opened.
    fn pass(&self) -> bool {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        loop {
            match self.state.load(Ordering::Relaxed) {
                CLOSED => yield_now(),
                state => return state == OPEN,
            }
        }
    }

    /// Opens as soon as so many wait. They have been started, so they come.
    fn open_for(&self, others: usize) {
        while self.waiting.load(Ordering::Relaxed) < others {
            yield_now();
        }
        self.state.store(OPEN, Ordering::Relaxed);
    }

    fn abandon(&self) {
        self.state.store(ABANDONED, Ordering::Relaxed);
    }
}

/// Nanoseconds for one of a thread's own: the mean over the threads, whether they meet or take turns on a CPU. Who had none in all that time says nothing.
fn of_one(threads: &[(Duration, u32)]) -> Option<f64> {
    let each = threads.iter().filter(|(_, done)| *done > 0);
    let each: Vec<f64> = each.map(|(time, done)| time.as_secs_f64() * 1e9 / f64::from(*done)).collect();
    (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
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
        let Measured { costs, missing } = measure_with(2, &|_| Ok(()));
        assert!(costs.alone_ns > 0.0 && costs.zero_ns > 0.0 && costs.first_touch_ns > 0.0, "{costs:?}");
        assert!(costs.contended_ns.is_some_and(|time| time.is_finite()), "{costs:?}");
        assert_eq!((measure_with(1, &|_| Ok(())).costs.contended_ns, missing), (None, None));
    }

    #[test]
    fn a_thread_that_cannot_be_started_is_not_waited_for() {
        let refused = |number| if number < 3 { Ok(()) } else { Err(io::ErrorKind::WouldBlock.into()) };
        let Measured { costs, missing } = measure_with(4, &refused);
        assert_eq!(costs.contended_ns, None);
        assert!(costs.alone_ns > 0.0 && missing.is_some_and(|why| why.contains("pids.max")));
    }

    #[test]
    fn no_more_threads_share_than_there_are_cpus_for() {
        assert_eq!(together([2, 8], [None, None]), 2);
        assert_eq!(together([8, 3], [None, Some(6.0)]), 3);
        assert_eq!(together([64, 64], [Some(1.5), Some(4.0)]), 2, "the rest of a CPU is one to run on");
        assert_eq!(together([192, 192], [None, None]), MOST_TOGETHER);
        assert_eq!(together([0, 8], [Some(0.2), None]), 1);
    }

    #[test]
    fn a_swap_that_two_share_counts_for_the_thread_that_made_it() {
        let second = Duration::from_secs(1);
        assert_eq!(of_one(&[(second, 10), (second, 20)]), Some(7.5e7));
        assert_eq!(of_one(&[(second, 0), (second, 20)]), Some(5e7), "it had no CPU");
        assert_eq!(of_one(&[(second, 0)]), None);
    }
}
