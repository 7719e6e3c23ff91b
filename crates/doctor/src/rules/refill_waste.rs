//! TLABs are so small for the objects in them that much is left over at each refill.

use crate::evidence::Evidence;
use crate::finding::{Advice, Effect, Found, Remedy, Rule, Sure};
use crate::need::Need;
use jvm::vm_flags::VmFlags;
use present::numbers::{human, share};

/// Of eden.
const LEAST_SHARE: f64 = 0.05;
/// HotSpot gives up at most one part in so many of a TLAB (`TLABRefillWasteFraction`).
const FRACTION: f64 = 64.0;

pub const RULE: Rule = Rule {
    name: "refill waste",
    source: "HotSpot: ThreadLocalAllocBuffer::compute_size, TLABRefillWasteFraction",
    needs,
    examine,
};

fn examine(evidence: &Evidence) -> Option<Found> {
    let (allocation, flags) = (evidence.allocation.as_ref()?, &evidence.jvm.flags);
    let lost = allocation.waste_refill / allocation.used;
    let chosen: Vec<&str> = chosen(flags).collect();
    if lost < LEAST_SHARE || chosen.is_empty() {
        return None;
    }
    let size = flags.number("TLABSize").unwrap_or(0) as f64;
    let kept = 1.0 - lost + lost.min(1.0 / FRACTION);
    Some(Found {
        evidence: format!(
            "{} of eden is left over in TLABs of {} when they are refilled: the next object did not fit.",
            share(lost),
            human(size)
        ),
        advice: vec![Advice {
            // No flag says it: HotSpot refuses to start with TLABSize=0.
            remedy: Remedy::Program(format!("leave out {}", chosen.join(" and "))),
            effect: Effect {
                collections: Some(kept),
                speed: evidence.speed_with_collections(kept),
                sure: Sure::Counted,
            },
            note: "HotSpot then chooses the sizes itself",
        }],
    })
}

/// Of TLABs that HotSpot sizes itself so much is never lost for long.
fn chosen(flags: &VmFlags) -> impl Iterator<Item = &'static str> {
    ["-XX:TLABSize", "-XX:-ResizeTLAB"].into_iter().filter(|flag| flags.is_chosen(name(flag)))
}

fn needs(evidence: &Evidence) -> &'static [Need] {
    match chosen(&evidence.jvm.flags).next() {
        Some(_) => &[Need::WasteCauses],
        None => &[Need::Flags],
    }
}

/// Of a flag as it is written.
fn name(flag: &str) -> &str {
    flag.trim_start_matches("-XX:").trim_start_matches('-')
}
