//! The native cells: ways to zero, each in turns with the write bandwidth.

use super::bandwidth;
use super::kernels::{Method, Zeroed, fresh, sweep};
use super::{BANDWIDTH, FRESH_HUGE, FRESH_SMALL, NATIVE};
use crate::Result;
use experiment::machine::page::caches;
use experiment::native::quiet::{DISTURBED, Shared, quietest, shared};
use experiment::{Bench, Cell, Effort, Runner, Sample, parameters};
use pages::{Mapping, Policy, transparent_page_bytes};
use serde_json::json;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// How long each of a cell's parts is measured.
const SLICE: Duration = Duration::from_millis(10);
/// The write bandwidth needs longer, because its threads start anew each time.
const BANDWIDTH_SLICE: Duration = Duration::from_millis(20);

/// The memory that all cells zero; mapped and touched when the first of them runs.
#[derive(Clone, Default)]
struct Ground(Rc<RefCell<Option<Mapping>>>);

impl Ground {
    /// Four times the largest cache, so that nothing stays there from one pass to the next; at least 256 MB.
    fn bytes() -> usize {
        let largest = caches().iter().map(|cache| cache.bytes).max().unwrap_or(0) as usize;
        (4 * largest).max(256 << 20).next_multiple_of(256 << 20)
    }

    fn with<T>(&self, work: impl FnOnce(&mut Mapping) -> Result<T>) -> Result<T> {
        let mut slot = self.0.borrow_mut();
        let mapping = match slot.take() {
            Some(mapping) => mapping,
            None => Mapping::touched(Ground::bytes(), Policy::Small)?,
        };
        work(slot.insert(mapping))
    }
}

pub(super) fn cells(bench: &Bench) -> Vec<Cell> {
    let ground = Ground::default();
    let repetitions = bench.effort.pick(2, 7);
    let seconds = 0.1 * repetitions as f64;
    let cpus = bench.machine.cpus as u32;
    let mut counts = vec![1];
    if cpus > 1 {
        counts.push(cpus);
    }
    let mut cells = Vec::new();
    for &threads in &counts {
        let ground = ground.clone();
        let runner =
            Runner::native(move || ground.with(|mapping| Ok(all_bandwidth(mapping, threads, repetitions))));
        cells.push(cell(BANDWIDTH, Ground::bytes(), threads, seconds, runner));
    }
    let sizes: Vec<usize> = match bench.effort {
        Effort::Quick => vec![1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20],
        Effort::Full => (0..14).map(|power| 64 << (2 * power)).take_while(|size| *size <= 64 << 20).collect(),
    };
    for &bytes in &sizes {
        for threads in counts.iter().copied().take(bench.effort.pick(1, counts.len())) {
            for method in Method::ALL.into_iter().filter(|method| method.exists()) {
                let ground = ground.clone();
                let runner = Runner::native(move || {
                    ground.with(|mapping| Ok(swept(mapping, method, bytes, threads, repetitions)))
                });
                cells.push(cell(method.name(), bytes, threads, seconds, runner));
            }
        }
        for (name, policy) in [(FRESH_SMALL, Policy::Small), (FRESH_HUGE, Policy::Transparent)] {
            // Less than a page is not less work for the kernel.
            if bytes < policy.granule() {
                continue;
            }
            let ground = ground.clone();
            let runner = match policy.available(bytes) {
                Ok(()) => {
                    Runner::native(move || ground.with(|mapping| kernel(mapping, policy, bytes, repetitions)))
                }
                Err(reason) => Runner::Unavailable(reason.to_string()),
            };
            cells.push(cell(name, bytes, 1, seconds, runner));
        }
    }
    cells
}

fn cell(method: &str, bytes: usize, threads: u32, seconds: f64, runner: Runner) -> Cell {
    let parameters = parameters([
        ("language", NATIVE.into()),
        ("method", method.into()),
        ("bytes", (bytes as u64).into()),
        ("threads", threads.into()),
    ]);
    Cell { parameters, seconds, runner }
}

/// Repetitions of a cell, and whether something disturbed one that could not be had better.
#[derive(Default)]
struct Repeated {
    sample: Sample,
    disturbed: bool,
}

impl Repeated {
    fn quietest<T>(&mut self, measure: impl FnMut() -> Shared<T>) -> T {
        let measured = quietest(measure);
        self.disturbed |= !measured.undisturbed();
        measured.value
    }

