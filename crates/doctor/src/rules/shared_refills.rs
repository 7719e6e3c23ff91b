//! Refills of TLABs cost more than they would if nobody shared what they are refilled from.

use crate::evidence::Evidence;
use crate::finding::{Advice, Found, Remedy, Rule, Sure};
use crate::need::Need;
use crate::saved::Saved;
use present::numbers::{count, quantity, share};

/// Of the program's CPU time; less cannot be told from noise.
const LEAST_SHARE: f64 = 0.02;
/// How much larger TLABs may become, the largest first: refills that come an eighth as often need no smaller TLABs' economy.
const LARGER: [u64; 3] = [8, 4, 2];
/// Of Shenandoah, in bytes.
const SMALLEST_REGION: u64 = 256 << 10;

pub const RULE: Rule = Rule {
    name: "shared refills",
    source: "HotSpot: CollectedHeap::allocate_new_tlab; docs/results.md, only allocation with small TLABs",
    needs: |_| &[Need::Refills, Need::CpuTime],
    examine,
};

/// The largest TLAB with which HotSpot certainly starts (`TLABSizeConstraintFunc`): half of G1's region; elsewhere the smallest region that there is.
fn largest(evidence: &Evidence) -> u64 {
    let region = evidence.jvm.flags.number("G1HeapRegionSize").filter(|_| evidence.jvm.collector == "G1");
    region.map_or(SMALLEST_REGION, |bytes| bytes / 2)
}

fn examine(evidence: &Evidence) -> Option<Found> {
    let (refills, cpu) = (evidence.refills.as_ref()?, evidence.application_cpu?);
    let avoidable = refills.quick.avoidable_seconds() + refills.locked.avoidable_seconds();
    let spent = (refills.quick.total_ns + refills.locked.total_ns) / 1e9;
    if cpu <= 0.0 || avoidable / cpu < LEAST_SHARE {
        return None;
    }
    let number = refills.quick.count + refills.locked.count;
    let mut text = format!(
        "{} TLAB refills/s take {} of the threads' time ({} p50, {} p99); the fastest tenth take {}.",
        count(number as f64 / evidence.seconds),
        share(spent / cpu),
        quantity(refills.quick.p50_ns, "ns"),
        quantity(refills.quick.p99_ns, "ns"),
        quantity(refills.quick.p10_ns, "ns"),
    );
    if let Some(contended) = evidence.costs.contended_ns {
        text += &format!(
            " A compare-and-swap alone takes {} here, and {} where CPUs share the word.",
            quantity(evidence.costs.alone_ns, "ns"),
            quantity(contended, "ns"),
        );
    }
    let flags = &evidence.jvm.flags;
    // Where HotSpot resizes them, the flag is a new thread's first TLAB only.
    let is_kept = flags.get("ResizeTLAB").is_some_and(|flag| flag.value == "false");
    let small = flags.number("TLABSize").filter(|_| is_kept && flags.is_chosen("TLABSize"));
    let terrace = Advice {
        remedy: Remedy::Terrace(vec![]),
        effect: evidence.effect(None, evidence.saved_of_threads(avoidable), Sure::Estimated),
        note: "refills from the core's own buffer; the prediction does not include cache effects",
    };
    let advice = small.and_then(|size| larger(evidence, size, spent)).into_iter().chain([terrace]).collect();
    Some(Found { evidence: text, advice })
}

/// TLABs so much larger that what they save of refills, which take so many CPU-seconds, is most beyond what more collections take. `None` where it is
/// nothing.
fn larger(evidence: &Evidence, size: u64, spent: f64) -> Option<Advice> {
    let sizes = LARGER.map(|factor| size.saturating_mul(factor).checked_next_power_of_two());
    let sizes = sizes.into_iter().flatten().map(|larger| larger.min(largest(evidence)));
    // A smaller step changes little.
    let sizes = sizes.filter(|larger| *larger >= size.saturating_mul(2));
    let weighed = sizes.map(|larger| {
        let using = Evidence::used_with_unused(unused(evidence, size, larger));
        let saved = evidence.saved_of_threads(spent * (1.0 - size as f64 / larger as f64));
        (larger, using, saved.and(evidence.cost_of_using(using)))
    });
    let time = |saved: &Saved| saved.share_of_time().unwrap_or(0.0);
    // Of equal ones the first: the largest.
    let (larger, using, saved) =
        weighed.reduce(|best, other| if time(&other.2) > time(&best.2) { other } else { best })?;
    let pays = !saved.saves_nothing();
    pays.then(|| Advice {
        remedy: Remedy::flag(format!("-XX:TLABSize={}", present::numbers::bytes(larger as f64))),
        effect: evidence.effect(Some(evidence.collections_using(using)), saved, Sure::Estimated),
        note: "larger TLABs waste more of eden per thread; without the flag HotSpot chooses the size",
    })
}

/// Share of eden that larger TLABs leave unused in addition at a collection, which comes in the middle of each thread's: as it was counted, or as many threads
/// as allocate have it.
fn unused(evidence: &Evidence, size: u64, larger: u64) -> f64 {
    let counted = evidence.allocation.as_ref().filter(|bytes| bytes.used > 0.0);
    let counted =
        counted.map(|bytes| bytes.waste_collection / bytes.used * (larger as f64 / size as f64 - 1.0));
    let threads = evidence.threads.allocating.map_or(0.0, |threads| threads as f64);
    let of_threads = evidence.bytes_of_eden().map(|eden| threads * (larger - size) as f64 / 2.0 / eden);
    counted.unwrap_or(0.0).max(of_threads.unwrap_or(0.0))
}
