//! What the intervals of real programs exclude: how many of them exclude 1, of which at 95 % one in twenty does by chance, and how many are
//! narrow.

use super::{filled, interval, number, text};
use serde_json::Value;

/// Their threads end after one small task, so that nearly all of their intervals exclude 1.
const SHORT_LIVED: [&str; 2] = ["callbacks", "callbacks-jni"];
/// Key, name, decimals, and whether more is better.
const FIGURES: [(&str, &str, usize, bool); 6] = [
    ("speed", "per second", 3, true),
    ("cpu", "per CPU-second", 3, true),
    ("p50", "p50", 2, false),
    ("p99", "p99", 2, false),
    ("p999", "p99.9", 2, false),
    ("resident", "resident", 2, false),
];
const BY_CHANCE: f64 = 0.05;
/// A half-width, as a share of the middle, up to which an interval is narrow.
const NARROW: f64 = 0.03;

/// What a metric's interval says of side a.
#[derive(Clone, Copy, PartialEq)]
enum Says {
    Better,
    Worse,
    Nothing,
}

/// `None` without an interval.
fn says(cell: &Value, metric: &str, more_is_better: bool) -> Option<Says> {
    let (low, high) = (number(cell, metric, 1)?, number(cell, metric, 2)?);
    Some(match (low > 1.0, high < 1.0) {
        (false, false) => Says::Nothing,
        (above, _) if above == more_is_better => Says::Better,
        _ => Says::Worse,
    })
}

fn others<'a>(cells: &'a [&Value]) -> impl Iterator<Item = &'a Value> + Clone {
    cells.iter().copied().filter(|cell| !SHORT_LIVED.contains(&cell["program"].as_str().unwrap_or_default()))
}

/// The comparisons, in the order of the cells.
fn compared<'a>(cells: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for cell in cells {
        let name = text(&cell["compared"]);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// For each comparison: how many cells there are, and how many have narrow intervals.
pub fn narrow(cells: &[&Value]) -> String {
    let is_narrow = |cell: &Value, metric: &str| {
        let ends = number(cell, metric, 0).zip(number(cell, metric, 1)).zip(number(cell, metric, 2));
        ends.is_some_and(|((middle, low), high)| (high - low) / 2.0 <= NARROW * middle)
    };
    let row = |name: &String| {
        let own: Vec<&Value> =
            cells.iter().copied().filter(|cell| text(&cell["compared"]) == *name).collect();
        let count = |metrics: &[&str]| {
            own.iter().filter(|cell| metrics.iter().any(|metric| is_narrow(cell, metric))).count()
        };
        let counts = [&["speed"][..], &["cpu"], &["speed", "cpu"]].map(|metrics| count(metrics).to_string());
        format!("| {name} | {} | {} |\n", own.len(), counts.join(" | "))
    };
    let rows: String = compared(cells.iter().copied()).iter().map(row).collect();
    let share = 100.0 * NARROW;
    format!(
        "| compared (a / b) | cells | per second within {share:.0} % | per CPU-second | one of the two |\n|---|---|---|---|---|\n{rows}"
    )
}

/// For each comparison: how many intervals there are, and how many exclude 1.
pub fn counted(cells: &[&Value]) -> String {
    let row = |name: &String| {
        let of = others(cells).filter(|cell| text(&cell["compared"]) == *name);
        let all: Vec<Says> = of
            .flat_map(|cell| FIGURES.iter().filter_map(|(key, _, _, more)| says(cell, key, *more)))
            .collect();
        let count = |which: Says| all.iter().filter(|said| **said == which).count();
        let by_chance = BY_CHANCE * all.len() as f64;
        format!(
            "| {name} | {} | {by_chance:.0} | {} | {} |\n",
            all.len(),
            count(Says::Better),
            count(Says::Worse)
        )
    };
    let rows: String = compared(others(cells)).iter().map(row).collect();
    format!(
        "| compared (a / b) | intervals | exclude 1 by chance (expected) | a is better | a is worse |\n|---|---|---|---|---|\n{rows}"
    )
}

