//! G1 collects because humongous objects fill the heap: those larger than half a region, which lie outside eden.

use super::room::{self, FilledEden};
use crate::causes::Rates;
use crate::evidence::Evidence;
use crate::finding::{Advice, Effect, Found, Remedy, Rule, Sure};
use crate::need::Need;
use jvm::large_objects::{Class, LargeObjects};
use present::numbers::{bytes, human, quantity, share};

/// As HotSpot says it.
pub(super) const CAUSE: &str = "G1 Humongous Allocation";
/// Of the time, by these collections.
const LEAST_STOPPED: f64 = 0.01;
/// Of the collections: where eden would fill nearly as often, nothing is gained.
const MOST_LEFT: f64 = 0.9;
/// How much larger regions become where nobody knows how large the objects are, and how many regions G1 still needs to choose from.
const LARGER: u64 = 4;
const FEWEST_REGIONS: u64 = 64;
/// The largest region of JDK 17, and of those from JDK 18 on (`HeapRegionBounds::MAX_SIZE`).
const LARGEST: u64 = 32 << 20;
const LARGEST_SINCE_18: u64 = 512 << 20;
/// Larger regions that save hardly more collections than smaller ones are not worth their waste.
const AS_FEW: f64 = 1.1;

pub const RULE: Rule = Rule {
    name: "humongous objects",
    source: "HotSpot: G1CollectedHeap::attempt_allocation_humongous; java -XX:G1HeapRegionSize",
    needs,
    examine,
};

fn examine(evidence: &Evidence) -> Option<Found> {
    let (part, rates) = (evidence.share_of_cause(CAUSE), evidence.collection_rates()?);
    let rate = rates.all() * part;
    let stopped = match evidence.share_of_young(rate) {
        Some(share) => share,
        None => evidence.collecting_share()? * part,
    };
    if stopped < LEAST_STOPPED {
        return None;
    }
    let region = evidence.jvm.flags.number("G1HeapRegionSize").filter(|size| *size > 0);
    let mut text = format!(
        "{} collections/s come for humongous objects, larger than half a region{}: threads are stopped for {} of the time.",
        quantity(rate, ""),
        region.map_or(String::new(), |region| format!(" ({})", human(region as f64 / 2.0))),
        share(stopped),
    );
    let gone = left_of(evidence, rates, rate, Humongous::NONE);
    if gone.collections.is_some_and(|left| left > MOST_LEFT) {
        return None;
    }
    let seen = region.zip(evidence.large_objects.as_ref()).filter(|(region, objects)| {
        // They may have been allocated before anybody counted.
        Humongous::of(objects, *region).regions > 0.0
    });
    text.extend(seen.and_then(|(region, objects)| sizes(objects, region, evidence.seconds)));
    // Eden was not full when these collections came.
    let (fits, text) = match room::of_filled_eden(evidence) {
        FilledEden::Fits(sentence) => (true, text + &sentence),
        FilledEden::Lacks(sentence) => (false, text + &sentence),
    };
    // Who chose a size may have had a reason.
    let region = region.filter(|_| fits && !evidence.jvm.flags.is_chosen("G1HeapRegionSize"));
    let sized = region.and_then(|region| match seen {
        Some((_, objects)) => fitting(evidence, (rates, rate), objects, region),
        None => {
            let larger = region.saturating_mul(LARGER).min(LARGEST).min(largest(evidence));
            (larger > region).then_some((larger, gone, "at best: if they fit in half of such a region"))
        }
    });
    let sized = sized.map(|(region, effect, note)| Advice {
        remedy: Remedy::flag(format!("-XX:G1HeapRegionSize={}", bytes(region as f64))),
        effect,
        note,
    });
    let program = Advice {
        remedy: Remedy::Program("allocate smaller arrays, or keep large ones".into()),
        effect: gone,
        note: match seen {
            Some(_) => "if none is larger than half a region any more",
            None => "-Xlog:gc+humongous=debug names their sizes at each collection",
        },
    };
    Some(Found { evidence: text, advice: sized.into_iter().chain([program]).collect() })
}

/// Objects that have regions of their own, for the time that was watched.
#[derive(Clone, Copy)]
struct Humongous {
    /// Their bytes.
    objects: f64,
    /// Bytes of their regions: each has a whole number of them.
    regions: f64,
}

impl Humongous {
    const NONE: Humongous = Humongous { objects: 0.0, regions: 0.0 };

