//! What each step takes.

use super::Distance;

/// Picoseconds of simulated time. A cycle is no whole number of nanoseconds; of picoseconds it nearly is.
pub type Picoseconds = u64;

/// What each step takes, in picoseconds.
///
/// Where the shape has no such distance (no other package, say) and the file gives no cost for it, the cost is 0, and never
/// asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// A load that hits the first cache.
    pub l1: Picoseconds,
    /// A load that hits the second cache.
    pub l2: Picoseconds,
    /// A load that hits the last cache, where no other core has to be asked.
    pub l3: Picoseconds,
    /// A line handed between the threads of a core. They share the first cache: what it costs beyond a hit there is
    /// for reference.
    pub sibling: Picoseconds,
    /// A line's ownership moved to another core of the same cluster; the locked instruction that wants it comes on top.
    pub transfer_cluster: Picoseconds,
    /// The same to another cluster of the package.
    pub transfer_package: Picoseconds,
    /// The same to another package.
    pub transfer_remote: Picoseconds,
    /// The same between clusters of a package, where the line's home memory is in another one; `None` where the home does
    /// not matter.
    pub home_remote: Option<Picoseconds>,
    /// A line from the package's own memory.
    pub memory_local: Picoseconds,
    /// A line from another package's memory.
    pub memory_remote: Picoseconds,
    /// A locked instruction on a line that its own first cache owns: the drain of the store buffer and the serialisation.
    pub locked: Picoseconds,
    /// The part of `locked` that is the drain; what a fence costs.
    pub drain: Picoseconds,
    /// A plain store, into the store buffer.
    pub store: Picoseconds,
    /// Stores that the store buffer holds: one more waits until the oldest has reached the cache.
    pub store_buffer: u32,
    /// What a program's own work takes here, over what it takes on the machine on which it was measured.
    pub work_scale: f64,
    /// How much longer work takes on a CPU while all of the core's other threads are busy; [`super::Machine::slowdown`] for some of them.
    pub sibling_work: f64,
    /// How long a core that has got a line for writing keeps it at least, whatever it does with it; 0: not at all.
    pub residency: Picoseconds,
    /// How long a core keeps a line at most while its locked instructions on it follow each other at once; 0: it hands it on after the
    /// first.
    pub streak: Picoseconds,
    /// The scheduler's time slice.
    pub quantum: Picoseconds,
    /// Migrations in a second of a thread, where there is no imbalance.
    pub migration_rate: f64,
    /// A context switch.
    pub switch: Picoseconds,
}

impl Costs {
    /// What it takes to move a line over this distance, where its home memory does not matter.
    #[inline]
    pub const fn transfer(&self, distance: Distance) -> Picoseconds {
        match distance {
            Distance::SameCore => self.sibling,
            Distance::SameCluster => self.transfer_cluster,
            Distance::SamePackage => self.transfer_package,
            Distance::OtherPackage => self.transfer_remote,
        }
    }
}
