//! A machine as a simulation asks for it.

use super::{Costs, Distance, Machine, Picoseconds};
use std::ops::Range;

/// Where a core is.
#[derive(Clone, Copy, Debug)]
struct Place {
    cluster: u32,
    package: u32,
}

/// A machine whose shape was computed beforehand: each access asks where cores are, and divisions would take longer than all else
/// that it does.
#[derive(Debug)]
pub struct Grid<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// By core.
    places: Box<[Place]>,
    /// By CPU.
    cores: Box<[u32]>,
}

impl<'a> Grid<'a> {
    /// Of a machine.
    pub fn new(machine: &'a Machine) -> Grid<'a> {
        let shape = &machine.shape;
        let place = |core: u32| {
            let cpu = core * shape.threads;
            Place { cluster: shape.cluster_of(cpu), package: shape.package_of(cpu) }
        };
        Grid {
            machine,
            places: (0..shape.cores()).map(place).collect(),
            cores: (0..shape.cpus()).map(|cpu| shape.core_of(cpu)).collect(),
        }
    }

    /// What each step takes.
    #[inline]
    pub const fn costs(&self) -> &'a Costs {
        &self.machine.costs
    }

    /// All cores of the machine.
    #[inline]
    pub fn cores(&self) -> u32 {
        self.places.len() as u32
    }

    /// All clusters of the machine.
    #[inline]
    pub const fn clusters(&self) -> u32 {
        self.machine.shape.packages * self.machine.shape.clusters
    }

    /// The core of a CPU.
    #[inline]
    pub fn core_of(&self, cpu: u32) -> u32 {
        self.cores[cpu as usize]
    }

    /// The cluster of a core.
    #[inline]
    pub fn cluster(&self, core: u32) -> u32 {
        self.places[core as usize].cluster
    }

    /// The package of a core.
    #[inline]
    pub fn package(&self, core: u32) -> u32 {
        self.places[core as usize].package
    }

    /// All cores of a core's cluster.
    #[inline]
    pub fn cores_of_cluster(&self, core: u32) -> Range<u32> {
        let (cluster, cores) = (self.cluster(core), self.machine.shape.cores);
        cluster * cores..(cluster + 1) * cores
    }

    /// All cores of a core's package.
    #[inline]
    pub fn cores_of_package(&self, core: u32) -> Range<u32> {
        let (package, shape) = (self.package(core), &self.machine.shape);
        let cores = shape.cores * shape.clusters;
        package * cores..(package + 1) * cores
    }

    /// How far two cores are from each other.
    #[inline]
    pub fn distance(&self, a: u32, b: u32) -> Distance {
        let (one, other) = (self.places[a as usize], self.places[b as usize]);
        if a == b {
            Distance::SameCore
        } else if one.cluster == other.cluster {
            Distance::SameCluster
        } else if one.package == other.package {
            Distance::SamePackage
        } else {
            Distance::OtherPackage
        }
    }

    /// So many processor cycles in picoseconds.
    pub fn cycles(&self, cycles: f64) -> Picoseconds {
        self.machine.cycles(cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_the_shape_says() {
        for name in ["paper-4x10x2", "epyc-9654-2x96", "two-vcpu-epyc"] {
            let machine = Machine::named(name).unwrap();
            let (grid, shape) = (Grid::new(&machine), &machine.shape);
            assert_eq!(grid.cores(), shape.cores());
            for cpu in 0..shape.cpus() {
                let core = shape.core_of(cpu);
                assert_eq!(grid.core_of(cpu), core);
                assert_eq!(grid.cluster(core), shape.cluster_of(cpu));
                assert_eq!(grid.package(core), shape.package_of(cpu));
                for other in 0..shape.cores() {
                    assert_eq!(grid.distance(core, other), shape.distance(core, other));
                }
            }
        }
    }
}
