//! The heap is still being touched for the first time.

use crate::evidence::Evidence;
use crate::finding::{Advice, Effect, Found, Remedy, Rule, Sure};
use present::numbers::{count, quantity, share};

/// Of the program's CPU time.
const LEAST_SHARE: f64 = 0.02;

pub const RULE: Rule = Rule {
    name: "first touch",
    source: "java -XX:+AlwaysPreTouch; Linux page faults, measured here; experiment pages",
    examine,
};

fn examine(evidence: &Evidence) -> Option<Found> {
    let (touches, cpu) = (evidence.memory.first_touches? as f64, evidence.application_cpu?);
    let spent = touches * evidence.costs.first_touch_ns / 1e9;
    // Threads that start touch pages as well, their stacks: those are no heap's, and no flag helps.
    let stacks = evidence.threads.started.unwrap_or(0) as f64 * STACK_PAGES;
    let heap = (touches - stacks).max(0.0) / touches.max(1.0);
    if cpu <= 0.0 || heap * spent / cpu < LEAST_SHARE || evidence.jvm.flags.is_on("AlwaysPreTouch") {
        return None;
    }
    Some(Found {
        evidence: format!(
            "{} pages/s were touched for the first time, {} each on this machine: {} of the threads' time.",
            count(touches / evidence.seconds),
            quantity(evidence.costs.first_touch_ns, "ns"),
            share(heap * spent / cpu),
        ),
        advice: vec![Advice {
            remedy: Remedy::flag("-XX:+AlwaysPreTouch"),
            effect: Effect {
                collections: None,
                speed: Some(1.0 / (1.0 - (heap * spent / cpu).min(0.5))),
                sure: Sure::Estimated,
            },
            note: "while eden grows or is new; the JVM starts later, and all of -Xms is resident at once",
        }],
    })
}

/// What a thread touches of its stack and of the JVM's own structures: measured with the workload churn.
const STACK_PAGES: f64 = 3.0;
