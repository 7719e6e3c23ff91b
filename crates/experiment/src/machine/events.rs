//! Hardware events of the calling thread, counted by the processor.

use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware};
use perf_event::{Builder, Counter};
use std::io;

/// What can be counted everywhere, if anything can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Cycles of the core's own clock.
    Cycles,
    /// Loads whose page was in no TLB for data.
    DataTlbMisses,
    /// Fetches whose page was in no TLB for instructions.
    InstructionTlbMisses,
}

/// Counts an event of the calling thread in user mode, from its making on.
#[derive(Debug)]
pub struct EventCounter(Counter);

impl EventCounter {
    /// Neither the kernel's events nor a hypervisor's, which needs no privilege up to perf_event_paranoid 2.
    pub fn of_thread(event: Event) -> io::Result<EventCounter> {
        let misses = |which| Cache { which, operation: CacheOp::READ, result: CacheResult::MISS };
        let mut counter = match event {
            Event::Cycles => Builder::new(Hardware::CPU_CYCLES),
            Event::DataTlbMisses => Builder::new(misses(CacheId::DTLB)),
            Event::InstructionTlbMisses => Builder::new(misses(CacheId::ITLB)),
        }
        .exclude_kernel(true)
        .exclude_hv(true)
        .build()?;
        counter.enable()?;
        Ok(EventCounter(counter))
    }

    pub fn count(&mut self) -> io::Result<u64> {
        self.0.read()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_only_grows() {
        for event in [Event::Cycles, Event::DataTlbMisses, Event::InstructionTlbMisses] {
            match EventCounter::of_thread(event) {
                Err(reason) => skips::skip!("{event:?}: {reason}"),
                Ok(mut counter) => {
                    let first = counter.count().unwrap();
                    (0..100_000_u32).for_each(|number| {
                        std::hint::black_box(number);
                    });
                    assert!(counter.count().unwrap() >= first);
                }
            }
        }
    }
}
