//! Collections of a small young generation take much of the time, and the machine has memory to spare.

use super::{full_collections, humongous_objects, room};
use crate::causes::Rates;
use crate::evidence::Evidence;
use crate::finding::{Advice, Effect, Found, Remedy, Rule, Sure};
use crate::need::Need;
use present::numbers::{human, quantity, share};

/// Of the time.
const LEAST_STOPPED: f64 = 0.03;
const FEWEST_A_SECOND: f64 = 0.5;
/// How much larger, where there is room.
const FACTOR: f64 = 4.0;
/// Less than that is not worth a change.
const LEAST_FACTOR: f64 = 1.5;
/// Of eden: HotSpot's least `SurvivorRatio`, 1, gives survivors twice what eden has.
const LARGEST_YOUNG: f64 = 3.0;
/// Of the heap.
const MOST_YOUNG: f64 = 0.9;
/// Of the collections, for humongous objects: they come when these and the old generation fill a share of the heap, which grows. Nothing tells how full it is
/// without them, so that their number is taken to stay.
const HUMONGOUS: f64 = 0.1;
/// Of the heap, by what is left after a collection.
const NEARLY_FULL: f64 = 0.8;
/// Where ended threads leave so much of eden unused, it is large enough: the finding about them has the remedy.
const UNUSED: f64 = 0.5;

pub const RULE: Rule = Rule {
    name: "small young generation",
    source: "HotSpot Virtual Machine Garbage Collection Tuning Guide: the young generation's size and throughput",
    needs,
    examine,
};

fn examine(evidence: &Evidence) -> Option<Found> {
    let (eden, rates) = (evidence.bytes_of_eden()?, evidence.collection_rates()?);
    let stopped = evidence.full_eden_share().filter(|_| is_sizable(evidence))?;
    if stopped < LEAST_STOPPED || rates.full < FEWEST_A_SECOND {
        return None;
    }
    if evidence.allocation.as_ref().is_some_and(|bytes| bytes.waste_ended >= UNUSED * bytes.used) {
        return None;
    }
    let is_full = is_squeezed(evidence);
    // Its advice is the same.
    if is_full && (full_collections::RULE.examine)(evidence).is_some() {
        return None;
    }
    let text = format!(
        "{} collections/s of {} eden of {} stop all threads for {} of the time{}.",
        quantity(rates.full, ""),
        if rates.others > 0.0 { "a full" } else { "an" },
        human(eden),
        share(stopped),
        if is_full { "; the heap is nearly full, which leaves eden no more" } else { "" },
    );
    let advice = match room::of_heap(evidence, eden) {
        _ if is_full => full_collections::for_heap(evidence),
        room if has_pause_goal(evidence) => {
            for_pause_goal(evidence, room.is_none_or(|room| room >= (LEAST_FACTOR - 1.0) * eden))
        }
        Some(room) => larger(evidence, eden, rates, room)
            .unwrap_or_else(|| without_room(room::ends_at_large_references(evidence, eden))),
        None => of_unknown_size(),
    };
    Some(Found { evidence: text, advice: vec![advice] })
}

/// Whether G1 gives eden what live objects leave of the heap, which is little: a larger eden in the same old generation would not have room for them. A program
/// whose objects filled 0.86 of the heap allocated 1.8 times as much with a heap twice as large as with a young generation four times as large.
fn is_squeezed(evidence: &Evidence) -> bool {
    let full = || {
        let (used, most) = (evidence.memory.heap_used?, evidence.jvm.flags.number("MaxHeapSize")?);
        Some(used as f64 >= NEARLY_FULL * most as f64)
    };
    evidence.jvm.collector == "G1" && full().unwrap_or(false)
}

/// ZGC sizes its generations by itself, and has no -Xmn; Shenandoah has no young generation.
fn is_sizable(evidence: &Evidence) -> bool {
    !["Z", "Shenandoah"].contains(&evidence.jvm.collector.as_str())
}

fn needs(evidence: &Evidence) -> &'static [Need] {
    if is_sizable(evidence) { &[Need::Collections] } else { &[] }
}

