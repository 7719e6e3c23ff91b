//! Sizes that follow what is seen (`core=auto`).
//!
//! A small buffer is refilled often, and each refill costs what sharing costs. A large one leaves more behind at a collection, and what it
//! leaves of eden brings the next collection nearer. The first cost falls with the size, the second rises, and their sum is least where both are
//! equal. So both are counted over some collections, and the size is halved or doubled when one of them is [`BAND`] times the
//! other: halving divides waste / refills by 4, which leaves it inside the band. Two evaluations have to agree.
//!
//! Requests that a small buffer does not serve go past it, and cost what a refill costs. So a buffer is not made smaller than [`REQUESTS`] of those
//! that it serves, and what went past it and would fit into the largest counts as refills. Where a buffer was made smaller and has to be made larger
//! again all the same, it is not made smaller again for [`PATIENCE`] evaluations.
//!
//! A size starts with the formula's ([`crate::sizing`]), which is never more than [`LARGEST`]. It grows beyond that, up to the formula's with
//! [`GROWN`], only where buffers leave next to nothing behind: what waste costs in time is not all that it costs, and a program shall not collect
//! noticeably more often because of its buffers.

use crate::sizing::{GROWN, LARGEST, SMALLEST};

/// A refill from the heap, in nanoseconds: a heap's top serves about a million refills a second where its line crosses packages
/// (docs/where-it-pays.md), one after the other. On smaller machines it costs less: sizes are then held larger than need be.
pub const HEAP_REFILL_NS: u64 = 1000;
/// A refill from a processor's buffer: an eighth, as between two cores of a cluster against two packages of an EPYC 9654 (22.6 and 187 ns;
/// `crates/coherence/machines`).
pub const PROCESSOR_REFILL_NS: u64 = 125;
/// How many times the other a cost has to be.
pub const BAND: u64 = 4;
/// A cost matters from this fraction of the time on.
pub const MATTERS: u64 = 1000;
/// Buffers larger than [`LARGEST`] leave at most this fraction of eden behind at a collection.
pub const LEFT: u64 = 200;
/// So many requests have room in a buffer.
pub const REQUESTS: u64 = 4;
/// So many evaluations pass before what had to be undone is tried again.
pub const PATIENCE: u32 = 64;
/// The collections that an evaluation needs, however many domains there are: rests of one collection resemble each other.
pub const COLLECTIONS: u64 = 4;
/// The rests (one for each domain and collection) that an evaluation needs: each is anything up to a buffer, and next to nothing where a
/// collection came because eden, and with it the buffers' tails, was used up.
const ENOUGH_RESTS: u64 = 16;
/// The refills that it needs, and requests that went past the buffers.
const ENOUGH_REFILLS: u64 = 32;

/// What was seen of a level, over whole collection cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Collections.
    pub collections: u64,
    /// Domains that allocated.
    pub domains: u64,
    /// Refills of its buffers.
    pub refills: u64,
    /// Requests that its buffers served, and their bytes.
    pub served: [u64; 2],
    /// Requests that went past them, and their bytes.
    pub past: [u64; 2],
    /// Nanoseconds of a refill.
    pub refill_ns: u64,
    /// Bytes that the buffers left behind at collections.
    pub waste: u64,
    /// Bytes of eden.
    pub eden: u64,
    /// Nanoseconds of all these collections' pauses.
    pub pause_ns: u64,
    /// Nanoseconds in all, pauses included.
    pub elapsed_ns: u64,
}

impl Observed {
    /// Whether it is enough to judge by where the bound is `most`. Otherwise more has to be seen.
    pub fn is_enough(&self, most: usize) -> bool {
        self.refills.saturating_add(self.too_large(most)) >= ENOUGH_REFILLS
            && self.collections >= COLLECTIONS
            && self.collections.saturating_mul(self.domains) >= ENOUGH_RESTS
            && self.eden > 0
    }

    /// Requests that went past the buffers and would not past buffers of `most` bytes, two of which a buffer has to hold.
    fn too_large(&self, most: usize) -> u64 {
        let [requests, bytes] = self.past;
        if bytes / requests.max(1) <= most.min(LARGEST) as u64 / 2 { requests } else { 0 }
    }

    /// Nanoseconds of the refills, and of what goes past the buffers and need not, as if they came one after the other. `most`: the bound.
    pub fn refills_cost_ns(&self, most: usize) -> u64 {
        self.refills.saturating_add(self.too_large(most)).saturating_mul(self.refill_ns)
    }

    /// Whether buffers so many times as large would leave too much of eden behind for more than [`LARGEST`].
    fn leaves_much(&self, times: u64) -> bool {
        let left = u128::from(self.waste) * u128::from(times) * u128::from(LEFT);
        left > u128::from(self.eden) * u128::from(self.collections)
    }

