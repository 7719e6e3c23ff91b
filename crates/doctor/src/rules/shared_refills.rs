//! Refills of TLABs cost more than they would if nobody shared what they are refilled from.

use crate::evidence::Evidence;
use crate::finding::{Advice, Found, Remedy, Rule, Sure};
use crate::need::Need;
use present::numbers::{count, quantity, share};

/// Of the program's CPU time; less cannot be told from noise.
const LEAST_SHARE: f64 = 0.02;
/// Refills that come this rarely need no smaller TLABs' economy.
const LARGER: u64 = 8;
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
            " A compare-and-swap alone takes {} here, and {} where all CPUs share the word.",
            quantity(evidence.costs.alone_ns, "ns"),
            quantity(contended, "ns"),
        );
    }
    let mut advice = Vec::new();
    let flags = &evidence.jvm.flags;
    let speed = |gained: f64| evidence.effect(None, evidence.saved_of_threads(gained), Sure::Estimated);
    // TLABs as large as the program's own rate wants need a refill so much more rarely.
    // Where HotSpot resizes them, the flag is a new thread's first TLAB only.
    let is_kept = flags.get("ResizeTLAB").is_some_and(|flag| flag.value == "false");
    let small = flags.number("TLABSize").filter(|_| is_kept && flags.is_chosen("TLABSize"));
    if let Some(size) = small {
        let larger = size
            .saturating_mul(LARGER)
            .checked_next_power_of_two()
            .unwrap_or(u64::MAX)
            .min(largest(evidence));
        // A smaller step changes little.
        if larger >= size.saturating_mul(2) {
            advice.push(Advice {
                remedy: Remedy::flag(format!("-XX:TLABSize={}", present::numbers::bytes(larger as f64))),
                effect: speed(spent * (1.0 - size as f64 / larger as f64)),
                note: "larger TLABs waste more of eden per thread; without the flag HotSpot chooses the size",
            });
        }
    }
    advice.push(Advice {
        remedy: Remedy::Terrace(vec![]),
        effect: speed(avoidable),
        note: "refills from the core's own buffer; the prediction does not include cache effects",
    });
    Some(Found { evidence: text, advice })
}
