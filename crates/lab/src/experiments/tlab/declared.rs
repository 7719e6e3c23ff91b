//! The experiment's words, and what Opsian published.

use super::{NONE, PARALLEL, SMALLEST, TLAB};
use experiment::{Better, Declaration, Kind, Metric, Parameter, Plot, Reference, Source};

const MACHINE: &str = "Core i7-4770";
const LABEL: &str = "Opsian, Core i7-4770";
/// The source measured cycles twice.
const AGAIN: &str = "Opsian, Core i7-4770, second run";

pub(super) fn declaration() -> Declaration {
    Declaration {
        name: "tlab".into(),
        title: "Thread-local allocation buffers".into(),
        question: "What do thread-local allocation buffers gain, and how much of that do core buffers provide without them?".into(),
        source: Some(Source::new(
            "Sadiq Jaffer (Opsian)",
            "Why Java's TLABs are so important and why write contention is a performance killer in multicore environments",
            MACHINE,
        )),
        parameters: vec![
            Parameter::new("jdk", "JDK", ""),
            Parameter::new("collector", "collector", ""),
            Parameter::new("bytes", "object", "bytes"),
            Parameter::new("threads", "threads", ""),
            Parameter::new("buffers", "buffers", ""),
        ],
        metrics: metrics(),
        plots: plots(),
        references: published(),
        ..Declaration::default()
    }
}

fn metrics() -> Vec<Metric> {
    let counted = |key: &str, name: &str, better, definition: &str| {
        Metric::new(key, name, "per object", better, definition)
            .caveat("Counted for the whole process, collector and compiler included, over the objects allocated in that time.")
    };
    vec![
        Metric::higher("rate", "objects allocated", "objects/s")
            .is("objects that all threads together allocate per second, collections included"),
        Metric::lower("ns", "time per object", "ns")
            .is("threads over objects allocated per second: the time that a thread spends per object")
            .caveat("With more threads than CPUs it includes waiting for a CPU."),
        counted("cycles", "cycles", Better::Lower, "core cycles over objects"),
        counted("instructions", "instructions", Better::Lower, "instructions retired over objects"),
        counted(
            "store_stalls",
            "store-buffer stalls",
            Better::Lower,
            "cycles in which nothing could be issued because the store buffer was full (Intel: resource_stalls.sb) over objects",
        ),
        counted(
            "idle_cycles",
            "cycles without execution",
            Better::Lower,
            "cycles in which no instruction was executed (Intel: cycle_activity.cycles_no_execute) over objects",
        ),
        Metric::lower("memory_stalls", "stalled on memory", "%")
            .is("cycles in which nothing was executed while a load was outstanding (Intel: \
                 cycle_activity.stalls_ldm_pending) over cycles"),
        counted(
            "lock_loads",
            "locked loads",
            Better::Lower,
            "loads of instructions with a lock prefix (Intel: mem_uops_retired.lock_loads) over objects; above 1 they are retries",
        ),
        counted(
            "hitm",
            "lines taken from another core",
            Better::Lower,
            "loads that found their line modified in another core's cache (Intel: xsnp_hitm) over objects",
        ),
        Metric::higher("l1_hits", "L1 hits", "%")
            .is("loads that did not miss the first-level data cache over all loads")
            .caveat("What counts as a miss differs between processors; prefetched lines may or may not."),
    ]
}

fn plots() -> Vec<Plot> {
    let small = || [("bytes", SMALLEST.into())];
    vec![
        Plot::new(Kind::Lines, "Objects of 16 bytes over threads", "rate", "threads", &["buffers"])
            .panels(&["jdk", "collector"])
            .only(small())
            .log_x()
            .log_y()
            .caption("With TLABs, threads do not contend. Without, each object is a write to one shared line; with core \
                      buffers, to one that the core owns."),
        Plot::new(Kind::Bars, "One thread: no contention", "rate", "collector", &["buffers"])
            .panels(&["jdk"])
            .only([("bytes", SMALLEST.into()), ("threads", 1_u32.into())])
            .log_y()
            .caption("What an atomic instruction, or a call into the JVM, costs by itself."),
        Plot::new(Kind::Bars, "Two threads, objects of three sizes", "rate", "bytes", &["buffers"])
            .panels(&["jdk", "collector"])
            .only([("threads", 2_u32.into())])
            .log_y()
            .caption("Contention is per object, not per byte: without TLABs the sizes converge."),
        Plot::new(Kind::Bars, "Cycles per object of 16 bytes", "cycles", "threads", &["buffers"])
            .panels(&["jdk", "collector"])
            .only(small())
            .log_y(),
    ]
}

fn published() -> Vec<Reference> {
    let at = |label: &str, metric: &str, threads: u32, buffers: &str, value: f64| {
        let cell = [
            ("collector", PARALLEL.into()),
            ("bytes", SMALLEST.into()),
            ("threads", threads.into()),
            ("buffers", buffers.into()),
        ];
        Reference::new(label, metric, cell, value)
    };
    vec![
        at(LABEL, "rate", 1, TLAB, 279_772_768.0),
        at(LABEL, "rate", 1, NONE, 101_167_412.0),
        at(LABEL, "rate", 4, TLAB, 533_445_801.0),
        at(LABEL, "rate", 4, NONE, 11_922_615.0),
        at(LABEL, "cycles", 1, TLAB, 19.192),
        at(LABEL, "cycles", 1, NONE, 43.841),
        at(AGAIN, "cycles", 1, TLAB, 21.061),
        at(AGAIN, "cycles", 4, TLAB, 29.153),
        at(AGAIN, "cycles", 1, NONE, 45.319),
        at(AGAIN, "cycles", 4, NONE, 1301.448),
        at(LABEL, "store_stalls", 1, TLAB, 0.841),
        at(LABEL, "store_stalls", 1, NONE, 16.237),
        at(LABEL, "idle_cycles", 1, TLAB, 4.719),
        at(LABEL, "idle_cycles", 4, TLAB, 13.333),
        at(LABEL, "idle_cycles", 1, NONE, 23.738),
        at(LABEL, "idle_cycles", 4, NONE, 1133.132),
        at(LABEL, "lock_loads", 1, NONE, 1.005),
        at(LABEL, "lock_loads", 4, NONE, 2.732),
        at(LABEL, "hitm", 4, NONE, 2.235),
        at(LABEL, "memory_stalls", 1, NONE, 14.12),
        at(LABEL, "memory_stalls", 4, NONE, 88.64),
        at(LABEL, "l1_hits", 1, NONE, 98.54),
        at(LABEL, "l1_hits", 4, NONE, 77.42),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::CORE;
    use super::*;

    #[test]
    fn nobody_published_core_buffers() {
        assert!(published().iter().all(|reference| reference.parameters["buffers"] != CORE.into()));
        assert_eq!(published().len(), 23);
    }
}
