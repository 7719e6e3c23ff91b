//! What the operating system says of a process's memory.

use crate::evidence::Memory;
use crate::placement::System;
use jvm::os;
use memory::{Mappings, Obtained, transparent_setting};
use topology::cgroup::MemoryLeft;

/// Clock ticks a second of what `/proc` says, on x86-64 and AArch64 (`include/asm-generic/param.h`).
const USER_HZ: f64 = 100.0;

/// Seconds since a process began.
pub fn age(pid: u32) -> Option<f64> {
    let up = std::fs::read_to_string("/proc/uptime").ok()?;
    let up: f64 = up.split_ascii_whitespace().next()?.parse().ok()?;
    let began = os::stat::<u64>(pid, 22)? as f64 / USER_HZ;
    Some((up - began).max(0.0))
}

/// Page faults of a process so far that read nothing from a disk.
pub fn first_touches(pid: u32) -> Option<u64> {
    os::stat(pid, 10)
}

/// Bytes of a process that are resident and no file's: anonymous memory, shared memory as ZGC's heap, and huge pages.
pub fn anonymous(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let of = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
    };
    Some(of("RssAnon")? + of("RssShmem").unwrap_or(0) + of("HugetlbPages").unwrap_or(0))
}

/// What a process may still use of memory.
#[derive(Clone, Copy)]
pub struct Left {
    pub of_group: MemoryLeft,
    of_machine: Option<u64>,
}

impl Left {
    pub fn to(pid: u32, system: &System) -> Left {
        Left { of_group: system.memory_left(pid), of_machine: compare::machine::available_bytes() }
    }

    /// What the machine has is no measure for a group that may have a limit.
    fn bytes(self) -> Option<u64> {
        match self.of_group {
            MemoryLeft::Unlimited => self.of_machine,
            MemoryLeft::Bytes(bytes) => self.of_machine.map(|of_machine| of_machine.min(bytes)),
            MemoryLeft::Unseen => None,
        }
    }
}

/// Of a process with these mappings that may still use so much.
pub fn memory(mappings: Option<&Mappings>, left: Left) -> Memory {
    let obtained = mappings.map(Mappings::anonymous);
    Memory {
        resident: obtained.as_ref().map(Obtained::resident),
        huge: obtained.as_ref().map(Obtained::huge),
        transparent: transparent_setting(),
        available: left.bytes(),
        ..Memory::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_process_is_seen() {
        let us = std::process::id();
        let (before, small) = (first_touches(us).unwrap(), anonymous(us).unwrap());
        let touched = std::hint::black_box(vec![1u8; 16 << 20]);
        assert!(first_touches(us).unwrap() > before);
        assert!(anonymous(us).unwrap() > small, "{} bytes are resident", touched.len());
        let left = Left { of_group: MemoryLeft::Unlimited, ..Left::to(us, &System::here()) };
        let seen = memory(Mappings::of_process(us).ok().as_ref(), left);
        assert!(
            seen.resident.is_some_and(|bytes| bytes > 0) && seen.available.is_some_and(|bytes| bytes > 0)
        );
        assert!(
            age(us).is_some_and(|seconds| seconds < 86_400.0)
                && age(1) >= age(us)
                && age(0x3fff_fff0).is_none()
        );
        assert!(first_touches(0x3fff_fff0).is_none() && anonymous(0x3fff_fff0).is_none());
    }

    #[test]
    fn a_group_that_may_have_a_limit_has_not_all_that_the_machine_has() {
        let left = |of_group| Left { of_group, of_machine: Some(100) }.bytes();
        assert_eq!((left(MemoryLeft::Unlimited), left(MemoryLeft::Bytes(30))), (Some(100), Some(30)));
        assert_eq!((left(MemoryLeft::Bytes(300)), left(MemoryLeft::Unseen)), (Some(100), None));
    }
}
