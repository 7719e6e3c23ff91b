//! Collections of the whole heap take much of the time.

use super::other_memory::{COMPILED_CODE, METADATA, for_compiled_code, for_metadata};
use super::room;
use crate::evidence::{Evidence, SinceStart};
use crate::finding::{Advice, Effect, Found, Remedy, Rule};
use crate::need::Need;
use present::numbers::{quantity, share};

/// Of the time.
const LEAST_STOPPED: f64 = 0.03;
/// Fewer do not say how often they come.
const FEWEST: u64 = 2;
/// A single one that stops threads for so many seconds is enough where those since the JVM's start have taken as much of the time.
const LONG: f64 = 1.0;
/// A heap that is not so much larger is not worth a change.
const LEAST_FACTOR: f64 = 1.25;
/// Of the full collections, for one cause: it is what brings the full ones.
const MOST_FREQUENT: f64 = 0.5;
/// Of the heap, by which it could grow before it is full.
const LEAST_GROWTH: f64 = 0.2;
/// HotSpot's words (`GCCause::to_string`) for a request of the program's own, and for those of tools.
pub(super) const BY_PROGRAM: [&str; 1] = ["System.gc()"];
const BY_TOOLS: [&str; 4] = [
    "Diagnostic Command",
    "Heap Inspection Initiated GC",
    "Heap Dump Initiated GC",
    "JvmtiEnv ForceGarbageCollection",
];
/// Collectors that can serve a request without stopping threads for it.
const CONCURRENT: [&str; 1] = ["G1"];

pub const RULE: Rule = Rule {
    name: "full collections",
    source: "HotSpot Virtual Machine Garbage Collection Tuning Guide: total heap, explicit garbage collection, class metadata",
    needs: |_| &[Need::Collections],
    examine,
};

fn examine(evidence: &Evidence) -> Option<Found> {
    let pauses = evidence.eden.pauses?;
    let stopped = (pauses.full / evidence.seconds).min(1.0);
    if stopped < LEAST_STOPPED {
        return None;
    }
    match pauses.full_count {
        0 => return None,
        count if count >= FEWEST => {}
        _ if pauses.full < LONG || evidence.eden.since_start?.full_share() < LEAST_STOPPED => return None,
        _ => {}
    }
    // Not of all collections: a request brings a young one as well, and G1 has young ones for class metadata.
    let causes = &evidence.eden.full_causes;
    let most_for = |named: &[&str]| {
        let count: u64 = named.iter().map(|cause| causes.of(cause)).sum();
        count as f64 >= MOST_FREQUENT * pauses.full_count as f64
    };
    let (cause, advice) = if most_for(&BY_PROGRAM) {
        ("on request (System.gc())", on_request(evidence))
    } else if most_for(&BY_TOOLS) {
        // Who looks at the heap once has no habit.
        if pauses.full_count < FEWEST {
            return None;
        }
        ("for tools that look at the heap", vec![for_tools()])
    } else if most_for(&METADATA) {
        ("for class metadata", vec![for_metadata(evidence, causes)])
    } else if most_for(&COMPILED_CODE) {
        ("for compiled code", vec![for_compiled_code()])
    } else if is_growing(evidence) {
        ("while the heap is still growing", vec![for_growth(evidence)])
    } else {
        ("", vec![for_heap(evidence)])
    };
    let text = match evidence.eden.since_start {
        Some(since) if pauses.full_count < FEWEST => one(pauses.full, cause, since),
        _ => several(pauses.full_count as f64 / evidence.seconds, cause, stopped),
    };
    Some(Found { evidence: text, advice })
}

fn several(rate: f64, cause: &str, stopped: f64) -> String {
    let cause = match cause {
        "" => String::new(),
        _ if cause.starts_with("while") => format!(", {cause},"),
        _ => format!(", most of them {cause},"),
    };
    format!(
        "{} full collections/s{cause} stop all threads for {} of the time.",
        quantity(rate, ""),
        share(stopped)
    )
}

/// How often they come is then known only of all the time that the JVM has run.
fn one(seconds: f64, cause: &str, since: SinceStart) -> String {
    let cause = if cause.is_empty() { String::new() } else { format!(", {cause}") };
    let stopped = share(since.full_share());
    let one = format!("one full collection of {}{cause}", quantity(seconds, "s"));
    match since.full_count {
        0 | 1 => {
            let comma = if cause.is_empty() { "" } else { "," };
            format!("{one}{comma} has stopped all threads for {stopped} of the time since the JVM's start.")
        }
        count => format!(
            "{one}; since the JVM's start {count} have stopped all threads for {stopped} of the time."
        ),
    }
}

