//! Results as a run of the lab would give, with all that a report must cope with: lines, bars and heat, words and numbers,
//! published values, metrics that are not to be had, long names, and text that would end a script.

mod simulable;

use compare::noise::Disturbance;
pub use simulable::simulable;
use statistics::{Interval, Random, bootstrap, median, scatter};
use terrace_lab::experiment::measured::MeasuredCell;
use terrace_lab::experiment::{Check, Declaration, Effort, Parameters, Quantity, Value, parameters};
use terrace_lab::machine::page::{Cache, HostDescription, Pool};
use terrace_lab::results::{Canary, Findings, Results, SCHEMA, State};

/// Text that a careless page would run, and letters beyond ASCII.
pub const NASTY: &str = "Röck's \"note\" </script><script>alert('no')</script> & <b>µ ≤ 3 × 10⁷</b> 線";

/// Values around a centre, scattered by a share, the same for the same seed.
fn around(centre: f64, share: f64, count: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..count).map(|_| centre * (1.0 + share * (random.below(2001) as f64 / 1000.0 - 1.0))).collect()
}

fn known(centre: f64, seed: u64) -> Quantity {
    Quantity::of(around(centre, 0.06, 7, seed), "not run")
}

fn lacking(reason: &str) -> Quantity {
    Quantity::Unavailable { unavailable: reason.to_owned() }
}

fn cell<const N: usize>(parameters: Parameters, metrics: [(&str, Quantity); N]) -> MeasuredCell {
    MeasuredCell {
        parameters,
        runs: 7,
        metrics: metrics.into_iter().map(|(key, quantity)| (key.to_owned(), quantity)).collect(),
        notes: vec![],
        settings: serde_json::Value::Null,
        ..MeasuredCell::default()
    }
}

fn findings(
    declaration: Declaration,
    cells: Vec<MeasuredCell>,
    answer: &str,
    checks: Vec<Check>,
) -> Findings {
    Findings {
        declaration,
        rounds: 7,
        state: State::Finished,
        seconds: 73.4,
        cells,
        answer: answer.to_owned(),
        checks,
        notes: vec![],
    }
}

/// An experiment as `experiments.json` declares it, with what was said of it, and these cells.
fn experiment(name: &str, cells: Vec<MeasuredCell>) -> Findings {
    let all: Vec<Findings> = serde_json::from_str(include_str!("experiments.json")).unwrap();
    let found = all.into_iter().find(|one| one.declaration.name == name).unwrap();
    Findings { cells, ..found }
}

const NO_COUNTERS: &str = "the hypervisor shows no performance counters (perf_event_open: No such file or directory); run on the bare machine";

/// Lines in panels, a published line, a metric without any value.
pub fn atomics() -> Findings {
    let mut cells = Vec::new();
    let operations = [
        ("lock add", 5.1),
        ("lock xadd", 5.9),
        ("lock cmpxchg", 8.2),
        ("Java incrementAndGet", 6.1),
        ("Java compareAndSet loop", 9.0),
        ("LongAdder", 9.8),
    ];
    for (which, (operation, base)) in operations.into_iter().enumerate() {
        for (kind, layout) in ["shared line", "padded lines", "falsely shared line"].into_iter().enumerate() {
            for count in [1_u32, 2, 4, 8, 16] {
                let contended =
                    f64::from(count - 1) * [4.0, 0.02, 3.0][kind] * if which % 3 == 2 { 2.4 } else { 1.0 };
                let cost =
                    base + if operation == "LongAdder" { 0.3 * f64::from(count) } else { contended * 1.8 };
                let failed = if which == 2 {
                    Quantity::of(
                        around(if kind == 0 { f64::from(count - 1) * 0.31 } else { 0.0 }, 0.1, 7, 3),
                        "",
                    )
                } else {
                    lacking("this operation cannot fail")
                };
                let seed = (which * 100 + kind * 10) as u64 + u64::from(count);
                cells.push(cell(
                    parameters([
                        ("operation", operation.into()),
                        ("layout", layout.into()),
                        ("threads", count.into()),
                    ]),
                    [
                        ("ns", known(cost, seed)),
                        ("rate", known(1e9 / cost * f64::from(count.min(2)), seed)),
                        ("failed", failed),
                        ("hitm", lacking(NO_COUNTERS)),
                    ],
                ));
            }
        }
    }
    experiment("atomics", cells)
}

