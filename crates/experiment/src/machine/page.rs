//! The machine's own page in a report.

use compare::machine::memory_bytes;
use jvm::jdk::Jdk;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// What a reader must know of a machine to compare it with another. What it does not tell is `unavailable: reason`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostDescription {
    pub model: String,
    /// Its clock as the kernel tells it, in MHz.
    pub clock_mhz: Option<f64>,
    /// CPUs that we may use.
    pub cpus: usize,
    /// CPUs, cores, caches, packages, nodes.
    pub topology: String,
    /// Remarks on the topology: limits, missing files.
    pub remarks: Vec<String>,
    pub caches: Vec<Cache>,
    pub memory_bytes: u64,
    pub kernel: String,
    /// What runs beneath it: `KVM`, or that nothing is known to.
    pub virtualization: String,
    pub clock_source: String,
    pub governor: String,
    /// Transparent huge pages: always, madvise or never.
    pub transparent_huge_pages: String,
    pub huge_page_pools: Vec<Pool>,
    pub hardware_counters: String,
    pub jdks: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1, 2, 3.
    pub level: u32,
    /// Data, Instruction or Unified.
    pub kind: String,
    pub bytes: u64,
    /// The length of a line in bytes.
    pub line_bytes: u64,
    /// The CPUs that share it, as the kernel lists them.
    pub shared_by: String,
}

/// A pool of explicit huge pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// The size of a page in bytes.
    pub page_bytes: u64,
    pub pages: u64,
    pub free: u64,
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn unavailable(what: &str) -> String {
    format!("unavailable: the kernel does not show {what} here")
}

/// `48K`, `32M`.
fn cache_bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// The caches of CPU 0, from sysfs, by level.
pub fn caches() -> Vec<Cache> {
    caches_in(Path::new("/sys/devices/system/cpu/cpu0/cache"))
}

fn caches_in(folder: &Path) -> Vec<Cache> {
    let mut caches: Vec<Cache> = (fs::read_dir(folder).into_iter().flatten().flatten())
        .filter_map(|entry| {
            let at = |name: &str| read(entry.path().join(name));
            Some(Cache {
                level: at("level")?.parse().ok()?,
                kind: at("type")?,
                bytes: cache_bytes(&at("size")?)?,
                line_bytes: at("coherency_line_size").and_then(|text| text.parse().ok()).unwrap_or(64),
                shared_by: at("shared_cpu_list").unwrap_or_default(),
            })
        })
        .collect();
    caches.sort_by(|a, b| (a.level, &a.kind).cmp(&(b.level, &b.kind)));
    caches
}

/// The pools of explicit huge pages, smallest pages first.
pub fn pools() -> Vec<Pool> {
    let pools = pages::pools().into_iter();
    pools.map(|pool| Pool { page_bytes: pool.page_bytes, pages: pool.pages, free: pool.free }).collect()
}

/// The word in brackets of a file such as `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

impl HostDescription {
    pub fn here(jdks: &[Jdk], hardware_counters: String) -> HostDescription {
        let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let topology = topology::Machine::detect();
        let hypervisor =
            field("flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
        HostDescription {
            model: field("model name").unwrap_or_else(|| unavailable("the CPU's name")),
            clock_mhz: field("cpu MHz").and_then(|text| text.parse().ok()),
            cpus: topology.cpus().len(),
            topology: topology.to_string(),
            remarks: topology.remarks().to_vec(),
            caches: caches(),
            memory_bytes: memory_bytes(),
            kernel: read("/proc/sys/kernel/osrelease").unwrap_or_else(|| unavailable("its release")),
            virtualization: read("/sys/hypervisor/type")
                .or_else(|| read("/sys/class/dmi/id/sys_vendor").filter(|_| hypervisor))
                .unwrap_or_else(|| {
                    (if hypervisor { "a hypervisor that does not report its name" } else { "none detected" })
                        .into()
                }),
            clock_source: read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
                .unwrap_or_else(|| unavailable("its clock source")),
            governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
                .unwrap_or_else(|| unavailable("a frequency governor")),
            transparent_huge_pages: read("/sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|text| chosen(&text))
                .unwrap_or_else(|| unavailable("transparent huge pages")),
            huge_page_pools: pools(),
            hardware_counters,
            jdks: jdks.iter().map(Jdk::describe).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_choices_are_read_as_the_kernel_writes_them() {
        assert_eq!(cache_bytes("48K"), Some(48 << 10));
        assert_eq!(cache_bytes("32M"), Some(32 << 20));
        assert_eq!(cache_bytes("x"), None);
        assert_eq!(chosen("always [madvise] never"), Some("madvise".into()));
        assert_eq!(chosen("never"), None);
    }

    #[test]
    fn caches_come_by_level_whatever_the_folders_order() {
        let folder = tempfile::tempdir().unwrap();
        for (index, level, kind, size) in [(0, "3", "Unified", "32M"), (1, "1", "Data", "48K")] {
            let path = folder.path().join(format!("index{index}"));
            fs::create_dir(&path).unwrap();
            for (name, text) in [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", "0-1")]
            {
                fs::write(path.join(name), format!("{text}\n")).unwrap();
            }
        }
        fs::create_dir(folder.path().join("index9")).unwrap();
        let caches = caches_in(folder.path());
        assert_eq!(
            caches.iter().map(|cache| (cache.level, cache.bytes)).collect::<Vec<_>>(),
            [(1, 48 << 10), (3, 32 << 20)]
        );
    }

    #[test]
    fn this_machine_has_a_page() {
        let page = HostDescription::here(&[], "unavailable: not asked".into());
        assert!(page.cpus >= 1 && page.memory_bytes > 1 << 20 && !page.model.is_empty());
        let text = serde_json::to_string(&page).unwrap();
        assert_eq!(serde_json::from_str::<HostDescription>(&text).unwrap(), page);
    }
}
