//! Two ways in turn inside one process: windows of equal length, in blocks of four, A B B A or B A A B by chance.
//!
//! Neighbours share the machine's frequency, the heap's state and the compiler's work, so that their ratio is steadier than
//! any of them. Within a block a steady drift cancels out; chance keeps whatever has a rhythm from favouring a side.

use crate::block::{Block, Span};
use crate::estimate::estimate;
use crate::evidence::{self, Evidence};
use crate::measure::Pair;
use crate::stopping::Precision;
use crate::summary;
use control::Mode;
use jvm::agent::BufferSize;
use jvm::counts::Counts;
use jvm::{Error, Result};
use statistics::Random;
use std::time::Duration;

/// The fewest pairs that say anything: with five an interval can just exclude 1.
pub const FEWEST: usize = 5;

/// A window's usual length.
pub const WINDOW: Duration = Duration::from_millis(100);
/// What is usually not counted of its start.
pub const SKIP: Duration = Duration::from_millis(5);

/// What a side is, where one process is both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub mode: Mode,
    /// Of core and processor buffers, where the sides differ in them.
    pub sizes: Option<[BufferSize; 2]>,
}

impl From<Mode> for Way {
    fn from(mode: Mode) -> Way {
        Way { mode, sizes: None }
    }
}

/// The process whose ways are compared.
pub trait Subject {
    fn switch(&mut self, way: Way);
    /// Lets time pass.
    fn wait(&mut self, time: Duration);
    /// What is counted from here on is of this block and side; of neither with `None`.
    fn mark(&mut self, _window: Option<(usize, usize)>) -> Result<()> {
        Ok(())
    }
    /// The counters and the time.
    fn counts(&mut self) -> Result<Counts>;
    /// What was found out beside the counters so far.
    fn evidence(&mut self) -> Evidence {
        Evidence::default()
    }
    /// Whether the process has ended, well. An end that is not well is an error.
    fn ended(&mut self) -> Result<bool>;
}

/// How the windows are laid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowPlan {
    /// The way in question.
    pub a: Way,
    /// The way that it is compared with.
    pub b: Way,
    /// A window's length.
    pub window: Duration,
    /// How much of a window's start is not counted.
    pub skip: Duration,
    /// The length of all of it, at most.
    pub duration: Duration,
    /// The end comes earlier when this is reached.
    pub precision: Option<Precision>,
    /// Of the order.
    pub seed: u64,
}

impl WindowPlan {
    /// Whether the fewest pairs fit in its duration.
    fn has_room(&self) -> bool {
        self.window * 4 * FEWEST as u32 <= self.duration
    }
}

/// Switches and counts until the plan's duration is over (and the fewest pairs are there, if they fit in it), its precision is reached, or the process has
/// ended. Each block gives a pair. `tell` hears the time passed.
pub fn run(
    subject: &mut impl Subject,
    plan: &WindowPlan,
    mut tell: impl FnMut(Duration),
) -> Result<Vec<Pair>> {
    let mut order = Order::new(plan.seed);
    let mut blocks = Vec::new();
    let start = subject.counts()?.at;
    loop {
        let block = block(subject, order.next_has_a_outside(), blocks.len(), plan)?;
        // A window in which the process ended is no window.
        if subject.ended()? {
            break;
        }
        blocks.push(block);
        let passed = subject.counts()?.at.saturating_sub(start);
        tell(passed);
        // On a busy machine windows are longer than planned: fewer than the fewest are no result, and all of the time was for nothing.
        let is_over = passed >= plan.duration && (blocks.len() >= FEWEST || !plan.has_room());
        if is_over || is_enough(subject, &blocks, plan) {
            break;
        }
    }
    let pairs = evidence::pairs(&blocks, &subject.evidence());
    if pairs.len() < FEWEST {
        return Err(Error::failed(format!(
            "only {} pairs of windows (four windows each) were measured, at least {FEWEST} are needed; use a longer --duration, a \
             shorter --window, or a program that runs longer",
            pairs.len()
        )));
    }
    Ok(pairs)
}

/// The order of windows: of two successive blocks one is A B B A and one is B A A B, which comes first is random. A steady drift cancels within a
/// block, one that levels off, as a program's start, within the two.
pub(crate) struct Order {
    random: Random,
    /// Of the first of two, where the second is next.
    first: Option<bool>,
}

impl Order {
    pub(crate) fn new(seed: u64) -> Order {
        Order { random: Random::new(seed), first: None }
    }

    /// Whether the next block is A B B A.
    pub(crate) fn next_has_a_outside(&mut self) -> bool {
        if let Some(first) = self.first.take() {
            return !first;
        }
        *self.first.insert(self.random.coin())
    }
}

fn is_enough(subject: &mut impl Subject, blocks: &[Block], plan: &WindowPlan) -> bool {
    let Some(precision) = plan.precision.filter(|_| Precision::looks_at(blocks.len())) else { return false };
    let pairs = evidence::pairs(blocks, &subject.evidence());
    let (amount, _) = summary::choose(&pairs);
    estimate(&pairs, amount).is_some_and(|estimate| precision.is_reached(&estimate))
}

fn block(subject: &mut impl Subject, a_outside: bool, number: usize, plan: &WindowPlan) -> Result<Block> {
    let (outer, inner) = if a_outside { ((plan.a, 0), (plan.b, 1)) } else { ((plan.b, 1), (plan.a, 0)) };
    let mut window = |(way, side)| window(subject, way, (number, side), plan);
    let first = window(outer)?;
    let between = [window(inner)?, window(inner)?];
    let around = [first, window(outer)?];
    Ok(if a_outside { Block { a: around, b: between } } else { Block { a: between, b: around } })
}

fn window(subject: &mut impl Subject, way: Way, place: (usize, usize), plan: &WindowPlan) -> Result<Span> {
    subject.switch(way);
    subject.wait(plan.skip);
    subject.mark(Some(place))?;
    let from = subject.counts()?;
    subject.wait(plan.window.saturating_sub(plan.skip));
    let to = subject.counts()?;
    subject.mark(None)?;
    Ok(Span { from, to })
}

#[cfg(test)]
#[path = "windows_test.rs"]
mod tests;
