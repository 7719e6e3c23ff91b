use super::*;
use crate::experiments::latency::experiment;
use experiment::fixture::{cell, conclude, holds};
use experiment::{Check, Quantity, parameters};
use serde_json::json;

/// L1 48 KB, L2 1 MB, L3 32 MB at 4 GHz; small pages make the largest loads dearer.
fn cells(huge_obtained: bool) -> Vec<MeasuredCell> {
    let mut cells = Vec::new();
    for kilobytes in
        [4_u64, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072]
    {
        let time = match kilobytes {
            0..=48 => 1.0,
            49..=1024 => 3.5,
            1025..=32768 => 11.0,
            _ => 100.0,
        };
        for (pages, factor) in [(SMALL, 1.5), (HUGE, 1.0)] {
            let time: f64 = if kilobytes > 32768 { time * factor } else { time };
            let mut cell = cell(
                parameters([
                    ("measurement", LOADS.into()),
                    ("pages", pages.into()),
                    ("size", (kilobytes << 10).into()),
                ]),
                &[("ns", time), ("cycles", time * 4.0)],
            );
            let huge = if pages == HUGE && huge_obtained { kilobytes << 10 } else { 0 };
            cell.settings =
                json!({ "huge_bytes": huge, "caches": [[1, 48 << 10], [2, 1 << 20], [3, 32 << 20]] });
            cells.push(cell);
        }
    }
    let between = parameters([
        ("measurement", TRANSFER.into()),
        ("from", 0_u32.into()),
        ("to", 1_u32.into()),
        ("relation", SHARED_CACHE.into()),
    ]);
    cells.push(cell(between, &[("transfer_ns", 30.0)]));
    cells.push(cell(parameters([("measurement", ALONE.into())]), &[("locked_ns", 4.0)]));
    cells
}

fn concluded(cells: &[MeasuredCell]) -> (String, Vec<Check>) {
    conclude(&experiment(), cells)
}

#[test]
fn a_regular_machine_is_told_in_a_sentence() {
    let (answer, checks) = concluded(&cells(true));
    assert_eq!(holds(&checks), [Some(true); 5], "{checks:#?}");
    assert_eq!(
        answer,
        "A load takes 1 ns (4 cycles) from L1, 3.50 ns (14 cycles) from L2, 11 ns (44 cycles) from L3, 100 ns on huge \
         pages and 150 ns on small ones over 128m; it rises at 36k, 1152k, 36m; transferring a line to another CPU takes \
         30.0 ns on average."
    );
    assert!(checks[1].found.contains("1.50 [1.47, 1.53] times"), "{}", checks[1].found);
}

#[test]
fn huge_pages_that_were_not_obtained_prove_nothing() {
    let (_, checks) = concluded(&cells(false));
    assert_eq!(checks[1].holds, None);
    assert!(checks[1].found.contains("the notes give the remedy"), "{}", checks[1].found);
    assert!(checks[0].found.contains("on 4 KB pages"), "{}", checks[0].found);
}

#[test]
fn neighbours_that_are_far_are_noticed() {
    let mut cells = cells(true);
    let transfer = cells.iter_mut().find(|cell| cell.parameters["measurement"] == TRANSFER.into()).unwrap();
    transfer.metrics.insert("transfer_ns".into(), Quantity::of(vec![189.0, 190.0, 191.0], ""));
    let check = &concluded(&cells).1[4];
    assert_eq!(check.holds, Some(false));
    assert!(check.found.contains("190") && check.found.contains("virtual machine"), "{}", check.found);
}

#[test]
fn a_transfer_that_was_not_measured_gives_its_own_reason() {
    let mut cells = cells(true);
    let transfer = cells.iter_mut().find(|cell| cell.parameters["measurement"] == TRANSFER.into()).unwrap();
    transfer
        .metrics
        .insert("transfer_ns".into(), Quantity::of(vec![], "not measured yet; continue with --resume"));
    let check = &concluded(&cells).1[3];
    assert!(check.holds.is_none() && check.found.contains("--resume"), "{check:?}");
}

#[test]
fn a_machine_with_one_cpu_says_what_it_lacks() {
    let mut cells = cells(true);
    cells.retain(|cell| cell.parameters["measurement"] != TRANSFER.into());
    let (_, checks) = concluded(&cells);
    assert_eq!(holds(&checks)[3..], [None, None]);
    assert!(checks[3].found.contains("two CPUs"), "{}", checks[3].found);
}

#[test]
fn nothing_measured_is_no_conclusion() {
    let (answer, checks) = concluded(&[]);
    assert_eq!(holds(&checks), [None; 5]);
    assert!(answer.contains("could not be measured"));
}

#[test]
fn sizes_are_told_roughly() {
    let told = [49152.0, 51000.0, 1048576.0, 34.2 * 1048576.0, 1073741824.0].map(about);
    assert_eq!(told, ["48k", "48k", "1m", "36m", "1g"]);
}
