//! What has to be known of a program before a rule can say that there is nothing to find.

use crate::evidence::Evidence;

/// Of eden: less of unknown cause changes no answer.
const LEAST_SHARE: f64 = 0.05;
/// Fewer threads that end a second leave nothing that counts.
pub(crate) const FEWEST_ENDED: f64 = 1.0;

/// Something that may not have been seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The JVM's flags.
    Flags,
    /// Threads that ended, and if there were many, what they allocated and left unused.
    EndedThreads,
    /// Why parts of eden stayed unused.
    WasteCauses,
    /// How long requests to the heap took.
    Refills,
    /// The program's CPU time.
    CpuTime,
    /// Collections, and their time.
    Collections,
    /// First touches of pages.
    FirstTouches,
    /// Resident memory, the heap's with it.
    Resident,
    /// The quota of its control group, if it has one.
    Quota,
}

impl Need {
    pub fn is_met(self, evidence: &Evidence) -> bool {
        let causes_are_known = || {
            let allocation = evidence.allocation.as_ref();
            allocation.is_some_and(|bytes| bytes.waste_unknown < LEAST_SHARE * bytes.used)
        };
        match self {
            Need::Flags => evidence.jvm.flags.is_known(),
            Need::EndedThreads => evidence.threads.ended.is_some_and(|ended| {
                let own = evidence.allocation.as_ref().and_then(|bytes| bytes.of_ended_thread);
                (ended as f64) < FEWEST_ENDED * evidence.seconds || (own.is_some() && causes_are_known())
            }),
            Need::WasteCauses => causes_are_known(),
            Need::Refills => evidence.refills.is_some(),
            Need::CpuTime => evidence.application_cpu.is_some(),
            Need::Collections => evidence.eden.collections.and(evidence.eden.collecting).is_some(),
            Need::FirstTouches => evidence.memory.first_touches.is_some(),
            // ZGC's heap is memory of a file's, which others are not.
            Need::Resident => evidence.memory.resident.is_some() && evidence.jvm.collector != "Z",
            Need::Quota => evidence.machine.quota.is_some() || !evidence.machine.may_have_quota,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::Evidence;
    use crate::rules::{examine, sick::healthy, unjudged};

    fn missed(change: fn(&mut Evidence)) -> Vec<&'static str> {
        let mut evidence = healthy();
        change(&mut evidence);
        unjudged(&evidence)
    }

    #[test]
    fn what_cannot_be_seen_is_not_judged() {
        assert!(missed(|_| ()).is_empty());
        assert_eq!(missed(|e| e.machine.may_have_quota = true), ["throttled"]);
        assert_eq!(missed(|e| e.jvm.collector = "Z".into()), ["small pages"]);
        // The kernel has none to give: nothing could be found, whatever its heap lies on.
        let without = |e: &mut Evidence| {
            e.jvm.collector = "Z".into();
            e.memory.transparent = Some("never".into());
        };
        assert!(missed(without).is_empty());
        let mut other = healthy();
        (other.jvm.collector, other.memory.huge) = ("Z".into(), Some(0));
        assert_eq!(examine(&other), [], "what is resident is not its heap");
    }
}
