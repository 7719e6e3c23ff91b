//! Reading the kernel's description of the machine.

use crate::cpu_list::parse_cpu_list;
use crate::error::Error;
use crate::id::{CPU_LIMIT, CpuId};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

#[cfg(test)]
#[path = "sysfs_arm_test.rs"]
mod arm_test;
#[cfg(test)]
#[path = "sysfs_test.rs"]
mod test;

/// A CPU as the operating system describes it. `core` and `cache` are the lowest CPU number in the core and behind the
/// cache, or any other number that tells them apart within a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawCpu {
    pub id: u32,
    pub core: u32,
    pub package: u32,
    /// The lowest CPU number of its cluster (cores that are nearer to each other than to others of the package, whether or not they
    /// share a cache: Arm), where the machine tells.
    pub cluster: Option<u32>,
    pub cache: Option<u32>,
    pub node: Option<u32>,
}

/// What the tree says, unsorted.
pub(crate) struct Tree {
    pub cpus: Vec<RawCpu>,
    /// One more than the highest possible CPU number; 0 where the tree does not tell.
    pub possible: u32,
    /// How many CPUs are online; 0 where the tree does not tell.
    pub online: usize,
    pub remarks: Vec<String>,
}

/// Cache folders are not in the order of levels, and there may be gaps. The L3 cache is index3 on every common machine, so
/// that comes first: opening a file here costs microseconds.
const CACHE_FOLDERS: [u32; 8] = [3, 2, 4, 1, 0, 5, 6, 7];

/// Far above the length of any list the kernel prints.
const LONGEST: usize = 1 << 20;

pub(crate) fn read(root: &Path, allowed: Option<&[CpuId]>) -> Result<Tree, Error> {
    let cpu_root = root.join("devices/system/cpu");
    let candidates: Vec<u32> = match allowed {
        // The affinity is the kernel's own word. The file `online` is not asked: some container managers fake it.
        Some(allowed) => allowed.iter().map(|cpu| cpu.0).filter(|id| *id < CPU_LIMIT).collect(),
        None => listed(&cpu_root),
    };
    if candidates.is_empty() {
        return Err(Error(format!(
            "no CPU in {}; mount sysfs there, or allow sched_getaffinity",
            cpu_root.display()
        )));
    }
    let mut remarks = Vec::new();
    let mut cpus = cores(&cpu_root, &candidates);
    if cpus.is_empty() {
        remarks.push(format!(
            "no CPU topology in {}: each CPU counts as a core in one package; let the container read sysfs",
            cpu_root.display()
        ));
        cpus = candidates
            .iter()
            .map(|id| RawCpu { id: *id, core: *id, package: 0, cluster: None, cache: None, node: None })
            .collect();
    } else {
        add_clusters(&cpu_root, &mut cpus);
        add_caches(&cpu_root, &mut cpus);
    }
    let nodes = nodes(&root.join("devices/system/node"));
    for cpu in &mut cpus {
        cpu.node = nodes.get(&cpu.id).copied();
    }
    let possible =
        read_list(&cpu_root.join("possible")).and_then(|list| list.last().map(|id| id + 1)).unwrap_or(0);
    let online = read_list(&cpu_root.join("online")).map_or(0, |list| list.len());
    Ok(Tree { cpus, possible, online, remarks })
}

/// The CPUs that are online, by the first of several witnesses.
fn listed(cpu_root: &Path) -> Vec<u32> {
    ["online", "present", "possible"]
        .iter()
        .filter_map(|name| read_list(&cpu_root.join(name)))
        .find(|list| !list.is_empty())
        .unwrap_or_else(|| numbered_entries(cpu_root, "cpu").into_iter().map(|(number, _)| number).collect())
}

/// The candidates that have a topology, with core and package.
fn cores(cpu_root: &Path, candidates: &[u32]) -> Vec<RawCpu> {
    // Siblings are in one core and one package, so the files of one describe them all.
    let mut known: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for id in candidates {
        if known.contains_key(id) {
            continue;
        }
        let folder = cpu_root.join(format!("cpu{id}/topology"));
        let siblings = read_list(&folder.join("thread_siblings_list")).filter(|list| list.contains(id));
        let package = read_number(&folder.join("physical_package_id"));
        let core = match &siblings {
            Some(list) => list.first().map(|first| i64::from(*first)),
            None => read_number(&folder.join("core_id")),
        };
        if core.is_none() && package.is_none() {
            continue;
        }
        // -1: some firmware does not tell. Packages then count as one, cores as one for each CPU.
        let core = core.and_then(|core| u32::try_from(core).ok()).unwrap_or(*id);
        let package = package.and_then(|package| u32::try_from(package).ok()).unwrap_or(0);
        known.insert(*id, (core, package));
        for sibling in siblings.iter().flatten() {
            known.entry(*sibling).or_insert((core, package));
        }
    }
    let found = |id: &u32| known.get(id).map(|(core, package)| (*id, *core, *package));
    let cpus = candidates.iter().filter_map(found);
    cpus.map(|(id, core, package)| RawCpu { id, core, package, cluster: None, cache: None, node: None })
        .collect()
}

