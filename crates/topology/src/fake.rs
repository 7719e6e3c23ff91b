//! Machines for tests.

use crate::id::CPU_LIMIT;
use crate::machine::Machine;
use crate::sysfs::RawCpu;

#[cfg(test)]
#[path = "fake_test.rs"]
mod test;

/// A regular machine for tests, numbered as Linux numbers x86 servers: first the first thread of each core, package after
/// package, then the second threads, and so on. Each package has one L3 cache and is one NUMA node.
///
/// ```
/// use topology::{CpuId, DomainKind, Fake, Machine};
/// let machine = Machine::fake(Fake { packages: 4, cores: 10, threads: 2, holes: vec![] });
/// let cores = machine.domains(DomainKind::Core);
/// assert_eq!(cores.count(), 40);
/// assert_eq!(cores.of(CpuId(7)), cores.of(CpuId(47)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fake {
    /// Packages.
    pub packages: u32,
    /// Cores in each package.
    pub cores: u32,
    /// Hardware threads in each core.
    pub threads: u32,
    /// CPU numbers that do not exist, as if switched off; the others keep theirs.
    pub holes: Vec<u32>,
}

impl Machine {
    /// A machine for tests. One without any CPU becomes a machine with one.
    pub fn fake(fake: Fake) -> Machine {
        let cores = fake.packages.saturating_mul(fake.cores).min(CPU_LIMIT);
        let total = cores.saturating_mul(fake.threads).min(CPU_LIMIT);
        let raw = (0..total)
            .filter(|id| !fake.holes.contains(id))
            .map(|id| {
                // No division by zero: with `cores` 0 (or either factor) there is no `id`.
                let core = id % cores;
                let package = core / fake.cores;
                let (cache, node) = (Some(package * fake.cores), Some(package));
                RawCpu { id, core, package, cluster: None, cache, node }
            })
            .collect();
        let online = total as usize;
        Machine::assemble(raw, total, online.saturating_sub(fake.holes.len()), Vec::new())
    }

    /// The same machine for a process that may use these of its CPUs only.
    pub fn allowing(self, allowed: &[u32]) -> Machine {
        let raw = (self.cpus().iter().filter(|cpu| allowed.contains(&cpu.id.0)))
            .map(|cpu| RawCpu {
                id: cpu.id.0,
                core: u32::from(cpu.core.0),
                package: u32::from(cpu.package.0),
                cluster: None,
                cache: Some(u32::from(cpu.cache.0)),
                node: Some(u32::from(cpu.node.0)),
            })
            .collect();
        Machine::assemble(raw, self.table_len(), self.online(), Vec::new())
    }
}
