//! Several memory nodes, and a heap that takes no notice of them.

use crate::evidence::{Evidence, Jvm};
use crate::finding::{Advice, Effect, Found, Remedy, Rule};
use present::numbers::share;

/// Of the memory, far from its threads.
const LEAST_SHARE: f64 = 0.05;
const AWARE: [&str; 3] = ["Parallel", "G1", "Z"];
/// From this JDK on G1 allocates on the thread's own node (JEP 345); before, the flag only spreads its heap over all.
const FIRST_WITH_G1: u32 = 14;

pub const RULE: Rule =
    Rule { name: "memory nodes", source: "java -XX:+UseNUMA (JEP 345 for G1)", needs: |_| &[], examine };

fn examine(evidence: &Evidence) -> Option<Found> {
    let nodes = evidence.machine.nodes;
    if nodes < 2 || evidence.jvm.flags.is_on("UseNUMA") || !is_aware(&evidence.jvm) {
        return None;
    }
    let found = match &evidence.placement {
        // Threads that found their memory beside them on their own.
        Some(placement) if placement.remote < LEAST_SHARE => return None,
        Some(placement) => {
            format!(
                ": if threads use all of its memory alike, {} of what they use is on a different node",
                share(placement.remote)
            )
        }
        None => String::new(),
    };
    let seen = if evidence.placement.is_some() { "" } else { "Possible, not observed: " };
    Some(Found {
        evidence: format!(
            "{seen}The process may run on {nodes} memory nodes, and eden is on whichever touched it first{found}."
        ),
        advice: vec![advice(evidence)],
    })
}

/// HotSpot switches the flag off where it finds no libnuma, or may use memory of one node only (`os::Linux::numa_init`): its origin still tells that it was
/// given, one way or the other.
fn advice(evidence: &Evidence) -> Advice {
    let was_given = evidence.jvm.flags.get("UseNUMA").is_some_and(|flag| flag.origin != "default");
    let (remedy, note) = match was_given {
        true => (
            Remedy::Program("libnuma.so.1 for the JVM's -XX:+UseNUMA; or remove -XX:-UseNUMA".into()),
            "the flag was given, and is off; it also needs memory of two nodes (numactl --membind, cpuset.mems)",
        ),
        false => (
            Remedy::flag("-XX:+UseNUMA"),
            "TLABs from the thread's own node; it needs libnuma.so.1; the alternative is to bind the process to one node",
        ),
    };
    Advice { remedy, effect: Effect::default(), note }
}

/// Whether the collector takes threads' nodes into account where it is asked to.
fn is_aware(jvm: &Jvm) -> bool {
    let is_recent = || jvm.feature().is_some_and(|feature| feature >= FIRST_WITH_G1);
    AWARE.contains(&jvm.collector.as_str()) && (jvm.collector != "G1" || is_recent())
}
