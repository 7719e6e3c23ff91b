//! Results as a run of the lab would give, with all that a report must cope with: lines, bars and heat, words and numbers,
//! published values, metrics that are not to be had, long names, and text that would end a script.

mod simulable;

use compare::noise::Disturbance;
pub use simulable::simulable;
use statistics::{Interval, Random, bootstrap, median, scatter};
use terrace_lab::experiment::measured::MeasuredCell;
use terrace_lab::experiment::{
    Better, Check, Declaration, Effort, Kind, Metric, Parameter, Parameters, Plot, Quantity, Reference,
    Source, Value, parameters,
};
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

const NO_COUNTERS: &str = "the hypervisor shows no performance counters (perf_event_open: No such file or directory); run on the bare machine";

/// Lines in panels, a published line, a metric without any value.
pub fn atomics() -> Findings {
    let threads = "threads";
    let declaration = Declaration {
        name: "atomics".into(),
        title: "Atomic increments under contention".into(),
        question: "What does an increment of a shared counter cost, and does fetch-and-add beat a compare-and-swap loop?".into(),
        source: Some(Source::new("Martin Thompson", "CAS vs. locked XADD", "Nehalem 2.8 GHz, 2 × 4 cores")),
        parameters: vec![
            Parameter::new("operation", "operation", ""),
            Parameter::new("layout", "layout", ""),
            Parameter::new(threads, "threads", ""),
        ],
        metrics: vec![
            Metric::new("ns", "time per increment", "ns", Better::Lower, "Wall time of the slowest thread × threads ÷ increments of all threads.")
                .caveat("On a machine with SMT two threads may share a core and with it the line."),
            Metric::new("rate", "increments", "increments/s", Better::Higher, "Increments of all threads ÷ wall time."),
            Metric::new("failed", "failed CAS for each success", "", Better::Neither, "compare-exchanges that found another value ÷ increments."),
            Metric::new("hitm", "loads that hit a modified line elsewhere", "loads/increment", Better::Lower, "mem_load_l3_hit_retired.xsnp_hitm ÷ increments."),
        ],
        plots: vec![
            Plot::new(Kind::Lines, "Time per increment", "ns", threads, &["operation"])
                .panels(&["layout"])
                .log_x()
                .log_y()
                .caption("Flat is free of contention. On the shared line the compare-exchange loop should rise fastest."),
            Plot::new(Kind::Lines, "Failed compare-exchanges", "failed", threads, &["layout"])
                .only([("operation", "lock cmpxchg".into())])
                .log_x()
                .log_y(),
            Plot::new(Kind::Lines, "Lines fetched from another core", "hitm", threads, &["operation", "layout"]).log_x(),
        ],
        references: [(1, 8.4), (2, 70.2), (4, 151.0)]
            .into_iter()
            .flat_map(|(count, ns): (u32, f64)| {
                let at = |operation: &str| [("operation", operation.into()), ("layout", "shared line".into()), (threads, count.into())];
                let label = "Thompson, Nehalem 2.8 GHz";
                [Reference::new(label, "ns", at("lock cmpxchg"), ns * 2.1), Reference::new(label, "ns", at("lock xadd"), ns)]
            })
            .collect(),
        ..Declaration::default()
    };
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
                        (threads, count.into()),
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
    findings(
        declaration,
        cells,
        "On 2 CPUs and one shared line fetch-and-add takes 49.1 ns with 8 threads, a compare-exchange loop 129 ns: 2.63 [2.41, 2.80] times as long.",
        vec![
            Check::new(
                "XADD beats a CAS loop under contention",
                "2.63 [2.41, 2.80] times as fast with 8 threads",
                Some(true),
            ),
            Check::new(
                "A padded counter costs the same with any number of threads",
                "5.94 ns with one thread, 6.19 ns with 16",
                Some(true),
            ),
            Check::new(
                "XADD stays ahead with one thread",
                "5.90 [5.7, 6.1] ns against 8.20 [8.0, 8.4] ns",
                Some(true),
            ),
            Check::new(
                "The line moves between cores for each increment (HITM)",
                "unavailable: no performance counters",
                None,
            ),
        ],
    )
}

/// Bars over words, in panels, with published values and a cell that failed.
pub fn tlab() -> Findings {
    let declaration = Declaration {
        name: "tlab".into(),
        title: "Allocation with and without thread-local buffers".into(),
        question: "How much does a thread-local buffer buy, and how much of it is left to core buffers when there is none?".into(),
        source: Some(Source::new("Opsian", "What a difference a TLAB makes", "Core i7-4770")),
        parameters: vec![
            Parameter::new("collector", "collector", ""),
            Parameter::new("buffers", "buffers", ""),
            Parameter::new("size", "object", "bytes"),
            Parameter::new("threads", "threads", ""),
        ],
        metrics: vec![
            Metric::new("ops", "objects allocated", "objects/s", Better::Higher, "Objects of all threads ÷ wall time of a JMH iteration."),
            Metric::new("stalls", "cycles stalled on the store buffer", "%", Better::Lower, "resource_stalls.sb ÷ cycles × 100."),
        ],
        plots: vec![
            Plot::new(Kind::Bars, "Objects of 16 bytes for each second", "ops", "threads", &["buffers"])
                .panels(&["collector"])
                .only([("size", 16_u32.into())])
                .caption("Without a TLAB every object is an atomic operation on the heap's top. Longer is better."),
            Plot::new(Kind::Bars, "The same, logarithmic", "ops", "size", &["buffers", "threads"])
                .only([("collector", "Parallel".into())])
                .log_y(),
        ],
        references: vec![
            Reference::new("Opsian, Core i7-4770", "ops", [("buffers", "TLAB".into()), ("size", 16_u32.into()), ("threads", 1_u32.into())], 1.98e8),
            Reference::new("Opsian, Core i7-4770", "ops", [("buffers", "no TLAB".into()), ("size", 16_u32.into()), ("threads", 1_u32.into())], 2.7e7),
            Reference::new("Opsian, Core i7-4770", "ops", [("buffers", "no TLAB".into()), ("size", 16_u32.into())], 1.1e7),
            Reference::new("Opsian, Core i7-4770", "ops", [("buffers", "no TLAB".into()), ("size", 144_u32.into()), ("threads", 4_u32.into())], 9.9e6),
        ],
        ..Declaration::default()
    };
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
    let mut found = findings(
        declaration,
        cells,
        "Two threads allocate 22.9 times as many objects of 16 bytes with a TLAB as without; core buffers alone give back 32 % of that.",
        vec![
            Check::new(
                "Without a TLAB two threads together are slower than one",
                "0.51 [0.48, 0.55] times the throughput of one thread",
                Some(true),
            ),
            Check::new(
                "Core buffers without a TLAB beat the bare heap for every size",
                "they lose for 144 bytes with one thread: 0.94 [0.91, 0.97]",
                Some(false),
            ),
        ],
    );
    found.notes = vec![
        "G1 without a TLAB was noisy (scatter 11 %): close other programs, or use --full for more rounds."
            .into(),
        NASTY.into(),
    ];
    found
}