fn on_request(evidence: &Evidence) -> Vec<Advice> {
    let concurrent = Advice {
        remedy: Remedy::flag("-XX:+ExplicitGCInvokesConcurrent"),
        effect: Effect::default(),
        note: "requests then begin a concurrent cycle",
    };
    let flags = &evidence.jvm.flags;
    let can =
        CONCURRENT.contains(&evidence.jvm.collector.as_str()) && !flags.is_on("ExplicitGCInvokesConcurrent");
    can.then_some(concurrent).into_iter().chain([fewer_requests()]).collect()
}

pub(super) fn fewer_requests() -> Advice {
    Advice {
        remedy: Remedy::Program("call System.gc() less often".into()),
        effect: Effect::default(),
        note: "-Xlog:gc has the times; direct buffers that reach -XX:MaxDirectMemorySize call it, and so does RMI",
    }
}

fn for_tools() -> Advice {
    Advice {
        remedy: Remedy::Program("have tools inspect the heap less often".into()),
        effect: Effect::default(),
        note: "jmap -histo:live and -dump:live, jcmd GC.class_histogram, GC.heap_dump and GC.run collect the whole heap first",
    }
}

/// Whether the old generation is full at the size that it has now, which is not all that it may get.
fn is_growing(evidence: &Evidence) -> bool {
    let growth = || {
        let most = evidence.jvm.flags.number("MaxHeapSize")?;
        let left = most.saturating_sub(evidence.memory.heap_committed?).min(evidence.memory.growth_left?);
        Some(left as f64 / most as f64)
    };
    growth().is_some_and(|growth| growth >= LEAST_GROWTH)
}

fn for_growth(evidence: &Evidence) -> Advice {
    let flags = &evidence.jvm.flags;
    let fits = |heap: u64| evidence.memory.available.is_some_and(|left| left >= heap);
    // What is committed is not needed once more: the condition is on the safe side.
    let whole = flags.number("MaxHeapSize").filter(|heap| fits(*heap)).map(|heap| heap >> 20);
    Advice {
        remedy: whole.map_or_else(
            || Remedy::Program("a larger initial heap (-Xms), as memory permits".into()),
            |heap| Remedy::flag(format!("-Xms{heap}m")),
        ),
        effect: Effect::default(),
        note: "the old generation grows in steps, and each may take a collection of the whole heap",
    }
}

pub(super) fn for_heap(evidence: &Evidence) -> Advice {
    if let Some(advice) = past_large_references(evidence) {
        return advice;
    }
    let larger = larger_heap(evidence).map(|heap| Remedy::flag(format!("-Xmx{}m", heap >> 20)));
    Advice {
        remedy: larger.unwrap_or_else(|| {
            Remedy::Program(
                "a larger heap (-Xmx), as memory permits, or fewer objects that stay alive".into(),
            )
        }),
        effect: Effect::default(),
        note: "collections come more rarely where live objects leave more of the heap",
    }
}

/// Twice as large, as far as memory reaches; `None` where that is not worth a change, or not known.
pub(super) fn larger_heap(evidence: &Evidence) -> Option<u64> {
    let heap = evidence.jvm.flags.number("MaxHeapSize")? as f64;
    let room = room::of_heap(evidence, eden(evidence))?;
    let larger = heap + room.min(heap);
    (larger >= LEAST_FACTOR * heap).then_some(larger as u64)
}

fn eden(evidence: &Evidence) -> f64 {
    evidence.bytes_of_eden().unwrap_or(0.0)
}

/// Where a slightly larger heap would hold less.
pub(super) fn past_large_references(evidence: &Evidence) -> Option<Advice> {
    let ends = larger_heap(evidence).is_none() && room::ends_at_large_references(evidence, eden(evidence));
    let larger = 2 * room::alignment(&evidence.jvm.flags);
    ends.then(|| Advice {
        remedy: Remedy::Program(format!(
            "fewer objects that stay alive; or -XX:ObjectAlignmentInBytes={larger}, and then a larger heap (-Xmx)"
        )),
        effect: Effect::default(),
        note: "in a slightly larger heap references have 8 bytes instead of 4, which takes more than it has; where objects are aligned to twice as many bytes they stay small in twice the heap",
    })
}
