//! By which numbers, and in how many domains, buffers are kept: as few as can be in use at the same time.
//!
//! | what the process may use | numbers | domains |
//! |---|---|---|
//! | the whole machine | CPUs | those of the topology |
//! | some of its CPUs, or less time than it has cores | concurrency ids, where the kernel has them | as many as can run at a time |
//! | the same, where each thread's memory is to be of its own node | CPUs | those of the topology |
//! | the same, without concurrency ids | CPUs | those of the topology that it may use, folded to that number |
//!
//! A container with two CPUs' worth of time on a machine of 192 runs its threads on all of them: with a buffer for each it would
//! hold a hundred times the memory that it can use. Concurrency ids (rseq's `mm_cid`, Linux 6.3 and later) are dense: a process
//! that runs two threads at a time uses two of them, wherever they run. See docs/decisions/concurrency-ids.md.

use crate::domain::{DomainKind, DomainMap};
use crate::machine::Machine;
use crate::source::CpuSource;

#[cfg(test)]
#[path = "places_test.rs"]
mod test;

/// Where the threads of this process can be at the same time.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    source: CpuSource,
    way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Topology,
    Folded { most: usize },
    Ids { most: usize },
}

impl Places {
    /// Looks at what this process may use.
    pub fn detect(machine: &Machine) -> Places {
        Places::choose(machine, CpuSource::concurrency(), CpuSource::detect)
    }

    /// By CPUs and the topology's domains, whatever the process may use: no core has CPUs of two memory nodes, and a concurrency id is on one node now and
    /// on another one later. For a heap that gives each thread memory of its own node.
    pub fn of_topology(cpus: CpuSource) -> Places {
        Places { source: cpus, way: Way::Topology }
    }

    /// As [`Places::detect`], with the sources given.
    pub fn choose(
        machine: &Machine,
        ids: Result<CpuSource, &'static str>,
        cpus: impl FnOnce() -> CpuSource,
    ) -> Places {
        let usable = machine.cpus().len();
        // A quota bounds time, not places; rounded up, since a part of a CPU is a thread, too.
        let quota = machine.quota().map_or(usable, |cpus| (cpus.ceil() as usize).max(1));
        let limited = quota < machine.count(DomainKind::Core);
        let most = quota.min(usable);
        match ids {
            Ok(source) if limited || usable < machine.online() => Places { source, way: Way::Ids { most } },
            _ if limited => Places { source: cpus(), way: Way::Folded { most } },
            _ => Places { source: cpus(), way: Way::Topology },
        }
    }

    /// What tells a thread's number.
    pub fn source(&self) -> CpuSource {
        self.source
    }

    /// Whether the numbers are concurrency ids.
    pub fn is_by_ids(&self) -> bool {
        matches!(self.way, Way::Ids { .. })
    }

    /// How many CPUs' worth of threads can run for long: the CPUs that the process may use, or what its quota gives it of them.
    pub fn at_a_time(&self, machine: &Machine) -> usize {
        match self.way {
            Way::Topology => machine.cpus().len(),
            Way::Folded { most } | Way::Ids { most } => most,
        }
    }

    /// The domains of a kind, for look-up by the numbers of [`Places::source`].
    pub fn domains(&self, machine: &Machine, kind: DomainKind) -> DomainMap {
        let usable = machine.cpus().len();
        let map = match self.way {
            Way::Topology => {
                let map = machine.domains(kind);
                return match (machine.is_complete(), map.any_shared()) {
                    (true, false) => map.closed(),
                    _ => map.with_elsewhere(|cpu| machine.cpu(cpu).is_some()),
                };
            }
            Way::Folded { most } => return machine.domains(kind).folded(most),
            Way::Ids { most } => {
                let count = if kind == DomainKind::Core { most } else { machine.count(kind).min(most) };
                DomainMap::of_ids(kind, machine.table_len(), usable, count)
            }
        };
        map.with_elsewhere(|id| (id.0 as usize) < usable)
    }
}
