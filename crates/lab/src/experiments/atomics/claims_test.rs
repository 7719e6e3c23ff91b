use super::*;
use crate::experiments::atomics::experiment;
use experiment::fixture::{cell, conclude, holds};
use experiment::{Check, parameters};
use serde_json::json;

fn counted(operation: &str, layout: Layout, threads: u32, ns: f64, cpus: u32) -> MeasuredCell {
    let mut at = parameters([
        ("language", NATIVE.into()),
        ("operation", operation.into()),
        ("threads", threads.into()),
        ("layout", layout.name().into()),
    ]);
    if operation == CLAIMED {
        // The layout's place stands for the batch: 1 shared, 1024 padded.
        at.remove("layout");
        at.insert("batch".into(), if layout == Shared { 1_u32 } else { 1024 }.into());
    }
    let settings = json!({ "usable_cpus": cpus });
    MeasuredCell { settings, ..cell(at, &[("ns", ns), ("rate", 1e9 / ns)]) }
}

fn concluded(cells: &[MeasuredCell]) -> (String, Vec<Check>) {
    conclude(&experiment(), cells)
}

fn cells(cpus: u32) -> Vec<MeasuredCell> {
    let mut cells = Vec::new();
    for (threads, exchange) in [(1, 5.0), (2, 40.0), (4, 100.0), (8, 300.0)] {
        let xadd = if threads == 1 { 5.0 } else { 20.0 };
        cells.push(counted(LOCK_ADD, Shared, threads, xadd, cpus));
        cells.push(counted(LOCK_XADD, Shared, threads, xadd, cpus));
        cells.push(counted(COMPARE_EXCHANGE, Shared, threads, exchange, cpus));
        cells.push(counted(LOCK_XADD, FalseSharing, threads, xadd, cpus));
        cells.push(counted(LOCK_XADD, Padded, threads, 5.0 / f64::from(threads), cpus));
        cells.push(counted(CLAIMED, Shared, threads, xadd, cpus));
        cells.push(counted(CLAIMED, Padded, threads, 0.25 / f64::from(threads), cpus));
    }
    cells
}

#[test]
fn a_machine_like_his_agrees_with_him() {
    let (answer, checks) = concluded(&cells(8));
    assert!(checks.iter().all(|check| check.holds == Some(true)), "{checks:#?}");
    assert!(answer.starts_with("With 8 threads on one counter"), "{answer}");
    assert!(answer.contains("50.0 M increments/s"), "{answer}");
    assert_eq!(checks[0].source, THOMPSON);
    let pair =
        "Threads 2: lock cmpxchg loop 40.0 [39.6, 40.4] ns against lock xadd 20.0 [19.8, 20.2] ns (2.00";
    assert!(checks[0].found.starts_with(pair), "{}", checks[0].found);
}

#[test]
fn threads_that_take_turns_prove_nothing() {
    let (answer, checks) = concluded(&cells(2));
    assert_eq!(holds(&checks), [Some(true), None, Some(true), Some(true), Some(true)]);
    assert!(checks[1].found.contains("at least 4 CPUs"));
    assert!(answer.starts_with("With 2 threads"));
}

#[test]
fn threads_that_were_disturbed_prove_nothing() {
    let mut cells = cells(2);
    for cell in cells.iter_mut().filter(|cell| cell.parameters["threads"] == 2_u32.into()) {
        cell.metrics.insert("share".into(), Quantity::of(vec![0.5, 0.6, 0.99], ""));
    }
    let (answer, checks) = concluded(&cells);
    assert_eq!(holds(&checks), [None, None, None, None, None]);
    assert!(checks[0].found.contains("other programs"), "{checks:#?}");
    // What one thread shows is still to be seen.
    assert!(checks[2].found.contains("5.00 [4.95, 5.05] ns"), "{checks:#?}");
    assert!(answer.contains("could not be measured"));
}

#[test]
fn no_order_is_told_where_intervals_overlap() {
    let mut cells = cells(2);
    let slow = |cell: &&mut MeasuredCell| {
        cell.parameters["threads"] == 2_u32.into() && cell.parameters["operation"] == LOCK_XADD.into()
    };
    for (values, told) in [([41.0, 39.0], None), ([61.0, 59.0], Some(false))] {
        for cell in cells.iter_mut().filter(slow) {
            cell.metrics.insert("ns".into(), Quantity::of(values.to_vec(), ""));
        }
        let check = &concluded(&cells).1[0];
        assert_eq!(check.holds, told, "{}", check.found);
        assert_eq!(check.found.contains("overlap"), told.is_none(), "{}", check.found);
    }
}

#[test]
fn nothing_measured_is_no_conclusion() {
    for cells in [vec![], cells(1)] {
        let (answer, checks) = concluded(&cells);
        assert!(checks.iter().all(|check| check.holds.is_none() || check.claim.contains("similar")));
        assert!(answer.contains("could not be measured"));
    }
}
