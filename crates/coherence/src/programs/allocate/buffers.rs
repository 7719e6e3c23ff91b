//! What thread buffers are refilled from: the heap, one of `hab`'s hierarchies over it, or the paper's.

use super::heap::Heap;
use super::paper::{PaperBuffers, UsedUp};
use crate::machine::Machine;
use crate::programs::Line;
use crate::simulation::{self, Simulation};
use crate::watched::Watched;
use hab::{Counter, CpuIndex, DomainIndex, Extent, Layout, Request, Shape, Shared, Source, State};

type Counters = hab::Counters<Watched>;
type Level<'a, S> = hab::Level<'a, Shared, S, Watched>;

/// The hardware that shares a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// The threads of a core.
    Core,
    /// The cores that share an L3.
    Cluster,
    /// A package.
    Package,
}

impl Domain {
    /// The domain of a CPU.
    pub fn of(self, machine: &Machine, cpu: u32) -> u32 {
        match self {
            Domain::Core => machine.shape.core_of(cpu),
            Domain::Cluster => machine.shape.cluster_of(cpu),
            Domain::Package => machine.shape.package_of(cpu),
        }
    }

    /// How many of them a machine has.
    pub fn count(self, machine: &Machine) -> usize {
        self.of(machine, machine.shape.cpus() - 1) as usize + 1
    }

    /// As shown.
    pub const fn name(self) -> &'static str {
        match self {
            Domain::Core => "core",
            Domain::Cluster => "L3",
            Domain::Package => "package",
        }
    }
}

/// One level of buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Who shares a buffer.
    pub domain: Domain,
    /// A buffer's bytes.
    pub bytes: usize,
}

/// What stands between thread buffers and heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hierarchy {
    /// Nothing.
    None,
    /// `hab`'s levels, nearest to the threads first: one, two or three.
    Levels(Vec<Rank>),
    /// The paper's buffers.
    Paper(Rank, UsedUp),
}

/// HotSpot's: objects lie at multiples of 8 bytes, and the smallest filler has 16.
pub const SHAPE: Shape = Shape { grain_shift: 3, min_remainder: 16 };

/// What happened on one level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelCounts {
    /// The level's name.
    pub name: String,
    /// Sums over all domains, by `hab`'s counters.
    pub counters: Vec<(&'static str, u64)>,
    /// Bytes in buffers at the end.
    pub remaining: u64,
}

impl LevelCounts {
    /// One counter.
    pub fn get(&self, counter: Counter) -> u64 {
        self.counters.iter().find(|(name, _)| *name == counter.name()).map_or(0, |(_, value)| *value)
    }
}

/// What thread buffers are refilled from.
pub(super) trait Buffers {
    /// `min` to `desired` bytes for a thread's buffer.
    fn refill(&self, cpu: u32, min: usize, desired: usize) -> Option<Extent>;
    /// Exactly so many bytes for an object outside any thread buffer.
    fn object(&self, cpu: u32, bytes: usize) -> Option<Extent>;
    /// Gives all buffers up: all threads wait.
    fn empty(&self);
    /// What happened.
    fn counts(&self) -> Vec<LevelCounts>;
    /// Names the lines.
    fn name(&self, simulation: &mut Simulation<'_>);
}

impl Buffers for &Heap {
    fn refill(&self, cpu: u32, min: usize, desired: usize) -> Option<Extent> {
        self.acquire(CpuIndex(cpu), min, desired)
    }

    fn object(&self, cpu: u32, bytes: usize) -> Option<Extent> {
        self.acquire(CpuIndex(cpu), bytes, bytes)
    }

    fn empty(&self) {}

    fn counts(&self) -> Vec<LevelCounts> {
        Vec::new()
    }

    fn name(&self, _: &mut Simulation<'_>) {}
}

/// A level of `hab` and what is over it.
struct Ranked<'a, S> {
    domain: Domain,
    level: Line<Level<'a, S>>,
    /// Whether single objects come from buffers too: where threads have none.
    objects: bool,
}

impl<S: Source + Upper> Buffers for Ranked<'_, S> {
    fn refill(&self, cpu: u32, min: usize, desired: usize) -> Option<Extent> {
        let extent = self.level.0.allocate(CpuIndex(cpu), Request::buffer(min, desired));
        self.level.0.count_migration(CpuIndex(cpu), CpuIndex(simulation::cpu()));
        extent
    }

