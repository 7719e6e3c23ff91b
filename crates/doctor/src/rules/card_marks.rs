//! Many threads that store references may share lines of the card table.

use crate::evidence::Evidence;
use crate::finding::{Advice, Effect, Found, Remedy, Rule};
use crate::need::Need;
use present::numbers::significant;

/// CPUs at work from which on false sharing is known to show.
const FEWEST_BUSY: f64 = 8.0;
/// Collectors whose barrier is a store to a card.
const STORE_CARDS: [&str; 2] = ["Parallel", "Serial"];

pub const RULE: Rule = Rule {
    name: "card marks",
    source: "Dice, False sharing induced by card table marking (2011); java -XX:+UseCondCardMark",
    needs,
    examine,
};

fn needs(evidence: &Evidence) -> &'static [Need] {
    if stores_cards(evidence) { &[Need::CpuTime] } else { &[] }
}

fn stores_cards(evidence: &Evidence) -> bool {
    STORE_CARDS.contains(&evidence.jvm.collector.as_str())
}

fn examine(evidence: &Evidence) -> Option<Found> {
    let busy = evidence.application_cpu? / evidence.seconds;
    let flags = &evidence.jvm.flags;
    if busy < FEWEST_BUSY || flags.is_on("UseCondCardMark") || !stores_cards(evidence) {
        return None;
    }
    Some(Found {
        evidence: format!(
            "Possible, not observed: {} CPUs are busy, and each store of a reference writes to the shared card table.",
            significant(busy)
        ),
        advice: vec![Advice {
            remedy: Remedy::flag("-XX:+UseCondCardMark"),
            effect: Effect::default(),
            note: "a load and a branch before each of these stores",
        }],
    })
}
