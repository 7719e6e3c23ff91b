use super::*;
use crate::experiment::measured::MeasuredCell;
use crate::experiment::{Declaration, Quantity, parameters};
use serde_json::json;

fn cell(operation: &str, layout: Layout, threads: u32, ns: f64, cpus: u32) -> MeasuredCell {
    let mut at = parameters([
        ("language", NATIVE.into()),
        ("operation", operation.into()),
        ("threads", threads.into()),
        ("layout", layout.name().into()),
    ]);
    if operation == CLAIMED {
        // The layout's place stands for the batch: 1 shared, 1024 padded.
        at.remove("layout");
        at.insert("batch".into(), if layout == Layout::Shared { 1_u32 } else { 1024 }.into());
    }
    let near = |value: f64| Quantity::of(vec![value * 0.99, value, value * 1.01], "not run");
    MeasuredCell {
        parameters: at,
        metrics: [("ns".to_owned(), near(ns)), ("rate".to_owned(), near(1e9 / ns))].into(),
        settings: json!({ "usable_cpus": cpus }),
        ..MeasuredCell::default()
    }
}

fn conclusion(cells: &[MeasuredCell]) -> Conclusion {
    let declaration = Declaration::default();
    conclude(&Measured { declaration: &declaration, cells })
}

fn cells(cpus: u32) -> Vec<MeasuredCell> {
    use Layout::{FalseSharing, Padded, Shared};
    let mut cells = Vec::new();
    for (threads, exchange) in [(1, 5.0), (2, 40.0), (4, 100.0), (8, 300.0)] {
        let xadd = if threads == 1 { 5.0 } else { 20.0 };
        cells.push(cell(LOCK_ADD, Shared, threads, xadd, cpus));
        cells.push(cell(LOCK_XADD, Shared, threads, xadd, cpus));
        cells.push(cell(COMPARE_EXCHANGE, Shared, threads, exchange, cpus));
        cells.push(cell(LOCK_XADD, FalseSharing, threads, xadd, cpus));
        cells.push(cell(LOCK_XADD, Padded, threads, 5.0 / f64::from(threads), cpus));
        cells.push(cell(CLAIMED, Shared, threads, xadd, cpus));
        cells.push(cell(CLAIMED, Padded, threads, 0.25 / f64::from(threads), cpus));
    }
    cells
}

#[test]
fn a_machine_like_his_agrees_with_him() {
    let conclusion = conclusion(&cells(8));
    assert!(conclusion.checks.iter().all(|check| check.holds == Some(true)), "{:#?}", conclusion.checks);
    assert!(conclusion.answer.starts_with("With 8 threads on one counter"), "{}", conclusion.answer);
    assert!(conclusion.answer.contains("50.0 M increments/s"), "{}", conclusion.answer);
}

#[test]
fn threads_that_take_turns_prove_nothing() {
    let conclusion = conclusion(&cells(2));
    let holds: Vec<_> = conclusion.checks.iter().map(|check| check.holds).collect();
    assert_eq!(holds, [Some(true), None, Some(true), Some(true), Some(true)]);
    assert!(conclusion.checks[1].found.contains("at least 4 CPUs"));
    assert!(conclusion.answer.starts_with("With 2 threads"));
}

#[test]
fn threads_that_were_disturbed_prove_nothing() {
    let mut cells = cells(2);
    for cell in cells.iter_mut().filter(|cell| cell.parameters["threads"] == 2_u32.into()) {
        cell.metrics.insert("share".into(), Quantity::of(vec![0.5, 0.6, 0.99], ""));
    }
    let conclusion = conclusion(&cells);
    let holds: Vec<_> = conclusion.checks.iter().map(|check| check.holds).collect();
    // What one thread shows is still to be seen.
    assert_eq!(holds, [None, None, Some(true), None, None]);
    assert!(conclusion.checks[0].found.contains("other programs"));
    assert!(conclusion.answer.contains("could not be measured"));
}

#[test]
fn what_is_not_so_is_told_so() {
    let mut cells = cells(2);
    for cell in &mut cells {
        let slow = [LOCK_ADD, LOCK_XADD].iter().any(|name| cell.parameters["operation"] == (*name).into());
        if slow && cell.parameters["threads"] == 2_u32.into() && cell.parameters["layout"] == "shared".into()
        {
            cell.metrics.insert("ns".into(), Quantity::of(vec![41.0, 39.0], ""));
        }
    }
    // The intervals meet: no order may be told.
    assert_eq!(conclusion(&cells).checks[0].holds, Some(false));
}

#[test]
fn nothing_measured_is_no_conclusion() {
    for conclusion in [conclusion(&[]), conclusion(&cells(1))] {
        assert!(
            conclusion.checks.iter().all(|check| check.holds.is_none() || check.claim.contains("similar"))
        );
        assert!(conclusion.answer.contains("could not be measured"));
    }
}
