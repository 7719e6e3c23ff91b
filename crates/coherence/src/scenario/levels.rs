//! Which levels of buffers, by name, and how large they are.

use crate::machine::Machine;
use crate::programs::allocate::{Domain, Hierarchy, Rank, SHAPE};
use hab::sizing;

/// A level that stands over another one holds so many of that one's buffers, where no size is asked for. Assumed.
const OVER: usize = 8;
/// The largest buffer: what the top word's 24 bits can count in grains of 8 bytes.
pub const LARGEST_BUFFER: usize = 64 << 20;

/// Levels between thread buffers and heap, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels(&'static str, &'static [Domain]);

use Domain::{Cluster, Core, Package};

impl Levels {
    /// Thread buffers over the heap.
    pub const NONE: Levels = Levels("none", &[]);
    /// Core buffers over the heap.
    pub const CORE: Levels = Levels("core", &[Core]);
    /// L3 buffers over the heap.
    pub const L3: Levels = Levels("l3", &[Cluster]);
    /// Core buffers over L3 buffers.
    pub const CORE_L3: Levels = Levels("core+l3", &[Core, Cluster]);
    /// Core buffers over package buffers.
    pub const CORE_PACKAGE: Levels = Levels("core+package", &[Core, Package]);

    /// All of them.
    pub const ALL: [Levels; 7] = [
        Levels::NONE,
        Levels::CORE,
        Levels::CORE_L3,
        Levels::CORE_PACKAGE,
        Levels::L3,
        Levels("package", &[Package]),
        Levels("core+l3+package", &[Core, Cluster, Package]),
    ];

    /// As users write it.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// Who shares the buffers, nearest to the threads first.
    pub const fn domains(self) -> &'static [Domain] {
        self.1
    }

    /// The levels with that name.
    pub fn named(name: &str) -> Option<Levels> {
        Levels::ALL.into_iter().find(|levels| levels.0 == name)
    }
}

/// Sizes that were asked for, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Of a core's buffer.
    pub core: Option<usize>,
    /// Of the buffer of those who share an L3.
    pub l3: Option<usize>,
    /// Of a package's buffer.
    pub package: Option<usize>,
}

impl Sizes {
    const fn asked(&self, domain: Domain) -> Option<usize> {
        match domain {
            Core => self.core,
            Cluster => self.l3,
            Package => self.package,
        }
    }

    /// The levels with their sizes. Where none is asked for the nearest level gets what the agent would give it, and a level over
    /// another one eight of that one's buffers, as far as eden bears it.
    pub fn hierarchy(&self, levels: Levels, machine: &Machine, eden: usize) -> Hierarchy {
        let mut ranks: Vec<Rank> = Vec::new();
        for &domain in levels.domains() {
            let count = domain.count(machine);
            let usual = match ranks.last() {
                None => sizing::automatic(eden, count, LARGEST_BUFFER, SHAPE),
                Some(below) => bearable((below.bytes * OVER).min(LARGEST_BUFFER), eden, count),
            };
            ranks.push(Rank { domain, bytes: self.asked(domain).unwrap_or(usual) });
        }
        if ranks.is_empty() { Hierarchy::None } else { Hierarchy::Levels(ranks) }
    }
}

/// A size for each of `count` buffers, or less where eden is too small for them all: the agent's own limit.
pub fn bearable(bytes: usize, eden: usize, count: usize) -> usize {
    sizing::limited(bytes, eden, count, LARGEST_BUFFER, SHAPE)
}

/// How many of a level's buffers threads use that fill cores first, in the order of their numbers.
pub fn domains_in_use(machine: &Machine, domain: Domain, threads: u32) -> usize {
    let cores = threads.clamp(1, machine.shape.cores());
    domain.of(machine, (cores - 1) * machine.shape.threads) as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for levels in Levels::ALL {
            assert_eq!(Levels::named(levels.name()), Some(levels));
        }
        assert_eq!(Levels::named("cores"), None);
    }

    #[test]
    fn sizes_are_the_agents_unless_asked_for() {
        let machine = Machine::named("paper-4x10x2").unwrap();
        let hierarchy = Sizes::default().hierarchy(Levels::CORE_L3, &machine, 1 << 30);
        let Hierarchy::Levels(ranks) = hierarchy else { panic!() };
        assert_eq!(ranks[0], Rank { domain: Core, bytes: 256 << 10 });
        assert_eq!(ranks[1], Rank { domain: Cluster, bytes: 2 << 20 });
        let asked = Sizes { core: Some(4096), ..Sizes::default() };
        let Hierarchy::Levels(ranks) = asked.hierarchy(Levels::CORE, &machine, 1 << 30) else { panic!() };
        assert_eq!(ranks, [Rank { domain: Core, bytes: 4096 }]);
    }

    #[test]
    fn threads_fill_cores_first() {
        let machine = Machine::named("paper-4x10x2").unwrap();
        assert_eq!(Package.count(&machine), 4);
        assert_eq!(domains_in_use(&machine, Core, 7), 7);
        assert_eq!(domains_in_use(&machine, Core, 80), 40);
        assert_eq!(domains_in_use(&machine, Cluster, 10), 1);
        assert_eq!(domains_in_use(&machine, Package, 11), 2);
    }
}
