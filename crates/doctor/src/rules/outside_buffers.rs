//! Many objects are allocated outside of TLABs, one by one from the heap that all threads share.

use crate::evidence::{Evidence, SHENANDOAH};
use crate::finding::{Advice, Effect, Found, Remedy, Rule, Sure};
use crate::need::Need;
use present::numbers::{count, quantity, share};

/// Of the program's CPU time.
const LEAST_SHARE: f64 = 0.02;
const FEWEST_A_SECOND: f64 = 1000.0;
/// Percent of eden that TLABs may waste; HotSpot's default is 1.
const TARGET: u64 = 5;
const USUAL: u64 = 1;

pub const RULE: Rule = Rule {
    name: "objects outside TLABs",
    source: "HotSpot: MemAllocator::mem_allocate_outside_tlab, ThreadLocalAllocBuffer::refill_waste_limit",
    needs: |_| &[Need::Refills, Need::CpuTime],
    examine,
};

fn examine(evidence: &Evidence) -> Option<Found> {
    let (objects, cpu) = (evidence.refills.as_ref()?.objects, evidence.application_cpu?);
    let rate = objects.count as f64 / evidence.seconds;
    let spent = objects.total_ns / 1e9 / cpu;
    // Without TLABs there is another finding, which says why.
    let used = evidence.jvm.flags.get("UseTLAB").is_none_or(|flag| flag.value == "true");
    if !used || rate < FEWEST_A_SECOND || spent.is_nan() || spent < LEAST_SHARE {
        return None;
    }
    let text = format!(
        "{} objects/s do not fit in the rest of a TLAB and are allocated in the shared heap: {} of the threads' time ({} p50, {} p99).",
        count(rate),
        share(spent),
        quantity(objects.p50_ns, "ns"),
        quantity(objects.p99_ns, "ns"),
    );
    let flags = &evidence.jvm.flags;
    let resizes = flags.get("ResizeTLAB").is_none_or(|flag| flag.value == "true");
    let target = flags.number("TLABWasteTargetPercent").unwrap_or(USUAL).max(1);
    // TLABs and the limit up to which their rest is given up grow alike: so many fewer objects meet a rest that is too small for them and too large to lose.
    // Of eden as much more is unused at a collection.
    let grown = TARGET as f64 / target as f64;
    let unused =
        evidence.allocation.as_ref().map(|bytes| bytes.waste_collection / bytes.used * (grown - 1.0));
    let using = unused.map(Evidence::used_with_unused);
    let saved = evidence.saved_of_threads(spent * cpu * (1.0 - 1.0 / grown));
    let saved = using.map_or(saved, |using| saved.and(evidence.cost_of_using(using)));
    let larger = (resizes && target < TARGET && !saved.saves_nothing()).then(|| Advice {
        remedy: Remedy::flag(format!("-XX:TLABWasteTargetPercent={TARGET}")),
        effect: evidence.effect(using.map(|using| evidence.collections_using(using)), saved, Sure::Estimated),
        note: "larger TLABs; more of eden is unused at a collection",
    });
    let serves = evidence.jvm.collector != SHENANDOAH;
    let terrace = serves.then(|| Advice {
        remedy: Remedy::Terrace(vec![]),
        effect: evidence.effect(
            None,
            evidence.saved_of_threads(objects.avoidable_seconds()),
            Sure::Estimated,
        ),
        note: "such objects are allocated in the core's buffer, if they fit in half of it",
    });
    let mut advice: Vec<Advice> = larger.into_iter().chain(terrace).collect();
    if advice.is_empty() {
        advice.push(Advice {
            remedy: Remedy::Program("larger TLABs (-XX:TLABSize), or HotSpot's own sizes".into()),
            effect: Effect::default(),
            note: "with Shenandoah, Terrace leaves such objects to HotSpot",
        });
    }
    Some(Found { evidence: text, advice })
}
