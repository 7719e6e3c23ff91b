//! Two runs of the lab compared, cell by cell and metric by metric.
//!
//! A cell's metric *changed significantly* when all of this holds:
//!
//! 1. Each side has at least [`FEW_VALUES`] values. A run of a cell is one: its repetitions, iterations or windows share what differs
//!    from run to run, so that there are never as many as it has of those.
//! 2. The two 95 % intervals do not overlap.
//! 3. The bootstrap 95 % interval of the ratio of the medians excludes 1.
//! 4. The change of the median is larger than what the machine itself moved: the largest of each run's canaries' drift and
//!    scatter, and of the change of the canaries from one run to the other. Two runs are not measured in turns, so a machine that
//!    is 4 % slower today makes every time 4 % longer, in narrow intervals. (When the machines differ, the canaries differ too, and
//!    only the movement inside each run counts: the ratios then tell about the machines.) This is not asked of ratios of
//!    interleaved sides, both of which are 4 % slower ([`experiment::Metric::follows_machine`]).
//!
//! Many are compared, so some seem to change by chance. Two 95 % intervals that do not overlap, of values that scatter
//! normally and alike, are what 6 in 1000 comparisons of equal things show ([`BY_CHANCE`]): the number of comparisons is said,
//! with how many of the changes to expect by chance. Of few values (or values from few JVMs) it may be more: repeat the run
//! before trusting a single small change.

mod text;

use super::{format, noise};
use experiment::measured::MeasuredCell;
use experiment::results::{Findings, Results, State};
use experiment::{Better, Parameters, Quantity};
use present::numbers;
use serde::{Deserialize, Serialize};
use statistics::{Interval, ratio_of_medians};
pub use text::text;

/// The number of this layout.
pub const SCHEMA: u32 = 1;
/// With fewer values on a side nothing may be said: of three against three, equal sides are apart in 1 of 10 cases; of four
/// against four in 1 of 35.
pub const FEW_VALUES: usize = 4;
/// How often two 95 % intervals of equal things do not overlap: 1.96 x sqrt(2) standard deviations.
pub const BY_CHANCE: f64 = 0.0056;

/// What two runs differ in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diff {
    pub schema: u32,
    /// How many metrics of cells were measured in both.
    pub compared: usize,
    /// How many had too few values on a side.
    pub undecided: usize,
    /// How many significant changes to expect by chance.
    pub by_chance: f64,
    /// The least change that is not put down to the machine, of what follows it; `None` when no canary tells.
    pub drift: Option<f64>,
    /// What changed significantly, the largest change first.
    pub changes: Vec<Change>,
    /// Apart, but by less than the machine moved.
    pub within_drift: Vec<Change>,
    /// What differs between the runs apart from their numbers.
    pub warnings: Vec<String>,
    /// Cells and experiments of the first run only.
    pub only_in_a: Vec<String>,
    /// Cells and experiments of the second run only.
    pub only_in_b: Vec<String>,
    /// Measured in one and not to be had in the other, and why.
    pub unavailable: Vec<String>,
}

/// Which way a change goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Better,
    Worse,
    /// The metric has no good way.
    Changed,
}

impl Direction {
    const fn words(self) -> &'static str {
        match self {
            Direction::Better => "better",
            Direction::Worse => "worse",
            Direction::Changed => "changed",
        }
    }
}

/// A metric of a cell that changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub experiment: String,
    pub parameters: Parameters,
    /// The cell in words.
    pub cell: String,
    pub metric: String,
    pub name: String,
    pub unit: String,
    /// In the first run.
    pub a: Interval,
    /// In the second.
    pub b: Interval,
    /// The second's median over the first's, with its bootstrap interval; `None` where one of them is 0, or may be.
    pub ratio: Option<Interval>,
    pub direction: Direction,
}

impl Change {
    /// How large it is, the same for a half and a double.
    fn size(&self) -> f64 {
        far(self.b.median / self.a.median)
    }
}

/// What a comparison of two values gives.
enum Decision {
    TooFew,
    Same,
    WithinDrift(Option<Interval>),
    Significant(Option<Interval>),
}

