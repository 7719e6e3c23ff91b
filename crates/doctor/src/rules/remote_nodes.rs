//! Several memory nodes, and a heap that takes no notice of them.

use crate::evidence::Evidence;
use crate::finding::{Advice, Effect, Found, Remedy, Rule};
use present::numbers::share;

/// Of the memory, far from its threads.
const LEAST_SHARE: f64 = 0.05;
const AWARE: [&str; 3] = ["Parallel", "G1", "Z"];

pub const RULE: Rule = Rule { name: "memory nodes", source: "java -XX:+UseNUMA (JEP 345 for G1)", examine };

fn examine(evidence: &Evidence) -> Option<Found> {
    let nodes = evidence.machine.nodes;
    if nodes < 2 || evidence.jvm.flags.is_on("UseNUMA") || !AWARE.contains(&evidence.jvm.collector.as_str()) {
        return None;
    }
    let found = match &evidence.placement {
        // Threads that found their memory beside them on their own.
        Some(placement) if placement.remote < LEAST_SHARE => return None,
        Some(placement) => {
            format!(": {} of its memory is on a different node from its threads", share(placement.remote))
        }
        None => String::new(),
    };
    Some(Found {
        evidence: format!(
            "The process may run on {nodes} memory nodes, and eden is on whichever touched it first{found}."
        ),
        advice: vec![Advice {
            remedy: Remedy::flag("-XX:+UseNUMA"),
            effect: Effect::default(),
            note: "TLABs from the thread's own node; the alternative is to bind the process to one node",
        }],
    })
}
