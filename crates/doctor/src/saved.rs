//! What a remedy saves of the time and of the CPU time, and how fast the program is without it.

use crate::evidence::{Evidence, SHENANDOAH};
use crate::finding::{Effect, Sure};

/// Of the time, or of the CPU time: nobody gains more than ten times what was.
const MOST: f64 = 0.9;
/// Of what CPUs have: above it threads wait for them.
const BUSY: f64 = 0.9;

/// What is saved. `None`: nobody can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Saved {
    /// Share of the time.
    time: Option<f64>,
    /// CPU-seconds of the process.
    cpu: Option<f64>,
}

impl Saved {
    /// Both together; what one costs is less than nothing saved.
    pub(crate) fn and(self, other: Saved) -> Saved {
        let sum = |one: Option<f64>, other: Option<f64>| Some(one? + other?);
        Saved { time: sum(self.time, other.time), cpu: sum(self.cpu, other.cpu) }
    }

    /// Whether it is known to save no time.
    pub(crate) fn saves_nothing(self) -> bool {
        self.time.is_some_and(|time| time <= 0.0)
    }

    /// Share of the time.
    pub(crate) fn share_of_time(self) -> Option<f64> {
        self.time
    }
}

impl Evidence {
    /// Saved when eden is full `ratio` times as often, each time with its pause: the time in which threads stood still for it, and what collectors worked
    /// meanwhile.
    pub(crate) fn saved_by_fewer_collections(&self, ratio: f64) -> Saved {
        self.saved_of_pauses(self.full_eden_share().map(|share| share * (1.0 - ratio)))
    }

    /// The same when the same work uses up `ratio` times as much of eden: less than nothing above 1.
    pub(crate) fn cost_of_using(&self, ratio: f64) -> Saved {
        let saved = self.saved_by_fewer_collections(self.full_eden_using(ratio));
        // Where nobody counted collections, they are not weighed.
        Saved { time: saved.time.or(Some(0.0)), cpu: saved.cpu.or(Some(0.0)) }
    }

    /// Saved with pauses that have such a share of the time.
    pub(crate) fn saved_of_pauses(&self, time: Option<f64>) -> Saved {
        // A collector works as much in any second of its pauses.
        let cpu = || {
            let collecting = self.collecting_share().filter(|share| *share > 0.0)?;
            let stopping = (self.collector_cpu? - self.concurrent_cpu?).max(0.0);
            Some(stopping * (time? / collecting).min(1.0))
        };
        Saved { time, cpu: cpu() }
    }

    /// Of so many CPU-seconds of a concurrent collector's threads, those in pauses at most. Shenandoah has the same threads finish in a pause what they could
    /// not in time. G1 has others for pauses, and ZGC does next to nothing in them.
    pub(crate) fn of_pauses(&self, cpu: f64) -> f64 {
        if self.jvm.collector != SHENANDOAH {
            return 0.0;
        }
        let workers = self.jvm.flags.number("ParallelGCThreads").map_or(1.0, |workers| workers as f64);
        (self.eden.collecting.unwrap_or(0.0) * workers.min(self.usable_cpus())).min(cpu)
    }

    /// Saved when the program's own threads need so many CPU-seconds less. Pauses stay.
    pub(crate) fn saved_of_threads(&self, seconds: f64) -> Saved {
        let time = self.application_cpu.filter(|cpu| *cpu > 0.0).map(|cpu| {
            let running = 1.0 - self.stopped_share().unwrap_or(0.0);
            running * (seconds / cpu).clamp(0.0, 1.0)
        });
        Saved { time, cpu: Some(seconds) }
    }

    /// Whether CPUs have hardly any time left.
    pub(crate) fn is_busy(&self) -> bool {
        self.process_cpu.is_some_and(|cpu| cpu >= BUSY * self.usable_seconds())
    }

    /// What comes of it.
    pub(crate) fn effect(&self, collections: Option<f64>, saved: Saved, sure: Sure) -> Effect {
        let of_cpu = || Some(saved.cpu? / self.process_cpu.filter(|cpu| *cpu > 0.0)?);
        // What is said of CPU time alone needs a trial.
        let sure = if collections.or(saved.time).is_some() { sure } else { Sure::Untold };
        Effect { collections, speed: saved.time.map(without), speed_cpu: of_cpu().map(without), sure }
    }
}

/// Speed without a share of the time.
fn without(share: f64) -> f64 {
    1.0 / (1.0 - share.min(MOST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sick::{SECONDS, healthy};

    fn near(found: Option<f64>, expected: f64) {
        assert!((found.unwrap() / expected - 1.0).abs() < 1e-9, "{found:?} instead of {expected}");
    }

    /// Two threads work, and thirteen collect while they stand still for a twentieth of the time.
    #[test]
    fn many_collector_threads_cost_more_cpu_time_than_time() {
        let mut evidence = healthy();
        evidence.machine.cpus = 16;
        (evidence.eden.stopped, evidence.eden.collecting) = (Some(0.05 * SECONDS), Some(0.05 * SECONDS));
        (evidence.application_cpu, evidence.concurrent_cpu) = (Some(1.9 * SECONDS), Some(0.0));
        evidence.collector_cpu = Some(0.65 * SECONDS);
        evidence.process_cpu = Some(2.55 * SECONDS);
        let effect = evidence.effect(None, evidence.saved_by_fewer_collections(0.0), Sure::Counted);
        near(effect.speed, 1.0 / 0.95);
        near(effect.speed_cpu, 2.55 / 1.9);
    }

    #[test]
    fn pauses_stay_when_threads_need_less() {
        let mut evidence = healthy();
        evidence.eden.stopped = Some(0.2 * SECONDS);
        (evidence.application_cpu, evidence.process_cpu) = (Some(16.0), Some(20.0));
        let effect = evidence.effect(None, evidence.saved_of_threads(8.0), Sure::Estimated);
        near(effect.speed, 1.0 / 0.6);
        near(effect.speed_cpu, 20.0 / 12.0);
    }

    #[test]
    fn what_nobody_has_seen_is_not_told() {
        let unseen = Evidence { process_cpu: None, ..healthy() };
        assert_eq!(unseen.effect(None, Saved::default(), Sure::Estimated), Effect::default());
        let of_cpu = Evidence { application_cpu: None, process_cpu: Some(20.0), ..healthy() };
        let effect = of_cpu.effect(None, of_cpu.saved_of_threads(10.0), Sure::Estimated);
        assert_eq!((effect.speed, effect.sure), (None, Sure::Untold));
        near(effect.speed_cpu, 2.0);
    }
}