    fn finish(self) -> Sample {
        if self.disturbed { self.sample.note(DISTURBED) } else { self.sample }
    }
}

fn all_bandwidth(ground: &mut Mapping, threads: u32, repetitions: usize) -> Sample {
    let mut repeated = Repeated::default();
    for _ in 0..repetitions {
        let rate =
            repeated.quietest(|| bandwidth::write(ground.as_mut_slice(), threads, 3 * BANDWIDTH_SLICE));
        repeated.sample.add("rate", rate / 1e9);
    }
    let reason = "the write bandwidth has no objects";
    repeated.finish().lacks("ns", reason).lacks("used", reason).lacks("share", "the baseline of the shares")
}

/// A way to zero, with the bandwidth after it.
fn swept(ground: &mut Mapping, method: Method, bytes: usize, threads: u32, repetitions: usize) -> Sample {
    let mut repeated = Repeated::default();
    for _ in 0..repetitions {
        let mut all = |used: bool| {
            repeated.quietest(|| {
                let work = |part: &mut [u8]| sweep(method, part, bytes, used, SLICE);
                let all = bandwidth::in_parts(ground.as_mut_slice(), threads, work);
                Shared { value: Zeroed::of_all(&all.value), share: all.share }
            })
        };
        let (zeroed, used) = (all(false), all(true));
        repeated.sample.add("ns", zeroed.seconds * 1e9);
        repeated.sample.add("used", used.seconds * 1e9);
        if method != Method::None {
            let most =
                repeated.quietest(|| bandwidth::write(ground.as_mut_slice(), threads, BANDWIDTH_SLICE));
            repeated.sample.add("rate", zeroed.rate / 1e9);
            repeated.sample.add("share", 100.0 * zeroed.rate / most);
        }
    }
    let mut sample = repeated.finish();
    if method == Method::None {
        let reason = "only the first byte is written";
        sample = sample.lacks("rate", reason).lacks("share", reason);
    }
    sample.with_settings(json!({ "memory_bytes": ground.len(), "pages": ground.policy().name() }))
}

/// The kernel's zeroing: memory is given back to it and touched again.
fn kernel(ground: &mut Mapping, policy: Policy, bytes: usize, repetitions: usize) -> Result<Sample> {
    let mut object = Mapping::new(bytes, policy)?;
    let mut repeated = Repeated::default();
    for _ in 0..repetitions {
        let zeroed = repeated.quietest(|| shared(|| fresh(&mut object, bytes, false, SLICE)))?;
        let used = repeated.quietest(|| shared(|| fresh(&mut object, bytes, true, SLICE)))?;
        let most = repeated.quietest(|| bandwidth::write(ground.as_mut_slice(), 1, BANDWIDTH_SLICE));
        repeated.sample.add("ns", zeroed.seconds * 1e9);
        repeated.sample.add("used", used.seconds * 1e9);
        repeated.sample.add("rate", zeroed.rate / 1e9);
        repeated.sample.add("share", 100.0 * zeroed.rate / most);
    }
    let mut sample = repeated.finish();
    let obtained = object.obtained()?;
    if policy == Policy::Transparent && obtained.huge() < bytes as u64 {
        sample = sample.note(format!(
            "the kernel found huge pages for only {} of {} MB; free memory, or as root: echo 1 > /proc/sys/vm/compact_memory",
            obtained.huge() >> 20,
            bytes >> 20
        ));
    }
    Ok(sample.with_settings(json!({
        "obtained": obtained.to_string(),
        "huge_page_bytes": transparent_page_bytes(),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_to_zero_has_times_and_a_share() {
        let mut ground = Mapping::touched(2 << 20, Policy::Small).unwrap();
        let sample = swept(&mut ground, Method::Memset, 4096, 2, 2);
        for metric in ["ns", "used", "rate", "share"] {
            assert_eq!(sample.values[metric].len(), 2, "{metric}");
        }
        let sample = swept(&mut ground, Method::None, 4096, 1, 1);
        assert!(sample.values["ns"][0] > 0.0 && sample.unavailable.contains_key("rate"));
        let sample = kernel(&mut ground, Policy::Small, 8192, 1).unwrap();
        assert!(sample.values["share"][0] > 0.0);
    }
}
