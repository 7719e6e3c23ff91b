//! Native cells: a tensor on pages of a kind, in turns with one on small pages.

use super::kind::{self, Need};
use super::tensor::{Pattern, Tensor};
use super::{BEFORE, NATIVE, WHEN_USED};
use crate::Result;
use ::pages::{Faults, Mapping, Policy};
use experiment::machine::counters;
use experiment::machine::events::{Event, EventCounter};
use experiment::native::quiet::{DISTURBED, quietest, shared};
use experiment::native::time::each;
use experiment::{Bench, Cell, Effort, Runner, Sample, parameters};
use present::numbers::human;
use serde_json::json;
use std::time::{Duration, Instant};

pub(super) const IS_THE_BASE: &str = "the baseline of the comparison";

/// Reads between two looks at the clock.
const BATCH: u64 = 1 << 14;
const COUNTED: [(&str, Event); 2] = [("dtlb", Event::DataTlbMisses), ("itlb", Event::InstructionTlbMisses)];
/// How long each turn reads.
const TURN: Duration = Duration::from_millis(40);

pub(super) fn cells(bench: &Bench, megabytes: u64) -> Vec<Cell> {
    let turns = bench.effort.pick(2, 10);
    let mut cells = Vec::new();
    for policy in Policy::ALL {
        for touched in [BEFORE, WHEN_USED] {
            for pattern in Pattern::ALL {
                if touched == WHEN_USED && pattern != Pattern::Random && bench.effort == Effort::Quick {
                    continue;
                }
                let need = Need::new(bench, policy, (megabytes as usize) << 20);
                let runner =
                    need.runner(|| Runner::native(move || measure(need, touched == BEFORE, pattern, turns)));
                cells.push(Cell {
                    parameters: parameters([
                        ("language", NATIVE.into()),
                        ("pattern", pattern.name().into()),
                        ("pages", kind::name(policy).into()),
                        ("touched", touched.into()),
                        ("megabytes", megabytes.into()),
                    ]),
                    seconds: 2.0 * f64::from(turns) * TURN.as_secs_f64() + 0.0015 * megabytes as f64,
                    runner,
                });
            }
        }
    }
    cells
}

fn measure(need: Need, touch: bool, pattern: Pattern, turns: u32) -> Result<Sample> {
    let Need { policy, bytes, .. } = need;
    let _pool = need.fill()?;
    // Memory that a virtual machine never had costs its host a fault as well: have it once before.
    drop(Mapping::touched(bytes, policy)?);
    let mut mapping = Mapping::new(bytes, policy)?;
    let mut sample = Sample::default();
    if touch {
        let since = Instant::now();
        mapping.touch()?;
        sample.add("before", since.elapsed().as_secs_f64());
    } else {
        sample = sample.lacks("before", "nothing was pre-touched");
    }

    let before = Faults::of_thread();
    let since = Instant::now();
    // Pages may be larger than the tensor.
    let mut tensor = Tensor::over(&mut mapping.as_mut_slice()[..bytes]);
    tensor.fill();
    sample.add("first", since.elapsed().as_secs_f64());
    let mut faults = Faults::of_thread() - before;

    let mut small = match policy {
        Policy::Small => None,
        _ => Some(Mapping::touched(bytes, Policy::Small)?),
    };
    let mut base = small.as_mut().map(|small| Tensor::over(small.as_mut_slice()));
    if let Some(base) = &mut base {
        base.fill();
    }
    let mut disturbed = false;
    let mut turn = |tensor: &mut Tensor, done: &mut u64| {
        let mut read = |reads| {
            tensor.read(pattern, reads);
            *done += reads;
        };
        let measured = quietest(|| shared(|| each(TURN, BATCH, &mut read)));
        disturbed |= !measured.undisturbed();
        measured.value
    };
    let before = Faults::of_thread();
    let mut misses = Misses::new();
    for _ in 0..turns {
        let mut done = 0;
        let ns = misses.during(|| (turn(&mut tensor, &mut done) * 1e9, done));
        sample.add("ns", ns);
        if let Some(base) = &mut base {
            sample.add("relative", turn(base, &mut 0) * 1e9 / ns);
        }
    }
    sample = misses.told(sample);
    let while_reading = Faults::of_thread() - before;
    faults.minor += while_reading.minor;
    faults.major += while_reading.major;
    sample.add("minor", faults.minor as f64);
    sample.add("major", faults.major as f64);

    let obtained = mapping.obtained()?;
    sample.add("huge", obtained.huge() as f64 / 1e6);
    if policy == Policy::Transparent && obtained.huge() < bytes as u64 * 9 / 10 {
        sample = sample.note(format!(
            "the kernel found huge pages for only {} of {}; free memory, or as root: echo 1 > /proc/sys/vm/compact_memory",
            human(obtained.huge() as f64),
            human(bytes as f64)
        ));
    }
    if policy == Policy::Small {
        sample = sample.lacks("relative", IS_THE_BASE);
    }
    if disturbed {
        sample = sample.note(DISTURBED);
    }
    Ok(sample.with_settings(json!({ "obtained": obtained.to_string() })))
}