/// Compares two runs; the ratios are of the second over the first.
pub fn compare(a: &Results, b: &Results) -> Diff {
    let drift = drift(a, b);
    let mut diff = Diff {
        schema: SCHEMA,
        compared: 0,
        undecided: 0,
        by_chance: 0.0,
        drift,
        changes: vec![],
        within_drift: vec![],
        warnings: warnings(a, b),
        only_in_a: vec![],
        only_in_b: vec![],
        unavailable: vec![],
    };
    let named = |results: &Results, name: &str| {
        results.experiments.iter().position(|found| found.declaration.name == name)
    };
    for found in &a.experiments {
        let name = &found.declaration.name;
        match named(b, name) {
            Some(index) => diff.experiment(found, &b.experiments[index]),
            None => diff.only_in_a.push(format!("all of {name}")),
        }
    }
    let missing =
        b.experiments.iter().map(|found| &found.declaration.name).filter(|name| named(a, name).is_none());
    diff.only_in_b.extend(missing.map(|name| format!("all of {name}")));
    diff.by_chance = (diff.compared - diff.undecided) as f64 * BY_CHANCE;
    for changes in [&mut diff.changes, &mut diff.within_drift] {
        changes.sort_by(|one, other| other.size().total_cmp(&one.size()));
    }
    diff
}

impl Diff {
    fn experiment(&mut self, a: &Findings, b: &Findings) {
        let name = |cell: &MeasuredCell| {
            format!("{}: {}", a.declaration.name, format::cell(&a.declaration, &cell.parameters))
        };
        let same = |cells: &[MeasuredCell], cell: &MeasuredCell| {
            cells.iter().position(|other| other.parameters == cell.parameters)
        };
        self.only_in_b.extend(b.cells.iter().filter(|cell| same(&a.cells, cell).is_none()).map(name));
        for of_a in &a.cells {
            match same(&b.cells, of_a) {
                Some(index) => self.cell(a, b, of_a, &b.cells[index]),
                None => self.only_in_a.push(name(of_a)),
            }
        }
    }

    fn cell(&mut self, in_a: &Findings, in_b: &Findings, a: &MeasuredCell, b: &MeasuredCell) {
        let declaration = &in_a.declaration;
        for metric in &declaration.metrics {
            let cell = format::cell(declaration, &a.parameters);
            let known = (a.metrics.get(&metric.key), b.metrics.get(&metric.key));
            let mut lacks = |side: &str, reason: &str| {
                let (name, reason) = (&metric.name, numbers::lacking(reason));
                self.unavailable
                    .push(format!("{}: {cell}: {name}: only in the {side}; {reason}", declaration.name));
            };
            let (a_values, b_values, a_interval, b_interval) = match known {
                (
                    Some(Quantity::Known { interval: a, values: of_a }),
                    Some(Quantity::Known { interval: b, values: of_b }),
                ) => (of_a, of_b, *a, *b),
                (Some(Quantity::Known { .. }), Some(Quantity::Unavailable { unavailable })) => {
                    lacks("first", unavailable);
                    continue;
                }
                (Some(Quantity::Unavailable { unavailable }), Some(Quantity::Known { .. })) => {
                    lacks("second", unavailable);
                    continue;
                }
                _ => continue,
            };
            // A metric that means something else now cannot be compared.
            let Some(other) = in_b.declaration.metric(&metric.key).filter(|other| other.unit == metric.unit)
            else {
                continue;
            };
            self.compared += 1;
            // Results of earlier versions do not say of which ratios.
            let follows_machine = metric.follows_machine() || other.follows_machine();
            let drift = if follows_machine { self.drift } else { Some(0.0) };
            let outcome = decide((a_values, &a_interval), (b_values, &b_interval), drift);
            let change = |ratio| Change {
                experiment: declaration.name.clone(),
                parameters: a.parameters.clone(),
                cell,
                metric: metric.key.clone(),
                name: metric.name.clone(),
                unit: metric.unit.clone(),
                a: a_interval,
                b: b_interval,
                ratio,
                direction: match (metric.better, b_interval.median > a_interval.median) {
                    (Better::Neither, _) => Direction::Changed,
                    (Better::Higher, true) | (Better::Lower, false) => Direction::Better,
                    _ => Direction::Worse,
                },
            };
            match outcome {
                Decision::TooFew => self.undecided += 1,
                Decision::Same => {}
                Decision::WithinDrift(ratio) => self.within_drift.push(change(ratio)),
                Decision::Significant(ratio) => self.changes.push(change(ratio)),
            }
        }
    }
}

