//! The simulator against everything that was published: what it was calibrated on, and what it predicts.
//!
//! Calibrated on, and on nothing else: Thompson's two plateaus of `lock xadd` (a streak on Nehalem, the transfer on Sandy Bridge),
//! Opsian's single thread (the work between two objects), the height of the paper's Figure 2 (the work of its mutator), and Downs'
//! Skylake (a transfer, a locked instruction, and the load after one). No number was changed for anything else here; a rule was added for
//! shared plain additions, once they had been missed.

mod counters;
mod interval;
mod levels;
mod missing;
mod opsian;
mod paper;
mod published;
mod setting;
mod tables;
mod thompson;

pub use interval::Range;
pub use levels::{LevelsRow, when_a_processor_level_pays};
pub use missing::{counters_markdown, missing_markdown};

use crate::ranges::Group;
use serde::{Deserialize, Serialize};
use setting::Setting;
use std::io;
use strum::Display;

/// Whether a number was used to set the model up.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Role {
    /// The model was made to agree with it.
    Calibrated,
    /// The model was not changed for it.
    Predicted,
    /// The model was frozen before it was looked at, and not changed for it.
    Blind,
    /// It was missed, and a rule of the model was added for that. No number was chosen on it.
    Seen,
}

/// How near is near enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// This part of the published value.
    Within(f64),
    /// This factor, up or down.
    Factor(f64),
    /// At least so much.
    AtLeast(f64),
    /// At most so much.
    AtMost(f64),
}

/// One published figure or statement and what the simulator says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Who published it.
    pub source: String,
    /// What it is, with its unit.
    pub what: String,
    /// What part it had in setting the model up.
    pub role: Role,
    /// The published value, where there is one.
    pub published: Option<f64>,
    /// The simulated one.
    pub simulated: f64,
    /// How near is near enough.
    pub limit: Limit,
    /// What it comes to over seeds and the ranges of all numbers, where that was asked for: [`evaluate_with_ranges`].
    pub range: Option<Range>,
}

impl Finding {
    /// Whether it is near enough.
    pub fn holds(&self) -> bool {
        let published = self.published.unwrap_or(f64::NAN);
        match self.limit {
            Limit::Within(part) => (self.simulated - published).abs() <= part * published,
            // Tables print two digits: half of the last one is no difference.
            Limit::Factor(factor) => {
                let (low, high) = (published - ROUNDING, published + ROUNDING);
                self.simulated <= high * factor && self.simulated >= low / factor
            }
            Limit::AtLeast(least) => self.simulated >= least,
            Limit::AtMost(most) => self.simulated <= most,
        }
    }
}

impl Finding {
    /// How far a value is from the published one, as a factor of 1 or more; nothing for statements in words and counts.
    pub fn factor(&self) -> Option<f64> {
        let ratio = self.simulated / self.published?;
        matches!(self.limit, Limit::Within(_)).then(|| ratio.max(1.0 / ratio))
    }
}

/// Half of the last digit that the paper's tables print.
const ROUNDING: f64 = 0.005;

/// What is to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Thompson's counters.
    Thompson,
    /// Opsian's allocation without thread buffers.
    Opsian,
    /// Counters by threads, as others measured them: `published.toml`.
    Counters,
    /// The paper's Figure 2.
    Figure2,
    /// The paper's Tables I and II: a few minutes.
    Tables,
}

impl Part {
    /// Looks at it; `progress` hears of each step.
    ///
    /// # Errors
    /// When there is no memory for the threads' stacks.
    pub fn evaluate(self, progress: &(dyn Fn(&str) + Sync)) -> io::Result<Vec<Finding>> {
        self.evaluate_at(&Setting::default(), progress)
    }

    fn evaluate_at(self, setting: &Setting, progress: &(dyn Fn(&str) + Sync)) -> io::Result<Vec<Finding>> {
        match self {
            Part::Thompson => thompson::evaluate(setting),
            Part::Opsian => opsian::evaluate(setting),
            Part::Counters => counters::evaluate(setting),
            Part::Figure2 => paper::evaluate(setting, progress),
            Part::Tables => tables::evaluate(progress),
        }
    }

    /// What it depends on, besides chance. The tables would take hours.
    const fn groups(self) -> &'static [Group] {
        match self {
            Part::Thompson => &[
                Group::Transfers,
                Group::Latencies,
                Group::Clock,
                Group::Locked,
                Group::Drain,
                Group::FirstCache,
                Group::Streaks,
                Group::Loop,
                Group::AfterLock,
            ],
            Part::Counters => &[
                Group::Transfers,
                Group::Latencies,
                Group::Clock,
                Group::Locked,
                Group::Drain,
                Group::FirstCache,
                Group::Loop,
                Group::AfterLock,
            ],
            Part::Opsian => &[
                Group::Transfers,
                Group::Latencies,
                Group::Memory,
                Group::LastCache,
                Group::Clock,
                Group::Locked,
                Group::Drain,
                Group::FirstCache,
            ],
            Part::Figure2 => &[
                Group::Transfers,
                Group::Latencies,
                Group::Memory,
                Group::LastCache,
                Group::Clock,
                Group::Locked,
                Group::Drain,
                Group::FirstCache,
                Group::Work,
                Group::Siblings,
                Group::Refill,
                Group::Heap,
            ],
            Part::Tables => &[],
        }
    }
}

/// Looks at all of `parts` over seeds and the ranges of all numbers on which they depend: a minute of CPU time and more for all of them.
/// The tables, each of whose values takes seconds, have no ranges. `done` is told how many of how many simulations of a part are done.
///
/// # Errors
/// When there is no memory for the threads' stacks.
pub fn evaluate_with_ranges(parts: &[Part], done: impl Fn(usize, usize) + Sync) -> io::Result<Vec<Finding>> {
    interval::evaluate(parts, done)
}

/// A machine that is shipped.
fn machine(name: &str) -> crate::machine::Machine {
    match crate::machine::Machine::named(name) {
        Ok(machine) => machine,
        // The tests read each of them.
        Err(error) => unreachable!("{error}"),
    }
}
