//! What a JVM's counters say at one moment.

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
    pub fn total(&self) -> u64 {
        self.refill_bytes + self.collection_bytes + self.alignment_bytes
    }

    /// As a share of what was handed out.
    pub fn share(&self) -> Option<f64> {
        (self.of_bytes > 0).then(|| self.total() as f64 / self.of_bytes as f64)
    }

    pub fn since(&self, earlier: &Waste) -> Waste {
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

    pub fn since(&self, earlier: &Requests) -> Requests {
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
    /// Bytes allocated, where they can be read: a moment without them is no moment at which nothing was allocated.
    pub bytes: Option<u64>,
    /// CPU time used, where it can be read.
    pub cpu: Option<Duration>,
    /// CPU time of the application's own threads, where it can be read.
    pub application_cpu: Option<Duration>,
    pub collections: u64,
    pub waste: Waste,
    pub requests: Requests,
}