/// `None` where there is no room.
fn larger(evidence: &Evidence, eden: f64, rates: Rates, room: f64) -> Option<Advice> {
    let young = eden * young_of_eden(evidence);
    let growing = if survivors_stay(evidence) { eden } else { young };
    let factor = (1.0 + room / growing).min(FACTOR);
    let more = (factor - 1.0) * growing;
    // The old generation keeps what it has: nobody here knows how much of it lives.
    let heap = evidence.jvm.flags.number("MaxHeapSize")? as f64 + more;
    let megabytes = |bytes: f64| (bytes / f64::from(1 << 20)).ceil() as u64;
    let (young, heap) = (megabytes(young + more), megabytes(heap));
    let mut flags = vec![format!("-Xmn{young}m"), format!("-Xmx{heap}m")];
    if starts_too_small(evidence, young << 20, heap << 20) {
        flags.push(format!("-Xms{heap}m"));
    }
    // What does not leave an old generation is no young one.
    if factor < LEAST_FACTOR || young as f64 > MOST_YOUNG * heap as f64 {
        return None;
    }
    let fewer = rates.with_larger_eden(factor);
    Some(Advice {
        remedy: Remedy::Flags(flags),
        effect: evidence.effect(
            Some(fewer.all() / rates.all()),
            evidence.saved_by_fewer_collections(fewer.full / rates.full),
            Sure::Estimated,
        ),
        note: match evidence.jvm.collector.as_str() {
            "G1" if evidence.share_of_cause(humongous_objects::CAUSE) >= HUMONGOUS => {
                "at most so many, as humongous objects have more room; G1 then no longer adheres to its pause-time goal"
            }
            "G1" => "if few additional objects survive; G1 then no longer adheres to its pause-time goal",
            _ => "if few additional objects survive",
        },
    })
}

/// Whether the young generation needs an initial heap that is as large as the whole one. Serial cuts `NewSize` off below the heap that it starts with
/// (`GenArguments::initialize_heap_flags_and_sizes`), and the young generation then has what the old one's size gives it. Where nobody has chosen that heap,
/// the others make it as large as both generations (`Arguments::set_heap_size`); a chosen one they keep: Parallel cuts `NewSize` off as well, and G1 takes for
/// eden what is free (`G1Policy::calculate_young_target_length`).
fn starts_too_small(evidence: &Evidence, young: u64, heap: u64) -> bool {
    let flags = &evidence.jvm.flags;
    let initial = flags.number("InitialHeapSize").unwrap_or(0);
    match evidence.jvm.collector.as_str() {
        "Serial" => initial <= young,
        _ => flags.is_chosen("InitialHeapSize") && initial < heap,
    }
}

/// Who has told the collector how long a pause may be wants it to size eden for that, which -Xmn ends.
fn has_pause_goal(evidence: &Evidence) -> bool {
    let flags = &evidence.jvm.flags;
    ["G1", "Parallel"].contains(&evidence.jvm.collector.as_str())
        && flags.is_chosen("MaxGCPauseMillis")
        && !has_one_size(evidence)
}

/// Whether the young generation has a size that the collector does not change. One bound alone leaves it free below or above; a part of the heap
/// (`NewRatio`) is fixed for G1 alone, and for the others a bound (`G1YoungGenSizer`, `GenArguments::initialize_heap_flags_and_sizes`).
fn has_one_size(evidence: &Evidence) -> bool {
    let flags = &evidence.jvm.flags;
    let bounds = ["NewSize", "MaxNewSize"];
    let chosen = bounds.map(|name| flags.is_chosen(name));
    match chosen {
        [true, true] => flags.number(bounds[0]) == flags.number(bounds[1]),
        [false, false] => evidence.jvm.collector == "G1" && flags.is_chosen("NewRatio"),
        _ => false,
    }
}

fn for_pause_goal(evidence: &Evidence, has_room: bool) -> Advice {
    let bound = if evidence.jvm.flags.is_chosen("MaxNewSize") { "a larger -XX:MaxNewSize, " } else { "" };
    let heap = if has_room { ", or a larger heap (-Xmx), as memory permits" } else { "" };
    Advice {
        remedy: Remedy::Program(format!("{bound}a longer -XX:MaxGCPauseMillis{heap}")),
        effect: Effect::default(),
        note: "the collector sizes eden for this goal, which -Xmn would end",
    }
}

/// What is found is said all the same.
fn without_room(for_references: bool) -> Advice {
    let part = "where little survives, a larger part of this heap (-Xmn)";
    let (remedy, note) = match for_references {
        true => (
            part.to_owned(),
            "no size: a larger heap would have larger references, and how much the old generation needs cannot be observed",
        ),
        false => (
            format!("more memory for a larger heap (-Xmx, -Xmn); or, {part}"),
            "no size: little memory is left for a larger heap, and how much the old generation needs cannot be observed",
        ),
    };
    Advice { remedy: Remedy::Program(remedy), effect: Effect::default(), note }
}

