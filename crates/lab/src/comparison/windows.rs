//! Two modes in turn inside one process: windows of equal length, in pairs, each pair in random order.
//!
//! Neighbours share the machine's frequency, the heap's state and the compiler's work, so that their ratio is steadier than
//! any of them. The random order keeps a drift inside the pairs from favouring a side.

use crate::comparison::measure::{Counts, Pair};
use crate::statistics::Random;
use crate::{Error, Result};
use control::Mode;
use std::time::Duration;

/// The fewest pairs that say anything: with five an interval can just exclude 1.
pub const FEWEST: usize = 5;

/// The process whose modes are compared.
pub trait Subject {
    /// Switches to a mode.
    fn switch(&mut self, mode: Mode);
    /// Lets time pass.
    fn wait(&mut self, time: Duration);
    /// The counters and the time.
    fn counts(&mut self) -> Result<Counts>;
    /// Whether the process has ended, well. An end that is not well is an error.
    fn ended(&mut self) -> Result<bool>;
}

/// How the windows are laid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The mode in question.
    pub a: Mode,
    /// The mode that it is compared with.
    pub b: Mode,
    /// A window's length.
    pub window: Duration,
    /// How much of a window's start is not counted.
    pub skip: Duration,
    /// The length of all of it.
    pub duration: Duration,
    /// Of the order.
    pub seed: u64,
}

/// Switches and counts until the plan's duration is over or the process has ended. `tell` hears the time passed.
pub fn run(subject: &mut impl Subject, plan: &Plan, mut tell: impl FnMut(Duration)) -> Result<Vec<Pair>> {
    let mut random = Random::new(plan.seed);
    let mut pairs = Vec::new();
    let start = subject.counts()?.at;
    loop {
        let a_first = random.coin();
        let (first, second) = if a_first { (plan.a, plan.b) } else { (plan.b, plan.a) };
        let one = window(subject, first, plan)?;
        let other = window(subject, second, plan)?;
        // A window in which the process ended is no window.
        if subject.ended()? {
            break;
        }
        let (from, to) = one;
        let one = from.until(&to);
        let (from, to) = other;
        let other = from.until(&to);
        pairs.push(if a_first { Pair { a: one, b: other } } else { Pair { a: other, b: one } });
        let passed = to.at.saturating_sub(start);
        tell(passed);
        if passed >= plan.duration {
            break;
        }
    }
    if pairs.len() < FEWEST {
        return Err(Error::failed(format!(
            "only {} pairs of windows were measured, {FEWEST} are needed; give a longer --duration, a shorter --window, or a \
             program that runs longer",
            pairs.len()
        )));
    }
    Ok(pairs)
}

fn window(subject: &mut impl Subject, mode: Mode, plan: &Plan) -> Result<(Counts, Counts)> {
    subject.switch(mode);
    subject.wait(plan.skip);
    let from = subject.counts()?;
    subject.wait(plan.window.saturating_sub(plan.skip));
    Ok((from, subject.counts()?))
}

#[cfg(test)]
#[path = "windows_test.rs"]
mod tests;
