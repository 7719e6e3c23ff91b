//! What was counted in a stretch of time.

use crate::jvm::stops::Stopped;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use std::time::Duration;

/// Bytes reserved and never allocated in the agent's buffers, by cause. HotSpot's own thread buffers are not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waste {
    /// Tails given up when a buffer was refilled.
    pub refill_bytes: u64,
    /// Tails given up for a collection or a heap walk.
    pub collection_bytes: u64,
    /// What did not fit the grain.
    pub alignment_bytes: u64,
    /// The bytes handed out in the same time, to compare with.
    pub of_bytes: u64,
}

impl Waste {
    /// All causes.
    pub fn total(&self) -> u64 {
        self.refill_bytes + self.collection_bytes + self.alignment_bytes
    }

    /// As a share of what was handed out.
    pub fn share(&self) -> Option<f64> {
        (self.of_bytes > 0).then(|| self.total() as f64 / self.of_bytes as f64)
    }

    fn since(&self, earlier: &Waste) -> Waste {
        Waste {
            refill_bytes: self.refill_bytes.saturating_sub(earlier.refill_bytes),
            collection_bytes: self.collection_bytes.saturating_sub(earlier.collection_bytes),
            alignment_bytes: self.alignment_bytes.saturating_sub(earlier.alignment_bytes),
            of_bytes: self.of_bytes.saturating_sub(earlier.of_bytes),
        }
    }
}

impl AddAssign for Waste {
    fn add_assign(&mut self, other: Waste) {
        self.refill_bytes += other.refill_bytes;
        self.collection_bytes += other.collection_bytes;
        self.alignment_bytes += other.alignment_bytes;
        self.of_bytes += other.of_bytes;
    }
}

/// What threads asked the buffers nearest to them for, and how it was served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    /// Served by a buffer, the own one or another one's tail.
    pub served: u64,
    /// Of these: the thread had left the domain by then.
    pub foreign: u64,
    /// Of these: from the tail of another domain's buffer.
    pub stolen: u64,
    /// Served by the source above, past the buffers.
    pub direct: u64,
    /// Refills of the buffers.
    pub refills: u64,
    /// Bytes of those and of what was served past the buffers: all that was reserved.
    pub reserved_bytes: u64,
}

impl Requests {
    /// The share of requests that was not served by the buffer of the domain that the thread was then in: the paper's foreign
    /// allocations.
    pub fn foreign_share(&self) -> Option<f64> {
        (self.served > 0).then(|| (self.foreign + self.stolen) as f64 / self.served as f64)
    }

    fn since(&self, earlier: &Requests) -> Requests {
        Requests {
            served: self.served.saturating_sub(earlier.served),
            foreign: self.foreign.saturating_sub(earlier.foreign),
            stolen: self.stolen.saturating_sub(earlier.stolen),
            direct: self.direct.saturating_sub(earlier.direct),
            refills: self.refills.saturating_sub(earlier.refills),
            reserved_bytes: self.reserved_bytes.saturating_sub(earlier.reserved_bytes),
        }
    }
}

impl AddAssign for Requests {
    fn add_assign(&mut self, other: Requests) {
        self.served += other.served;
        self.foreign += other.foreign;
        self.stolen += other.stolen;
        self.direct += other.direct;
        self.refills += other.refills;
        self.reserved_bytes += other.reserved_bytes;
    }
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// The moment, on a clock that only goes forward.
    pub at: Duration,
    /// Operations, where the program counts them.
    pub operations: Option<u64>,
    /// Bytes allocated.
    pub bytes: u64,
    /// CPU time used, where it can be read.
    pub cpu: Option<Duration>,
    /// CPU time of the application's own threads, where it can be read.
    pub application_cpu: Option<Duration>,
    /// Collections.
    pub collections: u64,
    /// Waste.
    pub waste: Waste,
    /// Requests.
    pub requests: Requests,
}

/// Calls of a workload that lie wholly in a stretch of time. Calls of one kind do the same work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CallsDone {
    /// How many.
    pub count: f64,
    /// CPU time that they took.
    pub cpu_seconds: f64,
    /// CPU time that calls of their kinds take on average: the work that they are.
    pub expected_seconds: f64,
}

impl CallsDone {
    /// Work for each second of CPU time. `None` without calls.
    pub fn rate(&self) -> Option<f64> {
        (self.cpu_seconds > 0.0).then(|| self.expected_seconds / self.cpu_seconds)
    }
}

