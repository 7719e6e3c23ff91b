//! What is compared, by the fixture's run; and that it is the same each time.

use super::*;
use crate::fixture::simulable;
use crate::simulated::word;
use experiment::results::Origin;
use experiment::{Parameters, Quantity, Value};

/// Whether a cell has this value.
fn has(parameters: &Parameters, key: &str, value: impl Into<Value>) -> bool {
    parameters.get(key) == Some(&value.into())
}

/// The fixture's run without its latencies.
fn without_latency() -> Results {
    let mut results = simulable();
    results.experiments.retain(|findings| findings.declaration.name != "latency");
    fill(&mut results);
    results
}

fn of<'a>(
    cells: &'a [SimulatedCell],
    experiment: &str,
    key: &str,
    value: &str,
    threads: u32,
) -> &'a SimulatedCell {
    let fits = |cell: &&SimulatedCell| {
        cell.experiment == experiment
            && has(&cell.parameters, key, value)
            && has(&cell.parameters, "threads", threads)
    };
    cells.iter().find(fits).unwrap_or_else(|| panic!("{experiment} {value} {threads}"))
}

#[test]
fn the_same_results_give_the_same_simulated_values() {
    let results = simulable();
    assert_eq!(compare(&results).unwrap(), results.simulated);
    assert_eq!(machine_file(&results), machine_file(&results));
}

#[test]
fn what_has_no_program_or_takes_turns_is_not_compared() {
    let cells = simulable().simulated;
    let count = |experiment: &str| cells.iter().filter(|cell| cell.experiment == experiment).count();
    assert_eq!((count("atomics"), count("tlab"), count("hab")), (9, 6, 5));
    assert!(cells.iter().all(|cell| !has(&cell.parameters, "threads", 4_u32)));
    assert!(cells.iter().all(|cell| !has(&cell.parameters, "collector", "G1")));
}

#[test]
fn calibrated_cells_come_out_and_are_marked() {
    let cells = simulable().simulated;
    let counter = of(&cells, "atomics", "operation", "lock xadd", 2);
    assert_eq!(counter.origin, Origin::Calibrated);
    assert!(counter.agrees && counter.basis.contains("handed over at once"), "{counter:?}");
    for buffers in ["TLAB", "none", "core buffers"] {
        let alone = of(&cells, "tlab", "buffers", buffers, 1);
        assert_eq!(alone.origin, Origin::Calibrated);
        assert!((alone.ratio - 1.0).abs() < 0.01, "{alone:?}");
        assert_eq!(of(&cells, "tlab", "buffers", buffers, 2).origin, Origin::Predicted);
    }
    let growing = of(&cells, "hab", "tlab", "growing", 2);
    assert_eq!((growing.origin, growing.metric.as_str()), (Origin::Calibrated, "rate_off"));
    assert!((growing.ratio - 1.0).abs() < 0.01, "{growing:?}");
    assert_eq!(of(&cells, "hab", "tlab", "1k", 2).origin, Origin::Predicted);
}

#[test]
fn transfers_move_what_is_contended_and_nothing_else() {
    let cells = simulable().simulated;
    let alone = of(&cells, "atomics", "operation", "lock add", 1);
    assert_eq!((alone.low, alone.high), (alone.simulated, alone.simulated));
    assert_eq!(alone.origin, Origin::Predicted);
    for (experiment, key, value) in
        [("atomics", "operation", "lock cmpxchg loop"), ("tlab", "buffers", "none")]
    {
        let both = of(&cells, experiment, key, value, 2);
        assert!(both.low < both.simulated && both.simulated < both.high, "{both:?}");
    }
    let padded = of(&cells, "atomics", "layout", "padded", 2);
    assert_eq!((padded.low, padded.high), (padded.simulated, padded.simulated));
    assert!(padded.agrees && padded.basis.starts_with("nothing"), "{padded:?}");
    let falsely = of(&cells, "atomics", "layout", "false_sharing", 2);
    assert!(falsely.agrees && falsely.low < falsely.high, "{falsely:?}");
    let core = of(&cells, "tlab", "buffers", "core buffers", 2);
    assert!(core.high < 1.05 * core.low, "core buffers do not contend: {core:?}");
}

#[test]
fn without_latencies_nothing_is_simulated_and_the_remedy_is_told() {
    let results = without_latency();
    assert!(results.simulated.is_empty());
    let reason = lacking(&results).unwrap();
    assert!(reason.contains("run 'terrace lab run latency' too"), "{reason}");
    assert_eq!(machine_file(&results).unwrap_err(), reason);
    let mut unconcerned = results;
    unconcerned.experiments.retain(|findings| findings.declaration.name == "zeroing");
    assert_eq!(lacking(&unconcerned), None, "nothing of it could be simulated");
}

#[test]
fn the_machine_is_what_was_measured_and_every_number_says_so() {
    let text = machine_file(&simulable()).unwrap();
    let machine = described::parse(&text).unwrap();
    assert_eq!((machine.shape.cores(), machine.clock_ghz), (2, 4.0));
    let costs = &machine.costs;
    assert_eq!((costs.l1, costs.l2, costs.l3, costs.memory_local), (1000, 3500, 13_000, 160_000));
    let transfer = machine.figure("costs.transfer_cluster").unwrap();
    assert_eq!((transfer.value, transfer.low, transfer.high), (60.0, Some(40.0), Some(90.0)));
    assert!(transfer.origin.text().starts_with("terrace lab run latency"));
    let cache = machine.figure("memory.last_cache").unwrap();
    assert_eq!((cache.value, cache.origin.kind()), (34.6, "measured"));
    assert_eq!(machine.figure("costs.residency").unwrap().origin.kind(), "calibrated");
    let mut only = simulable();
    only.experiments.retain(|findings| findings.declaration.name == "latency");
    assert!(!machine_file(&only).unwrap().contains("residency"), "there was nothing to calibrate on");
    assert_eq!(lacking(&only), None);
}

#[test]
fn a_measurement_that_cannot_be_is_told_with_a_remedy() {
    let mut results = simulable();
    let latency = results.experiments.iter_mut().find(|one| one.declaration.name == "latency").unwrap();
    latency.cells.retain(|cell| word(cell, "measurement") != Some("line transfer"));
    assert!(lacking(&results).unwrap().contains("no transfer"));
    results.machine.caches.clear();
    assert!(lacking(&results).unwrap().contains("cache"));
    fill(&mut results);
    assert!(results.simulated.is_empty());
}

#[test]
fn older_results_are_still_read() {
    let mut json = serde_json::to_value(simulable()).unwrap();
    json.as_object_mut().unwrap().remove("simulated");
    let results: Results = serde_json::from_value(json).unwrap();
    assert!(results.simulated.is_empty() && lacking(&results).is_none());
}

#[test]
fn figures_that_cannot_be_do_not_hold_a_report_up() {
    for value in [1e-9, 1e18] {
        let mut results = simulable();
        for findings in &mut results.experiments {
            let cells = findings.cells.iter_mut().filter(|cell| word(cell, "measurement").is_none());
            for quantity in cells.flat_map(|cell| cell.metrics.values_mut()) {
                *quantity = Quantity::of(vec![value], "");
            }
        }
        let since = std::time::Instant::now();
        fill(&mut results);
        // What would not end takes longer than any machine needs.
        assert!(since.elapsed().as_secs() < 600 && !results.simulated.is_empty());
        assert!(results.simulated.iter().all(|cell| cell.ratio.is_finite()));
    }
}
