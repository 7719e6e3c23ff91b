//! What arenas stand on: the machine, its CPUs and its restartable sequences. Looked at once in a process.

use crate::sequence::{self, Area};
use std::sync::OnceLock;
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
}

impl Ground {
    /// Of a machine that tests may have made up.
    pub(crate) fn of(machine: Machine) -> Ground {
        let places = Places::detect(&machine);
        let most = places.at_a_time(&machine);
        let of = |kind| machine.count(kind).min(most);
        let (cores, processors) = (of(DomainKind::Core), of(machine.processor_kind()));
        Ground { area: sequence::find(&places), places, cores, processors, machine }
    }

    /// Of this machine, as it was when the first arena was made.
    pub(crate) fn own() -> &'static Ground {
        static OWN: OnceLock<Ground> = OnceLock::new();
        OWN.get_or_init(|| Ground::of(Machine::detect()))
    }

    /// What tells a thread's CPU, or its concurrency id.
    pub(crate) fn source(&self) -> CpuSource {
        self.places.source()
    }

    /// Numbers that the source may tell, one more than the largest.
    pub(crate) fn numbers(&self) -> u32 {
        if self.places.is_by_ids() { self.machine.cpus().len() as u32 } else { self.machine.table_len() }
    }
}
