//! What the operating system says of a process: memory, page faults, processors, quota.

use crate::evidence::{Machine, Memory};
use memory::{Obtained, transparent_setting};
use std::fs;
use std::path::Path;
pub use topology::cgroup::Periods;
use topology::cgroup::{self, Process};

/// Page faults of a process so far that read nothing from a disk.
pub fn first_touches(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Behind the name, which may have blanks: the eighth field from there.
    stat.rsplit_once(") ")?.1.split(' ').nth(7)?.parse().ok()
}

pub fn memory(pid: u32) -> Memory {
    let obtained = Obtained::of_process(pid).ok();
    let available = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?.trim();
        line.split(' ').next()?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
    });
    Memory {
        resident: obtained.as_ref().map(Obtained::resident),
        huge: obtained.as_ref().map(Obtained::huge),
        transparent: transparent_setting(),
        first_touches: None,
        available,
    }
}

/// Periods of the quota that binds the process. `None` without one, or where it cannot be seen.
pub fn periods(pid: u32) -> Option<Periods> {
    cgroup::periods(Path::new("/"), Process::Id(pid))
}

/// Processors that it may use, nodes, and its quota.
pub fn machine(pid: u32) -> Machine {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let list = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(numbers(line.trim()))
    };
    let cpus = list("Cpus_allowed_list:").unwrap_or_default();
    let nodes = fs::read_dir("/sys/devices/system/node").into_iter().flatten().flatten();
    let has_cpu = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let numbered =
            name.to_string_lossy().strip_prefix("node").is_some_and(|number| number.parse::<u32>().is_ok());
        let list = fs::read_to_string(entry.path().join("cpulist")).unwrap_or_default();
        numbered && numbers(list.trim()).iter().any(|cpu| cpus.contains(cpu))
    };
    let quota = cgroup::quota(Path::new("/"), Process::Id(pid));
    Machine { cpus: cpus.len().max(1), nodes: nodes.filter(has_cpu).count().max(1), quota, throttled: None }
}

/// `0-3,8`.
fn numbers(list: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some(from.parse::<u32>().ok()?..=to.parse::<u32>().ok()?)
    };
    list.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_process_is_seen() {
        let us = std::process::id();
        let before = first_touches(us).unwrap();
        std::hint::black_box(vec![1u8; 16 << 20]);
        assert!(first_touches(us).unwrap() > before);
        let seen = memory(us);
        assert!(
            seen.resident.is_some_and(|bytes| bytes > 0) && seen.available.is_some_and(|bytes| bytes > 0)
        );
        assert!(machine(us).cpus >= 1 && machine(us).nodes >= 1);
        assert!(first_touches(0x3fff_fff0).is_none());
    }

    #[test]
    fn lists_of_cpus_are_read() {
        assert_eq!(numbers("0-2,8"), [0, 1, 2, 8]);
        assert!(numbers("").is_empty() && numbers("x-").is_empty());
    }
}