    /// Nanoseconds of the waste: it makes waste / eden more collections.
    pub fn waste_cost_ns(&self) -> u64 {
        let room = u128::from(self.eden) * u128::from(self.collections);
        let cost = u128::from(self.pause_ns) * u128::from(self.waste) / room.max(1);
        u64::try_from(cost).unwrap_or(u64::MAX)
    }
}

/// What an evaluation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Why {
    /// Larger: refills cost more than waste.
    Refills = 1,
    /// Smaller: waste costs more than refills.
    Waste = 2,
    /// Another size because the bound has moved.
    Bound = 3,
    /// No change: neither cost is [`BAND`] times the other.
    Balanced = 4,
    /// No change: both costs are below 1/[`MATTERS`] of the time.
    Minor = 5,
    /// No change: the size is as large or as small as it may be.
    AtBound = 6,
    /// No change unless the next evaluation agrees.
    Once = 7,
    /// No change: smaller buffers had to be made larger again not long ago.
    Undone = 8,
    /// No change: buffers of more than [`LARGEST`] would leave more than 1/[`LEFT`] of eden behind.
    Left = 9,
}

impl Why {
    /// All of them.
    pub const ALL: [Why; 9] = [
        Why::Refills,
        Why::Waste,
        Why::Bound,
        Why::Balanced,
        Why::Minor,
        Why::AtBound,
        Why::Once,
        Why::Undone,
        Why::Left,
    ];

    /// The name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Why::Refills => "refills",
            Why::Waste => "waste",
            Why::Bound => "bound",
            Why::Balanced => "balanced",
            Why::Minor => "minor",
            Why::AtBound => "at_bound",
            Why::Once => "once",
            Why::Undone => "undone",
            Why::Left => "left",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Larger,
    Smaller,
}

/// The size of a level's buffers, and where evaluations would have had it go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    wanted: usize,
    leaning: Option<Direction>,
    /// The way of the last change.
    came: Direction,
    /// Evaluations until it may become smaller again.
    patience: u32,
}

impl Size {
    /// The formula's.
    pub const START: Size = Size { wanted: LARGEST, leaning: None, came: Direction::Larger, patience: 0 };

    /// Bytes, where the bound is `most`.
    pub fn bytes(&self, most: usize) -> usize {
        self.wanted.min(most)
    }

    /// Without what the last evaluation came to: other things have happened since.
    pub fn settled(self) -> Size {
        Size { leaning: None, ..self }
    }

    /// The next size after what was seen with this one in force, and why. `most`: the bound by now.
    pub fn next(self, most: usize, seen: &Observed) -> (Size, Why) {
        let size = Size { patience: self.patience.saturating_sub(1), ..self };
        let stay = |why| (size.settled(), why);
        let (refills, waste) = (seen.refills_cost_ns(most), seen.waste_cost_ns());
        let grown = self.bytes(most) > LARGEST && seen.leaves_much(1);
        if !grown && refills.max(waste).saturating_mul(MATTERS) < seen.elapsed_ns {
            return stay(Why::Minor);
        }
        let direction = if grown {
            Direction::Smaller
        } else if refills > waste.saturating_mul(BAND) {
            Direction::Larger
        } else if waste > refills.saturating_mul(BAND) {
            Direction::Smaller
        } else {
            return stay(Why::Balanced);
        };
        let Some(wanted) = size.step(direction, most, seen) else { return stay(Why::AtBound) };
        if direction == Direction::Smaller && size.patience > 0 && !grown {
            return stay(Why::Undone);
        }
        if direction == Direction::Larger && wanted.min(most) > LARGEST && seen.leaves_much(2) {
            return stay(Why::Left);
        }
        if size.leaning != Some(direction) {
            return (Size { leaning: Some(direction), ..size }, Why::Once);
        }
        let (why, patience) = match (size.came, direction) {
            (Direction::Smaller, Direction::Larger) => (Why::Refills, PATIENCE),
            (_, Direction::Larger) => (Why::Refills, size.patience),
            (_, Direction::Smaller) => (Why::Waste, size.patience),
        };
        (Size { wanted, leaning: None, came: direction, patience }, why)
    }

    /// The size a step further; `None` if it may not go there.
    fn step(&self, direction: Direction, most: usize, seen: &Observed) -> Option<usize> {
        let bytes = self.bytes(most);
        let wanted = match direction {
            Direction::Larger => (bytes * 2).min(GROWN),
            Direction::Smaller => (bytes / 2).max(SMALLEST),
        };
        let [requests, served] = seen.served;
        let room = (served / requests.max(1)).saturating_mul(REQUESTS);
        let serves = direction == Direction::Larger || wanted as u64 >= room;
        (wanted.min(most) != bytes && serves).then_some(wanted)
    }
}

#[cfg(test)]
#[path = "adaptive_test.rs"]
mod tests;
