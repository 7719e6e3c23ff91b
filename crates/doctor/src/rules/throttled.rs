//! The control group's quota stops the process again and again.

use crate::evidence::Evidence;
use crate::finding::{Advice, Effect, Found, Remedy, Rule, Sure};
use crate::need::Need;
use present::numbers::{share, significant};

/// Of the periods.
const LEAST_SHARE: f64 = 0.05;
/// Processors with which HotSpot chooses as on a server (`os::is_server_class_machine`).
const FEWEST: usize = 2;

pub const RULE: Rule = Rule {
    name: "throttled",
    source: "Linux: Documentation/scheduler/sched-bwc.rst, cpu.stat",
    needs: |_| &[Need::Quota],
    examine,
};

fn examine(evidence: &Evidence) -> Option<Found> {
    let throttled = evidence.machine.throttled.filter(|share| *share >= LEAST_SHARE)?;
    let quota = evidence.machine.quota?;
    // With one HotSpot would no longer choose G1, nor run the common pool's tasks beside each other.
    let processors = (quota.ceil() as usize).max(FEWEST);
    let flags = &evidence.jvm.flags;
    // In a container HotSpot counts so many by itself, unless the quota is one that it does not read: how many it counts is seen from its choice of
    // collector threads, which are no more than the processors.
    let workers = flags.number("ParallelGCThreads").filter(|_| !flags.is_chosen("ParallelGCThreads"));
    let counts_more =
        match flags.number("ActiveProcessorCount").filter(|_| flags.is_chosen("ActiveProcessorCount")) {
            Some(chosen) => chosen > processors as u64,
            None => {
                let ignores = flags.get("UseContainerSupport").is_some_and(|flag| flag.value == "false");
                let seen = workers.is_some_and(|workers| workers > processors as u64);
                seen || (ignores && evidence.machine.cpus > processors)
            }
        };
    // HotSpot has no more threads for concurrent work than for pauses, or does not start (`G1ConcurrentMark`); those for pauses follow the processors.
    let concurrent = flags.number("ConcGCThreads").filter(|_| flags.is_chosen("ConcGCThreads"));
    let starts =
        flags.is_chosen("ParallelGCThreads") || concurrent.is_none_or(|threads| threads <= processors as u64);
    let fewer = (counts_more && starts).then(|| Advice {
        remedy: Remedy::flag(format!("-XX:ActiveProcessorCount={processors}")),
        effect: Effect::default(),
        note: "fewer collector and compiler threads exhaust the quota at the same time",
    });
    let raise = Advice {
        remedy: Remedy::Program("raise the quota of its control group".into()),
        effect: Effect { speed: unthrottled(evidence), sure: Sure::Estimated, ..Effect::default() },
        note: "the speed without a quota on an otherwise idle machine; CPU shares limit a process only when CPUs are busy",
    };
    Some(Found {
        evidence: format!(
            "Its quota of {} CPUs throttled the process in {} of the periods: pauses that no GC log shows.",
            significant(quota),
            share(throttled),
        ),
        advice: fewer.into_iter().chain([raise]).collect(),
    })
}

/// Threads that were held back would have worked meanwhile.
fn unthrottled(evidence: &Evidence) -> Option<f64> {
    let used = evidence.process_cpu?;
    let most = evidence.machine.cpus as f64 * evidence.seconds;
    (used > 0.0).then_some(())?;
    Some((used + evidence.machine.held_back?).min(most.max(used)) / used)
}
