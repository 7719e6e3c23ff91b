//! From a CPU number to the domain it belongs to.

use crate::id::{CPU_LIMIT, CpuId, DomainIndex};

#[cfg(test)]
#[path = "domain_test.rs"]
mod test;

/// Domains for CPUs that turn up later, at most: contention of so many words is that of a small machine.
const ELSEWHERE: usize = 16;

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

/// The domains of one kind, as [`Machine::domains`](crate::Machine::domains) makes them. There is always at least one.
#[derive(Clone, Debug)]
pub struct DomainMap {
    kind: DomainKind,
    /// One entry for each possible CPU number, each below the number of domains, also where there is no such CPU.
    table: Box<[DomainIndex]>,
    domains: Box<[Domain]>,
    /// Where numbers belong that are not known, if those are domains of their own: from this one to the last.
    elsewhere: Option<DomainIndex>,
    /// Whether no other number than those of the table's domains can turn up.
    complete: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Domain {
    group: u16,
    cpus: u32,
}

impl DomainMap {
    /// Domains that have no CPUs yet.
    pub(crate) fn new(kind: DomainKind, table_len: u32, count: usize) -> DomainMap {
        let table = (0..table_len).map(|id| spread(id, count)).collect();
        let domains = vec![Domain::default(); count].into_boxed_slice();
        DomainMap { kind, table, domains, elsewhere: None, complete: false }
    }

    /// Puts a CPU into its domain. A domain wider than its neighbourhood is of the group of its first CPU.
    pub(crate) fn place(&mut self, cpu: CpuId, index: DomainIndex, group: u16) {
        if let Some(entry) = self.table.get_mut(cpu.0 as usize) {
            *entry = index;
        }
        if let Some(domain) = self.domains.get_mut(index.index()) {
            if domain.cpus == 0 {
                domain.group = group;
            }
            domain.cpus += 1;
        }
    }

    /// The same domains in so many, the first after the last again: fewer domains than the machine has, for a process that may use
    /// them all but has time for few. Neighbours are not known any more.
    pub(crate) fn folded(&self, count: usize) -> DomainMap {
        let count = count.clamp(1, self.count());
        let table = self.table.iter().map(|index| spread(u32::from(index.0), count)).collect();
        let mut domains = vec![Domain::default(); count].into_boxed_slice();
        for (at, domain) in self.domains.iter().enumerate() {
            if let Some(folded) = domains.get_mut(at % count) {
                folded.cpus += domain.cpus;
            }
        }
        DomainMap { kind: self.kind, table, domains, elsewhere: None, complete: false }
    }

    /// Domains of concurrency ids: dense numbers, of which `cpus` can be in use at a time, in `count` domains.
    pub(crate) fn of_ids(kind: DomainKind, table_len: u32, cpus: usize, count: usize) -> DomainMap {
        let count = count.max(1);
        let table = (0..table_len).map(|id| spread(id, count)).collect();
        let each = cpus.div_ceil(count).max(1) as u32;
        let domains = vec![Domain { group: 0, cpus: each }; count].into_boxed_slice();
        DomainMap { kind, table, domains, elsewhere: None, complete: false }
    }

    /// The same, with further domains for all numbers but `known` ones, if each of the others has but one: what one CPU alone counts
    /// can then be counted without a locked instruction, whichever CPUs turn up later. As many as there are known ones, up to [`ELSEWHERE`]: a process
    /// that is moved to other CPUs has all of its threads there.
    pub(crate) fn with_elsewhere(mut self, known: impl Fn(CpuId) -> bool) -> DomainMap {
        if self.any_shared() {
            return self;
        }
        let first = self.domains.len();
        let more = first.min(ELSEWHERE).min((CPU_LIMIT as usize).saturating_sub(first)).max(1);
        for (id, entry) in self.table.iter_mut().enumerate() {
            if !known(CpuId(id as u32)) {
                *entry = spread_from(id as u32, first, more);
            }
        }
        let mut domains = std::mem::take(&mut self.domains).into_vec();
        domains.resize(first + more, Domain::default());
        DomainMap { domains: domains.into(), elsewhere: Some(DomainIndex(first as u16)), ..self }
    }

    /// The same, for a machine on which no other number can turn up.
    pub(crate) fn closed(self) -> DomainMap {
        DomainMap { complete: true, ..self }
    }

    /// The first so many domains have one number each, and no other ever comes to them.
    pub fn exclusive(&self) -> usize {
        match self.elsewhere {
            Some(elsewhere) => elsewhere.index(),
            None if self.complete && !self.any_shared() => self.count(),
            None => 0,
        }
    }

    /// How many domains there are for numbers that are known.
    pub fn known(&self) -> usize {
        self.elsewhere.map_or(self.count(), DomainIndex::index)
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
        let first = self.known() % self.count();
        spread_from(cpu.0, first, self.count() - first)
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

/// The same from a domain on, of so many.
fn spread_from(id: u32, first: usize, count: usize) -> DomainIndex {
    DomainIndex(first as u16 + spread(id, count).0)
}

/// Some valid domain for a CPU about which nothing is known.
fn spread(id: u32, count: usize) -> DomainIndex {
    // `count` is from 1 to CPU_LIMIT, so neither the division nor the cast can go wrong; `max` tells the compiler too.
    DomainIndex((id as usize % count.max(1)) as u16)
}
