//! What happened in a domain, counted where it happened.
//!
//! Over all domains of a level, while no refill is under way (reserved = allocated + waste + remaining):
//!
//! ```text
//! RefillBytes = BufferBytes + ObjectBytes + StolenBytes + WasteRefill + WasteCollection + WasteAlignment + rests of the buffers
//! ```
//!
//! and what a level got, `RefillBytes + DirectBytes`, is what the level above served:
//! `BufferBytes + ObjectBytes + StolenBytes + DirectBytes`. A domain alone does not balance: stolen bytes are counted by the thief.

use crate::atomics::{Atomics, Ordering, Processor, Word};

/// One counted event or sum of bytes. The number is the place in [`Counters`], and so part of the control file's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Counter {
    /// Requests for a thread buffer that this domain's buffer served.
    Buffers = 0,
    /// Bytes of those.
    BufferBytes = 1,
    /// Single objects (requests outside any thread buffer) that this domain's buffer served.
    Objects = 2,
    /// Bytes of those.
    ObjectBytes = 3,
    /// Times that this domain's buffer got a new extent.
    Refills = 4,
    /// Bytes of those extents.
    RefillBytes = 5,
    /// Requests whose thread had left this domain by the time it was served.
    Foreign = 6,
    /// Requests of this domain served from the tail of another domain's buffer.
    Stolen = 7,
    /// Bytes of those.
    StolenBytes = 8,
    /// Requests of this domain passed on to the upper source: too large, or no buffer could serve them.
    Direct = 9,
    /// Bytes of those.
    DirectBytes = 10,
    /// Bytes of tails given up when the buffer was refilled.
    WasteRefill = 11,
    /// Bytes of tails given up for a collection or a heap walk.
    WasteCollection = 12,
    /// Bytes given up because the source's extent was not a whole number of grains, or too large for a buffer.
    WasteAlignment = 13,
    /// Requests that went straight to the heap because buffers were switched off, or because there are none.
    Passed = 14,
    /// Bytes of those.
    PassedBytes = 15,
    /// Single objects that went to the heap while buffers were on, because no buffer could serve them.
    Missed = 16,
    /// Bytes of those.
    MissedBytes = 17,
    /// Retirements that met a refill under way, and left the buffer to its owner.
    Overlapped = 18,
}

impl Counter {
    /// All of them, in the order of their numbers.
    pub const ALL: [Counter; 19] = [
        Counter::Buffers,
        Counter::BufferBytes,
        Counter::Objects,
        Counter::ObjectBytes,
        Counter::Refills,
        Counter::RefillBytes,
        Counter::Foreign,
        Counter::Stolen,
        Counter::StolenBytes,
        Counter::Direct,
        Counter::DirectBytes,
        Counter::WasteRefill,
        Counter::WasteCollection,
        Counter::WasteAlignment,
        Counter::Passed,
        Counter::PassedBytes,
        Counter::Missed,
        Counter::MissedBytes,
        Counter::Overlapped,
    ];

    /// The name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Counter::Buffers => "buffers",
            Counter::BufferBytes => "buffer_bytes",
            Counter::Objects => "objects",
            Counter::ObjectBytes => "object_bytes",
            Counter::Refills => "refills",
            Counter::RefillBytes => "refill_bytes",
            Counter::Foreign => "foreign",
            Counter::Stolen => "stolen",
            Counter::StolenBytes => "stolen_bytes",
            Counter::Direct => "direct",
            Counter::DirectBytes => "direct_bytes",
            Counter::WasteRefill => "waste_refill_bytes",
            Counter::WasteCollection => "waste_collection_bytes",
            Counter::WasteAlignment => "waste_alignment_bytes",
            Counter::Passed => "passed",
            Counter::PassedBytes => "passed_bytes",
            Counter::Missed => "missed",
            Counter::MissedBytes => "missed_bytes",
            Counter::Overlapped => "overlapped",
        }
    }
}

/// Room for counters in a block: two pairs of cache lines.
const ROOM: usize = 32;

/// The counters of one domain on one level: 256 bytes, two pairs of the cache lines that the prefetchers of many processors fetch
/// together; what the fast path counts lies in the first line. No other domain writes there, except a thread that has just left
/// this one.
///
/// The memory may be shared with another process, which only reads.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Counters<M: Atomics = Processor> {
    values: [M::Relaxed; ROOM],
}

impl<M: Atomics> Default for Counters<M> {
    fn default() -> Self {
        Counters { values: core::array::from_fn(|_| M::Relaxed::new(0)) }
    }
}

impl<M: Atomics> Counters<M> {
    /// The present value. Another thread may be counting: each value is exact, a set of them is not one moment's.
    pub fn get(&self, counter: Counter) -> u64 {
        self.values[counter as usize].load(Ordering::Relaxed)
    }

    /// Counts on a slow path, or where several CPUs share the domain: exact.
    pub fn add(&self, counter: Counter, amount: u64) {
        self.values[counter as usize].add(amount, Ordering::Relaxed);
    }

    /// Counts on the fast path of a domain with one CPU ([`Word::add_on_own_cpu`]).
    ///
    /// On x86-64 only a thread that has just left the domain can race with it, and an addition is then lost. What must be exact is
    /// counted by [`Counters::add`] or derived from the buffer. On other processors nothing is lost.
    #[inline(always)]
    pub fn add_plainly(&self, counter: Counter, amount: u64) {
        self.values[counter as usize].add_on_own_cpu(amount);
    }
}
