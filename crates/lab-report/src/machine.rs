//! The machine and what disturbed it, as rows of a name and a text.

use experiment::machine::page::HostDescription;
use experiment::results::Results;
use jvm::size;
use present::numbers;
use serde::Serialize;

/// A name and what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub name: &'static str,
    /// A text for each line.
    pub lines: Vec<String>,
}

impl Row {
    fn new(name: &'static str, text: impl Into<String>) -> Row {
        Row { name, lines: vec![text.into()] }
    }
}

pub fn description(host: &HostDescription) -> Vec<Row> {
    let caches = host.caches.iter().map(|cache| {
        let (size, kind) = (size::format(cache.bytes), cache.kind.to_lowercase());
        format!(
            "L{} {kind}: {size}, lines of {} B, shared by CPUs {}",
            cache.level, cache.line_bytes, cache.shared_by
        )
    });
    let pools = host
        .huge_page_pools
        .iter()
        .map(|pool| format!("{}: {} pages, {} free", size::format(pool.page_bytes), pool.pages, pool.free));
    let or = |lines: Vec<String>, none: &str| if lines.is_empty() { vec![none.to_owned()] } else { lines };
    let clock = host
        .clock_mhz
        .map_or("unavailable: the kernel does not report it".into(), |mhz| format!("{mhz:.0} MHz"));
    let mut rows = vec![
        Row::new("CPU", &host.model),
        Row::new("clock", clock),
        Row {
            name: "topology",
            lines: std::iter::once(host.topology.clone()).chain(host.remarks.iter().cloned()).collect(),
        },
        Row {
            name: "caches",
            lines: or(caches.collect(), "unavailable: the kernel does not show them here"),
        },
        Row::new("memory", present::numbers::human(host.memory_bytes as f64)),
        Row::new("kernel", &host.kernel),
        Row::new("virtualization", &host.virtualization),
        Row::new("clock source", &host.clock_source),
        Row::new("frequency governor", &host.governor),
        Row::new("transparent huge pages", &host.transparent_huge_pages),
        Row { name: "pools of huge pages", lines: or(pools.collect(), "unavailable: the kernel shows none") },
        Row::new("hardware counters", &host.hardware_counters),
    ];
    rows.push(Row {
        name: "JDKs",
        lines: or(host.jdks.clone(), "none; cells that need one are unavailable"),
    });
    rows
}

/// What else happened.
pub fn disturbance(results: &Results) -> Vec<Row> {
    let found = &results.disturbance;
    let share = |share: Option<f64>| {
        share.map_or("unavailable: /proc/stat does not report it".into(), numbers::share)
    };
    vec![
        Row::new(
            "load before the run",
            found.load_before.map_or("unavailable: no /proc/loadavg".into(), numbers::significant),
        ),
        Row::new("stolen by the hypervisor", share(found.steal_share)),
        Row::new("used by other programs", share(found.others_share)),
    ]
}

/// What the harness costs.
pub fn overhead(results: &Results) -> String {
    results.overhead.map_or("unavailable: it was not measured in this run".into(), |found| {
        let [median, low, high] =
            [found.median, found.low, found.high].map(|ratio| format!("{:+.1}", (ratio - 1.0) * 100.0));
        format!("{median} % [{low}, {high}]: the time of a kernel in the harness over that of a bare loop")
    })
}
