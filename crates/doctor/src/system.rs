//! What the operating system says of a process's memory.

use crate::evidence::Memory;
use crate::placement::System;
use jvm::os;
use jvm::perfdata::PerfData;
use memory::{Mappings, Obtained, transparent_setting};
use std::time::{SystemTime, UNIX_EPOCH};
use topology::cgroup::MemoryLeft;

/// Clock ticks a second of what `/proc` says, on x86-64 and AArch64 (`include/asm-generic/param.h`).
const USER_HZ: f64 = 100.0;

/// Seconds since a process began. `None` where the clocks do not agree: a container may have its own (lxcfs), and its processes began by the machine's.
pub fn age(pid: u32) -> Option<f64> {
    let up = std::fs::read_to_string("/proc/uptime").ok()?;
    let up: f64 = up.split_ascii_whitespace().next()?.parse().ok()?;
    let began = os::stat::<u64>(pid, 22)? as f64 / USER_HZ;
    age_at(up, began)
}

/// The same by the JVM's own clock, from when it began to start.
pub fn age_of_jvm(perf: &PerfData) -> Option<f64> {
    let began = perf.get("sun.rt.createVmBeginTime").filter(|began| *began > 0)? as f64 / 1e3;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs_f64();
    (began <= now).then_some(now - began)
}

fn age_at(up: f64, began: f64) -> Option<f64> {
    // Both are cut off to a hundredth.
    (began <= up + 0.01).then(|| (up - began).max(0.0))
}

/// Page faults of a process so far that read nothing from a disk.
pub fn first_touches(pid: u32) -> Option<u64> {
    os::stat(pid, 10)
}

/// Bytes of a process that are resident and no file's: anonymous memory, shared memory as ZGC's heap, and huge pages.
pub fn anonymous(pid: u32) -> Option<u64> {
    let status = jvm::os::read_text(format!("/proc/{pid}/status")).ok()?;
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
        let own = age(us);
        assert!(own.is_some_and(|seconds| seconds < 86_400.0) && age(0x3fff_fff0).is_none());
        assert!(age(1) >= own, "the first process is older");
        assert!(first_touches(0x3fff_fff0).is_none() && anonymous(0x3fff_fff0).is_none());
    }

    #[test]
    fn a_jvm_says_itself_when_it_began() {
        let began = |seconds: f64| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
            let at = ((now - seconds) * 1e3) as i64;
            age_of_jvm(&crate::counters_test::counters(&[("sun.rt.createVmBeginTime", at)]))
        };
        assert!(began(1000.0).is_some_and(|age| (999.0..1600.0).contains(&age)));
        assert_eq!((began(-1000.0), age_of_jvm(&crate::counters_test::counters(&[]))), (None, None));
    }

    #[test]
    fn a_process_that_began_later_than_now_has_no_age() {
        assert_eq!(
            (age_at(100.0, 40.0), age_at(100.0, 100.01), age_at(100.0, 864_000.0)),
            (Some(60.0), Some(0.0), None)
        );
    }

    #[test]
    fn a_group_that_may_have_a_limit_has_not_all_that_the_machine_has() {
        let left = |of_group| Left { of_group, of_machine: Some(100) }.bytes();
        assert_eq!((left(MemoryLeft::Unlimited), left(MemoryLeft::Bytes(30))), (Some(100), Some(30)));
        assert_eq!((left(MemoryLeft::Bytes(300)), left(MemoryLeft::Unseen)), (Some(100), None));
    }
}
