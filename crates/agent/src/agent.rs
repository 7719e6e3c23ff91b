//! The installed agent: what the hooks work with.
#![allow(
    clippy::disallowed_types,
    reason = "the installed agent is found by all threads through one pointer"
)]

use crate::hierarchy::{Hierarchy, ThreadBuffers};
use control::Control;
use hab::{Counters, Shape, sizing};
use hotspot::heap::{self, Heap};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};
use topology::{CpuSource, DomainMap};

/// HotSpot's own functions.
#[derive(Debug)]
pub(crate) struct Originals {
    pub(crate) allocate_new_tlab: heap::AllocateNewTlab,
    pub(crate) mem_allocate: heap::MemAllocate,
    pub(crate) unsafe_max_tlab_alloc: heap::UnsafeMaxTlabAlloc,
    pub(crate) ensure_parsability: heap::EnsureParsability,
    pub(crate) trace_heap: heap::TraceHeap,
}

/// Where requests are counted that no level serves: by the threads' domains.
pub(crate) struct Observed {
    pub(crate) map: DomainMap,
    pub(crate) counters: &'static [Counters],
    pub(crate) shared: bool,
}

impl Observed {
    #[inline(always)]
    pub(crate) fn domain(&self, cpu: topology::CpuId) -> usize {
        usize::from(self.map.of(cpu).0)
    }
}

/// The installed agent: made once, never changed, never freed.
pub(crate) struct Agent {
    pub(crate) control: &'static Control,
    pub(crate) cpu_source: CpuSource,
    pub(crate) hierarchy: Hierarchy,
    /// Objects up to this many bytes may be carved from a buffer.
    pub(crate) largest_object: usize,
    pub(crate) refill_for_objects: bool,
    /// Whether TLABs grow (`tlab=auto`).
    pub(crate) grows: bool,
    pub(crate) observed: Observed,
    pub(crate) bound: Option<ThreadBuffers>,
    pub(crate) originals: Originals,
    pub(crate) heap: &'static Heap,
    pub(crate) shape: Shape,
    /// The largest extent that the collector accepts, in bytes.
    pub(crate) largest: usize,
    /// For each level: number of domains, and whether its size follows eden.
    pub(crate) automatic: Vec<(usize, bool)>,
    pub(crate) closing: Closing,
}

/// How far the end of the JVM has come.
#[derive(Debug, Default)]
pub(crate) struct Closing(AtomicU8);

const ASKED: u8 = 1;
const UNDER_WAY: u8 = 2;
const DONE: u8 = 3;

static AGENT: AtomicPtr<Agent> = AtomicPtr::new(null_mut());
/// The agent, in a hook: hooks are in place only after it was stored.
#[inline(always)]
pub(crate) fn agent() -> &'static Agent {
    // Acquire: pairs with the release in `finish`; on x86-64 it costs nothing.
    let agent = AGENT.load(Ordering::Acquire);
    // SAFETY: stored before any hook was put in place, and never freed.
    unsafe { &*agent }
}

/// The agent, if it is installed.
pub(crate) fn agent_if_installed() -> Option<&'static Agent> {
    // SAFETY: null or a leaked value.
    unsafe { AGENT.load(Ordering::Acquire).as_ref() }
}

/// Makes the agent known to the hooks. It stays for ever.
pub(crate) fn publish(agent: Agent) -> &'static Agent {
    let agent: &'static Agent = Box::leak(Box::new(agent));
    // Release: who finds the agent sees all of it.
    AGENT.store(std::ptr::from_ref(agent).cast_mut(), Ordering::Release);
    agent
}

impl Agent {
    /// Retires every buffer. Only at a safepoint.
    pub(crate) fn retire_buffers(&self) {
        self.hierarchy.retire_buffers();
        if let Some(bound) = &self.bound {
            bound.retire_buffers();
        }
    }

    /// Eden may have changed its size at the last collection: automatic sizes follow. Only on the VM thread or a Java thread.
    pub(crate) fn follow_eden(&self) {
        if self.automatic.iter().any(|(_, automatic)| *automatic) {
            // SAFETY: the VM thread is known to HotSpot, and the heap exists.
            let eden = unsafe { self.heap.tlab_capacity() };
            let sizes: Vec<Option<usize>> = (self.automatic.iter())
                .map(|(domains, automatic)| {
                    automatic.then(|| sizing::automatic(eden, *domains, self.largest, self.shape))
                })
                .collect();
            self.hierarchy.resize(&sizes);
        }
    }

    /// From now on the next thread in a hook empties the buffers for good.
    pub(crate) fn begin_closing(&self) {
        // Release: pairs with the acquire in `drain_if_closing`.
        self.closing.0.store(ASKED, Ordering::Release);
    }

    /// Whether the buffers have been emptied for good.
    pub(crate) fn is_closed(&self) -> bool {
        // Acquire: pairs with the release in `drain_if_closing`.
        self.closing.0.load(Ordering::Acquire) == DONE
    }

    /// Empties the buffers for good if that was asked for. Only in a hook on a Java thread in VM state, where fillers may be
    /// written. Private buffers are left to the collections' own hooks: only their threads may touch them outside a safepoint.
    #[inline(always)]
    pub(crate) fn drain_if_closing(&self) {
        // Relaxed: the exchange in `drain` decides.
        if self.closing.0.load(Ordering::Relaxed) == ASKED {
            self.drain();
        }
    }

    #[cold]
    fn drain(&self) {
        // Acquire: pairs with `begin_closing`; one thread wins.
        if self.closing.0.compare_exchange(ASKED, UNDER_WAY, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            self.hierarchy.close();
            // Release: who sees the end sees the fillers.
            self.closing.0.store(DONE, Ordering::Release);
        }
    }
}
