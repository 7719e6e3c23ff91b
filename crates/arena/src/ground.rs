//! What arenas stand on: the machine, its CPUs and its restartable sequences. Looked at once in a process.

use crate::sequence::{self, Area};
use std::path::Path;
use std::sync::OnceLock;
use topology::cgroup::{self, Process};
use topology::{CpuSource, DomainKind, Machine, Places};

/// A machine, and what was found out about it.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) machine: Machine,
    pub(crate) places: Places,
    /// What makes sequences restartable, or why there is nothing.
    pub(crate) area: Result<Area, &'static str>,
    /// Core buffers that can be in use for long.
    pub(crate) cores: usize,
    /// Processor buffers.
    pub(crate) processors: usize,
    /// CPUs that threads may use some day, whatever they are pinned to now.
    pub(crate) reach: usize,
}

impl Ground {
    /// Of a machine that tests may have made up.
    pub(crate) fn of(machine: Machine) -> Ground {
        let places = Places::detect(&machine);
        let most = places.at_a_time(&machine);
        let of = |kind| machine.count(kind).min(most);
        let (cores, processors) = (of(DomainKind::Core), of(machine.processor_kind()));
        let reach = machine.online();
        Ground { area: sequence::find(&places), places, cores, processors, reach, machine }
    }

    /// Of this machine, as it was when the first arena was made, for all threads: the one that makes it may be pinned.
    pub(crate) fn own() -> &'static Ground {
        static OWN: OnceLock<Ground> = OnceLock::new();
        OWN.get_or_init(|| {
            let ground = Ground::of(Machine::detect_for_process());
            // A container of some CPUs keeps no memory for those of others.
            let cpuset = cgroup::cpuset(Path::new("/"), Process::Own);
            let most = cpuset
                .and_then(|list| topology::parse_cpu_list(&list).ok())
                .map_or(ground.reach, |list| list.len());
            let reach = most.max(ground.machine.cpus().len()).min(ground.reach);
            Ground { reach, ..ground }
        })
    }

    /// What tells a thread's CPU, or its concurrency id.
    pub(crate) fn source(&self) -> CpuSource {
        self.places.source()
    }

    /// Numbers that the source may tell, one more than the largest.
    pub(crate) fn numbers(&self) -> u32 {
        if self.places.is_by_ids() { self.reach as u32 } else { self.machine.table_len() }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use topology::Fake;

    /// With concurrency ids or without: threads that may use other CPUs later have words of their own.
    #[test]
    fn a_process_that_was_pinned_has_a_number_for_each_cpu() {
        let machine = Machine::fake(Fake { packages: 1, cores: 64, threads: 1, holes: vec![] });
        let ground = Ground::of(machine.allowing(&[5]));
        assert_eq!((ground.numbers(), ground.reach, ground.cores), (64, 64, 1));
    }

    #[test]
    fn this_process_reaches_what_it_may_use() {
        let ground = Ground::own();
        assert!((ground.machine.cpus().len()..=ground.machine.online()).contains(&ground.reach));
    }
}
