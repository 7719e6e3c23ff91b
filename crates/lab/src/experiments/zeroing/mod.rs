//! What a new object's zeros cost, and how memory is best made zero.

mod bandwidth;
mod best;
mod claims;
mod java;
mod kernels;
mod native;

use crate::Result;
use experiment::measured::MeasuredCell;
use experiment::{
    Bench, Better, Cell, Declaration, Effort, Experiment, Kind, Metric, Parameter, Plan, Plot, QUICK_ROUNDS,
    Quantity, Reference, Source, Value,
};
use statistics::Interval;

const JAVA: &str = "java";
/// Java with a watcher and a log beside it: for pauses, not for times.
const WATCHED: &str = "java, watched";
const NATIVE: &str = "native";

const ZEROED: &str = "zeroed";
const UNINITIALIZED: &str = "uninitialized";
const FRESH_SMALL: &str = "fresh small pages";
const FRESH_HUGE: &str = "fresh huge pages";
const BANDWIDTH: &str = "write bandwidth";

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims::claims, claims::answer).derive(shares)
}

fn declaration() -> Declaration {
    Declaration {
        name: "zeroing".into(),
        title: "What zeroing costs".into(),
        question:
            "How much of an allocation's time goes into zeroing, and which method of zeroing is the fastest?"
                .into(),
        source: Some(Source::new(
            "Aleksey Shipilëv",
            "JVM Anatomy Quark on initialization costs",
            "Core i7-4790K (4 GHz, 8 hardware threads), JDK 9 with the Parallel collector, 20 GB heap",
        )),
        parameters: vec![
            Parameter::new("language", "Language", ""),
            Parameter::new("method", "Zeroing", ""),
            Parameter::new("bytes", "Size", "bytes"),
            Parameter::new("threads", "Threads", ""),
        ],
        metrics: metrics(),
        plots: plots(),
        references: references(),
        ..Declaration::default()
    }
}

fn metrics() -> Vec<Metric> {
    let lower = |key, name, unit, definition| Metric::new(key, name, unit, Better::Lower, definition);
    vec![
        Metric::lower("ns", "Time per object", "ns")
            .is("Java: time per byte array of this length in a thread, collections included (JMH, average time). Native: \
                 time to zero as many bytes, object after object through memory several times the size of the largest \
                 cache")
        .caveat(
            "Java's heap is pre-touched (-XX:+AlwaysPreTouch), so the kernel's zeroing of new pages is not included; \
             the fresh pages show it. 'none' stores into the first byte only, as a header does. Arrays that do not fit \
             into a TLAB, and all above 1 MB, are zeroed by the JVM's slow path even if that is not requested.",
        ),
        Metric::higher("rate", "Rate", "GB/s")
            .is("bytes of the objects of all threads over time, 10^9 bytes; Java's arrays include header and padding")
        .caveat("An uninitialized array counts with all its bytes although hardly any are written."),
        Metric::higher("share", "Share of the write bandwidth", "%")
            .is("rate over the write bandwidth with the same number of threads; native methods: both interleaved in the same run of the cell; Java: over that of the bandwidth's cell"),
        Metric::lower("used", "Time to zero and use an object", "ns")
            .is("as the time per object, and one byte of every cache line is read and written right after zeroing")
        .caveat("What bypasses the caches must be fetched from memory when it is used: this is what a program pays."),
        lower(
            "watched_count",
            "Pauses observed",
            "1/s",
            "sleeps of 1 ms of a watcher thread that ended over 1 ms late, per second",
        )
        .caveat("The watcher waits for a CPU like every thread; it observes more than the JVM's own pauses."),
        lower(
            "watched_time",
            "Time in pauses observed",
            "ms/s",
            "by how much they were late, per second",
        ),
        lower("watched_longest", "Longest pause observed", "ms", "by how much the latest was late"),
        lower(
            "safepoint_count",
            "Safepoints",
            "1/s",
            "safepoints in the JVM's own log (-Xlog:safepoint), per second, over the last part of the log that is \
             as long as the measured time",
        ),
        lower("safepoint_time", "Time in safepoints", "ms/s", "the sum of their totals, per second"),
        lower("safepoint_longest", "Longest safepoint", "ms", "the largest total"),
    ]
}

fn plots() -> Vec<Plot> {
    let over_size = |title: &str, metric: &str| {
        Plot::new(Kind::Lines, title, metric, "bytes", &["method", "threads"]).log_x().log_y()
    };
    vec![
        over_size("A byte array in Java", "ns")
            .caption("Where the lines diverge, zeroing is the cost of an allocation.")
            .only([("language", JAVA.into())]),
        over_size("How fast Java allocates", "rate")
            .caption("Zeroed arrays level off at the write bandwidth; uninitialized arrays have no such limit.")
            .only([("language", JAVA.into())]),
        over_size("Methods of zeroing", "rate")
            .caption("Relative to the write bandwidth, measured in the same run. Fresh pages are zeroed by the kernel.")
            .only([("language", NATIVE.into())]),
        over_size("Methods of zeroing what is then used", "used")
            .caption("Zeroing that bypasses the caches leaves the fetching to the memory's user.")
            .only([("language", NATIVE.into())]),
        Plot::new(Kind::Bars, "Time for which the JVM is stopped", "safepoint_time", "method", &["bytes"])
            .caption("Collections of dead arrays are short, however fast they come.")
            .only([("language", WATCHED.into())]),
    ]
}

