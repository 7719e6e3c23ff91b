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
/// How much larger regions become where nobody has seen how large the objects are.
const LARGER: u64 = 4;
/// How many of them G1 still needs to choose from, and where they become more than so much larger, which no trial has shown to be harmless.
const FEWEST_REGIONS: u64 = 64;
const FEWEST_OF_LARGEST: u64 = 128;
/// The largest region up to JDK 17, which HotSpot itself never exceeds, and the largest from JDK 18 on (`HeapRegionBounds::MAX_REGION_SIZE`).
const LARGEST: u64 = 32 << 20;
const LARGEST_SINCE_18: u64 = 512 << 20;
/// Of the collections that any regions would save: smaller ones that save as much are preferred.
const SAVED_AS_WELL: f64 = 0.9;

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
        // Where the observer came too late, it has seen none.
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
        Some((_, objects)) => {
            let (region, effect) = fitting(evidence, (rates, rate), objects, region)?;
            let note = match Humongous::of(objects, region).regions > 0.0 {
                true => "at most so many, if few of them survive a collection, which then copies them",
                false => "if few of them survive a collection, which then copies them",
            };
            Some((region, effect, note))
        }
        None => {
            let larger = largest(evidence, region).min(region.saturating_mul(LARGER)).min(LARGEST);
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
            None => "if none is larger than that any more; -Xlog:gc+humongous=debug names their sizes",
        },
    };
    Some(Found { evidence: text, advice: sized.into_iter().chain([program]).collect() })
}

/// Objects that have regions of their own, for the time that was watched, in bytes.
#[derive(Clone, Copy)]
struct Humongous {
    objects: f64,
    /// Each has a whole number of them.
    regions: f64,
    /// Not used of eden's regions by those that are not humongous any more, at most: smaller objects may fill it.
    unused: f64,
}

impl Humongous {
    const NONE: Humongous = Humongous { objects: 0.0, regions: 0.0, unused: 0.0 };

    /// Where regions have this size.
    fn of(objects: &LargeObjects, region: u64) -> Humongous {
        let humongous = objects.0.iter().filter(|class| is_humongous(class, region));
        humongous.fold(Humongous::NONE, |sum, class| {
            let taken = (size(class) / region as f64).ceil() * region as f64;
            Humongous {
                objects: sum.objects + class.bytes as f64,
                regions: sum.regions + class.count as f64 * taken,
                ..sum
            }
        })
    }

    /// Where regions have had the size `before`, and get this one.
    fn left(objects: &LargeObjects, before: u64, region: u64) -> Humongous {
        let fitting = |class: &&Class| is_humongous(class, before) && !is_humongous(class, region);
        let unused = objects.0.iter().filter(fitting).map(|class| {
            let each = size(class);
            let used = (region as f64 / each).floor() * each;
            class.bytes as f64 * (region as f64 / used - 1.0)
        });
        Humongous { unused: unused.sum(), ..Humongous::of(objects, region) }
    }
}

fn is_humongous(class: &Class, region: u64) -> bool {
    class.most_bytes > region / 2
}

/// Bytes of one of them: programs have few sizes in a class, which are taken for one. Count and bytes were not read at the same moment.
fn size(class: &Class) -> f64 {
    let most = class.most_bytes as f64;
    (class.bytes as f64 / class.count as f64).clamp(most / 2.0, most)
}

/// The sizes that most of their bytes are in.
fn sizes(objects: &LargeObjects, region: u64, seconds: f64) -> Option<String> {
    let all = Humongous::of(objects, region).objects;
    let humongous = objects.0.iter().filter(|class| is_humongous(class, region));
    let most = humongous.max_by_key(|class| class.bytes)?;
    Some(format!(
        " {}/s are allocated in such objects, {} of that in objects of {} to {}.",
        human(all / seconds),
        share(most.bytes as f64 / all),
        human(most.most_bytes as f64 / 2.0),
        human(most.most_bytes as f64),
    ))
}

/// The smallest larger regions that save as much as any, and what they save: untold where nobody knows what fills eden.
fn fitting(
    evidence: &Evidence,
    (rates, rate): (Rates, f64),
    objects: &LargeObjects,
    region: u64,
) -> Option<(u64, Effect)> {
    let now = Humongous::of(objects, region).regions;
    let larger = std::iter::successors(Some(region), |region| region.checked_mul(2)).skip(1);
    let tried = larger.take_while(|larger| *larger <= largest(evidence, region)).map(|larger| {
        let left = Humongous::left(objects, region, larger);
        // They bring a collection whenever they have taken so much of the heap: the more, the less of it is asked for a second (`G1AdaptiveIHOPControl`), so that
        // no more are left. Where one cycle follows the other there are fewer, and fewer to be saved.
        let part = left.regions / now;
        let effect = left_of(evidence, rates, rate * (1.0 - part), left);
        (larger, effect, 1.0 - part.max(effect.collections.unwrap_or(0.0)))
    });
    let tried: Vec<(u64, Effect, f64)> = tried.collect();
    let most = tried.iter().map(|(.., saved)| *saved).fold(1.0 - MOST_LEFT, f64::max);
    let found =
        tried.into_iter().find(|(.., saved)| *saved >= SAVED_AS_WELL * most && *saved >= 1.0 - MOST_LEFT);
    found.map(|(region, effect, _)| (region, effect))
}

/// The largest regions that leave G1 enough of them.
fn largest(evidence: &Evidence, region: u64) -> u64 {
    let is_recent = evidence.jvm.feature().is_some_and(|feature| feature >= 18);
    let allowed = if is_recent { LARGEST_SINCE_18 } else { LARGEST };
    let heap = evidence.jvm.flags.number("MaxHeapSize").unwrap_or(LARGEST * FEWEST_REGIONS);
    let of = |regions: u64| power_of_two(heap / regions);
    of(FEWEST_REGIONS).min(region.saturating_mul(LARGER)).max(of(FEWEST_OF_LARGEST)).min(allowed)
}

/// When `fewer` of these collections a second come, and so much is still humongous. Untold where nobody knows what fills eden then.
fn left_of(evidence: &Evidence, rates: Rates, fewer: f64, humongous: Humongous) -> Effect {
    // Objects that are not humongous any more fill eden with all others: `used` has the bytes of both.
    let eden = evidence.eden.mean_bytes.or(evidence.eden.bytes);
    let Some((eden, allocation)) = eden.zip(evidence.allocation.as_ref()) else { return Effect::default() };
    let filling = (allocation.used - humongous.objects + humongous.unused).max(0.0);
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
