//! Many cells in a few rows: for each value of a parameter what its cells come to.

use super::{number, text};
use serde_json::Value;

/// An interval that lies below this is a loss.
const LOSS: f64 = 0.99;

/// A row for each value of `key`, in the order in which they appear.
pub fn by(cells: &[&Value], key: &str) -> String {
    let mut values: Vec<String> = Vec::new();
    for cell in cells {
        let value = text(&cell[key]);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let header = format!(
        "| {key} | cells | per second: least, median, most | per CPU-second: least, median, most | entirely below {LOSS} |\n|---|---|---|---|---|\n"
    );
    let row = |value: &String| {
        let of: Vec<&Value> = cells.iter().copied().filter(|cell| text(&cell[key]) == *value).collect();
        let losses =
            of.iter().filter(|cell| ["speed", "cpu"].iter().any(|metric| is_loss(cell, metric))).count();
        format!("| {value} | {} | {} | {} | {losses} |\n", of.len(), spread(&of, "speed"), spread(&of, "cpu"))
    };
    header + &values.iter().map(row).collect::<String>()
}

fn is_loss(cell: &Value, metric: &str) -> bool {
    number(cell, metric, 2).is_some_and(|high| high < LOSS)
}

/// The least, the median and the greatest of the cells' medians.
fn spread(cells: &[&Value], metric: &str) -> String {
    let mut medians: Vec<f64> = cells.iter().filter_map(|cell| number(cell, metric, 0)).collect();
    medians.sort_by(f64::total_cmp);
    let at = |index: usize| medians.get(index).map_or("-".into(), |value| format!("{value:.3}"));
    format!("{}, {}, {}", at(0), at(medians.len() / 2), at(medians.len().saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_have_extremes_and_losses() {
        let cell = |workload: &str, speed: f64, cpu: [f64; 3]| json!({ "workload": workload, "speed": [speed, 0.9, 1.1], "cpu": cpu });
        let cells = [
            cell("alloc", 1.01, [1.0, 0.99, 1.01]),
            cell("churn", 0.99, [0.97, 0.96, 0.98]),
            cell("alloc", 0.98, [1.02, 1.0, 1.04]),
            cell("alloc", 1.0, [0.99, 0.98, 1.0]),
        ];
        let shown = by(&cells.iter().collect::<Vec<_>>(), "workload");
        assert!(shown.contains("| alloc | 3 | 0.980, 1.000, 1.010 | 0.990, 1.000, 1.020 | 0 |\n"), "{shown}");
        assert!(
            shown.ends_with("| churn | 1 | 0.990, 0.990, 0.990 | 0.970, 0.970, 0.970 | 1 |\n"),
            "{shown}"
        );
    }
}
