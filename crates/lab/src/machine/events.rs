//! Hardware events of the calling thread, counted by the processor.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::FromRawFd;

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

impl Event {
    /// The kernel's kind and number (`perf_event.h`).
    const fn numbers(self) -> (u32, u64) {
        const HARDWARE: u32 = 0;
        const CACHE: u32 = 3;
        // The cache's number, operation "read" (0) from bit 8 on, result "miss" (1) from bit 16 on.
        match self {
            Event::Cycles => (HARDWARE, 0),
            Event::DataTlbMisses => (CACHE, 3 | 1 << 16),
            Event::InstructionTlbMisses => (CACHE, 4 | 1 << 16),
        }
    }
}

/// `struct perf_event_attr` of the kernel's first version, which every later one accepts.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    event: u64,
    period: u64,
    sample: u64,
    format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    address: u64,
}

/// Counts an event of the calling thread in user mode, from its making on.
#[derive(Debug)]
pub struct EventCounter(File);

impl EventCounter {
    /// Of the calling thread.
    pub fn of_thread(event: Event) -> io::Result<EventCounter> {
        let (kind, event) = event.numbers();
        // Bits 5 and 6: neither the kernel's events nor a hypervisor's, which needs no privilege up to perf_event_paranoid 2.
        let flags = 1 << 5 | 1 << 6;
        let size = size_of::<Attributes>() as u32;
        let attributes = Attributes { kind, size, event, flags, ..Attributes::default() };
        let (this_thread, any_cpu, no_group, close_on_exec) = (0, -1, -1, 8_u64);
        // SAFETY: `attributes` has the size that it names, and the kernel only reads it.
        let descriptor = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &attributes,
                this_thread,
                any_cpu,
                no_group,
                close_on_exec,
            )
        };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor, which nobody else has.
        Ok(EventCounter(unsafe { File::from_raw_fd(descriptor as i32) }))
    }

    /// The count so far.
    pub fn count(&mut self) -> io::Result<u64> {
        let mut count = [0; 8];
        self.0.read_exact(&mut count)?;
        Ok(u64::from_ne_bytes(count))
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
