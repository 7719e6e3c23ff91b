//! The heap is still being touched for the first time.

use super::room;
use crate::evidence::Evidence;
use crate::finding::{Advice, Found, Remedy, Rule, Sure};
use crate::need::Need;
use present::numbers::{count, quantity, share};

/// Heaps are told in whole ones.
const MB: u64 = 1 << 20;
/// Of the program's CPU time.
const LEAST_SHARE: f64 = 0.02;
/// Of the program's CPU time: others touch pages beside it.
const MOST_SAVED: f64 = 0.5;

pub const RULE: Rule = Rule {
    name: "first touch",
    source: "java -XX:+AlwaysPreTouch; Linux page faults, measured here; experiment pages",
    needs: |_| &[Need::FirstTouches, Need::CpuTime],
    examine,
};

fn examine(evidence: &Evidence) -> Option<Found> {
    let (touches, cpu) = (of_heap(evidence)?, evidence.application_cpu?);
    let spent = touches * evidence.costs.first_touch_ns / 1e9;
    if cpu <= 0.0 || spent / cpu < LEAST_SHARE || evidence.jvm.flags.is_on("AlwaysPreTouch") {
        return None;
    }
    let remedy = remedy(evidence, initial(evidence))?;
    Some(Found {
        evidence: format!(
            "{} pages/s{} were touched for the first time, {} each on this machine: {} of the threads' time.",
            count(touches / evidence.seconds),
            if evidence.memory.heap_touched.is_some() { " of the heap" } else { "" },
            quantity(evidence.costs.first_touch_ns, "ns"),
            share(spent / cpu),
        ),
        advice: vec![Advice {
            remedy,
            effect: evidence.effect(
                None,
                evidence.saved_of_threads(spent.min(MOST_SAVED * cpu)),
                Sure::Estimated,
            ),
            note: "while eden grows or is new; the JVM starts later, and all of -Xms is resident at once",
        }],
    })
}

/// First touches of the heap's pages. `None` where nobody counted.
pub(super) fn of_heap(evidence: &Evidence) -> Option<f64> {
    let touches = evidence.memory.first_touches? as f64;
    // Threads that start touch pages as well, their stacks: those are no heap's, and no flag helps.
    let stacks = evidence.threads.started.unwrap_or(0) as f64 * STACK_PAGES;
    // What is touched at the start is touched once: no more pages than the heap has, and than memory has grown by. Others are given back and touched
    // again, are a file's, or were moved by the kernel.
    let pages = |bytes: f64| bytes / page_bytes(evidence);
    let most = initial(evidence).map_or(f64::INFINITY, |bytes| pages(bytes as f64));
    let most = evidence.memory.grown.map_or(most, |bytes| most.min(pages(bytes.max(0) as f64)));
    // The rest is native memory: buffers outside the heap, or a leak.
    let most = evidence.memory.heap_touched.map_or(most, |bytes| most.min(pages(bytes as f64)));
    Some((touches - stacks).clamp(0.0, most))
}

/// What the heap has to begin with, in bytes, so that its pages are touched at the start: what it has come to, for the flag touches no more than -Xms then,
/// and what the heap grows by while it grows.
fn initial(evidence: &Evidence) -> Option<u64> {
    let flags = &evidence.jvm.flags;
    let initial = flags.number("InitialHeapSize")?;
    // No more than the heap may have: HotSpot does not start then.
    let most = flags.number("MaxHeapSize").unwrap_or(u64::MAX);
    Some(initial.max(evidence.memory.heap_committed.unwrap_or(0).min(most)))
}

/// `None` where a heap of `size` bytes does not fit in memory.
fn remedy(evidence: &Evidence, size: Option<u64>) -> Option<Remedy> {
    let flags = &evidence.jvm.flags;
    let grown = |size: &u64| flags.number("InitialHeapSize").is_some_and(|initial| initial + MB <= *size);
    let larger = size.filter(grown).map(|size| format!("-Xms{}m", size / MB));
    let words: Vec<String> = larger.into_iter().chain(["-XX:+AlwaysPreTouch".into()]).collect();
    let fits = size.and_then(|size| room::takes(evidence, size as f64 - room::touched(evidence, 0.0)));
    let Some(fits) = fits else {
        let unless = if flags.is_known() { "" } else { " unless it is set," };
        return Some(Remedy::Program(format!("{},{unless} if all of -Xms fits in memory", words.join(" "))));
    };
    fits.then_some(Remedy::Flags(words))
}

/// Of the pages that the heap lies on.
pub(super) fn page_bytes(evidence: &Evidence) -> f64 {
    let flags = &evidence.jvm.flags;
    match flags.is_on("UseLargePages") && !flags.is_on("UseTransparentHugePages") {
        true => flags.number("LargePageSizeInBytes").filter(|bytes| *bytes > 0).unwrap_or(2 << 20) as f64,
        false => memory::small_page_bytes() as f64,
    }
}

/// What a thread touches of its stack and of the JVM's own structures: measured with the workload churn.
const STACK_PAGES: f64 = 3.0;
