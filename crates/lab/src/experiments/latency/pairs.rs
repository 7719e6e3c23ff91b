//! Which pairs of CPUs hand a line to each other.

use std::collections::BTreeMap;
use topology::{Cpu, DomainKind, Machine};

/// The relation of CPUs behind one last cache.
pub(super) const SHARED_CACHE: &str = "the last cache";

/// Two CPUs, by the kernel's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub from: u32,
    pub to: u32,
    /// The narrowest thing that they share.
    pub relation: &'static str,
}

/// Up to so many CPUs every pair is measured.
const FEW_CPUS: usize = 8;

/// All pairs where there are few CPUs; otherwise `most` of each relation, evenly spread; and how many are left out.
///
/// A pair is there once: a round trip goes both ways.
pub(super) fn pairs(machine: &Machine, most: usize) -> (Vec<Pair>, usize) {
    let cpus = machine.cpus();
    let mut found: BTreeMap<DomainKind, Vec<Pair>> = BTreeMap::new();
    for (index, from) in cpus.iter().enumerate() {
        for to in &cpus[index + 1..] {
            let kind = shared(from, to);
            let pair = Pair { from: from.id.0, to: to.id.0, relation: relation(kind) };
            found.entry(kind).or_default().push(pair);
        }
    }
    let all: usize = found.values().map(Vec::len).sum();
    let most = if cpus.len() <= FEW_CPUS { usize::MAX } else { most };
    let chosen: Vec<Pair> = found.into_values().flat_map(|pairs| spread(pairs, most)).collect();
    let left_out = all - chosen.len();
    (chosen, left_out)
}

fn spread(pairs: Vec<Pair>, most: usize) -> Vec<Pair> {
    let take = pairs.len().min(most);
    (0..take).map(|index| pairs[index * pairs.len() / take]).collect()
}

fn shared(a: &Cpu, b: &Cpu) -> DomainKind {
    [DomainKind::Core, DomainKind::Cache, DomainKind::Package]
        .into_iter()
        .find(|kind| a.domain(*kind) == b.domain(*kind))
        .unwrap_or(DomainKind::Machine)
}

const fn relation(kind: DomainKind) -> &'static str {
    match kind {
        DomainKind::Core => "a core",
        DomainKind::Cache => SHARED_CACHE,
        DomainKind::Package => "a package",
        DomainKind::Node | DomainKind::Machine => "the machine",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topology::Fake;

    #[test]
    fn few_cpus_are_all_measured() {
        let machine = Machine::fake(Fake { packages: 2, cores: 2, threads: 2, holes: vec![] });
        let (pairs, left_out) = pairs(&machine, 1);
        assert_eq!((pairs.len(), left_out), (28, 0));
        let count = |relation| pairs.iter().filter(|pair| pair.relation == relation).count();
        assert_eq!((count("a core"), count("the last cache"), count("the machine")), (4, 8, 16));
    }

    #[test]
    fn of_many_some_of_each_relation() {
        let machine = Machine::fake(Fake { packages: 2, cores: 16, threads: 2, holes: vec![] });
        let (pairs, left_out) = pairs(&machine, 3);
        assert_eq!((pairs.len(), left_out), (9, 64 * 63 / 2 - 9));
        assert!(pairs.iter().all(|pair| pair.from != pair.to));
    }

    #[test]
    fn one_cpu_has_no_partner() {
        let machine = Machine::fake(Fake { packages: 1, cores: 1, threads: 1, holes: vec![] });
        assert_eq!(pairs(&machine, 3), (vec![], 0));
    }
}
