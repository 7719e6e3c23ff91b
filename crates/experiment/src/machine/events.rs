//! Hardware events of the calling thread, counted by the processor.

use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware};
use perf_event::{Builder, Counter, ReadFormat};
use std::io;
use std::ops::AddAssign;

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

/// What a counter has counted, and for how long. Where more events are counted than the processor has counters, the kernel lets them take
/// turns (multiplexing): then a counter *runs* for only a part of the time for which it is *enabled*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    pub count: u64,
    /// In nanoseconds.
    pub enabled: u64,
    /// In nanoseconds.
    pub running: u64,
}

impl Reading {
    /// What came since an earlier reading of the same counter.
    pub fn since(self, earlier: Reading) -> Reading {
        Reading {
            count: self.count.saturating_sub(earlier.count),
            enabled: self.enabled.saturating_sub(earlier.enabled),
            running: self.running.saturating_sub(earlier.running),
        }
    }

    /// The events of the whole time, as if those that came while it did not run were as frequent. `None` if it never ran: nobody has
    /// counted then, and 0 would be made up.
    pub fn events(self) -> Option<f64> {
        let share = self.running as f64 / self.enabled as f64;
        (self.running > 0).then(|| self.count as f64 / share.min(1.0))
    }
}

impl AddAssign for Reading {
    fn add_assign(&mut self, other: Reading) {
        self.count += other.count;
        self.enabled += other.enabled;
        self.running += other.running;
    }
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
        .read_format(ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING)
        .build()?;
        counter.enable()?;
        Ok(EventCounter(counter))
    }

    pub fn read(&mut self) -> io::Result<Reading> {
        let read = self.0.read_count_and_time()?;
        Ok(Reading { count: read.count, enabled: read.time_enabled, running: read.time_running })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn reading(count: u64, enabled: u64, running: u64) -> Reading {
        Reading { count, enabled, running }
    }

    #[test]
    fn counts_of_a_part_of_the_time_are_scaled_to_all_of_it() {
        assert_eq!(reading(600, 40, 40).events(), Some(600.0));
        assert_eq!(reading(600, 40, 10).events(), Some(2400.0));
        // The two times are not read at the same moment.
        assert_eq!(reading(600, 40, 41).events(), Some(600.0));
        let mut sum = reading(1000, 90, 70).since(reading(400, 50, 60));
        assert_eq!((sum, sum.events()), (reading(600, 40, 10), Some(2400.0)));
        sum += reading(0, 40, 0);
        assert_eq!(sum.events(), Some(4800.0), "a turn in which it did not run is part of the time");
    }

    #[test]
    fn a_counter_that_never_ran_has_no_events() {
        assert_eq!([reading(0, 40, 0), reading(0, 0, 0)].map(Reading::events), [None, None]);
        assert_eq!(reading(0, 40, 40).events(), Some(0.0));
    }

    #[test]
    fn a_count_only_grows() {
        for event in [Event::Cycles, Event::DataTlbMisses, Event::InstructionTlbMisses] {
            match EventCounter::of_thread(event) {
                Err(reason) => skips::skip!("{event:?}: {reason}"),
                Ok(mut counter) => {
                    let first = counter.read().unwrap();
                    (0..100_000_u32).for_each(|number| {
                        std::hint::black_box(number);
                    });
                    let second = counter.read().unwrap();
                    assert!(second.count >= first.count && second.enabled > first.enabled);
                }
            }
        }
    }
}
