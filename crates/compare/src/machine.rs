//! The machine that a comparison is from.

use serde::{Deserialize, Serialize};

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
            model: model.unwrap_or("unavailable: /proc/cpuinfo names no model").to_owned(),
            load_before: read("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok()),
        }
    }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Memory of the machine in bytes, or the control group's limit where that is less. 0 when the kernel does not tell.
pub fn memory_bytes() -> u64 {
    let memory = read("/proc/meminfo");
    let total = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes =
        total.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0);
    let limit = read("/sys/fs/cgroup/memory.max").trim().parse().unwrap_or(u64::MAX);
    (kilobytes << 10).min(limit)
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_machine_is_described() {
        let machine = super::Host::here();
        assert!(machine.cpus >= 1 && !machine.kernel.is_empty() && !machine.model.is_empty());
    }
}