    /// Where regions have this size.
    fn of(objects: &LargeObjects, region: u64) -> Humongous {
        let humongous = objects.0.iter().filter(|class| is_humongous(class, region));
        humongous.fold(Humongous::NONE, |sum, class| {
            let (count, bytes, region) = (class.count as f64, class.bytes as f64, region as f64);
            // Programs have few sizes in a class: they are taken for one.
            let each = (bytes / count / region).ceil() * region;
            Humongous { objects: sum.objects + bytes, regions: sum.regions + count * each }
        })
    }
}

fn is_humongous(class: &Class, region: u64) -> bool {
    class.most > region / 2
}

/// The sizes that most of their bytes are in.
fn sizes(objects: &LargeObjects, region: u64, seconds: f64) -> Option<String> {
    let all = Humongous::of(objects, region).objects;
    let humongous = objects.0.iter().filter(|class| is_humongous(class, region));
    let most = humongous.max_by_key(|class| class.bytes)?;
    Some(format!(
        " Of {}/s of such objects {} are in ones of {} to {}.",
        human(all / seconds),
        share(most.bytes as f64 / all),
        human(most.most as f64 / 2.0),
        human(most.most as f64),
    ))
}

/// The smallest larger regions that save as much as any, and what they save.
fn fitting(
    evidence: &Evidence,
    (rates, rate): (Rates, f64),
    objects: &LargeObjects,
    region: u64,
) -> Option<(u64, Effect, &'static str)> {
    let now = Humongous::of(objects, region).regions;
    let larger = std::iter::successors(Some(region), |region| region.checked_mul(2)).skip(1);
    let tried = larger.take_while(|region| *region <= largest(evidence)).filter_map(|region| {
        let left = Humongous::of(objects, region);
        // They bring a collection whenever they have taken so much of the heap.
        let part = left.regions / now;
        (part <= MOST_LEFT).then(|| (region, left_of(evidence, rates, rate * (1.0 - part), left)))
    });
    let tried: Vec<(u64, Effect)> = tried.collect();
    let fewest = tried.iter().filter_map(|(_, effect)| effect.collections).reduce(f64::min)?;
    let (region, effect) = tried.into_iter().find(|(_, effect)| {
        effect.collections.is_some_and(|left| left <= MOST_LEFT && left <= AS_FEW * fewest)
    })?;
    Some((region, effect, "expected from the objects' sizes"))
}

/// The largest regions that leave G1 enough of them.
fn largest(evidence: &Evidence) -> u64 {
    let allowed =
        if evidence.jvm.feature().is_some_and(|feature| feature >= 18) { LARGEST_SINCE_18 } else { LARGEST };
    let heap = evidence.jvm.flags.number("MaxHeapSize").unwrap_or(LARGEST * FEWEST_REGIONS);
    allowed.min(power_of_two(heap / FEWEST_REGIONS))
}

/// When `fewer` of these collections a second come, and so much is still humongous. Untold where nobody knows what fills eden then.
fn left_of(evidence: &Evidence, rates: Rates, fewer: f64, humongous: Humongous) -> Effect {
    // Objects that are not humongous any more fill eden with all others: `used` has the bytes of both.
    let eden = evidence.eden.mean_bytes.or(evidence.eden.bytes);
    let Some((eden, allocation)) = eden.zip(evidence.allocation.as_ref()) else { return Effect::default() };
    let filling = (allocation.used - humongous.objects).max(0.0);
    // Concurrent cycles come with them, and go.
    let kept = (1.0 - fewer / (rates.full + rates.others)).clamp(0.0, 1.0);
    let left = Rates {
        following: rates.following * kept,
        ..Rates::in_eden(eden * evidence.seconds / filling, rates.others - fewer)
    };
    let collections = left.all() / rates.all();
    if !collections.is_finite() {
        return Effect::default();
    }
    let saved = match evidence.eden.pauses {
        Some(pauses) => {
            let young = pauses.young_count as f64 / evidence.seconds;
            // Of the others some collect the whole heap: they are no young ones, and stay.
            let whole = pauses.full_count as f64 / evidence.seconds;
            let fewer = (1.0 - (left.full + left.others - whole).max(0.0) / young).max(0.0);
            (pauses.young * fewer + pauses.concurrent * (1.0 - kept)) / evidence.seconds
        }
        None => evidence.collecting_share().unwrap_or(0.0) * (1.0 - collections),
    };
    evidence.effect(Some(collections), evidence.saved_of_pauses(Some(saved)), Sure::Estimated)
}

/// Other collectors have none.
fn needs(evidence: &Evidence) -> &'static [Need] {
    if evidence.jvm.collector == "G1" { &[Need::Collections] } else { &[] }
}

/// The largest one that is not larger; 1 for 0.
fn power_of_two(number: u64) -> u64 {
    1 << number.max(1).ilog2()
}

#[cfg(test)]
#[path = "humongous_objects_test.rs"]
mod tests;
