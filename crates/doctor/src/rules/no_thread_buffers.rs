//! TLABs are switched off.

use crate::evidence::Evidence;
use crate::finding::{Advice, Effect, Found, Remedy, Rule, Sure};
use crate::need::Need;

/// Of the threads' CPU time; nobody allocates all the time.
const MOST: f64 = 0.95;

pub const RULE: Rule = Rule {
    name: "no TLABs",
    source: "java -XX:-UseTLAB; docs/results.md, experiment tlab",
    needs: |_| &[Need::Flags],
    examine,
};

fn examine(evidence: &Evidence) -> Option<Found> {
    let flag = evidence.jvm.flags.get("UseTLAB")?;
    // A TLAB's pointer is moved in about a nanosecond: all that a request to the heap takes is saved.
    let spent = evidence.refills.as_ref().map(|refills| refills.objects.total_ns / 1e9);
    let effect = match spent.zip(evidence.application_cpu).filter(|(spent, cpu)| *spent > 0.0 && *cpu > 0.0) {
        Some((spent, cpu)) => {
            evidence.effect(None, evidence.saved_of_threads(spent.min(MOST * cpu)), Sure::Estimated)
        }
        None => Effect::default(),
    };
    (flag.value == "false").then(|| Found {
        evidence: "-XX:-UseTLAB is in force: every object is allocated from the heap that all threads share."
            .into(),
        advice: vec![Advice {
            remedy: Remedy::flag("-XX:+UseTLAB"),
            effect,
            note: "HotSpot's default; a lower bound, because the path to each request is not timed",
        }],
    })
}
