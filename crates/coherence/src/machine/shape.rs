//! How the CPUs are arranged.

/// The most CPUs of a machine.
pub(super) const MOST_CPUS: u64 = 4096;
/// The most packages, clusters in a package, cores in a cluster, and threads in a core.
pub(super) const MOST_OF_A_KIND: u32 = 1024;

/// The arrangement of the CPUs: packages of clusters of cores of threads, all alike. A cluster is what shares a last cache.
///
/// Numbers are dense: CPU = ((package * clusters + cluster) * cores + core) * threads + thread. Those of clusters and cores
/// count through the whole machine in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Packages (sockets).
    pub packages: u32,
    /// Clusters (domains of a last cache) in a package.
    pub clusters: u32,
    /// Cores in a cluster.
    pub cores: u32,
    /// Threads (CPUs) in a core.
    pub threads: u32,
}

/// How far two cores are from each other; the nearer is the lesser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Distance {
    /// One and the same core: they share the first cache.
    SameCore,
    /// They share the last cache.
    SameCluster,
    /// They share the package.
    SamePackage,
    /// They share nothing.
    OtherPackage,
}

/// What some threads have of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Cores on which they run.
    pub cores: u32,
    /// Clusters of those cores.
    pub clusters: u32,
    /// Packages of those clusters.
    pub packages: u32,
}

impl Shape {
    /// What threads have that fill cores first, in the order of their numbers.
    pub const fn reached(&self, threads: u32) -> Reached {
        let cores = if threads < self.cores() { threads } else { self.cores() };
        let clusters = cores.div_ceil(self.cores);
        Reached { cores, clusters, packages: clusters.div_ceil(self.clusters) }
    }

    /// All CPUs of the machine.
    #[inline]
    pub const fn cpus(&self) -> u32 {
        self.packages * self.clusters * self.cores * self.threads
    }

    /// All cores of the machine; the field `cores` is that of one cluster.
    #[inline]
    pub const fn cores(&self) -> u32 {
        self.packages * self.clusters * self.cores
    }

    /// The core of a CPU.
    #[inline]
    pub const fn core_of(&self, cpu: u32) -> u32 {
        cpu / self.threads
    }

    /// The cluster of a CPU.
    #[inline]
    pub const fn cluster_of(&self, cpu: u32) -> u32 {
        cpu / (self.cores * self.threads)
    }

    /// The package of a CPU.
    #[inline]
    pub const fn package_of(&self, cpu: u32) -> u32 {
        cpu / (self.clusters * self.cores * self.threads)
    }

    /// How far two cores (not CPUs) are from each other.
    #[inline]
    pub const fn distance(&self, a: u32, b: u32) -> Distance {
        // Two equal cores, or two of one cluster, are what a simulation asks for most: they take no or two divisions.
        if a == b {
            return Distance::SameCore;
        }
        let (a, b) = (a / self.cores, b / self.cores);
        if a == b {
            return Distance::SameCluster;
        }
        if a / self.clusters == b / self.clusters { Distance::SamePackage } else { Distance::OtherPackage }
    }

    /// Whether two cores can be that far from each other.
    pub const fn has(&self, distance: Distance) -> bool {
        match distance {
            Distance::SameCore => true,
            Distance::SameCluster => self.cores > 1,
            Distance::SamePackage => self.clusters > 1,
            Distance::OtherPackage => self.packages > 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Shapes within the limits.
    fn shapes() -> impl Strategy<Value = Shape> {
        (1..=8_u32, 1..=16_u32, 1..=32_u32, 1..=4_u32)
            .prop_map(|(packages, clusters, cores, threads)| Shape { packages, clusters, cores, threads })
            .prop_filter("too many", |shape| u64::from(shape.cpus()) <= MOST_CPUS)
    }

    #[test]
    fn a_small_machine_by_hand() {
        let shape = Shape { packages: 2, clusters: 2, cores: 3, threads: 2 };
        assert_eq!((shape.cpus(), shape.cores()), (24, 12));
        assert_eq!((shape.core_of(23), shape.cluster_of(23), shape.package_of(23)), (11, 3, 1));
        assert_eq!((shape.core_of(7), shape.cluster_of(7), shape.package_of(7)), (3, 1, 0));
        assert_eq!(shape.distance(2, 2), Distance::SameCore);
        assert_eq!(shape.distance(0, 2), Distance::SameCluster);
        assert_eq!(shape.distance(2, 3), Distance::SamePackage);
        assert_eq!(shape.distance(5, 6), Distance::OtherPackage);
        let reached = |threads| {
            let Reached { cores, clusters, packages } = shape.reached(threads);
            (cores, clusters, packages)
        };
        assert_eq!([1, 3, 4, 7, 99].map(reached), [(1, 1, 1), (3, 1, 1), (4, 2, 1), (7, 3, 2), (12, 4, 2)]);
        assert!(Distance::SameCore < Distance::SameCluster && Distance::SamePackage < Distance::OtherPackage);
    }

    #[test]
    fn the_largest_shape_does_not_overflow() {
        let shape = Shape { packages: 4, clusters: 1, cores: MOST_OF_A_KIND, threads: 1 };
        assert_eq!(u64::from(shape.cpus()), MOST_CPUS);
        assert_eq!(shape.package_of(4095), 3);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_cpu_has_its_place(shape in shapes()) {
            let mut cpu = 0;
            for package in 0..shape.packages {
                for cluster in 0..shape.clusters {
                    for core in 0..shape.cores {
                        for _ in 0..shape.threads {
                            prop_assert_eq!(shape.package_of(cpu), package);
                            prop_assert_eq!(shape.cluster_of(cpu), package * shape.clusters + cluster);
                            prop_assert_eq!(shape.core_of(cpu), shape.cluster_of(cpu) * shape.cores + core);
                            cpu += 1;
                        }
                    }
                }
            }
            prop_assert_eq!(cpu, shape.cpus());
        }

        #[test]
        fn a_distance_is_the_same_both_ways_and_agrees_with_the_cpus(shape in shapes(), a: u32, b: u32) {
            let (a, b) = (a % shape.cores(), b % shape.cores());
            let distance = shape.distance(a, b);
            prop_assert_eq!(distance, shape.distance(b, a));
            let (x, y) = (a * shape.threads, b * shape.threads);
            prop_assert_eq!(distance == Distance::SameCore, a == b);
            prop_assert_eq!(distance <= Distance::SameCluster, shape.cluster_of(x) == shape.cluster_of(y));
            prop_assert_eq!(distance <= Distance::SamePackage, shape.package_of(x) == shape.package_of(y));
            prop_assert!(shape.has(distance));
        }
    }
}
