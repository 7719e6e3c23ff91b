//! What supplies extents.

use crate::Extent;

/// A CPU's dense number: `0..n` without the holes of the operating system's numbering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuIndex(pub u32);

/// A domain's dense number on one level: domains that are near in the machine have near numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainIndex(pub u16);

/// Something that hands out extents and takes their tails back: the heap, or a [`Level`](crate::Level) of buffers over it.
///
/// The CPU is asked for once a request and passed down: a thread that migrates half-way must not be served by two domains.
pub trait Source {
    /// Hands out between `min` and `desired` bytes, both whole numbers of grains, or nothing.
    ///
    /// May block, for a whole collection even: callers hold nothing that another thread could wait for.
    fn acquire(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent>;

    /// The same for a request that the level below hands on as it is, because none of its buffers could serve it: for sources that tell the
    /// two apart.
    fn serve(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        self.acquire(cpu, min, desired)
    }

    /// Bytes that [`Source::acquire`] could presumably hand out now without blocking. A hint: other threads are at work.
    fn available(&self, cpu: CpuIndex) -> usize;

    /// Takes back a tail that will not be handed out any more (for HotSpot: writes a filler object there).
    fn retire(&self, tail: Extent);
}

impl<S: Source + ?Sized> Source for &S {
    fn acquire(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        (**self).acquire(cpu, min, desired)
    }

    fn serve(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        (**self).serve(cpu, min, desired)
    }

    fn available(&self, cpu: CpuIndex) -> usize {
        (**self).available(cpu)
    }

    fn retire(&self, tail: Extent) {
        (**self).retire(tail);
    }
}
