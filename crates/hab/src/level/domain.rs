//! The buffers of one domain, and which domains there are.

use crate::atomics::Atomics;
use crate::buffer::Frame;
use crate::{Access, Buffer, DomainIndex};
use alloc::boxed::Box;

/// Which CPUs share a buffer, and which buffers are near each other.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The domain of each CPU, by dense number. A CPU beyond it (plugged in later) belongs to the last domain.
    pub domain_of_cpu: Box<[DomainIndex]>,
    /// The group (memory node or package) of each domain, in which stealing looks first. Its length is the number of domains.
    pub group_of_domain: Box<[u16]>,
    /// The first so many domains have one CPU each, at which no other CPU ever counts: plain additions serve there. The others need
    /// locked ones. The last domain, to which unknown CPUs belong, must not be among the first ones if there can be such CPUs.
    pub exclusive: usize,
}

/// Threads of one domain that may be refilling at the same time, before others have to go elsewhere. A refilling thread can be
/// without a CPU for as long as all other runnable threads take their turns; in that time the domain uses up many extents, and each
/// refill may lose its CPU as well (with G1, on `Heap_lock`). Four were enough for eight busy threads on a core.
pub const BUFFERS_PER_DOMAIN: usize = 4;

/// The buffers of one domain, alone on their cache lines: 128 bytes, because the prefetchers of many processors fetch pairs of
/// lines.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Domain<A, M: Atomics> {
    /// The first one serves. The others serve while those before them are being refilled; what is left of them then is the next
    /// extent of the first.
    pub(super) buffers: [Buffer<A, M>; BUFFERS_PER_DOMAIN],
}

impl<A: Access, M: Atomics> Domain<A, M> {
    pub(super) fn new() -> Self {
        Domain { buffers: core::array::from_fn(|_| Buffer::default()) }
    }

    #[inline(always)]
    pub(super) fn first(&self) -> &Buffer<A, M> {
        &self.buffers[0]
    }

    pub(super) fn largest_rest(&self, frame: Frame) -> usize {
        self.buffers.iter().map(|buffer| buffer.rest(frame)).max().unwrap_or(0)
    }
}