    fn object(&self, cpu: u32, bytes: usize) -> Option<Extent> {
        let (level, cpu) = (&self.level.0, CpuIndex(cpu));
        let own = if self.objects { Request::object_with_refill(bytes) } else { Request::object(bytes) };
        let found = level.allocate(cpu, own).or_else(|| level.upper().acquire(cpu, bytes, bytes));
        level.count_migration(cpu, CpuIndex(simulation::cpu()));
        found.or_else(|| level.allocate(cpu, Request::object_from_tails(bytes)))
    }

    fn empty(&self) {
        self.level.0.retire_buffers();
        self.level.0.upper().retire_upper();
    }

    fn counts(&self) -> Vec<LevelCounts> {
        let mut all = vec![count(self.domain.name(), &self.level.0)];
        self.level.0.upper().count_upper(&mut all);
        all
    }

    fn name(&self, simulation: &mut Simulation<'_>) {
        name_level(self.domain.name(), &self.level.0, simulation);
        simulation.name(self.level.addresses(), "sizes");
        self.level.0.upper().name_upper(simulation);
    }
}

fn count<S: Source>(name: &str, level: &Level<'_, S>) -> LevelCounts {
    let sum = |counter| level.counters().iter().map(|domain| domain.get(counter)).sum();
    let free = |state| if let State::Free(free) = state { free.bytes as u64 } else { 0 };
    LevelCounts {
        name: name.into(),
        counters: Counter::ALL.into_iter().map(|counter| (counter.name(), sum(counter))).collect(),
        remaining: level.states().map(free).sum(),
    }
}

fn name_level<S: Source>(name: &str, level: &Level<'_, S>, simulation: &mut Simulation<'_>) {
    for (domain, counters) in level.counters().iter().enumerate() {
        simulation.name(level.buffer_addresses(domain), format!("{name} {domain}: buffers"));
        let start = (&raw const *counters).addr();
        simulation.name(start..start + size_of::<Counters>(), format!("{name} {domain}: counters"));
    }
}

/// What stands over a level: the heap or another level.
pub(super) trait Upper {
    fn retire_upper(&self);
    fn count_upper(&self, counts: &mut Vec<LevelCounts>);
    fn name_upper(&self, simulation: &mut Simulation<'_>);
}

impl Upper for &Heap {
    fn retire_upper(&self) {}
    fn count_upper(&self, _: &mut Vec<LevelCounts>) {}
    fn name_upper(&self, _: &mut Simulation<'_>) {}
}

/// A level over which another one stands; it knows its name.
pub(super) struct Named<'a, S>(Domain, Level<'a, S>);

impl<S: Source> Source for Named<'_, S> {
    fn acquire(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        self.1.acquire(cpu, min, desired)
    }

    fn available(&self, cpu: CpuIndex) -> usize {
        self.1.available(cpu)
    }

    fn retire(&self, tail: Extent) {
        self.1.retire(tail);
    }
}

impl<S: Source + Upper> Upper for Named<'_, S> {
    fn retire_upper(&self) {
        self.1.retire_buffers();
        self.1.upper().retire_upper();
    }

    fn count_upper(&self, counts: &mut Vec<LevelCounts>) {
        counts.push(count(self.0.name(), &self.1));
        self.1.upper().count_upper(counts);
    }

    fn name_upper(&self, simulation: &mut Simulation<'_>) {
        name_level(self.0.name(), &self.1, simulation);
        self.1.upper().name_upper(simulation);
    }
}

/// The paper's buffers behind the same face.
struct Paper<'a>(Domain, PaperBuffers<'a>);

