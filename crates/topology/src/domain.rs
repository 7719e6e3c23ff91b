//! From a CPU number to the domain it belongs to.

use crate::id::{CpuId, DomainIndex};
use crate::machine::Machine;

#[cfg(test)]
#[path = "domain_test.rs"]
mod test;

/// A resource that CPUs share, narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DomainKind {
    /// The hardware threads of one core.
    Core,
    /// The CPUs behind one L3 cache; the package where the machine reports none.
    Cache,
    /// The CPUs of one package (socket).
    Package,
    /// The CPUs of one NUMA node; the package where the machine reports none.
    Node,
    /// All CPUs.
    Machine,
}

impl DomainKind {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            DomainKind::Core => "core",
            DomainKind::Cache => "cache",
            DomainKind::Package => "package",
            DomainKind::Node => "node",
            DomainKind::Machine => "machine",
        }
    }
}

/// The domains of one kind, as [`Machine::domains`] makes them. There is always at least one.
#[derive(Clone, Debug)]
pub struct DomainMap {
    kind: DomainKind,
    /// One entry for each possible CPU number, each below the number of domains, also where there is no such CPU.
    table: Box<[DomainIndex]>,
    domains: Box<[Domain]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Domain {
    group: u16,
    cpus: u32,
}

impl DomainMap {
    pub(crate) fn new(machine: &Machine, kind: DomainKind) -> DomainMap {
        let count = machine.count(kind);
        let mut table: Box<[DomainIndex]> = (0..machine.table_len()).map(|id| spread(id, count)).collect();
        let mut domains = vec![Domain::default(); count].into_boxed_slice();
        // With a single node (or none reported) the package is the narrower neighbourhood.
        let neighbourhood =
            if machine.count(DomainKind::Node) > 1 { DomainKind::Node } else { DomainKind::Package };
        for cpu in machine.cpus() {
            let index = cpu.domain(kind);
            if let Some(entry) = table.get_mut(cpu.id.0 as usize) {
                *entry = index;
            }
            if let Some(domain) = domains.get_mut(index.index()) {
                // A domain wider than its neighbourhood belongs where its first CPU is.
                if domain.cpus == 0 {
                    domain.group = cpu.domain(neighbourhood).0;
                }
                domain.cpus += 1;
            }
        }
        DomainMap { kind, table, domains }
    }

    /// The kind of these domains.
    pub fn kind(&self) -> DomainKind {
        self.kind
    }

    /// How many domains there are; at least 1.
    pub fn count(&self) -> usize {
        self.domains.len()
    }

    /// The domain of a CPU: always below [`DomainMap::count`], also for a CPU that was switched on or allowed after the
    /// machine was looked at (`id % count` then).
    ///
    /// Costs a compare and a load of two bytes.
    #[inline(always)]
    pub fn of(&self, cpu: CpuId) -> DomainIndex {
        match self.table.get(cpu.0 as usize) {
            Some(index) => *index,
            None => self.of_unknown(cpu),
        }
    }

    #[cold]
    #[inline(never)]
    fn of_unknown(&self, cpu: CpuId) -> DomainIndex {
        spread(cpu.0, self.count())
    }

    /// The group of neighbouring domains that a domain belongs to: its NUMA node, or its package where there is but one
    /// node. Domains of the same group are nearer to each other than to others. Groups compare equal or not; their numbers
    /// need not be consecutive. 0 for an index that is not of this map.
    pub fn group(&self, domain: DomainIndex) -> u16 {
        self.domains.get(domain.index()).map_or(0, |domain| domain.group)
    }

    /// How many CPUs of this machine are in a domain.
    pub fn cpus(&self, domain: DomainIndex) -> u32 {
        self.domains.get(domain.index()).map_or(0, |domain| domain.cpus)
    }

    /// Whether a domain has more than one CPU.
    pub fn is_shared(&self, domain: DomainIndex) -> bool {
        self.cpus(domain) > 1
    }

    /// Whether any domain has more than one CPU.
    pub fn any_shared(&self) -> bool {
        self.domains.iter().any(|domain| domain.cpus > 1)
    }
}

/// Some valid domain for a CPU about which nothing is known.
fn spread(id: u32, count: usize) -> DomainIndex {
    // `count` is from 1 to CPU_LIMIT, so neither the division nor the cast can go wrong; `max` tells the compiler too.
    DomainIndex((id as usize % count.max(1)) as u16)
}