fn decide(a: (&[f64], &Interval), b: (&[f64], &Interval), drift: Option<f64>) -> Decision {
    if a.0.len().min(b.0.len()) < FEW_VALUES {
        return Decision::TooFew;
    }
    if a.1.high >= b.1.low && b.1.high >= a.1.low {
        return Decision::Same;
    }
    let most = drift.unwrap_or(0.0).ln_1p();
    match ratio_of_medians(a.0, b.0, 1) {
        // From 0, or to it, by no drift; or the first may be 0, and the ratio of the medians is all there is.
        None if far(b.1.median / a.1.median) <= most => Decision::WithinDrift(None),
        None => Decision::Significant(None),
        Some(ratio) if ratio.low <= 1.0 && ratio.high >= 1.0 => Decision::Same,
        Some(ratio) if far(ratio.median) <= most => Decision::WithinDrift(Some(ratio)),
        Some(ratio) => Decision::Significant(Some(ratio)),
    }
}

/// How far a ratio is from 1, the same for a half and a double; infinite from 0, or to it.
fn far(ratio: f64) -> f64 {
    ratio.ln().abs()
}

fn same_machine(a: &Results, b: &Results) -> bool {
    (&a.machine.model, a.machine.cpus) == (&b.machine.model, b.machine.cpus)
}

/// How much the machine moved inside the runs and between them.
fn drift(a: &Results, b: &Results) -> Option<f64> {
    let between = a.canaries.iter().filter(|_| same_machine(a, b)).filter_map(|one| {
        let other = b.canaries.iter().find(|other| other.name == one.name && other.unit == one.unit)?;
        let ratio = other.interval?.median / one.interval?.median;
        // The same for a half and a double.
        (ratio > 0.0).then(|| ratio.ln().abs().exp_m1())
    });
    let within = [a, b].into_iter().filter_map(noise::furthest);
    within.chain(between).filter(|moved| moved.is_finite()).reduce(f64::max)
}

fn warnings(a: &Results, b: &Results) -> Vec<String> {
    let mut found = Vec::new();
    let mut differ = |what: &str, a: &str, b: &str| {
        if a != b {
            found.push(format!("{what} differ: {a}, then {b}"));
        }
    };
    let (one, other) = (&a.machine, &b.machine);
    differ(
        "the CPUs",
        &format!("{} x {}", one.cpus, one.model),
        &format!("{} x {}", other.cpus, other.model),
    );
    differ("the kernels", &one.kernel, &other.kernel);
    differ("the hypervisors", &one.virtualization, &other.virtualization);
    differ("transparent huge pages", &one.transparent_huge_pages, &other.transparent_huge_pages);
    differ("the frequency governors", &one.governor, &other.governor);
    differ("the JDKs", &one.jdks.join(" and "), &other.jdks.join(" and "));
    differ("the versions of terrace", &a.terrace, &b.terrace);
    differ("the ways of measuring", &format!("number {}", a.method), &format!("number {}", b.method));
    differ("the efforts", a.effort.name(), b.effort.name());
    for (which, results) in [("first", a), ("second", b)] {
        if results.state == State::Interrupted {
            found.push(format!(
                "cells of the {which} run are missing: terrace lab run --resume measures them"
            ));
        }
        if results.canaries.is_empty() {
            found.push(format!("the {which} run has no canaries, so its machine's drift is unknown"));
        }
    }
    found
}

#[cfg(test)]
#[path = "diff_test.rs"]
mod tests;
