//! TLABs are switched off.

use crate::evidence::Evidence;
use crate::finding::{Advice, Effect, Found, Remedy, Rule};

pub const RULE: Rule =
    Rule { name: "no TLABs", source: "java -XX:-UseTLAB; docs/results.md, experiment tlab", examine };

fn examine(evidence: &Evidence) -> Option<Found> {
    let flag = evidence.jvm.flags.get("UseTLAB")?;
    (flag.value == "false").then(|| Found {
        evidence: "-XX:-UseTLAB is in force: every object is allocated from the heap that all threads share."
            .into(),
        advice: vec![Advice {
            remedy: Remedy::flag("-XX:+UseTLAB"),
            effect: Effect::default(),
            note: "HotSpot's default",
        }],
    })
}
