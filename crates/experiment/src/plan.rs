//! Cells, and how each is run.

use super::bench::Bench;
use super::jmh::Jmh;
use super::measured::Quantity;
use super::sample::Sample;
use super::value::Parameters;
use crate::{Error, Result};
use compare::estimate::half_width;

#[derive(Default)]
pub struct Plan {
    /// In the order of the first round; every second round goes backwards.
    pub cells: Vec<Cell>,
    pub rounds: usize,
    /// What a reader must know of the plan: what was left out and why, what was scaled.
    pub notes: Vec<String>,
    /// Half of the interval's width, as a share, at which a compared cell needs no further rounds.
    pub precision: Option<f64>,
}

/// Rounds of a quick run of short cells. A round is one value, however often it repeats: with three the half-width is 2.5 times the deviation
/// between rounds, with five half of that, in the same time with fewer repetitions each.
pub const QUICK_ROUNDS: usize = 5;

/// Fewer rounds than these say too little of their own scatter: a rule that looks after four ends with intervals that hold the truth in
/// 91 % of cases, after eight in 93 % (`simulations_of_the_rule` in the tests).
const FEWEST_ROUNDS: usize = 8;
/// A width is found too small as often as too large, and the rule stops at those too small. Asking for a little more than is wanted
/// keeps the 95 % of what was asked for: the estimate is within the precision of the truth.
const CAUTION: f64 = 0.92;

impl Plan {
    /// Whether a cell's runs are as precise as was asked, by the width of this metric's interval alone and never by where it lies: the interval
    /// that is shown, of samples with estimates of their own and without.
    pub fn is_precise(&self, metric: &str, samples: &[&Sample]) -> bool {
        let Some(precision) = self.precision.filter(|_| samples.len() >= FEWEST_ROUNDS) else { return false };
        let found = Quantity::of_samples(metric, samples, "").interval();
        found.is_some_and(|interval| half_width(&interval) <= CAUTION * precision)
    }

    /// About how long all runs of all cells take, in seconds.
    pub fn seconds(&self) -> f64 {
        let runs = self.cells.iter().filter(|cell| !matches!(cell.runner, Runner::Unavailable(_)));
        runs.map(|cell| cell.seconds).fold(0.0, std::ops::Add::add) * self.rounds as f64
    }
}

/// One combination of parameters.
pub struct Cell {
    pub parameters: Parameters,
    /// About how many seconds a run takes, for the time left.
    pub seconds: f64,
    pub runner: Runner,
}

impl Cell {
    /// A cell that cannot be run here, and why.
    pub fn unavailable(parameters: Parameters, reason: impl Into<String>) -> Cell {
        Cell { parameters, seconds: 0.0, runner: Runner::Unavailable(reason.into()) }
    }

    /// The cell that stands for all that need a JDK, where there is none.
    pub fn without_jdk(parameters: Parameters) -> Cell {
        Cell::unavailable(parameters, "no JDK 17, 21 or 25 found; install one, or name it with --java HOME")
    }
}

pub enum Runner {
    /// A function in this process.
    Native(Box<dyn Fn() -> Result<Sample>>),
    /// A JMH benchmark in a JVM of its own.
    Jmh(Box<Jmh>),
    /// It cannot be run here, and why.
    Unavailable(String),
}

impl Runner {
    /// A function in this process.
    pub fn native(function: impl Fn() -> Result<Sample> + 'static) -> Runner {
        Runner::Native(Box::new(function))
    }

    pub fn run(&self, bench: &Bench) -> Result<Sample> {
        match self {
            Runner::Native(function) => function(),
            Runner::Jmh(jmh) => jmh.run(bench),
            Runner::Unavailable(reason) => Err(Error::failed(reason.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statistics::{Interval, Random};

    #[test]
    fn a_cell_is_precise_by_what_differs_between_its_runs() {
        let run = |median: f64| {
            Sample::default().estimate("speed", Interval { median, low: 0.5 * median, high: 2.0 * median })
        };
        let runs = [1.0, 1.001, 0.999, 1.0, 1.001, 0.999, 1.0, 1.0, 1.2].map(run);
        let runs: Vec<&Sample> = runs.iter().collect();
        let plan = Plan { precision: Some(0.015), ..Plan::default() };
        assert!(!plan.is_precise("speed", &runs[..7]) && plan.is_precise("speed", &runs[..8]));
        assert!(!plan.is_precise("speed", &runs) && !Plan::default().is_precise("speed", &runs[..8]));
    }

    #[test]
    fn a_cell_of_pairs_of_jvms_is_precise_by_all_of_them() {
        let run = |speed: f64| Sample { processes: 2, ..Sample::default() }.value("speed", speed);
        let runs = [1.0, 1.001, 0.999, 1.0, 1.001, 0.999, 1.0, 1.0].map(run);
        let runs: Vec<&Sample> = runs.iter().collect();
        let plan = Plan { precision: Some(0.015), ..Plan::default() };
        assert!(!plan.is_precise("speed", &runs[..7]) && plan.is_precise("speed", &runs));
        let lacks = Sample { processes: 2, ..Sample::default() };
        let some: Vec<&Sample> = runs.iter().copied().chain([&lacks]).collect();
        assert!(!plan.is_precise("speed", &some) && !plan.is_precise("cpu", &runs));
    }

    /// How often the truth is in the interval and how often within the precision of the estimate, of so many simulated cells whose runs
    /// scatter by so many times the precision, each with an estimate of its own or of pairs of JVMs.
    fn simulate(cells: u64, scatter: f64, of_pairs: bool) -> [f64; 2] {
        const PRECISION: f64 = 0.01;
        let plan = Plan { precision: Some(PRECISION), ..Plan::default() };
        let mut counts = [0; 2];
        for seed in 0..cells {
            let mut random = Random::new(seed);
            // The sum of 12 uniform numbers is nearly normal, with deviation 1.
            let mut normal =
                || (0..12).map(|_| random.below(1 << 30) as f64 / f64::from(1 << 30)).sum::<f64>() - 6.0;
            let mut runs: Vec<Sample> = Vec::new();
            let found = loop {
                let value = (scatter * PRECISION * normal()).exp();
                runs.push(match of_pairs {
                    true => Sample { processes: 2, ..Sample::default() }.value("speed", value),
                    false => Sample::default().estimate("speed", Interval::exactly(value)),
                });
                let samples: Vec<&Sample> = runs.iter().collect();
                if plan.is_precise("speed", &samples) {
                    break Quantity::of_samples("speed", &samples, "").interval().unwrap();
                }
            };
            counts[0] += u32::from((found.low..=found.high).contains(&1.0));
            counts[1] += u32::from(found.median.ln().abs() <= PRECISION);
        }
        counts.map(|count| f64::from(count) / cells as f64)
    }

    /// Each share may lie three standard deviations of a share of 1000, or 300, below what it is in the worst case.
    #[test]
    fn simulations_of_the_rule() {
        for scatter in [0.5, 1.0, 1.5, 2.0, 2.5] {
            let [interval, precision] = simulate(1000, scatter, false);
            assert!(interval > 0.93 - 0.024, "scatter {scatter}: {interval}");
            assert!(precision > 0.95 - 0.021, "scatter {scatter}: {precision}");
        }
        for scatter in [0.5, 1.0, 1.5] {
            let [interval, precision] = simulate(300, scatter, true);
            assert!(interval > 0.93 - 0.045, "pairs, scatter {scatter}: {interval}");
            assert!(precision > 0.95 - 0.038, "pairs, scatter {scatter}: {precision}");
        }
    }
}