/// Bars over words, in panels, with published values and a cell that failed.
pub fn tlab() -> Findings {
    let mut cells = Vec::new();
    for (c, collector) in ["Parallel", "Serial", "G1"].into_iter().enumerate() {
        for (b, buffers) in
            ["TLAB", "no TLAB", "no TLAB, core buffers", "TLAB 2k, core buffers"].into_iter().enumerate()
        {
            for size in [16_u32, 48, 144] {
                for threads in [1_u32, 2, 4] {
                    let rate = [2.4e8, 2.1e7, 9.5e7, 2.2e8][b] * 16.0 / f64::from(size).powf(0.8)
                        * [
                            f64::from(threads.min(2)),
                            1.0 / f64::from(threads),
                            f64::from(threads.min(2)) * 0.8,
                            f64::from(threads.min(2)),
                        ][b]
                        * (1.0 - 0.07 * c as f64);
                    let seed = (c * 1000 + b * 100) as u64 + u64::from(size + threads);
                    let ops = if collector == "G1" && b == 2 {
                        lacking("this collector has no heap top to share; see the decision on G1")
                    } else {
                        known(rate, seed)
                    };
                    cells.push(cell(
                        parameters([
                            ("collector", collector.into()),
                            ("buffers", buffers.into()),
                            ("size", size.into()),
                            ("threads", threads.into()),
                        ]),
                        [("ops", ops), ("stalls", lacking(NO_COUNTERS))],
                    ));
                }
            }
        }
    }
    let mut found = experiment("tlab", cells);
    found.notes.push(NASTY.into());
    found
}

/// A field of ratios around 1, and lines over sizes that end in a word.
pub fn hab() -> Findings {
    let mut cells = Vec::new();
    let tlabs: Vec<Value> = [1_u32, 4, 16, 64, 128, 512]
        .into_iter()
        .map(|k| Value::from(k << 10))
        .chain(["growing".into()])
        .collect();
    let sizes: Vec<Value> = std::iter::once("none".into())
        .chain([512_u32, 1024, 2048, 4096, 8192].into_iter().map(|k| Value::from(k << 10)))
        .collect();
    for (t, tlab) in tlabs.iter().enumerate() {
        for (b, buffers) in sizes.iter().enumerate() {
            let gain = if b == 0 {
                1.0
            } else {
                1.0 + (0.52 - 0.11 * t as f64).max(-0.04) * (1.0 - 0.08 * (b as f64 - 3.0).abs())
            };
            let seed = (t * 10 + b) as u64;
            let speedup =
                if b == 0 { lacking("this is what the others are compared with") } else { known(gain, seed) };
            let foreign = if b == 0 {
                lacking("no buffers, no domains")
            } else {
                known(9000.0 / (1 << t) as f64 * b as f64, seed)
            };
            let seconds = (4.9 + 2.0 / (t as f64 + 1.0)) / gain;
            cells.push(cell(
                parameters([("tlab", tlab.clone()), ("buffers", buffers.clone())]),
                [("speedup", speedup), ("seconds", known(seconds, seed + 7)), ("foreign", foreign)],
            ));
        }
    }
    experiment("hab", cells)
}