impl Buffers for Paper<'_> {
    fn refill(&self, cpu: u32, _: usize, desired: usize) -> Option<Extent> {
        self.1.allocate(CpuIndex(cpu), desired, || CpuIndex(simulation::cpu()))
    }

    fn object(&self, cpu: u32, bytes: usize) -> Option<Extent> {
        self.1.allocate(CpuIndex(cpu), bytes, || CpuIndex(simulation::cpu()))
    }

    fn empty(&self) {
        self.1.empty();
    }

    fn counts(&self) -> Vec<LevelCounts> {
        let [served, foreign, direct, refills] = self.1.counts();
        let counters = [
            (Counter::Buffers, served),
            (Counter::Foreign, foreign),
            (Counter::Direct, direct),
            (Counter::Refills, refills),
        ];
        vec![LevelCounts {
            name: format!("{} (paper)", self.0.name()),
            counters: counters.map(|(counter, value)| (counter.name(), value)).into(),
            remaining: 0,
        }]
    }

    fn name(&self, simulation: &mut Simulation<'_>) {
        for domain in 0..self.1.domains() {
            simulation.name(self.1.addresses(domain), format!("{} {domain}: buffer", self.0.name()));
        }
    }
}

/// The counters of all levels, for as long as a simulation needs them.
pub(super) struct Tables(Vec<Vec<Counters>>);

impl Tables {
    pub(super) fn new(machine: &Machine, hierarchy: &Hierarchy) -> Tables {
        let ranks: &[Rank] = if let Hierarchy::Levels(ranks) = hierarchy { ranks } else { &[] };
        let table = |rank: &Rank| (0..rank.domain.count(machine)).map(|_| Counters::default()).collect();
        Tables(ranks.iter().map(table).collect())
    }
}

fn layout(machine: &Machine, domain: Domain) -> Layout {
    let shape = &machine.shape;
    let mut group_of_domain = vec![0; domain.count(machine)];
    for cpu in 0..shape.cpus() {
        group_of_domain[domain.of(machine, cpu) as usize] = shape.package_of(cpu) as u16;
    }
    let domain_of_cpu: Box<[DomainIndex]> =
        (0..shape.cpus()).map(|cpu| DomainIndex(domain.of(machine, cpu) as u16)).collect();
    // All CPUs are known: no other comes.
    let exclusive = if domain_of_cpu.len() > group_of_domain.len() { 0 } else { group_of_domain.len() };
    Layout { domain_of_cpu, group_of_domain: group_of_domain.into(), exclusive }
}

/// Builds a hierarchy over a heap that begins at `base`. `objects`: single objects come from buffers too.
pub(super) fn build<'a>(
    machine: &Machine,
    hierarchy: &Hierarchy,
    tables: &'a Tables,
    base: usize,
    heap: &'a Heap,
    objects: bool,
) -> Box<dyn Buffers + 'a> {
    let ranks = match hierarchy {
        Hierarchy::None => return Box::new(heap),
        Hierarchy::Paper(rank, used_up) => {
            let domain_of_cpu =
                (0..machine.shape.cpus()).map(|cpu| rank.domain.of(machine, cpu) as usize).collect();
            return Box::new(Paper(
                rank.domain,
                PaperBuffers::new(domain_of_cpu, rank.bytes, *used_up, heap),
            ));
        }
        Hierarchy::Levels(ranks) => ranks,
    };
    fn level<'a, S: Source>(
        machine: &Machine,
        rank: Rank,
        base: usize,
        table: &'a [Counters],
        upper: S,
    ) -> Level<'a, S> {
        Level::new(base, SHAPE, rank.bytes, layout(machine, rank.domain), table, upper)
    }
    fn ranked<'a, S: Source + Upper + 'a>(
        domain: Domain,
        level: Level<'a, S>,
        objects: bool,
    ) -> Box<dyn Buffers + 'a> {
        Box::new(Ranked { domain, level: Line(level), objects })
    }
    match (ranks.as_slice(), tables.0.as_slice()) {
        ([one], [table]) => ranked(one.domain, level(machine, *one, base, table, heap), objects),
        ([one, two], [first, second]) => {
            let upper = Named(two.domain, level(machine, *two, base, second, heap));
            ranked(one.domain, level(machine, *one, base, first, upper), objects)
        }
        ([one, two, three], [first, second, third]) => {
            let upper = Named(three.domain, level(machine, *three, base, third, heap));
            let upper = Named(two.domain, level(machine, *two, base, second, upper));
            ranked(one.domain, level(machine, *one, base, first, upper), objects)
        }
        // None, or more than machines have.
        _ => Box::new(heap),
    }
}