/// A field of ratios around 1, and lines over sizes that end in a word.
pub fn hab() -> Findings {
    let declaration = Declaration {
        name: "hab".into(),
        title: "Hierarchical allocation buffers under javac".into(),
        question: "Does a fixed small TLAB with buffers do as well as the growing strategy?".into(),
        source: Some(Source::new(
            "Kirsch, Payer, Röck",
            "Hierarchical PLABs, CLABs, and TLABs in Hotspot",
            "2 × 4-core Xeon, 40 GB",
        )),
        parameters: vec![
            Parameter::new("tlab", "TLAB", "bytes"),
            Parameter::new("buffers", "buffers", "bytes"),
        ],
        metrics: vec![
            Metric::new(
                "speedup",
                "speed-up over no buffers",
                "×",
                Better::Higher,
                "Wall time without buffers ÷ wall time with them, at the same TLAB size; medians of interleaved forks.",
            ),
            Metric::new("seconds", "wall time", "s", Better::Lower, "From start to exit of javac."),
            Metric::new(
                "foreign",
                "foreign allocations",
                "allocations/run",
                Better::Neither,
                "Allocations served from a domain that the thread has left.",
            ),
        ],
        plots: vec![
            Plot::new(Kind::Heat, "Speed-up by TLAB and core-buffer size", "speedup", "tlab", &["buffers"])
                .caption("Above 1 the buffers win. The paper's Figure 2."),
            Plot::new(Kind::Lines, "Wall time of javac", "seconds", "tlab", &["buffers"]),
            Plot::new(Kind::Heat, "Foreign allocations", "foreign", "buffers", &["tlab"]),
            Plot::new(Kind::Lines, "Foreign allocations by size of the buffers", "foreign", "tlab", &[])
                .panels(&["buffers"])
                .log_y(),
        ],
        references: vec![
            Reference::new(
                "Table I",
                "foreign",
                [("tlab", Value::from(1024_u32)), ("buffers", Value::from(8_u32 << 20))],
                9312.0,
            ),
            Reference::new(
                "Table I",
                "foreign",
                [("tlab", Value::from(4096_u32)), ("buffers", Value::from(8_u32 << 20))],
                4040.0,
            ),
            Reference::new(
                "Figure 2",
                "speedup",
                [("tlab", Value::from(1024_u32)), ("buffers", Value::from(2_u32 << 20))],
                1.38,
            ),
            Reference::new("Figure 3, growing", "seconds", [("tlab", "growing".into())], 7.9),
        ],
        ..Declaration::default()
    };
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
    findings(
        declaration,
        cells,
        "Yes: TLABs of 4k with core buffers of 2m take 1.01 [0.98, 1.04] times as long as the growing strategy, and the growing strategy reserves 3.1 times as much.",
        vec![Check::new(
            "Small TLABs gain most from buffers",
            "1.52 at 1k, 1.08 at 64k, 0.97 at 512k",
            Some(true),
        )],
    )
}

/// Many decades both ways, many series, long names.
pub fn zeroing() -> Findings {
    let declaration = Declaration {
        name: "zeroing".into(),
        title: "Zeroing, the part of allocation that grows with the object".into(),
        question: "How much of the time to allocate an array is spent on writing zeros?".into(),
        source: Some(Source::new(
            "Aleksey Shipilëv",
            "Why does Unsafe zero arrays? </script> & more",
            "i7-4790K",
        )),
        parameters: vec![Parameter::new("way", "way", ""), Parameter::new("length", "length", "bytes")],
        metrics: vec![
            Metric::new("ns", "time per array", "ns", Better::Lower, "Time of a JMH operation.")
                .caveat(NASTY),
        ],
        plots: vec![
            Plot::new(Kind::Lines, "Time per array", "ns", "length", &["way"])
                .log_x()
                .log_y()
                .caption("Ten ways over eight decades."),
        ],
        references: vec![Reference::new(
            "Shipilëv, i7-4790K",
            "ns",
            [("length", 100_000_u32.into())],
            5_500.0,
        )],
        ..Declaration::default()
    };
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
    let mut found = findings(
        declaration,
        cells,
        "At 100 kB a zeroed array takes 3.58 µs, an uninitialized one 16.0 ns: 224 [215, 233] times as long.",
        vec![Check::new(
            "Uninitialized arrays win by more than 10x at 100 KB",
            "224 [215, 233] times",
            Some(true),
        )],
    );
    found.state = State::Failed;
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