/// Many decades both ways, many series, long names.
pub fn zeroing() -> Findings {
    let mut cells = Vec::new();
    let ways = [
        "byte[] zeroed",
        "Unsafe.allocateUninitializedArray",
        "memset of glibc",
        "rep stosb",
        "non-temporal stores (movnti) with a fence at the end",
        "fresh kernel pages, 4k",
        "fresh kernel pages, transparent huge",
        "fresh kernel pages, hugetlb 2m",
        "none",
        "calloc",
    ];
    for (which, way) in ways.into_iter().enumerate() {
        for exponent in 0..8_u32 {
            let bytes = 10_u32.pow(exponent);
            let ns = 8.0
                + 3.0 * which as f64
                + f64::from(bytes) / [28.0, 2e4, 31.0, 24.0, 12.0, 2.1, 6.0, 7.0, 1e6, 3.0][which];
            let quantity = if which == 7 {
                lacking("no huge pages of 2m in the pool; sysctl vm.nr_hugepages=64, or --allow-sysctl")
            } else {
                known(ns, u64::from(exponent) * 100 + which as u64)
            };
            cells.push(cell(parameters([("way", way.into()), ("length", bytes.into())]), [("ns", quantity)]));
        }
    }
    let mut found = experiment("zeroing", cells);
    found.declaration.metrics[0].caveat = NASTY.into();
    found
}

fn page() -> HostDescription {
    let cache = |level, kind: &str, bytes, shared: &str| Cache {
        level,
        kind: kind.into(),
        bytes,
        line_bytes: 64,
        shared_by: shared.into(),
    };
    HostDescription {
        model: "Intel(R) Xeon(R) Processor @ 2.80GHz".into(),
        clock_mhz: Some(2800.2),
        cpus: 2,
        topology: "2 CPUs: 1 core × 2 threads, 1 L3, 1 package, 1 node".into(),
        remarks: vec!["the affinity mask holds 2 of 2 CPUs".into()],
        caches: vec![
            cache(1, "Data", 48 << 10, "0-1"),
            cache(1, "Instruction", 32 << 10, "0-1"),
            cache(2, "Unified", 2 << 20, "0-1"),
            cache(3, "Unified", 33 << 20, "0-1"),
        ],
        memory_bytes: 8_200_000_000,
        kernel: "6.1.0".into(),
        virtualization: "KVM".into(),
        clock_source: "kvm-clock".into(),
        governor: "unavailable: the kernel does not show a frequency governor here".into(),
        transparent_huge_pages: "madvise".into(),
        huge_page_pools: vec![
            Pool { page_bytes: 2 << 20, pages: 0, free: 0 },
            Pool { page_bytes: 1 << 30, pages: 0, free: 0 },
        ],
        hardware_counters: format!("unavailable: {NO_COUNTERS}"),
        jdks: vec![
            "Eclipse Adoptium 25.0.3+9-LTS, /opt/jdk-25".into(),
            "Debian 17.0.15+6, /usr/lib/jvm/java-17".into(),
        ],
    }
}

/// A canary that drifts by so much.
pub fn canary(name: &str, centre: f64, drift: f64) -> Canary {
    let values: Vec<f64> = around(centre, 0.012, 40, 11)
        .into_iter()
        .enumerate()
        .map(|(i, value)| value * (1.0 + drift * i as f64 / 39.0))
        .collect();
    let drift = median(&values[30..]).zip(median(&values[..10])).map(|(last, first)| last / first);
    Canary {
        name: name.into(),
        unit: "ns".into(),
        at: (0..40).map(|i| f64::from(i) * 11.7).collect(),
        interval: bootstrap(&values, 1),
        scatter: scatter(&values),
        drift,
        values,
    }
}

/// All of it.
pub fn results() -> Results {
    Results {
        schema: SCHEMA,
        terrace: "0.1.0".into(),
        effort: Effort::Quick,
        command: "terrace lab run atomics tlab hab zeroing --quick --java /opt/jdk-25 --out lab-results"
            .into(),
        started_unix: 1_790_000_000,
        seconds: 473.0,
        state: State::Failed,
        machine: page(),
        disturbance: Disturbance { load_before: Some(0.42), steal_share: Some(0.0123), others_share: None },
        canaries: vec![canary("arithmetic", 101.3, 0.006), canary("memory", 83.9, 0.045)],
        overhead: Some(Interval { median: 1.004, low: 0.998, high: 1.011 }),
        experiments: vec![atomics(), tlab(), hab(), zeroing()],
        simulated: vec![],
        notes: vec![
            "The hypervisor took 1.23 % of the CPU time: run again at a quieter time.".into(),
            NASTY.into(),
        ],
    }
}
