//! The CPUs of a machine, in an order in which neighbours are near.

use crate::domain::{DomainKind, DomainMap};
use crate::error::Error;
use crate::id::{CPU_LIMIT, CpuId, DomainIndex};
use crate::sysfs::{self, RawCpu};
use crate::{affinity, cgroup};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

#[cfg(test)]
#[path = "machine_test.rs"]
mod test;

/// One CPU and the domains it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// The operating system's number.
    pub id: CpuId,
    /// Its core.
    pub core: DomainIndex,
    /// Its L3 cache; the package's CPUs without one share a domain.
    pub cache: DomainIndex,
    /// Its package.
    pub package: DomainIndex,
    /// Its NUMA node.
    pub node: DomainIndex,
}

impl Cpu {
    /// The domain of the given kind that this CPU belongs to.
    pub fn domain(&self, kind: DomainKind) -> DomainIndex {
        match kind {
            DomainKind::Core => self.core,
            DomainKind::Cache => self.cache,
            DomainKind::Package => self.package,
            DomainKind::Node => self.node,
            DomainKind::Machine => DomainIndex(0),
        }
    }
}

/// The CPUs that this process may use, as they were when it was looked at. There is always at least one.
///
/// They are sorted by package, L3 cache, node, cluster, core and number, and each kind of domain is numbered in that order.
#[derive(Clone, Debug)]
pub struct Machine {
    cpus: Vec<Cpu>,
    table_len: u32,
    /// Whether no CPU can turn up beyond the table: not where the system did not tell, or told of fewer than there are.
    is_table_whole: bool,
    online: usize,
    quota: Option<f64>,
    remarks: Vec<String>,
}

/// `None` sorts last: CPUs without an L3 cache are the slow ones of a hybrid machine.
type Key = (u32, bool, u32);

impl RawCpu {
    /// A cache that claims to span packages is split: no package's CPUs share it.
    fn cache_key(&self) -> Key {
        (self.package, self.cache.is_none(), self.cache.unwrap_or(0))
    }

    /// A machine that reports no node for a CPU gets one for its package.
    fn node_key(&self) -> Key {
        (0, self.node.is_none(), self.node.unwrap_or(self.package))
    }
}

impl Machine {
    /// Looks at the machine this thread runs on. Never fails: what cannot be found out is replaced by the plainest
    /// assumption and noted in [`Machine::remarks`].
    pub fn detect() -> Machine {
        Machine::detect_in(Path::new("/"), affinity::allowed())
    }

    /// As [`Machine::detect`], with the CPUs that any thread of this process may use: the calling thread may be pinned.
    pub fn detect_for_process() -> Machine {
        Machine::detect_in(Path::new("/"), affinity::allowed_to_any())
    }

