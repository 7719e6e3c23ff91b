//! Collections of a small young generation take much of the time, and the machine has memory to spare.

use super::humongous_objects;
use crate::evidence::Evidence;
use crate::finding::{Advice, Effect, Found, Remedy, Rule, Sure};
use present::numbers::{human, quantity, share};

/// Of the time.
const LEAST_STOPPED: f64 = 0.03;
const FEWEST_A_SECOND: f64 = 0.5;
/// How much larger; half of what the machine could still give at most.
const FACTOR: f64 = 4.0;
/// Of eden: HotSpot's least `SurvivorRatio`, 1, gives survivors twice what eden has.
const LARGEST_YOUNG: f64 = 3.0;
/// Of the heap.
const MOST_YOUNG: f64 = 0.9;
/// References stay small in a heap below this.
const COMPRESSED: f64 = (32u64 << 30) as f64;
/// Of the collections, for humongous objects: they come when these and the old generation fill a share of the heap, which grows. Nothing tells how full it is
/// without them, so that their number is taken to stay.
const HUMONGOUS: f64 = 0.1;
/// Where ended threads leave so much of eden unused, it is large enough: the finding about them has the remedy.
const UNUSED: f64 = 0.5;

pub const RULE: Rule = Rule {
    name: "small young generation",
    source: "HotSpot Virtual Machine Garbage Collection Tuning Guide: the young generation's size and throughput",
    examine,
};

fn examine(evidence: &Evidence) -> Option<Found> {
    let (eden, rates) = (evidence.bytes_of_eden()?, evidence.collection_rates()?);
    // ZGC sizes its generations by itself, and has no -Xmn; Shenandoah has no young generation.
    let sizable = !["Z", "Shenandoah"].contains(&evidence.jvm.collector.as_str());
    let stopped = evidence.stopped_share().filter(|_| sizable)? * rates.full / rates.all();
    if stopped < LEAST_STOPPED || rates.full < FEWEST_A_SECOND {
        return None;
    }
    if evidence.allocation.as_ref().is_some_and(|bytes| bytes.waste_ended >= UNUSED * bytes.used) {
        return None;
    }
    let room = evidence.memory.available? as f64 / 2.0;
    let young = young_of_eden(evidence);
    // A heap that grows past it would have larger references.
    let below = |heap: u64| (COMPRESSED - heap as f64).max(0.0);
    let room = match evidence
        .jvm
        .flags
        .number("MaxHeapSize")
        .filter(|_| evidence.jvm.flags.is_on("UseCompressedOops"))
    {
        Some(heap) => room.min(below(heap)),
        None => room,
    };
    let factor = (1.0 + room / (eden * young)).min(FACTOR);
    let text = format!(
        "{} collections/s of {} eden of {} stop all threads for {} of the time.",
        quantity(rates.full, ""),
        if rates.others > 0.0 { "a full" } else { "an" },
        human(eden),
        share(stopped),
    );
    if factor < 1.5 {
        return None;
    }
    let megabytes = |bytes: f64| (bytes / f64::from(1 << 20)).ceil() as u64;
    let (size, more) = (megabytes(factor * eden * young), (factor - 1.0) * eden * young);
    // The old generation keeps what it has: nobody here knows how much of it lives.
    let remedy = match evidence.jvm.flags.number("MaxHeapSize") {
        Some(heap) => {
            let heap = megabytes(heap as f64 + more);
            // What does not leave an old generation is no young one.
            (size as f64 <= MOST_YOUNG * heap as f64).then_some(())?;
            Remedy::Flags(vec![format!("-Xmn{size}m"), format!("-Xmx{heap}m")])
        }
        None => Remedy::Program(format!("-Xmn{size}m, and {} MB more heap (-Xmx)", megabytes(more))),
    };
    let collections = rates.with_larger_eden(factor).all() / rates.all();
    let note = match evidence.jvm.collector.as_str() {
        "G1" if evidence.share_of_cause(humongous_objects::CAUSE) >= HUMONGOUS => {
            "at most so many: a larger heap has more room for humongous objects, too"
        }
        "G1" => "if few additional objects survive; G1 then no longer adheres to its pause-time goal",
        _ => "if few additional objects survive",
    };
    Some(Found {
        evidence: text,
        advice: vec![Advice {
            remedy,
            effect: Effect {
                collections: Some(collections),
                speed: evidence.speed_with_collections(collections),
                sure: Sure::Estimated,
            },
            note,
        }],
    })
}

/// How much larger than eden the young generation is. Parallel shrinks survivor spaces to what they need, and goes on to do so: as it is now. G1 takes
/// regions for survivors as they are needed. Where nobody can see it, they have a tenth each (`SurvivorRatio`).
fn young_of_eden(evidence: &Evidence) -> f64 {
    let eden = &evidence.eden;
    match (evidence.jvm.collector.as_str(), eden.young_bytes.zip(eden.bytes)) {
        ("G1", _) => 1.05,
        (_, Some((young, eden))) if eden > 0.0 => (young / eden).clamp(1.0, LARGEST_YOUNG),
        _ => 1.25,
    }
}
