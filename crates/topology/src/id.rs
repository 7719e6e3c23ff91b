//! The two kinds of number that must not be mixed up.

use std::fmt;

/// CPU numbers from here on are taken for garbage. Linux builds for at most 8192 CPUs (`NR_CPUS`); this leaves room, and
/// every dense index below it fits a [`DomainIndex`].
pub const CPU_LIMIT: u32 = 1 << 16;

/// The operating system's number of a CPU (one hardware thread). Sparse: there may be holes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuId(pub u32);

/// The dense number of a domain among the domains of its kind, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DomainIndex(pub u16);

impl DomainIndex {
    /// The number as an array index.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for DomainIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