/// A size that is too large ends the program: none is better.
fn of_unknown_size() -> Advice {
    Advice {
        remedy: Remedy::Program("a larger young generation (-Xmn, and -Xmx), as memory permits".into()),
        effect: Effect::default(),
        note: "no size: the heap's present one, or what memory is left, could not be observed",
    }
}

/// Whether survivor spaces are as large as what survives, whatever the young generation's size: Parallel's, unless it was told not to adapt them
/// (`PSAdaptiveSizePolicy::compute_survivor_space_size_and_threshold`).
fn survivors_stay(evidence: &Evidence) -> bool {
    let adapts = evidence.jvm.flags.get("UseAdaptiveSizePolicy").is_none_or(|flag| flag.value == "true");
    evidence.jvm.collector == "Parallel" && adapts
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

#[cfg(test)]
mod tests {
    use crate::rules::examine;
    use crate::rules::sick::{flags, healthy};

    fn advised(chosen: &str, collector: &str) -> String {
        let mut evidence = healthy();
        evidence.jvm.collector = collector.into();
        evidence.jvm.flags = flags(chosen);
        evidence.eden.collecting = Some(1.0);
        examine(&evidence)[0].advice[0].remedy.text()
    }

    #[test]
    fn a_chosen_pause_goal_is_not_defeated() {
        let mut full = healthy();
        (full.jvm.collector, full.jvm.flags) = ("G1".into(), flags("MaxGCPauseMillis=50"));
        (full.eden.collecting, full.memory.available) = (Some(1.0), Some(1 << 20));
        assert_eq!(examine(&full)[0].advice[0].remedy.text(), "a longer -XX:MaxGCPauseMillis", "no room");
        for (chosen, collector) in [("", "G1"), ("", "Parallel"), ("MaxGCPauseMillis=50", "Serial")] {
            assert!(advised(chosen, collector).starts_with("-Xmn"), "{collector} takes no notice");
        }
        for collector in ["G1", "Parallel"] {
            let goal = advised("MaxGCPauseMillis=50", collector);
            assert!(goal.starts_with("a longer -XX:MaxGCPauseMillis"), "{goal}");
        }
    }

    #[test]
    fn only_a_young_generation_of_one_size_has_no_pause_goal() {
        let with_goal =
            |sizes: &str, collector: &str| advised(&format!("MaxGCPauseMillis=50 {sizes}"), collector);
        for (sizes, collector) in [
            ("NewSize=8388608 MaxNewSize=8388608", "G1"),
            ("NewRatio=2", "G1"),
            ("NewSize=8388608 MaxNewSize=8388608", "Parallel"),
        ] {
            assert!(with_goal(sizes, collector).starts_with("-Xmn"), "{collector} {sizes}");
        }
        for (sizes, collector) in [
            ("NewSize=8388608", "G1"),
            ("NewRatio=2 NewSize=8388608", "G1"),
            ("NewSize=8388608 MaxNewSize=16777216", "G1"),
            ("NewRatio=2", "Parallel"),
        ] {
            assert!(
                with_goal(sizes, collector).contains("a longer -XX:MaxGCPauseMillis"),
                "{collector} {sizes}"
            );
        }
        let bounded = with_goal("MaxNewSize=16777216", "G1");
        assert!(bounded.starts_with("a larger -XX:MaxNewSize, a longer"), "{bounded}");
    }

    /// A JVM of 28 GB on a machine that has much more.
    #[test]
    fn a_heap_whose_references_would_become_larger_is_not_said_to_lack_memory() {
        let mut evidence = healthy();
        evidence.jvm.flags = flags(&format!("MaxHeapSize={} UseCompressedOops=true", 30u64 << 30));
        evidence.memory.available = Some(256 << 30);
        (evidence.eden.bytes, evidence.eden.mean_bytes) = (Some(4e9), Some(4e9));
        evidence.allocation.as_mut().unwrap().used = 4e10;
        evidence.eden.collecting = Some(1.0);
        let advice = &examine(&evidence)[0].advice[0];
        assert_eq!(advice.remedy.text(), "where little survives, a larger part of this heap (-Xmn)");
        assert!(advice.note.contains("larger references"), "{}", advice.note);
    }
}