    fn detect_in(root: &Path, allowed: Result<Vec<CpuId>, Error>) -> Machine {
        let (allowed, denied) = match allowed {
            Ok(allowed) => (Some(allowed), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let mut machine = Machine::from_sysfs(&root.join("sys"), allowed.as_deref())
            .unwrap_or_else(|error| Machine::assemble(Vec::new(), 0, 0, vec![error.to_string()]));
        machine.remarks.extend(denied);
        machine.quota = cgroup::quota(root, cgroup::Process::Own);
        machine
    }

    /// Reads a tree laid out as `/sys`. Only the CPUs in `allowed` count; without it those that are online.
    ///
    /// What a container hides is replaced: no L3 cache, or no NUMA nodes: the package; no topology at all: each CPU is a
    /// core of its own in one package. A CPU without a topology folder, while others have one, is offline and left out.
    pub fn from_sysfs(root: &Path, allowed: Option<&[CpuId]>) -> Result<Machine, Error> {
        let tree = sysfs::read(root, allowed)?;
        Ok(Machine::assemble(tree.cpus, tree.possible, tree.online, tree.remarks))
    }

    /// `possible` and `online` are 0 where they are not known.
    pub(crate) fn assemble(
        mut raw: Vec<RawCpu>,
        possible: u32,
        online: usize,
        remarks: Vec<String>,
    ) -> Machine {
        if raw.is_empty() {
            raw.push(RawCpu { id: 0, core: 0, package: 0, cluster: None, cache: None, node: None });
        }
        raw.sort_by_key(|cpu| cpu.id);
        raw.dedup_by_key(|cpu| cpu.id);
        // Where a node has several caches, theirs come next to each other.
        let mut node_of_cache = BTreeMap::new();
        for cpu in &raw {
            node_of_cache.entry(cpu.cache_key()).or_insert(cpu.node_key());
        }
        raw.sort_by_cached_key(|cpu| {
            let cache = cpu.cache_key();
            (
                cpu.package,
                node_of_cache.get(&cache).copied(),
                cache,
                cpu.node_key(),
                cpu.cluster,
                cpu.core,
                cpu.id,
            )
        });
        let (mut cores, mut caches) = (Dense::default(), Dense::default());
        let (mut packages, mut nodes) = (Dense::default(), Dense::default());
        let cpus: Vec<Cpu> = raw
            .iter()
            .map(|cpu| Cpu {
                id: CpuId(cpu.id),
                core: cores.number((cpu.package, false, cpu.core)),
                cache: caches.number(cpu.cache_key()),
                package: packages.number((cpu.package, false, 0)),
                node: nodes.number(cpu.node_key()),
            })
            .collect();
        let needed = cpus.iter().map(|cpu| cpu.id.0 + 1).max().unwrap_or(1);
        let online = online.max(cpus.len());
        let possible = possible.min(CPU_LIMIT);
        let (table_len, is_table_whole) = (possible.max(needed), possible >= needed);
        Machine { cpus, table_len, is_table_whole, online, quota: None, remarks }
    }

    /// The CPUs, near ones next to each other.
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// The CPU of that number, if it is one of this machine.
    pub fn cpu(&self, id: CpuId) -> Option<&Cpu> {
        self.cpus.iter().find(|cpu| cpu.id == id)
    }

    /// How many entries a table needs that is indexed by CPU number: one more than the highest number possible on this
    /// kernel, also counting CPUs that are off, not plugged in, or not allowed; where the kernel's list cannot be read, those that are allowed.
    pub fn table_len(&self) -> u32 {
        self.table_len
    }

    /// Whether this process may use every CPU that there can be: no other one can turn up.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_table_whole && (0..self.table_len).all(|id| self.cpu(CpuId(id)).is_some())
    }

    /// How many CPUs are online, whether this process may use them or not.
    pub fn online(&self) -> usize {
        self.online
    }

    /// The same machine in a container with so many CPUs' worth of time: for tests.
    pub fn with_quota(mut self, cpus: f64) -> Machine {
        self.quota = Some(cpus);
        self
    }

    /// How many domains of a kind there are; at least 1.
    pub fn count(&self, kind: DomainKind) -> usize {
        self.cpus.iter().map(|cpu| cpu.domain(kind).index() + 1).max().unwrap_or(1)
    }

    /// The domains of a kind, for look-up by CPU number.
    pub fn domains(&self, kind: DomainKind) -> DomainMap {
        // With a single node (or none reported) the package is the narrower neighbourhood.
        let neighbourhood =
            if self.count(DomainKind::Node) > 1 { DomainKind::Node } else { DomainKind::Package };
        let mut map = DomainMap::new(kind, self.table_len, self.count(kind));
        for cpu in &self.cpus {
            map.place(cpu.id, cpu.domain(kind), cpu.domain(neighbourhood).0);
        }
        map
    }

    /// What "processor" means on this machine: the L3 cache where a package has more than one, otherwise the package.
    pub fn processor_kind(&self) -> DomainKind {
        if self.count(DomainKind::Cache) > self.count(DomainKind::Package) {
            DomainKind::Cache
        } else {
            DomainKind::Package
        }
    }

    /// How many CPUs' worth of time the control group grants (its own or an outer limit, whichever is lower). `None`: no
    /// limit. It bounds time, not places: threads still run on every CPU of the list.
    pub fn quota(&self) -> Option<f64> {
        self.quota
    }

    /// What had to be assumed because it could not be read, with the remedy; empty as a rule.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }
}

/// For a status line: `80 CPUs, 40 cores, 4 caches, 4 packages, 4 nodes`.
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let cpus = self.cpus.len();
        write!(f, "{cpus} CPU{}", plural(cpus))?;
        for kind in [DomainKind::Core, DomainKind::Cache, DomainKind::Package, DomainKind::Node] {
            let count = self.count(kind);
            write!(f, ", {count} {}{}", kind.name(), plural(count))?;
        }
        match self.quota {
            Some(quota) => write!(f, ", quota {quota} CPUs"),
            None => Ok(()),
        }
    }
}

/// Numbers keys in the order in which they first turn up.
#[derive(Default)]
struct Dense(BTreeMap<Key, DomainIndex>);

impl Dense {
    fn number(&mut self, key: Key) -> DomainIndex {
        // There are at most CPU_LIMIT keys, as many as there are CPUs.
        let next = DomainIndex(self.0.len() as u16);
        *self.0.entry(key).or_insert(next)
    }
}
