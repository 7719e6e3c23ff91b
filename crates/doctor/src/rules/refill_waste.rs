//! TLABs of a chosen size are so small for the objects in them that much is left over at each refill, or so large that much is unused at a collection.

use crate::evidence::Evidence;
use crate::finding::{Advice, Found, Remedy, Rule, Sure};
use crate::need::Need;
use jvm::vm_flags::VmFlags;
use present::numbers::{human, share};

/// Of eden.
const LEAST_SHARE: f64 = 0.05;
/// HotSpot gives up at most one part in so many of a TLAB (`TLABRefillWasteFraction`).
const FRACTION: f64 = 64.0;
/// Of eden, at each collection, where it sizes them (`TLABWasteTargetPercent`).
const USUAL_AT_COLLECTION: f64 = 0.01;

pub const RULE: Rule = Rule {
    name: "refill waste",
    source: "HotSpot: ThreadLocalAllocBuffer::compute_size, TLABRefillWasteFraction",
    needs,
    examine,
};

fn examine(evidence: &Evidence) -> Option<Found> {
    let (allocation, flags) = (evidence.allocation.as_ref()?, &evidence.jvm.flags);
    let chosen: Vec<&str> = chosen(flags).collect();
    let at_refill = allocation.waste_refill / allocation.used;
    // Of TLABs that HotSpot resizes what is unused at a collection is its own choice.
    let of_fixed =
        if is_off(flags, "ResizeTLAB") { allocation.waste_collection / allocation.used } else { 0.0 };
    let at_collection = (of_fixed - USUAL_AT_COLLECTION).max(0.0);
    let lost = at_refill + at_collection;
    if lost < LEAST_SHARE || chosen.is_empty() {
        return None;
    }
    let size = flags.number("TLABSize").filter(|size| *size > 0);
    let size = size.map_or(String::new(), |size| format!(" of {}", human(size as f64)));
    let kept = 1.0 - lost + at_refill.min(1.0 / FRACTION);
    let text = match at_refill >= at_collection {
        true => format!(
            "{} of eden is left over in TLABs{size} when they are refilled: the next object did not fit.",
            share(at_refill),
        ),
        false => format!(
            "{} of eden is unused in TLABs{size} when a collection comes: each thread leaves the rest of its last one.",
            share(of_fixed),
        ),
    };
    Some(Found {
        evidence: text,
        advice: vec![Advice {
            // No flag says it: HotSpot refuses to start with TLABSize=0.
            remedy: Remedy::Program(format!("leave out {}", chosen.join(" and "))),
            effect: evidence.effect(
                Some(evidence.collections_using(kept)),
                evidence.saved_by_fewer_collections(evidence.full_eden_using(kept)),
                Sure::Counted,
            ),
            note: "HotSpot then chooses the sizes itself",
        }],
    })
}

/// Of TLABs that HotSpot sizes itself so much is never lost for long.
fn chosen(flags: &VmFlags) -> impl Iterator<Item = &'static str> {
    let size = flags.is_chosen("TLABSize").then_some("-XX:TLABSize");
    let fixed = (flags.is_chosen("ResizeTLAB") && is_off(flags, "ResizeTLAB")).then_some("-XX:-ResizeTLAB");
    size.into_iter().chain(fixed)
}

fn is_off(flags: &VmFlags, name: &str) -> bool {
    flags.get(name).is_some_and(|flag| flag.value == "false")
}

fn needs(evidence: &Evidence) -> &'static [Need] {
    match chosen(&evidence.jvm.flags).next() {
        Some(_) => &[Need::WasteCauses],
        None => &[Need::Flags],
    }
}
