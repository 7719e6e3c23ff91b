//! G1 collects because humongous objects fill the heap: those larger than half a region, which lie outside eden.

use super::room::{self, FilledEden};
use crate::causes::Rates;
use crate::evidence::Evidence;
use crate::finding::{Advice, Effect, Found, Remedy, Rule, Sure};
use crate::need::Need;
use present::numbers::{bytes, human, quantity, share};

/// As HotSpot says it.
pub(super) const CAUSE: &str = "G1 Humongous Allocation";
/// Of the time, by these collections.
const LEAST_STOPPED: f64 = 0.01;
/// Of the collections: where eden would fill nearly as often, nothing is gained.
const MOST_LEFT: f64 = 0.9;
/// How much larger regions become, and how many of them G1 still needs to choose from.
const LARGER: u64 = 4;
const FEWEST_REGIONS: u64 = 64;
/// The largest region of JDK 17; later ones take more.
const LARGEST: u64 = 32 << 20;

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
    let flags = &evidence.jvm.flags;
    let region = flags.number("G1HeapRegionSize").filter(|size| *size > 0);
    let text = format!(
        "{} collections/s come for humongous objects, larger than half a region{}: threads are stopped for {} of the time.",
        quantity(rate, ""),
        region.map_or(String::new(), |region| format!(" ({})", human(region as f64 / 2.0))),
        share(stopped),
    );
    let effect = without(evidence, rates, rate);
    if effect.collections.is_some_and(|left| left > MOST_LEFT) {
        return None;
    }
    // Eden was not full when these collections came.
    let (fits, text) = match room::of_filled_eden(evidence) {
        FilledEden::Fits(sentence) => (true, text + &sentence),
        FilledEden::Lacks(sentence) => (false, text + &sentence),
    };
    let most = flags.number("MaxHeapSize").unwrap_or(u64::MAX) / FEWEST_REGIONS;
    let larger = |region: u64| region.saturating_mul(LARGER).min(LARGEST).min(power_of_two(most));
    // Who chose a size may have had a reason.
    let region = region.filter(|region| larger(*region) > *region && !flags.is_chosen("G1HeapRegionSize"));
    let sized = region.filter(|_| fits).map(|region| Advice {
        remedy: Remedy::flag(format!("-XX:G1HeapRegionSize={}", bytes(larger(region) as f64))),
        effect,
        note: "at best: if they fit in half of such a region",
    });
    let program = Advice {
        remedy: Remedy::Program("allocate smaller arrays, or keep large ones".into()),
        effect: Effect::default(),
        note: "-Xlog:gc+humongous=debug names their sizes at each collection",
    };
    Some(Found { evidence: text, advice: sized.into_iter().chain([program]).collect() })
}

/// When none of these `rate` collections a second comes any more. Untold where nobody knows what fills eden then.
fn without(evidence: &Evidence, rates: Rates, rate: f64) -> Effect {
    // Objects that are not humongous any more fill eden with all others: `used` has the bytes of both.
    let eden = evidence.eden.mean_bytes.or(evidence.eden.bytes);
    let Some((eden, allocation)) = eden.zip(evidence.allocation.as_ref()) else { return Effect::default() };
    // Concurrent cycles come with them, and go.
    let kept = 1.0 - (rate / (rates.full + rates.others)).min(1.0);
    let left = Rates {
        following: rates.following * kept,
        ..Rates::in_eden(eden * evidence.seconds / allocation.used, rates.others - rate)
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
