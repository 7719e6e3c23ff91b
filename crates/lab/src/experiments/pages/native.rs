//! Native cells: a tensor on pages of a kind, in turns with one on small pages.

use super::kind::{self, Need};
use super::tensor::{Pattern, Tensor};
use super::{BEFORE, NATIVE, WHEN_USED};
use crate::Result;
use ::pages::{Faults, Mapping, Policy};
use experiment::machine::counters::{self, Availability};
use experiment::machine::events::{Event, EventCounter, Reading};
use experiment::native::quiet::{DISTURBED, quietest, shared};
use experiment::native::time::each;
use experiment::{Bench, Cell, Effort, Runner, Sample, parameters};
use present::numbers::human;
use serde_json::json;
use std::io;
use std::time::{Duration, Instant};

pub(super) const IS_THE_BASE: &str = "the baseline of the comparison";

/// Reads between two looks at the clock.
const BATCH: u64 = 1 << 14;
const COUNTED: [(&str, Event); 2] = [("dtlb", Event::DataTlbMisses), ("itlb", Event::InstructionTlbMisses)];
const NEVER_RAN: &str = "the processor's counters were all taken: the counter was opened and never ran; stop other profilers, or set \
     kernel.nmi_watchdog to 0 as root";
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
    counters: Vec<Counted>,
    reads: u64,
}

/// A counter and what it has counted while there were reads.
struct Counted {
    metric: &'static str,
    /// Its first error stays, because a sum in which a turn is missing is too small.
    counter: io::Result<EventCounter>,
    sum: Reading,
}

impl Counted {
    fn read(&mut self) -> Option<Reading> {
        match self.counter.as_mut().ok()?.read() {
            Ok(reading) => Some(reading),
            Err(error) => {
                self.counter = Err(error);
                None
            }
        }
    }

    /// Misses for each of so many reads, or why there is no such number.
    fn per_read(&self, reads: u64, here: &Availability) -> std::result::Result<f64, String> {
        match &self.counter {
            Ok(_) => per_read(self.sum, reads, here),
            Err(error) => {
                let own = || format!("they cannot be counted on this processor: {error}");
                Err(here.reason().map_or_else(own, str::to_owned))
            }
        }
    }
}

/// Where the processor's counters cannot be read at all, that is the reason: those that a hypervisor shows and does not run stay at 0.
fn per_read(sum: Reading, reads: u64, here: &Availability) -> std::result::Result<f64, String> {
    match (sum.events(), here.reason()) {
        _ if reads == 0 => Err("nothing was read".into()),
        (None | Some(0.0), Some(reason)) => Err(reason.to_owned()),
        (None, None) => Err(NEVER_RAN.into()),
        (Some(events), _) => Ok(events / reads as f64),
    }
}

impl Misses {
    fn new() -> Misses {
        let counted = |(metric, event)| Counted {
            metric,
            counter: EventCounter::of_thread(event),
            sum: Reading::default(),
        };
        Misses { counters: COUNTED.map(counted).into(), reads: 0 }
    }

    fn readings(&mut self) -> Vec<Option<Reading>> {
        self.counters.iter_mut().map(Counted::read).collect()
    }

    /// Counts while `work` reads; it returns what it measured and how many reads it did.
    fn during(&mut self, work: impl FnOnce() -> (f64, u64)) -> f64 {
        let before = self.readings();
        let (value, reads) = work();
        let after = self.readings();
        self.reads += reads;
        for (counted, times) in self.counters.iter_mut().zip(before.into_iter().zip(after)) {
            if let (Some(before), Some(after)) = times {
                counted.sum += after.since(before);
            }
        }
        value
    }

    fn told(&self, sample: Sample) -> Sample {
        let here = counters::hardware_counters();
        self.counters.iter().fold(sample, |sample, counted| match counted.per_read(self.reads, &here) {
            Ok(misses) => sample.value(counted.metric, misses),
            Err(reason) => sample.lacks(counted.metric, reason),
        })
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
    fn misses_are_of_the_whole_time_or_have_a_reason() {
        let sum = |count, running| Reading { count, enabled: 80, running };
        let found = |sum, reads| per_read(sum, reads, &Availability::Available);
        assert_eq!(found(sum(500, 80), 1000), Ok(0.5));
        assert_eq!(found(sum(500, 20), 1000), Ok(2.0), "it shared the processor's counters");
        assert_eq!(found(sum(0, 80), 1000), Ok(0.0));
        assert_eq!(found(sum(0, 0), 1000), Err(NEVER_RAN.into()));
        assert_eq!(found(sum(0, 80), 0), Err("nothing was read".into()));
        let none = Availability::Unavailable("no unit".into());
        for running in [0, 80] {
            assert_eq!(per_read(sum(0, running), 1000, &none), Err("no unit".into()));
        }
    }

    #[test]
    fn a_counter_that_cannot_be_read_gives_no_number() {
        let counter = Err(io::Error::other("gone"));
        let counted = Counted { metric: "dtlb", counter, sum: Reading { count: 1, enabled: 1, running: 1 } };
        let reason = counted.per_read(1, &Availability::Available).unwrap_err();
        assert_eq!(reason, "they cannot be counted on this processor: gone");
        let none = Availability::Unavailable("no unit".into());
        assert_eq!(counted.per_read(1, &none), Err("no unit".into()));
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
