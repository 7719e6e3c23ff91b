//! A large heap lies on small pages.

use super::{first_touch, room};
use crate::evidence::Evidence;
use crate::finding::{Advice, Effect, Found, Remedy, Rule, Sure};
use crate::need::Need;
use present::numbers::{human, share};

/// Below this the processor's tables reach.
const LEAST_RESIDENT: u64 = 1 << 30;
const MOST_HUGE: f64 = 0.5;

pub const RULE: Rule = Rule {
    name: "small pages",
    source: "java -XX:+UseTransparentHugePages; docs/results.md, experiment pages",
    needs,
    examine,
};

fn examine(evidence: &Evidence) -> Option<Found> {
    let (resident, huge) = (evidence.memory.resident?, evidence.memory.huge?);
    let part = huge as f64 / resident.max(1) as f64;
    // Where ZGC's heap is, nobody has looked.
    let is_seen = evidence.jvm.collector != "Z";
    // The flag is for the heap: what a program keeps beside it stays on small pages.
    let is_large = evidence.memory.heap_committed.is_none_or(|bytes| bytes >= LEAST_RESIDENT);
    if !is_seen || !is_large || resident < LEAST_RESIDENT || part > MOST_HUGE || !may_help(evidence) {
        return None;
    }
    // A page that is touched anywhere then takes all of a huge one.
    let more = room::untouched(evidence, f64::INFINITY);
    let fits = more.and_then(|more| room::takes(evidence, more));
    let remedy = match fits {
        Some(false) => return None,
        Some(true) => Remedy::flag("-XX:+UseTransparentHugePages"),
        None => Remedy::Program("-XX:+UseTransparentHugePages, if all of the heap fits in memory".into()),
    };
    Some(Found {
        evidence: format!(
            "{} are resident, {} on huge pages; the kernel can provide transparent huge pages.",
            human(resident as f64),
            share(part),
        ),
        advice: vec![Advice {
            remedy,
            effect: effect(evidence),
            note: "at least: misses of the TLB, whose cost cannot be observed from outside, become fewer, too; more memory may be resident",
        }],
    })
}

/// One first touch for a huge page, where small ones take one each; the memory is zeroed all the same.
fn effect(evidence: &Evidence) -> Effect {
    let costs = &evidence.costs;
    let each = costs.first_touch_ns - costs.zero_ns * first_touch::page_bytes(evidence);
    let Some(touches) = first_touch::of_heap(evidence).filter(|_| each > 0.0) else {
        return Effect::default();
    };
    evidence.effect(None, evidence.saved_of_threads(touches * each / 1e9), Sure::Estimated)
}

/// Whether the kernel has huge pages to give where they are asked for, and nobody has. In mode `always` it gives them to all.
fn may_help(evidence: &Evidence) -> bool {
    let flags = &evidence.jvm.flags;
    let chosen = flags.is_on("UseTransparentHugePages") || flags.is_on("UseLargePages");
    let possible = evidence.memory.transparent.as_deref().is_some_and(|mode| mode == "madvise");
    possible && !chosen
}

fn needs(evidence: &Evidence) -> &'static [Need] {
    if may_help(evidence) || evidence.memory.transparent.is_none() { &[Need::Resident] } else { &[] }
}