/// What happened in a stretch of time: a window, or a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measure {
    /// Its length.
    pub seconds: f64,
    /// CPU time used in it.
    pub cpu_seconds: Option<f64>,
    /// Of that, by the application's own threads.
    pub application_cpu_seconds: Option<f64>,
    /// What stops did to it, where they are known.
    pub stopped: Option<Stopped>,
    /// Whole calls in it, where the program records them.
    pub calls: Option<CallsDone>,
    /// Operations done in it.
    pub operations: Option<f64>,
    /// Bytes allocated in it.
    pub bytes: Option<f64>,
    /// Collections in it.
    pub collections: Option<u64>,
    /// Time of those.
    pub collection_seconds: Option<f64>,
    /// Waste of the agent's buffers.
    pub waste: Option<Waste>,
    /// Requests to them.
    pub requests: Option<Requests>,
}

impl Counts {
    /// What happened from here to there.
    pub fn until(&self, later: &Counts) -> Measure {
        let both = |a: Option<u64>, b: Option<u64>| Some(b?.saturating_sub(a?) as f64);
        let time = |a: Option<Duration>, b: Option<Duration>| {
            a.zip(b).map(|(a, b)| b.saturating_sub(a).as_secs_f64())
        };
        Measure {
            seconds: later.at.saturating_sub(self.at).as_secs_f64(),
            cpu_seconds: time(self.cpu, later.cpu),
            application_cpu_seconds: time(self.application_cpu, later.application_cpu),
            stopped: None,
            calls: None,
            operations: both(self.operations, later.operations),
            bytes: Some(later.bytes.saturating_sub(self.bytes) as f64),
            collections: Some(later.collections.saturating_sub(self.collections)),
            collection_seconds: None,
            waste: Some(later.waste.since(&self.waste)),
            requests: Some(later.requests.since(&self.requests)),
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
            calls: sum(self.calls, other.calls),
            operations: sum(self.operations, other.operations),
            bytes: sum(self.bytes, other.bytes),
            collections: sum(self.collections, other.collections),
            collection_seconds: sum(self.collection_seconds, other.collection_seconds),
            waste: sum(self.waste, other.waste),
            requests: sum(self.requests, other.requests),
        };
    }
}

impl AddAssign for CallsDone {
    fn add_assign(&mut self, other: CallsDone) {
        self.count += other.count;
        self.cpu_seconds += other.cpu_seconds;
        self.expected_seconds += other.expected_seconds;
    }
}

/// Two neighbouring measures, one of each side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The side in question.
    pub a: Measure,
    /// The side that it is compared with.
    pub b: Measure,
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
    /// How much of it there was.
    pub fn of(self, measure: &Measure) -> Option<f64> {
        match self {
            Amount::Operations => measure.operations,
            Amount::Bytes => measure.bytes,
            Amount::Runs => Some(1.0),
        }
        .filter(|amount| *amount > 0.0)
    }

    /// For each second. `None` when nothing happened.
    pub fn rate(self, measure: &Measure) -> Option<f64> {
        Some(self.of(measure)? / Some(measure.seconds).filter(|seconds| *seconds > 0.0)?)
    }

    /// For each CPU-second.
    pub fn cpu_rate(self, measure: &Measure) -> Option<f64> {
        Some(self.of(measure)? / measure.cpu_seconds.filter(|seconds| *seconds > 0.0)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_counts() {
        let first =
            Counts { at: Duration::from_secs(1), operations: Some(10), bytes: 100, ..Counts::default() };
        let later = Counts {
            at: Duration::from_secs(3),
            operations: Some(50),
            bytes: 300,
            cpu: Some(Duration::from_secs(4)),
            application_cpu: None,
            collections: 2,
            waste: Waste { refill_bytes: 5, of_bytes: 200, ..Waste::default() },
            requests: Requests { served: 200, foreign: 1, stolen: 3, ..Requests::default() },
        };
        assert_eq!(first.until(&later).requests.unwrap().foreign_share(), Some(0.02));
        assert_eq!(Requests::default().foreign_share(), None, "nothing was asked for");
        let measure = first.until(&later);
        assert_eq!(Amount::Operations.rate(&measure), Some(20.0));
        assert_eq!(Amount::Bytes.rate(&measure), Some(100.0));
        assert_eq!(Amount::Runs.rate(&measure), Some(0.5));
        assert_eq!(Amount::Operations.cpu_rate(&measure), None, "CPU time was unknown at first");
        assert_eq!((measure.collections, measure.waste.unwrap().share()), (Some(2), Some(0.025)));
    }
}
