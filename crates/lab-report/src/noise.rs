//! What the canaries say of a run: how far the machine itself moved, and what that means for its numbers.

use experiment::results::{Canary, Results};
use present::figure::{self, Axis, Figure, Panel, Point, Series, Tick, scale};
use present::numbers::{interval, share, significant};
use statistics::Interval;

/// From this drift or scatter on a run is called unsteady: half of the 10 % that the smallest published effects have.
const UNSTEADY: f64 = 0.05;
/// Up to this it is called steady.
const STEADY: f64 = 0.02;

/// How far a canary moved: its drift through the run, or its scatter, whichever is more. `None` without values.
pub fn movement(canary: &Canary) -> Option<f64> {
    let drift = canary.drift.map(|drift| (drift - 1.0).abs());
    drift.into_iter().chain(canary.scatter).reduce(f64::max)
}

/// The furthest that any canary of a run moved.
pub fn furthest(results: &Results) -> Option<f64> {
    results.canaries.iter().filter_map(movement).reduce(f64::max)
}

/// A canary in a line.
pub fn canary(canary: &Canary) -> String {
    let median = canary
        .interval
        .map_or("unavailable: it was never run".into(), |found| interval(&found, &canary.unit));
    let scatter = canary.scatter.map_or("unavailable".into(), share);
    let drift = canary.drift.map_or("unavailable".into(), |drift| signed(drift - 1.0));
    format!("{}: {median}, {} times; scatter {scatter}, drift {drift}", canary.name, canary.values.len())
}

/// `+1.20 %`.
pub fn signed(change: f64) -> String {
    let sign = if change > 0.0 { "+" } else { "" };
    format!("{sign}{}", share(change))
}

/// What the canaries mean for the run's numbers, with what to do.
pub fn meaning(results: &Results) -> String {
    let Some(moved) = furthest(results) else {
        return "No canary was run, so the machine's drift is unknown: measure again to determine it.".into();
    };
    let moved_text = share(moved);
    if moved <= STEADY {
        format!(
            "The machine was steady: the same short measurement varied by no more than {moved_text} during the run."
        )
    } else if moved <= UNSTEADY {
        format!(
            "The machine drifted by up to {moved_text} during the run. Cells are interleaved, so this widens \
             intervals rather than favouring a cell; do not trust differences below {moved_text}."
        )
    } else {
        format!(
            "The machine was unsteady: the same short measurement varied by up to {moved_text}. Do not trust differences \
             below that. Close other programs, fix the CPU's frequency, or run again at a quieter time."
        )
    }
}

/// The canaries as a plot like the others: each value as a share of its canary's median.
pub fn drawing(canaries: &[Canary]) -> String {
    let last = canaries.iter().flat_map(|canary| &canary.at).copied().fold(0.0, f64::max);
    let (second, unit) = if last > 120.0 { (1.0 / 60.0, "min") } else { (1.0, "s") };
    let points = |(series, canary): (usize, &Canary)| -> Vec<Point> {
        let median = canary.interval.map_or(1.0, |interval| interval.median);
        let point = |(at, value): (&f64, &f64)| {
            let median = value / median * 100.0;
            Point {
                series,
                at: at * second,
                value: Interval { median, low: median, high: median },
                text: format!("{} {}", significant(*value), canary.unit),
                values: 1,
            }
        };
        canary.at.iter().zip(&canary.values).map(point).collect()
    };
    let points: Vec<Point> = canaries.iter().enumerate().flat_map(points).collect();
    if points.is_empty() {
        return figure::empty("unavailable: no canary was run");
    }
    let tick = |at: f64| Tick { at, label: format!("{at} {unit}"), number: true };
    Figure {
        title: "Canaries".into(),
        unit: "%".into(),
        x: Axis {
            name: "time since the beginning of the run".into(),
            ticks: scale::linear(0.0, last * second, 8).into_iter().map(tick).collect(),
            ..Axis::default()
        },
        series: canaries.iter().map(|canary| Series::of(&canary.name)).collect(),
        panels: vec![Panel { points, ..Panel::default() }],
        ..Figure::default()
    }
    .drawing()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::fixture;

    #[test]
    fn the_furthest_canary_decides_what_is_said() {
        let mut results = fixture::results();
        assert!(meaning(&results).contains("drifted by up to 3."), "{}", meaning(&results));
        results.canaries.truncate(1);
        assert!(meaning(&results).starts_with("The machine was steady"), "{}", meaning(&results));
        results.canaries = vec![fixture::canary("memory", 80.0, -0.2)];
        assert!(meaning(&results).contains("Close other programs"));
        results.canaries.clear();
        assert!(meaning(&results).contains("No canary"));
        assert!(canary(&fixture::canary("memory", 80.0, -0.2)).contains("drift -1"));
    }
}
