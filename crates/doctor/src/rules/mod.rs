//! What the doctor knows: a rule, a file.

mod card_marks;
mod concurrent_collections;
mod ended_threads;
mod first_touch;
mod full_collections;
mod huge_pages;
mod humongous_objects;
mod no_thread_buffers;
mod other_memory;
mod outside_buffers;
mod refill_waste;
mod remote_nodes;
mod room;
mod shared_refills;
mod throttled;
mod young_generation;

#[cfg(test)]
mod advised_flags;
#[cfg(test)]
mod enough_memory;
#[cfg(test)]
mod expected;
#[cfg(test)]
mod one_full_collection;
#[cfg(test)]
pub(crate) mod sick;
#[cfg(test)]
mod small_tlabs;

use crate::evidence::Evidence;
use crate::finding::{Finding, Remedy, Rule};
use crate::replaced;

/// All of them. What changes the most stands first.
pub const ALL: [Rule; 14] = [
    no_thread_buffers::RULE,
    ended_threads::RULE,
    refill_waste::RULE,
    shared_refills::RULE,
    outside_buffers::RULE,
    humongous_objects::RULE,
    full_collections::RULE,
    young_generation::RULE,
    concurrent_collections::RULE,
    throttled::RULE,
    first_touch::RULE,
    huge_pages::RULE,
    remote_nodes::RULE,
    card_marks::RULE,
];

/// The rules that miss something without which they cannot say that there is nothing to find.
pub fn unjudged(evidence: &Evidence) -> Vec<&'static str> {
    let misses = |rule: &&Rule| !(rule.needs)(evidence).iter().all(|need| need.is_met(evidence));
    ALL.iter().filter(misses).map(|rule| rule.name).collect()
}

pub fn examine(evidence: &Evidence) -> Vec<Finding> {
    let found = |rule: &Rule| {
        let mut found = (rule.examine)(evidence)?;
        let there = evidence.terrace.as_ref().is_some_and(|buffers| buffers.on);
        if there || !evidence.jvm.takes_buffers() {
            found.advice.retain(|advice| !matches!(advice.remedy, Remedy::Terrace(_)));
        }
        if !evidence.jvm.flags.is_known() {
            for advice in &mut found.advice {
                if let Remedy::Flags(flags) = &advice.remedy {
                    advice.remedy = Remedy::Program(format!("{}, unless it is set", flags.join(" ")));
                }
            }
        }
        if found.advice.is_empty() {
            return None;
        }
        let advice =
            found.advice.into_iter().map(|advice| replaced::reported(advice, &evidence.jvm)).collect();
        Some(Finding { rule: rule.name, evidence: found.evidence, advice, source: rule.source })
    };
    ALL.iter().filter_map(found).collect()
}