/// TLB misses of this thread for each read, if they can be counted.
struct Misses {
    counters: Vec<(&'static str, std::io::Result<EventCounter>)>,
    counted: Vec<u64>,
    reads: u64,
}

impl Misses {
    fn new() -> Misses {
        let counters: Vec<_> =
            COUNTED.into_iter().map(|(metric, event)| (metric, EventCounter::of_thread(event))).collect();
        Misses { counted: vec![0; counters.len()], counters, reads: 0 }
    }

    fn counts(&mut self) -> Vec<u64> {
        let count = |counter: &mut std::io::Result<EventCounter>| counter.as_mut().ok()?.count().ok();
        self.counters.iter_mut().map(|(_, counter)| count(counter).unwrap_or(0)).collect()
    }

    /// Counts while `work` reads; it returns what it measured and how many reads it did.
    fn during(&mut self, work: impl FnOnce() -> (f64, u64)) -> f64 {
        let before = self.counts();
        let (value, reads) = work();
        let after = self.counts();
        self.reads += reads;
        for ((sum, after), before) in self.counted.iter_mut().zip(after).zip(before) {
            *sum += after.saturating_sub(before);
        }
        value
    }

    fn told(&self, mut sample: Sample) -> Sample {
        for ((metric, counter), count) in self.counters.iter().zip(&self.counted) {
            sample = match counter {
                Ok(_) if self.reads > 0 => sample.value(metric, *count as f64 / self.reads as f64),
                Ok(_) => sample.lacks(metric, "nothing was read"),
                Err(error) => sample.lacks(
                    metric,
                    match counters::hardware_counters().reason() {
                        Some(reason) => reason.to_owned(),
                        None => format!("this processor does not count them: {error}"),
                    },
                ),
            };
        }
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_the_first_pass_are_counted_unless_pages_were_touched() {
        let need = Need { policy: Policy::Small, bytes: 4 << 20, may_fill: false };
        let faults = |touch| {
            let sample = measure(need, touch, Pattern::Order, 1).unwrap();
            assert_eq!(sample.values["huge"], [0.0]);
            sample.values["minor"][0]
        };
        let pages = (4 << 20) as f64 / ::pages::small_page_bytes() as f64;
        assert!(faults(false) >= pages && faults(true) < pages / 2.0);
    }

    #[test]
    fn transparent_pages_are_compared_with_small_ones() {
        let need = Need { policy: Policy::Transparent, bytes: 4 << 20, may_fill: false };
        match measure(need, true, Pattern::Random, 2) {
            Ok(sample) => assert_eq!(sample.values["relative"].len(), 2),
            Err(reason) => skips::skip!("{reason}"),
        }
    }
}
