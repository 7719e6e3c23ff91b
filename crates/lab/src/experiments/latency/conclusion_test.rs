use super::*;
use crate::experiment::measured::MeasuredCell;
use crate::experiment::{Declaration, Parameters, Quantity, parameters};
use serde_json::json;

fn cell(parameters: Parameters, values: &[(&str, f64)]) -> MeasuredCell {
    MeasuredCell {
        parameters,
        metrics: (values.iter())
            .map(|(key, value)| {
                ((*key).to_owned(), Quantity::of(vec![value * 0.99, *value, value * 1.01], ""))
            })
            .collect(),
        ..MeasuredCell::default()
    }
}

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
                at(pages, (kilobytes << 10) as f64).map(|(key, value)| (key.to_owned(), value)).into(),
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

fn conclusion(cells: &[MeasuredCell]) -> Conclusion {
    let declaration = Declaration::default();
    conclude(&Measured { declaration: &declaration, cells })
}

#[test]
fn a_regular_machine_is_told_in_a_sentence() {
    let conclusion = conclusion(&cells(true));
    assert!(conclusion.checks.iter().all(|check| check.holds == Some(true)), "{:#?}", conclusion.checks);
    assert_eq!(
        conclusion.answer,
        "A load takes 1.00 ns (4.00 cycles) from L1, 3.50 ns (14.0 cycles) from L2, 11.0 ns (44.0 cycles) from L3, 100 ns \
         on huge pages and 150 ns on small ones over 128 MB; it rises at 36 KB, 1.1 MB, 36 MB; handing a line to another CPU takes \
         30.0 ns."
    );
    assert!(conclusion.checks[1].found.ends_with("1.50x"), "{}", conclusion.checks[1].found);
}

#[test]
fn huge_pages_that_were_not_obtained_prove_nothing() {
    let conclusion = conclusion(&cells(false));
    assert_eq!(conclusion.checks[1].holds, None);
    assert!(conclusion.checks[0].found.contains("on 4 KB pages"));
}

#[test]
fn neighbours_that_are_far_are_noticed() {
    let mut cells = cells(true);
    let transfer = cells.iter_mut().find(|cell| cell.parameters["measurement"] == TRANSFER.into()).unwrap();
    transfer.metrics.insert("transfer_ns".into(), Quantity::of(vec![190.0], ""));
    let conclusion = conclusion(&cells);
    assert_eq!(conclusion.checks[4].holds, Some(false));
    assert!(conclusion.checks[4].found.contains("190 ns"), "{}", conclusion.checks[4].found);
}

#[test]
fn nothing_measured_is_no_conclusion() {
    let conclusion = conclusion(&[]);
    assert!(conclusion.checks.iter().all(|check| check.holds.is_none()));
    assert!(conclusion.answer.contains("could not be measured"));
}

#[test]
fn sizes_are_told_roughly() {
    assert_eq!(
        (about(49152.0), about(51000.0), about(1048576.0)),
        ("48 KB".into(), "48 KB".into(), "1 MB".into())
    );
    assert_eq!((about(34.2 * 1048576.0), about(1073741824.0)), ("36 MB".into(), "1 GB".into()));
}
