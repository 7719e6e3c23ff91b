//! The machine that a comparison is from.

use serde::{Deserialize, Serialize};
use std::path::Path;
use topology::cgroup::{self, MemoryLeft, Process};

/// What a reader needs to know of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// CPUs that this process may use.
    pub cpus: usize,
    /// The kernel's release.
    pub kernel: String,
    /// The processor, in its maker's words.
    pub model: String,
    /// Processes that wanted to run, on average over the minute before. `null` where that is not known.
    pub load_before: Option<f64>,
}

impl Host {
    /// This one, now.
    pub fn here() -> Host {
        let cpuinfo = read("/proc/cpuinfo");
        let model = cpuinfo
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
            .map(|(_, name)| name.trim());
        Host {
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            model: model.unwrap_or("unavailable: /proc/cpuinfo contains no model name").to_owned(),
            load_before: load(),
        }
    }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The load average of one minute.
pub fn load() -> Option<f64> {
    read("/proc/loadavg").split(' ').next()?.parse().ok()
}

/// Memory of the machine in bytes, or the control group's limit where that is less. 0 when the kernel does not tell.
pub fn memory_bytes() -> u64 {
    let limit = cgroup::memory_limit(Path::new("/"), Process::Own).unwrap_or(u64::MAX);
    bytes_of(&read("/proc/meminfo"), "MemTotal:").unwrap_or(0).min(limit)
}

/// Memory that programs can have without others losing theirs.
pub fn available_bytes() -> Option<u64> {
    bytes_of(&read("/proc/meminfo"), "MemAvailable:")
}

/// Of [`memory_bytes`] what programs can have without others losing theirs, and without their control group coming to its limit.
pub(crate) fn usable_bytes() -> u64 {
    let of_group = match cgroup::memory_left(Path::new("/"), Process::Own) {
        MemoryLeft::Bytes(bytes) => bytes,
        MemoryLeft::Unlimited | MemoryLeft::Unseen => u64::MAX,
    };
    memory_bytes().min(available_bytes().unwrap_or(u64::MAX)).min(of_group)
}

/// A line of `/proc/meminfo`.
fn bytes_of(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told_in_kilobytes() {
        let text = "MemTotal: 9 kB\nMemAvailable:    2000000 kB\n";
        assert_eq!(bytes_of(text, "MemAvailable:"), Some(2_048_000_000));
        assert_eq!(bytes_of("MemTotal: 9 kB\n", "MemAvailable:"), None);
    }

    #[test]
    fn this_machine_is_described() {
        let machine = Host::here();
        assert!(machine.cpus >= 1 && !machine.kernel.is_empty() && !machine.model.is_empty());
    }
}
