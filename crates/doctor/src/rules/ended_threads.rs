//! Threads that end leave the rest of their TLABs unused.

use crate::evidence::{Allocation, Evidence};
use crate::finding::{Advice, Effect, Found, Remedy, Rule, Sure};
use present::numbers::{bytes, count, human, share};

/// Less of eden than this is no trouble.
const LEAST_SHARE: f64 = 0.05;
/// Fewer threads a second are no churn.
const FEWEST_STARTED: f64 = 1.0;
/// Native code has attached most of the new threads.
const MOSTLY: f64 = 0.5;
/// A first TLAB that HotSpot accepts and nearly every short thread fits.
const FIRST_TLAB: f64 = 4096.0;
/// With Terrace a thread's first TLAB (docs/decisions/growing-tlab.md).
const FIRST_OF_TERRACE: f64 = 2048.0;

pub const RULE: Rule = Rule {
    name: "ended threads",
    source: "HotSpot: ThreadLocalAllocBuffer::initial_desired_size, JavaThread::exit; docs/results.md, workload churn",
    examine,
};

fn examine(evidence: &Evidence) -> Option<Found> {
    let allocation = evidence.allocation.as_ref()?;
    let started = evidence.threads.started? as f64;
    let lost = allocation.waste_ended / allocation.used;
    if lost < LEAST_SHARE || started / evidence.seconds < FEWEST_STARTED {
        return None;
    }
    let own = allocation.of_ended_thread?;
    let text = format!(
        "{} threads/s start and allocate {} each, but their first TLAB is {}: {} of eden is left unused when they end.",
        count(started / evidence.seconds),
        human(own),
        human((allocation.waste_ended / started) + own),
        share(lost),
    );
    let mut advice = Vec::new();
    if !evidence.jvm.flags.is_chosen("TLABSize") {
        advice.push(Advice {
            remedy: Remedy::flag(format!("-XX:TLABSize={}", bytes(FIRST_TLAB))),
            effect: effect(evidence, allocation, started * unused_of_fixed(own, FIRST_TLAB)),
            note: "a new thread's first TLAB only; HotSpot resizes those of threads that stay",
        });
    }
    let attached = evidence.threads.attached.is_some_and(|share| share > MOSTLY);
    let what = match attached {
        true => "do not detach native threads",
        false => "use a pool of threads",
    };
    advice.push(Advice {
        remedy: Remedy::Program(what.into()),
        effect: effect(evidence, allocation, 0.0),
        note: match attached {
            true => "attach each once (AttachCurrentThreadAsDaemon), and keep it; it saves attaching, too",
            false => "or virtual threads; it saves starting the threads, too, which is not in the prediction",
        },
    });
    advice.push(Advice {
        remedy: Remedy::Terrace(vec![]),
        effect: effect(evidence, allocation, started * unused_of_growing(own)),
        note: "helps a JVM that runs, without a restart",
    });
    Some(Found { evidence: text, advice })
}

/// What ended threads leave when each TLAB has `size` bytes and a thread allocates `own`, on average.
fn unused_of_fixed(own: f64, size: f64) -> f64 {
    // Threads do not all allocate the same: of many TLABs the last one is half used, of few it is as the mean has it.
    const MANY: f64 = 4.0;
    if own > MANY * size { size / 2.0 } else { (own / size).ceil().max(1.0) * size - own }
}

/// The same for TLABs that begin small, each as large as all before together.
fn unused_of_growing(own: f64) -> f64 {
    let mut sum = FIRST_OF_TERRACE;
    while sum < own {
        sum *= 2.0;
    }
    sum - own
}

/// When ended threads leave so many bytes instead.
fn effect(evidence: &Evidence, allocation: &Allocation, ended: f64) -> Effect {
    let kept = (allocation.used - allocation.waste_ended).max(allocation.objects);
    let collections = ((kept + ended.min(allocation.waste_ended)) / allocation.used).min(1.0);
    Effect {
        collections: Some(collections),
        speed: evidence.speed_with_collections(collections),
        sure: Sure::Counted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_leave_follows_from_what_they_allocate() {
        assert_eq!(unused_of_fixed(1000.0, 4096.0), 3096.0);
        assert_eq!(unused_of_fixed(5000.0, 4096.0), 3192.0);
        assert_eq!(unused_of_fixed(1e6, 4096.0), 2048.0);
        assert_eq!(unused_of_growing(1000.0), 1048.0);
        assert_eq!(unused_of_growing(5000.0), 3192.0);
    }
}
