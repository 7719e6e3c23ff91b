//! What was counted in a stretch of time.

use crate::exposure::Exposed;
use jvm::counts::{Counts, Requests, Waste};
use jvm::stops::Stopped;
use std::ops::AddAssign;
use std::time::Duration;

/// What happened in a stretch of time: a window, or a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measure {
    pub seconds: f64,
    /// CPU time used in it.
    pub cpu_seconds: Option<f64>,
    /// Of that, by the application's own threads.
    pub application_cpu_seconds: Option<f64>,
    /// What stops did to it, where they are known.
    pub stopped: Option<Stopped>,
    pub operations: Option<f64>,
    /// Bytes allocated in it.
    pub bytes: Option<f64>,
    pub collections: Option<u64>,
    /// Time of those.
    pub collection_seconds: Option<f64>,
    /// Bytes of the heap used up in it, by the JVM's log of its collections.
    pub heap_used: Option<f64>,
    /// What that may be off by in either direction, and in all measures of a side alike: the log ends with a collection, a whole run does not.
    pub heap_unknown: f64,
    /// Waste of the agent's buffers.
    pub waste: Option<Waste>,
    pub requests: Option<Requests>,
}

impl Measure {
    /// What happened between two moments.
    pub fn between(earlier: &Counts, later: &Counts) -> Measure {
        let both = |a: Option<u64>, b: Option<u64>| Some(b?.saturating_sub(a?) as f64);
        let time = |a: Option<Duration>, b: Option<Duration>| {
            a.zip(b).map(|(a, b)| b.saturating_sub(a).as_secs_f64())
        };
        Measure {
            seconds: later.at.saturating_sub(earlier.at).as_secs_f64(),
            cpu_seconds: time(earlier.cpu, later.cpu),
            application_cpu_seconds: time(earlier.application_cpu, later.application_cpu),
            stopped: None,
            operations: both(earlier.operations, later.operations),
            bytes: both(earlier.bytes, later.bytes),
            collections: Some(later.collections.saturating_sub(earlier.collections)),
            collection_seconds: None,
            heap_used: None,
            heap_unknown: 0.0,
            waste: Some(later.waste.since(&earlier.waste)),
            requests: Some(later.requests.since(&earlier.requests)),
        }
    }
}

/// Two stretches of time, taken together. What is unknown of one is unknown of both.
impl AddAssign for Measure {
    fn add_assign(&mut self, other: Measure) {
        fn sum<T: AddAssign>(own: Option<T>, other: Option<T>) -> Option<T> {
            own.zip(other).map(|(mut own, other)| {
                own += other;
                own
            })
        }
        *self = Measure {
            seconds: self.seconds + other.seconds,
            cpu_seconds: sum(self.cpu_seconds, other.cpu_seconds),
            application_cpu_seconds: sum(self.application_cpu_seconds, other.application_cpu_seconds),
            stopped: sum(self.stopped, other.stopped),
            operations: sum(self.operations, other.operations),
            bytes: sum(self.bytes, other.bytes),
            collections: sum(self.collections, other.collections),
            collection_seconds: sum(self.collection_seconds, other.collection_seconds),
            heap_used: sum(self.heap_used, other.heap_used),
            heap_unknown: self.heap_unknown + other.heap_unknown,
            waste: sum(self.waste, other.waste),
            requests: sum(self.requests, other.requests),
        };
    }
}

/// Two neighbouring measures, one of each side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The side in question.
    pub a: Measure,
    /// The side that it is compared with.
    pub b: Measure,
    /// What steps of these moments say, where the program records them.
    pub steps: Option<Exposed>,
}

/// What is taken for the program's progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// The program's own operations.
    Operations,
    /// Bytes allocated.
    Bytes,
    /// Whole runs: the reciprocal of their time.
    Runs,
}

impl Amount {
    /// How much of it there was. `None` when nothing happened, or nobody knows.
    pub fn of(self, measure: &Measure) -> Option<f64> {
        self.counted(measure).filter(|amount| *amount > 0.0)
    }

    /// The same, with 0 where nothing happened: time in which a side does nothing is its time, too.
    pub fn counted(self, measure: &Measure) -> Option<f64> {
        match self {
            Amount::Operations => measure.operations,
            Amount::Bytes => measure.bytes,
            Amount::Runs => Some(1.0),
        }
    }

    /// For each second. `None` when nothing happened.
    pub fn rate(self, measure: &Measure) -> Option<f64> {
        Some(self.of(measure)? / Some(measure.seconds).filter(|seconds| *seconds > 0.0)?)
    }

    pub fn cpu_rate(self, measure: &Measure) -> Option<f64> {
        Some(self.of(measure)? / measure.cpu_seconds.filter(|seconds| *seconds > 0.0)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_counts() {
        let first = Counts {
            at: Duration::from_secs(1),
            operations: Some(10),
            bytes: Some(100),
            ..Counts::default()
        };
        let later = Counts {
            at: Duration::from_secs(3),
            operations: Some(50),
            bytes: Some(300),
            cpu: Some(Duration::from_secs(4)),
            application_cpu: None,
            collections: 2,
            waste: Waste { refill_bytes: 5, of_bytes: 200, ..Waste::default() },
            requests: Requests { served: 200, foreign: 1, stolen: 3, ..Requests::default() },
        };
        assert_eq!(Measure::between(&first, &later).requests.unwrap().foreign_share(), Some(0.02));
        assert_eq!(Requests::default().foreign_share(), None, "nothing was asked for");
        let measure = Measure::between(&first, &later);
        assert_eq!(Amount::Operations.rate(&measure), Some(20.0));
        assert_eq!(Amount::Bytes.rate(&measure), Some(100.0));
        assert_eq!(Amount::Runs.rate(&measure), Some(0.5));
        assert_eq!(Amount::Operations.cpu_rate(&measure), None, "CPU time was unknown at first");
        assert_eq!((measure.collections, measure.waste.unwrap().share()), (Some(2), Some(0.025)));
        let unread = Measure::between(&first, &Counts { bytes: None, ..later });
        assert_eq!((unread.bytes, Amount::Bytes.counted(&unread)), (None, None), "not none");
    }
}
