//! Which tables the kept results make, and where they stand.

pub const LAUNCHES: &str = "launches";

/// A table, between `<!-- NAME -->` and an empty line: a row for each cell, or for all cells that differ only in `across`.
pub struct Table {
    pub file: &'static str,
    pub name: &'static str,
    pub experiment: &'static str,
    /// Heading, and what stands below it.
    pub columns: &'static [(&'static str, Column)],
    /// A parameter whose values are columns, and what stands in them.
    pub across: Option<(&'static str, Column)>,
    pub only: Option<(&'static str, &'static str)>,
    /// Cells with this value of a parameter share the last row, which names them.
    pub together: Option<(&'static str, &'static str)>,
    /// Many cells in a few rows.
    pub gathered: Option<Gathered>,
}

/// What many cells say together.
#[derive(Clone, Copy)]
pub enum Gathered {
    /// A row for each value of a parameter, with what its cells come to.
    By(&'static str),
    /// How many intervals exclude 1.
    Counted,
    /// How many of each comparison have narrow intervals.
    Narrow,
    /// Which do.
    Listed,
}

#[derive(Clone, Copy)]
pub enum Column {
    /// Words in which `{key}` is a parameter, as in headings of the first cell; `{processes}` and `{jvms}` are how many JVMs the cell is of.
    Words(&'static str),
    /// A metric's median with its interval, with so many decimals.
    Interval(&'static str, usize),
    /// A metric's median.
    Median(&'static str, usize),
    /// The medians of two metrics.
    Both(&'static str, &'static str),
}
use Column::{Both, Interval, Median, Words};

const CELL: &str = "{collector} {jdk}, {threads} threads";
const SPEED: (&str, Column) = ("per second", Interval("speed", 2));
const COLLECTIONS: (&str, Column) = ("collections", Both("collections_a", "collections_b"));

const PLAIN: Table = Table {
    file: "docs/results.md",
    name: "",
    experiment: "",
    columns: &[],
    across: None,
    only: None,
    together: None,
    gathered: None,
};

const IN_PLACE: &str = "on / off, one process";
const TERRACE_STOCK: &str = "Terrace / stock";
const FLAG_STOCK: &str = "TLABSize=4k / stock";
const TERRACE_FLAG: &str = "Terrace / TLABSize=4k";

/// Real programs in forks: what they did, and what that took. With the latencies a line would be too long.
const FORKS: Table = Table {
    file: "docs/results/applications.md",
    name: "",
    experiment: "applications",
    columns: &[
        ("{compared}", Words(PROGRAM)),
        ("of", Words("{processes}")),
        ("per CPU-second", Interval("cpu", 3)),
        ("per second", Interval("speed", 3)),
        COLLECTIONS,
        ("pauses", Median("pauses", 2)),
        ("resident", Interval("resident", 2)),
    ],
    ..PLAIN
};
const LATENCIES: Table = Table {
    columns: &[
        ("{compared}", Words(PROGRAM)),
        ("p50", Interval("p50", 2)),
        ("p99", Interval("p99", 2)),
        ("p99.9", Interval("p999", 2)),
    ],
    ..FORKS
};
pub const PROGRAM: &str = "{program}, {collector} {jdk}, {heap}";

const DEFAULTS: Table = Table {
    file: "docs/results/defaults.md",
    experiment: "defaults",
    columns: &[
        ("workload, collector, JDK", Words("{workload} {collector} {jdk}, {threads} threads")),
        ("young", Words("{young}")),
        ("of", Words("{processes}")),
        ("per second", Interval("speed", 3)),
        ("per CPU-second", Interval("cpu", 3)),
        ("heap used up", Median("heap", 3)),
        ("pairs", Median("pairs", 0)),
    ],
    ..PLAIN
};

pub const TABLES: [Table; 35] = [
    Table { file: "docs/support.md", name: LAUNCHES, experiment: LAUNCHES, ..PLAIN },
    Table {
        file: "README.md",
        name: "demo",
        experiment: "demo",
        columns: &[
            ("program (Parallel, JDK {jdk})", Words("{program}")),
            ("compared", Words("{compared}, {jvms}")),
            ("speed", Interval("speed", 2)),
            COLLECTIONS,
        ],
        only: Some(("collector", "parallel")),
        ..PLAIN
    },
    Table {
        name: "demo",
        experiment: "demo",
        columns: &[
            ("program", Words("{program}, {collector}")),
            ("compared", Words("{compared}, {processes}")),
            SPEED,
            ("per CPU-second", Interval("cpu", 2)),
            COLLECTIONS,
        ],
        ..PLAIN
    },
    Table { name: "defaults", only: Some(("compared", "on / off")), ..DEFAULTS },
    Table {
        file: "docs/results.md",
        name: "defaults-summary",
        only: Some(("compared", "on / off")),
        gathered: Some(Gathered::By("workload")),
        ..DEFAULTS
    },
    Table { name: "control", only: Some(("compared", "off / off")), ..DEFAULTS },
    Table { name: "defaults-flag", only: Some(("compared", TERRACE_FLAG)), ..DEFAULTS },
    Table {
        name: "matrix",
        experiment: "matrix",
        columns: &[("alloc byte[16]", Words(CELL)), ("of", Words("{processes} each"))],
        across: Some(("tlab", Interval("speed", 2))),
        ..PLAIN
    },
    Table {
        file: "docs/results/sizes.md",
        name: "sizing",
        experiment: "sizing",
        columns: &[
            ("core=auto against", Words("{program}, {collector} {jdk}")),
            ("of", Words("{processes} each")),
        ],
        across: Some(("size", Interval("speed", 2))),
        ..PLAIN
    },
    Table {
        file: "docs/applications.md",
        name: "applications-summary",
        only: Some(("compared", IN_PLACE)),
        gathered: Some(Gathered::By("program")),
        ..FORKS
    },
    Table {
        file: "docs/applications.md",
        name: "applications-counted",
        gathered: Some(Gathered::Counted),
        ..FORKS
    },
    Table {
        file: "docs/applications.md",
        name: "applications-narrow",
        gathered: Some(Gathered::Narrow),
        ..FORKS
    },
    Table {
        file: "docs/applications.md",
        name: "applications-exceptions",
        only: Some(("compared", TERRACE_STOCK)),
        gathered: Some(Gathered::Listed),
        ..FORKS
    },
    Table {
        name: "applications",
        columns: &[
            ("on / off, one process", Words("{program}, {collector} {jdk}")),
            ("heap", Words("{heap}")),
            ("of", Words("{processes}")),
            ("per second", Interval("speed", 3)),
            ("per CPU-second", Interval("cpu", 3)),
            ("heap used up", Median("heap_ratio", 3)),
            ("p99", Interval("p99", 2)),
        ],
        only: Some(("compared", IN_PLACE)),
        ..FORKS
    },
    Table { name: "forks-terrace-stock", only: Some(("compared", TERRACE_STOCK)), ..FORKS },
    Table { name: "forks-flag-stock", only: Some(("compared", FLAG_STOCK)), ..FORKS },
    Table { name: "forks-terrace-flag", only: Some(("compared", TERRACE_FLAG)), ..FORKS },
    Table { name: "latencies-terrace-stock", only: Some(("compared", TERRACE_STOCK)), ..LATENCIES },
    Table { name: "latencies-flag-stock", only: Some(("compared", FLAG_STOCK)), ..LATENCIES },
    Table { name: "latencies-terrace-flag", only: Some(("compared", TERRACE_FLAG)), ..LATENCIES },
    Table {
        file: "docs/results/advice.md",
        name: "advice",
        experiment: "advice",
        columns: &[
            ("program (JDK {jdk})", Words("{program}, {collector}, {heap}")),
            ("remedy", Words("{remedy}")),
            ("collections expected", Median("expected_collections", 3)),
            ("measured", Median("collections", 3)),
            ("measured, relative to the watched JVM", Median("collections_of_watched", 3)),
            ("speed expected", Median("expected_speed", 3)),
            ("measured", Interval("speed", 3)),
        ],
        together: Some(("remedy", "nothing to try")),
        ..PLAIN
    },
    Table {
        name: "bound",
        experiment: "bound",
        columns: &[
            ("alloc byte[16], core buffers / private buffers", Words(CELL)),
            ("of", Words("{processes} each")),
        ],
        across: Some(("tlab", Interval("speed", 2))),
        ..PLAIN
    },
    Table {
        file: "docs/results/start-up.md",
        name: "startup",
        experiment: "startup",
        columns: &[
            ("terrace - stock", Words("JDK {jdk}, {agent}")),
            ("of", Words("{processes}")),
            ("wall time, ms", Interval("wall", 2)),
            ("resident, MB", Interval("resident", 2)),
        ],
        ..PLAIN
    },
    Table {
        file: "docs/results/start-up.md",
        name: "lookups",
        experiment: "lookups",
        columns: &[
            ("JDK", Words("{jdk}")),
            ("collector", Words("{collector}")),
            ("of", Words("{processes}")),
            ("ms, median [least, most]", Interval("lookup", 1)),
        ],
        ..PLAIN
    },
    Table {
        file: "docs/where-it-pays.md",
        name: "pools",
        experiment: "pools",
        columns: &[
            ("threads", Words("{threads}")),
            ("young", Words("{young}")),
            ("collector, JDK", Words("{collector}, {jdk}")),
            ("of", Words("{processes}")),
            ("per second, on / off", Interval("speed", 3)),
            ("per CPU-second", Interval("cpu", 3)),
            ("heap used up", Interval("heap", 3)),
        ],
        ..PLAIN
    },
    Table {
        file: "docs/watching.md",
        name: "watching",
        experiment: "watching",
        columns: &[
            ("what", Words("{what}")),
            ("JDK", Words("{jdk}")),
            ("% of a CPU, median [least, most]", Interval("cpu", 3)),
        ],
        ..PLAIN
    },
    Table {
        file: "docs/doctor.md",
        name: "observer",
        experiment: "observer",
        columns: &[
            ("work per CPU-second over a stock JVM's", Words("{workload} {collector} {jdk}")),
            ("of", Words("{processes}")),
            ("observer", Interval("observed", 3)),
            ("observer gone", Interval("left", 3)),
            ("all CPU time, observer", Interval("observed_all", 3)),
            ("gone", Interval("left_all", 3)),
        ],
        ..PLAIN
    },
    Table {
        file: "docs/doctor.md",
        name: "observing",
        experiment: "observing",
        columns: &[
            ("work while it is watched, over work without", Words("{program}, {collector} (JDK {jdk})")),
            ("per CPU-second", Interval("cpu", 3)),
            ("per second", Interval("speed", 3)),
        ],
        ..PLAIN
    },
    Table {
        file: "docs/results/soundness.md",
        name: "stock",
        experiment: "baseline",
        columns: &[
            ("work each CPU-second over a stock JVM's", Words("{workload} {collector} {jdk}")),
            ("of", Words("{processes}")),
            ("start=off", Interval("off", 3)),
            ("levels=none", Interval("none", 3)),
            ("on", Interval("on", 3)),
            ("all CPU time, off", Interval("off_all", 3)),
            ("on", Interval("on_all", 3)),
        ],
        ..PLAIN
    },
    Table {
        file: "docs/results/collections.md",
        name: "waste",
        experiment: "waste",
        columns: &[("collections, Terrace / stock", Words("{collector} {jdk}, young {young}"))],
        across: Some(("arrays", Median("ratio", 3))),
        ..PLAIN
    },
    Table {
        file: "docs/results/out-of-memory.md",
        name: "exhaust",
        experiment: "exhaust",
        columns: &[
            ("list of objects", Words("{collector} {jdk}, {bytes} bytes")),
            ("heap", Words("{heap}")),
            ("of", Words("{processes}")),
            ("full collections, Terrace : stock", Both("full", "full_stock")),
            ("ratio", Interval("full_ratio", 2)),
            ("elapsed time", Interval("seconds", 2)),
            ("CPU time", Interval("cpu", 2)),
        ],
        ..PLAIN
    },
    Table {
        file: "docs/arena.md",
        name: "arena",
        experiment: "arena",
        columns: CONTESTANT,
        across: Some(("column", Interval("allocate", 2))),
        only: None,
        ..PLAIN
    },
    Table {
        file: "docs/arena.md",
        name: "arena-requests",
        experiment: "arena-requests",
        columns: CONTESTANT,
        across: Some(("column", Interval("ns", 2))),
        only: None,
        ..PLAIN
    },
    Table {
        file: "docs/arena.md",
        name: "arena-mmtk",
        experiment: "arena-mmtk",
        columns: &[
            ("memory", Words("{bytes} bytes, {memory}, {processes}")),
            ("arena, thread buffers, ns", Interval("arena", 2)),
            ("mmtk NoGC, ns", Interval("mmtk", 2)),
            ("arena / mmtk", Interval("ratio", 2)),
        ],
        ..PLAIN
    },
    Table {
        file: "docs/arena.md",
        name: "arena-reach",
        experiment: "arena-reach",
        columns: &[
            ("aimed at", Words("{what}: {limit}")),
            ("found: median [95 % interval]", Words("{found}")),
            ("", Words("{verdict}")),
        ],
        ..PLAIN
    },
];

const CONTESTANT: &[(&str, Column)] = &[("ns", Words("{contestant}"))];
