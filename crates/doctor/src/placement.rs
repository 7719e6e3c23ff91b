//! Where a process runs, and where its memory is: CPUs, memory nodes, control group.

use crate::evidence::{CpuLimits, Placement};
use jvm::os::{self, stat_field};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
pub use topology::cgroup::Periods;
use topology::cgroup::{self, MemoryLeft, Process};
use topology::{CpuId, parse_cpu_list};

/// Where the kernel shows it: `/`, or a likeness in a test.
pub struct System {
    root: PathBuf,
}

/// Where the threads of a process ran, by looks at it from time to time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Whereabouts {
    /// CPU time (in ticks) and migrations of each thread at the last look.
    seen: Option<BTreeMap<u32, (u64, u64)>>,
    /// CPU time used since the look before on the CPU where the thread was found then.
    used: BTreeMap<u32, u64>,
    /// Times that the scheduler moved a thread to another CPU. `None` where the kernel does not count.
    pub migrations: Option<u64>,
}

impl System {
    pub fn here() -> System {
        System::at(Path::new("/"))
    }

    pub fn at(root: &Path) -> System {
        System { root: root.to_owned() }
    }

    fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        os::read_text(self.root.join(path)).ok()
    }

    /// Processors that a process may use, nodes, and its quota.
    pub fn machine(&self, pid: u32) -> CpuLimits {
        let status = self.read(format!("proc/{pid}/status")).unwrap_or_default();
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let online = self.read("sys/devices/system/cpu/online").map(|list| listed(&list));
        let mut cpus = allowed.map(listed).unwrap_or_default();
        // The kernel lists those that may come later, too: on virtual machines they are often many.
        if let Some(online) = &online {
            cpus.retain(|cpu| online.contains(cpu));
        }
        let with_cpus = self.nodes().into_values().filter(|node| node.iter().any(|cpu| cpus.contains(cpu)));
        CpuLimits {
            cpus: cpus.len().max(1),
            online: online.map(|online| online.len()),
            cpuset: cgroup::cpuset(&self.root, Process::Id(pid)),
            nodes: with_cpus.count().max(1),
            quota: cgroup::quota(&self.root, Process::Id(pid)),
            may_have_quota: !cgroup::is_quota_visible(&self.root, Process::Id(pid)),
            throttled: None,
            held_back: None,
        }
    }

    /// Of the quota that binds the process. `None` without one, or where it cannot be seen.
    pub fn periods(&self, pid: u32) -> Option<Periods> {
        cgroup::periods(&self.root, Process::Id(pid))
    }

    /// What its control group may still use of memory.
    pub fn memory_left(&self, pid: u32) -> MemoryLeft {
        cgroup::memory_left(&self.root, Process::Id(pid))
    }

    /// CPUs of each memory node.
    fn nodes(&self) -> BTreeMap<u32, Vec<CpuId>> {
        let entries = fs::read_dir(self.root.join("sys/devices/system/node")).into_iter().flatten().flatten();
        let node = |entry: fs::DirEntry| {
            let number = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
            Some((number, listed(&fs::read_to_string(entry.path().join("cpulist")).ok()?)))
        };
        entries.filter_map(node).collect()
    }

    /// Looks where the threads of a process are now.
    pub fn look(&self, pid: u32, found: &mut Whereabouts) {
        let tasks = fs::read_dir(self.root.join(format!("proc/{pid}/task"))).into_iter().flatten().flatten();
        let (mut seen, before) = (BTreeMap::new(), found.seen.take());
        for task in tasks {
            let Some(thread) = task.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            let read = |file| os::read_text(task.path().join(file)).unwrap_or_default();
            let stat = read("stat");
            let field = |number| stat_field::<u64>(&stat, number);
            // User and system time, and the CPU that it was on last.
            let (Some(user), Some(system), Some(cpu)) = (field(14), field(15), field(39)) else { continue };
            let moved = read("sched").lines().find_map(|line| {
                let value = line.strip_prefix("se.nr_migrations")?.trim_start().strip_prefix(':')?;
                value.trim().parse::<u64>().ok()
            });
            seen.insert(thread, (user + system, moved.unwrap_or(0)));
            let Some(before) = &before else { continue };
            let (ticks, migrations) = before.get(&thread).copied().unwrap_or_default();
            *found.used.entry(cpu as u32).or_default() += (user + system).saturating_sub(ticks);
            if let Some(moved) = moved {
                *found.migrations.get_or_insert(0) += moved.saturating_sub(migrations);
            }
        }
        found.seen = Some(seen);
    }

    /// How far the memory of a process is from its threads. `None` on a machine with one node, or where it cannot be seen.
    pub fn placement(&self, pid: u32, threads: &Whereabouts) -> Option<Placement> {
        let nodes = self.nodes();
        if nodes.len() < 2 {
            return None;
        }
        let pages = anonymous_pages(&self.read(format!("proc/{pid}/numa_maps"))?);
        let node_of =
            |cpu: &u32| nodes.iter().find(|(_, cpus)| cpus.contains(&CpuId(*cpu))).map(|(node, _)| *node);
        let mut running: BTreeMap<u32, u64> = BTreeMap::new();
        for (cpu, ticks) in threads.used.iter().filter(|(_, ticks)| **ticks > 0) {
            *running.entry(node_of(cpu)?).or_default() += ticks;
        }
        let part = |of: &BTreeMap<u32, u64>, node: u32| {
            let all: u64 = of.values().sum();
            of.get(&node).copied().unwrap_or(0) as f64 / all.max(1) as f64
        };
        let known = !pages.is_empty() && !running.is_empty();
        let near: f64 = nodes.keys().map(|node| part(&pages, *node) * part(&running, *node)).sum();
        known.then(|| Placement {
            remote: 1.0 - near,
            pages: nodes.keys().map(|node| part(&pages, *node)).collect(),
            threads: nodes.keys().map(|node| part(&running, *node)).collect(),
        })
    }
}

/// Bytes of private memory that no file is behind on each node: of a JVM that is its heap, above all.
fn anonymous_pages(maps: &str) -> BTreeMap<u32, u64> {
    let mut bytes = BTreeMap::new();
    for line in maps.lines().filter(|line| line.contains(" anon=") && !line.contains(" file=")) {
        let field =
            |name: &str| line.split(' ').find_map(|word| word.strip_prefix(name)?.parse::<u64>().ok());
        let size = field("kernelpagesize_kB=").unwrap_or(4) << 10;
        for word in line.split(' ') {
            let on_node = word.strip_prefix('N').and_then(|rest| rest.split_once('='));
            if let Some((Ok(node), Ok(pages))) =
                on_node.map(|(node, pages)| (node.parse::<u32>(), pages.parse::<u64>()))
            {
                *bytes.entry(node).or_default() += pages.saturating_mul(size);
            }
        }
    }
    bytes
}

/// The CPUs of a list of the kernel's; none of what is no such list.
pub fn listed(list: &str) -> Vec<CpuId> {
    parse_cpu_list(list).unwrap_or_default()
}

#[cfg(test)]
#[path = "placement_test.rs"]
mod tests;