/// Finds the cluster of each CPU, on machines whose cores have one hardware thread: on others the threads of a core are the nearest.
fn add_clusters(cpu_root: &Path, cpus: &mut [RawCpu]) {
    // A core is named by its first thread.
    if cpus.iter().any(|cpu| cpu.core != cpu.id) {
        return;
    }
    let mut known: BTreeMap<u32, u32> = BTreeMap::new();
    for cpu in cpus {
        if !known.contains_key(&cpu.id) {
            let list = read_list(&cpu_root.join(format!("cpu{}/topology/cluster_cpus_list", cpu.id)));
            let Some(list) = list.filter(|list| list.contains(&cpu.id)) else { continue };
            for member in &list {
                known.entry(*member).or_insert(list[0]);
            }
        }
        cpu.cluster = known.get(&cpu.id).copied();
    }
}

/// Finds the L3 cache of each CPU. A cache's files at one CPU tell about all that share it.
fn add_caches(cpu_root: &Path, cpus: &mut [RawCpu]) {
    let mut known: BTreeMap<u32, u32> = BTreeMap::new();
    for cpu in cpus {
        if !known.contains_key(&cpu.id) {
            let sharers = l3_sharers(&cpu_root.join(format!("cpu{}/cache", cpu.id)));
            if let Some(first) = sharers.first() {
                for sharer in &sharers {
                    known.entry(*sharer).or_insert(*first);
                }
            }
        }
        cpu.cache = known.get(&cpu.id).copied();
    }
}

/// The CPUs behind the L3 cache described in a `cache` folder; empty if there is none.
fn l3_sharers(folder: &Path) -> Vec<u32> {
    for index in CACHE_FOLDERS {
        let folder = folder.join(format!("index{index}"));
        if read_number(&folder.join("level")) != Some(3) {
            continue;
        }
        if read_text(&folder.join("type")).is_some_and(|kind| kind.trim() == "Instruction") {
            continue;
        }
        return read_list(&folder.join("shared_cpu_list")).unwrap_or_default();
    }
    Vec::new()
}

/// The NUMA node of each CPU. Nodes without CPUs (memory only) leave no trace.
fn nodes(node_root: &Path) -> BTreeMap<u32, u32> {
    let mut node_of = BTreeMap::new();
    for (node, folder) in numbered_entries(node_root, "node") {
        for id in read_list(&folder.join("cpulist")).unwrap_or_default() {
            node_of.entry(id).or_insert(node);
        }
    }
    node_of
}

/// Entries named by a prefix and a number, in ascending order.
fn numbered_entries(folder: &Path, prefix: &str) -> Vec<(u32, PathBuf)> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number =
            name.to_str().and_then(|name| name.strip_prefix(prefix)).and_then(|digits| digits.parse().ok());
        if let Some(number) = number.filter(|number| *number < CPU_LIMIT) {
            found.insert((number, entry.path()));
        }
    }
    found.into_iter().collect()
}

/// A file's text; `None` if it cannot be read. No `stat` first: a file here does not know its length, and an agent pays
/// for each system call at every start.
pub(crate) fn read_text(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let mut bytes = vec![0; 512];
    let mut length = 0;
    loop {
        match file.read(bytes.get_mut(length..)?) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return None,
        }
        if length == bytes.len() {
            if length >= LONGEST {
                return None;
            }
            bytes.resize(length * 2, 0);
        }
    }
    bytes.truncate(length);
    String::from_utf8(bytes).ok()
}

fn read_list(path: &Path) -> Option<Vec<u32>> {
    Some(parse_cpu_list(&read_text(path)?).ok()?.into_iter().map(|cpu| cpu.0).collect())
}

fn read_number(path: &Path) -> Option<i64> {
    read_text(path)?.trim().parse().ok()
}