/// The cells with intervals that exclude 1, those to the disadvantage of side a first.
pub fn listed(cells: &[&Value], words: &str) -> String {
    let rows = |which: Says| {
        let row = move |cell: &Value| {
            let figures: Vec<String> = FIGURES
                .iter()
                .filter(|(key, _, _, more)| says(cell, key, *more) == Some(which))
                .filter_map(|(key, name, digits, _)| Some(format!("{name} {}", exact(cell, key, *digits)?)))
                .collect();
            let side = if which == Says::Worse { "worse" } else { "better" };
            let of = filled("{processes}", cell);
            (!figures.is_empty())
                .then(|| format!("| {} | {of} | {side} | {} |\n", filled(words, cell), figures.join("; ")))
        };
        others(cells).filter_map(row).collect::<String>()
    };
    let header =
        "| program, collector, JDK, heap | processes | Terrace is | intervals |\n|---|---|---|---|\n";
    format!("{header}{}{}", rows(Says::Worse), rows(Says::Better))
}

/// With as many decimals more as it takes to see that 1 is not inside.
fn exact(cell: &Value, metric: &str, digits: usize) -> Option<String> {
    let rounds_to_1 = |digits: usize| {
        let end = |at| format!("{:.digits$}", number(cell, metric, at).unwrap_or(f64::NAN));
        let one = format!("{:.digits$}", 1.0);
        end(1) == one || end(2) == one
    };
    (digits..=4)
        .find(|digits| !rounds_to_1(*digits))
        .or(Some(4))
        .and_then(|digits| interval(cell, metric, digits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn intervals_that_exclude_1_are_counted_and_listed() {
        let cell = |program: &str, compared: &str, speed: [f64; 3], p99: Value| {
            json!({ "program": program, "collector": "g1", "jdk": 25, "processes": 6, "compared": compared,
                "speed": speed, "p99": p99 })
        };
        let cells = [
            cell("h2", "a / b", [1.0, 0.9, 1.1], json!([1.2, 1.1, 1.3])),
            cell("h2", "c / d", [0.9, 0.8, 0.9996], json!({ "unavailable": "few" })),
            cell("callbacks", "a / b", [1.2, 1.1, 1.3], json!([0.5, 0.4, 0.6])),
            cell("spark", "a / b", [1.2, 1.1, 1.3], json!([0.9, 0.8, 0.95])),
        ];
        let cells: Vec<&Value> = cells.iter().collect();
        let counted = counted(&cells);
        assert!(counted.ends_with("| a / b | 4 | 0 | 2 | 1 |\n| c / d | 1 | 0 | 0 | 1 |\n"), "{counted}");
        let narrow = narrow(&cells);
        assert!(narrow.ends_with("| a / b | 3 | 0 | 0 | 0 |\n| c / d | 1 | 0 | 0 | 0 |\n"), "{narrow}");
        let listed = listed(&cells, "{program}, {collector} {jdk}");
        let rows: Vec<&str> = listed.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| h2, g1 25 | 6 processes | worse | p99 1.20 [1.10, 1.30] |",
                "| h2, g1 25 | 6 processes | worse | per second 0.9000 [0.8000, 0.9996] |",
                "| spark, g1 25 | 6 processes | better | per second 1.200 [1.100, 1.300]; p99 0.90 [0.80, 0.95] |",
            ]
        );
    }

    #[test]
    fn an_interval_is_narrow_by_its_half_width_over_its_middle() {
        let cell = |speed: Value, cpu: Value| json!({ "compared": "a / b", "speed": speed, "cpu": cpu });
        let few = json!({ "unavailable": "few" });
        let cells = [
            cell(json!([2.0, 1.95, 2.05]), json!([1.0, 0.9, 1.1])),
            cell(json!([1.0, 0.96, 1.03]), json!([1.0, 0.98, 1.02])),
            cell(few.clone(), few),
        ];
        let narrow = narrow(&cells.iter().collect::<Vec<_>>());
        assert!(narrow.ends_with("| a / b | 3 | 1 | 1 | 2 |\n"), "{narrow}");
    }
}
