//! What is said where nothing is found: only of a program that was seen at work there is nothing to gain.

use crate::evidence::Evidence;
use crate::rules;
use present::numbers::{quantity, share};

/// Collections that stop threads for so much of the time are said where nothing is found.
const NOTABLE: f64 = 0.03;
/// Of a CPU: a program that uses less does nothing.
const LEAST_BUSY: f64 = 0.05;
/// Why there is no finding, in a sentence.
pub(crate) fn nothing(evidence: &Evidence) -> String {
    let unjudged = rules::unjudged(evidence);
    match &evidence.allocation {
        _ if !unjudged.is_empty() => format!(
            "Nothing found, but some of it could not be judged (see 'not observed'): {}.",
            unjudged.join(", ")
        ),
        // Whatever it is, no rule has a remedy for it.
        _ if evidence.otherwise_stopped_share().is_some_and(|share| share >= NOTABLE) => format!(
            "No rule applies, although threads stop for {} of the time for other reasons than collections; -Xlog:safepoint shows them.",
            share(evidence.otherwise_stopped_share().unwrap_or_default())
        ),
        Some(_) if let Some(text) = one_full(evidence) => text,
        Some(_) if evidence.collecting_share().is_some_and(|share| share >= NOTABLE) => format!(
            "No rule applies, although collections stop threads for {} of the time; -Xlog:gc shows their causes.",
            share(evidence.collecting_share().unwrap_or_default())
        ),
        Some(_) if let Some(text) = too_little(evidence) => text,
        Some(_) if evidence.eden.phases => {
            "Nothing found; whether threads wait for this concurrent collector is not observed (-Xlog:gc tells).".into()
        }
        Some(allocation) => format!(
            "Nothing to gain here from other buffers or flags: {} of eden holds objects, and refills take little.",
            share(allocation.objects / allocation.used)
        ),
        None if evidence.allocated_nothing => {
            "Nothing found: no thread asked the heap for memory while it was watched; watch it under load.".into()
        }
        None => "Nothing found, but the use of eden could not be observed (see 'not observed').".into(),
    }
}

/// Where a single full collection has stopped threads for longer than is usual: how often they come is not known.
fn one_full(evidence: &Evidence) -> Option<String> {
    let pauses = evidence.eden.pauses.filter(|pauses| pauses.full_count == 1)?;
    let (stopped, full) = (evidence.collecting_share()?, pauses.full / evidence.seconds);
    (stopped >= NOTABLE && stopped - full < NOTABLE).then(|| {
        format!(
            "No rule applies: one full collection of {} does not say how often they come; watch it longer (--seconds).",
            quantity(pauses.full, "s")
        )
    })
}

/// Why what was watched says too little of the program: what did not happen meanwhile costs nothing.
fn too_little(evidence: &Evidence) -> Option<String> {
    let longer = "watch it longer (--seconds), or under load";
    if let Some(before) = evidence.eden.since_start
        && before.full_share() >= NOTABLE
    {
        return Some(format!(
            "Nothing found in {:.0} s, but since the JVM's start {} full collections have stopped it for {} of the time: {longer}.",
            evidence.seconds,
            before.full_count,
            share(before.full_share()),
        ));
    }
    let cpus = evidence.process_cpu? / evidence.seconds;
    if cpus < LEAST_BUSY {
        return Some(format!(
            "Nothing found, but the JVM used only {} of a CPU: watch it under load.",
            share(cpus)
        ));
    }
    let none = evidence.eden.collections == Some(0);
    none.then(|| format!("Nothing found, but no collection came in {:.0} s: {longer}.", evidence.seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::SinceStart;
    use crate::report::Report;

    #[test]
    fn it_is_not_said_that_nothing_can_be_gained_where_that_is_not_known() {
        let said = |change: fn(&mut Evidence)| {
            let mut evidence = rules::sick::healthy();
            change(&mut evidence);
            nothing(&evidence)
        };
        assert!(said(|_| ()).starts_with("Nothing to gain here"));
        let stopped = said(|e| e.eden.stopped = Some(0.17 * e.seconds));
        assert!(stopped.contains("16 % of the time for other reasons"), "{stopped}");
        let quiet = said(|e| (e.eden.collections, e.process_cpu) = (Some(0), Some(0.01 * e.seconds)));
        assert!(quiet.contains("used only 1 % of a CPU: watch it under load"), "{quiet}");
        let none = said(|e| (e.eden.collections, e.process_cpu) = (Some(0), Some(e.seconds)));
        assert!(none.contains("no collection came in 10 s"), "{none}");
        let before = said(|e| {
            let seconds = 3000.0;
            e.eden.since_start = Some(SinceStart { seconds, full: 0.033 * seconds, full_count: 10 });
        });
        assert!(
            before.contains("since the JVM's start 10 full collections have stopped it for 3.30 %"),
            "{before}"
        );
        let idle = said(|e| {
            (e.allocation, e.allocated_nothing) = (None, true);
            (e.threads.ended, e.threads.started) = (Some(0), Some(0));
        });
        assert!(idle.contains("no thread asked the heap for memory"), "{idle}");
    }

    #[test]
    fn nothing_is_found_only_where_everything_was_judged() {
        type Change = fn(&mut Evidence);
        let said = |change: Change| {
            let mut evidence = rules::sick::healthy();
            change(&mut evidence);
            crate::show::report(&Report::of(evidence), 200, None)
        };
        assert!(said(|_| ()).contains("refills take little"), "{}", said(|_| ()));
        let unjudged: [(Change, &str); 5] = [
            (|e| e.refills = None, "shared refills, objects outside TLABs."),
            (|e| e.allocation = None, "the use of eden could not be observed"),
            (|e| e.threads.ended = Some(1000), "judged (see 'not observed'): ended threads."),
            (|e| e.eden.collecting = None, "small young generation."),
            (|e| e.application_cpu = None, "first touch, card marks."),
        ];
        for (change, names) in unjudged {
            let text = said(change);
            assert!(!text.contains("take little") && text.contains(names), "{names} in {text}");
        }
    }
}
