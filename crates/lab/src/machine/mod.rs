//! The machine that a measurement is from.
//!
//! [`Machine`] is what a single comparison says of it, [`page`] what a report does; [`disturbance`] is what else happened on it;
//! [`counters`] are the processor's own.

pub mod counters;
pub mod disturbance;
pub mod events;
pub mod page;

use serde::{Deserialize, Serialize};

/// What a reader needs to know of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// CPUs that this process may use.
    pub cpus: usize,
    /// The kernel's release.
    pub kernel: String,
    /// The processor, in its maker's words.
    pub model: String,
    /// Processes that wanted to run, on average over the minute before. `null` where that is not known.
    pub load_before: Option<f64>,
}

impl Machine {
    /// This one, now.
    pub fn here() -> Machine {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let cpuinfo = read("/proc/cpuinfo");
        let model = cpuinfo
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
            .map(|(_, name)| name.trim());
        Machine {
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            model: model.unwrap_or("unavailable: /proc/cpuinfo names no model").to_owned(),
            load_before: read("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_machine_is_described() {
        let machine = super::Machine::here();
        assert!(machine.cpus >= 1 && !machine.kernel.is_empty() && !machine.model.is_empty());
    }
}