/// Size, ns and MB/s (2^20) of `UA.java` and of `UA.unsafe`.
const PUBLISHED: [(u32, [f64; 2], [f64; 2]); 6] = [
    (1, [20.307, 6228.153], [19.766, 6359.987]),
    (10, [26.657, 6335.809], [27.486, 6193.103]),
    (100, [106.632, 6126.333], [80.040, 7855.147]),
    (1000, [681.176, 7772.263], [156.041, 33171.384]),
    (10_000, [4576.433, 11518.422], [162.384, 315_740.299]),
    (100_000, [44881.095, 12039.594], [309.769, 1_650_860.763]),
];

fn references() -> Vec<Reference> {
    let label = "Shipilëv, Core i7-4790K, 8 threads";
    let mut references = Vec::new();
    for (bytes, zeroed, uninitialized) in PUBLISHED {
        for (method, [ns, rate]) in [(ZEROED, zeroed), (UNINITIALIZED, uninitialized)] {
            let at = || {
                [
                    ("language", JAVA.into()),
                    ("method", method.into()),
                    ("bytes", bytes.into()),
                    ("threads", 8_u32.into()),
                ]
            };
            references.push(Reference::new(label, "ns", at(), ns));
            references.push(Reference::new(label, "rate", at(), rate * 1.048_576e-3));
        }
    }
    // 84 pauses of 537.018 ms in five iterations of a second; 639 safepoints of 617.796 ms in 5043 ms.
    let pauses = [
        ("watched_count", 84.0 / 5.0),
        ("watched_time", 537.018 / 5.0),
        ("watched_longest", 14.418),
        ("safepoint_count", 639.0 / 5.043),
        ("safepoint_time", 617.796 / 5.043),
        ("safepoint_longest", 12.599),
    ];
    for (metric, value) in pauses {
        let at = [
            ("language", WATCHED.into()),
            ("method", UNINITIALIZED.into()),
            ("bytes", 100_000_u32.into()),
            ("threads", 8_u32.into()),
        ];
        references.push(Reference::new(&format!("{label}, per second"), metric, at, value));
    }
    references
}

fn plan(bench: &Bench) -> Result<Plan> {
    let mut cells: Vec<Cell> = native::cells(bench);
    cells.extend(java::cells(bench));
    let mut notes = vec![
        "Java: as many threads as CPUs, Parallel collector, 2 GB heap with a young generation of 1.5 GB, pre-touched."
            .to_owned(),
        "Native: 4 KB pages, as in a JVM's heap by default; one thread unless stated otherwise."
            .to_owned(),
    ];
    if bench.effort == Effort::Quick {
        notes.push(
            "Quick: short iterations, native zeroing with one thread and five sizes; --full measures all."
                .into(),
        );
    }
    Ok(Plan { cells, rounds: bench.effort.pick(QUICK_ROUNDS, 10), notes, ..Plan::default() })
}

/// The share of the write bandwidth that Java's zeroed arrays come to.
fn shares(cells: &mut [MeasuredCell]) {
    let is = |cell: &MeasuredCell, key: &str, word: &str| cell.parameters.get(key) == Some(&word.into());
    let bandwidths: Vec<(Option<Value>, Interval)> = (cells.iter())
        .filter(|cell| is(cell, "method", BANDWIDTH))
        .filter_map(|cell| {
            Some((cell.parameters.get("threads").cloned(), cell.metrics.get("rate")?.interval()?))
        })
        .collect();
    for cell in cells.iter_mut().filter(|cell| is(cell, "language", JAVA)) {
        let most = bandwidths.iter().find(|(threads, _)| cell.parameters.get("threads") == threads.as_ref());
        let share = || Some(cell.metrics.get("rate")?.over(most?.1)?.map(|share| 100.0 * share));
        let quantity = if is(cell, "method", UNINITIALIZED) {
            Quantity::of(vec![], "its bytes are not written")
        } else {
            let reason = "the write bandwidth with the same number of threads was not measured";
            share().unwrap_or_else(|| Quantity::of(vec![], reason))
        };
        cell.metrics.insert("share".into(), quantity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::parameters;

    #[test]
    fn javas_share_is_of_the_bandwidth_with_as_many_threads() {
        let cell = |language: &str, method: &str, threads: u32, rate: f64| MeasuredCell {
            parameters: parameters([
                ("language", language.into()),
                ("method", method.into()),
                ("threads", threads.into()),
            ]),
            metrics: [("rate".to_owned(), Quantity::of(vec![rate], ""))].into(),
            ..MeasuredCell::default()
        };
        let mut cells = [
            cell(NATIVE, BANDWIDTH, 1, 10.0),
            cell(NATIVE, BANDWIDTH, 2, 20.0),
            cell(JAVA, ZEROED, 2, 5.0),
            cell(JAVA, UNINITIALIZED, 2, 5.0),
            cell(JAVA, ZEROED, 4, 5.0),
        ];
        shares(&mut cells);
        let share = |cell: &MeasuredCell| cell.metrics["share"].interval().map(|interval| interval.median);
        assert_eq!([share(&cells[2]), share(&cells[3]), share(&cells[4])], [Some(25.0), None, None]);
    }

    #[test]
    fn published_rates_are_in_decimal_gigabytes() {
        let most = references()
            .iter()
            .filter(|reference| reference.metric == "rate")
            .map(|reference| reference.value)
            .fold(0.0, f64::max);
        assert!((1731.0..1731.1).contains(&most), "1.65 million times 2^20 bytes are {most}");
    }
}
