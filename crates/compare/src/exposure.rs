//! Work of known steps: each is set beside the share of its time in which one side was on.
//!
//! Steps of one kind do the same work, so that their CPU time says how fast they were. A window that had to hold whole calls of
//! many threads would be seconds long, and a machine's speed wanders by more than what is looked for in seconds. So windows are
//! shorter than a call, and the logarithm of a step's CPU time is regressed on its *exposure*: the share of its running time on side
//! a. What a kind takes, and what all steps of the same moments take, is removed from both first. A step counts for as much as its kind takes:
//! the result is of all work, and chance weighs most in short steps. One that takes ten times as long as its like moves the result no more
//! than one of two and a half deviations (Huber's estimator, in one step).

use crate::block::{Block, Span};
use jvm::calls::Call;
use jvm::stops::{self, Stop};
use std::collections::BTreeMap;
use std::time::Duration;

/// So many steps for each block on average, or they say nothing.
const FEWEST_STEPS: usize = 4;
/// Where Huber's function bends, in deviations.
const BEND: f64 = 2.5;
/// The median distance from the middle, of a normal distribution's deviation.
const MEDIAN_DEVIATION: f64 = 0.6745;

/// What the steps around one block say: the logarithm of CPU time for the same work, a over b, is the sum of all blocks' `moved`
/// over the sum of their `weight`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Exposed {
    pub moved: f64,
    pub weight: f64,
}

/// A step, as the regression sees it.
struct Observation {
    kind: u32,
    /// The middle of its time.
    at: f64,
    /// The logarithm of its CPU time.
    cost: f64,
    /// The share of its running time on side a.
    exposure: f64,
    /// Seconds of CPU time that its kind takes on average.
    weight: f64,
}

/// What the steps say of each block. `None` where they are too few.
pub fn of_blocks(blocks: &[Block], steps: &[Call], stops: &[Stop]) -> Option<Vec<Exposed>> {
    let mut seen = observations(blocks, steps, stops);
    if seen.len() < FEWEST_STEPS * blocks.len() {
        return None;
    }
    seen.sort_by(|one, other| one.at.total_cmp(&other.at));
    let starts: Vec<f64> = blocks.iter().map(|block| bounds(block).0.as_secs_f64()).collect();
    let length = (seen.last()?.at - starts.first()?) / blocks.len() as f64;
    let costs = alone(&seen, length, |step| step.cost);
    let exposures = alone(&seen, length, |step| step.exposure);

    let weight: f64 = exposures.iter().map(|x| x * x).sum();
    if weight <= 0.0 {
        return None;
    }
    let first = bent(&costs).0.iter().zip(&exposures).map(|(cost, x)| cost * x).sum::<f64>() / weight;
    let left: Vec<f64> = costs.iter().zip(&exposures).map(|(cost, x)| cost - first * x).collect();
    let (left, straight) = bent(&left);
    let mut found = vec![Exposed::default(); blocks.len()];
    for ((step, x), left) in seen.iter().zip(&exposures).zip(left) {
        let block = starts.partition_point(|start| *start <= step.at).saturating_sub(1);
        found[block].moved += x * (first * x + left / straight);
        found[block].weight += x * x;
    }
    Some(found)
}

/// The steps that lie between the first window and the last.
fn observations(blocks: &[Block], steps: &[Call], stops: &[Stop]) -> Vec<Observation> {
    let side = |side: fn(&Block) -> &[Span; 2]| -> Vec<Span> {
        let mut spans: Vec<Span> = blocks.iter().flat_map(side).copied().collect();
        spans.sort_by_key(|span| span.from.at);
        spans
    };
    let (of_a, of_b) = (side(|block| &block.a), side(|block| &block.b));
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return Vec::new() };
    let (begin, end) = (bounds(first).0, bounds(last).1);
    let inside = steps.iter().filter(|step| step.begin >= begin && step.end <= end && !step.cpu.is_zero());
    let observed = |step: &Call| {
        let (a, b) = (running(&of_a, step, stops), running(&of_b, step, stops));
        (a + b > 0.0).then(|| Observation {
            kind: step.kind,
            at: (step.begin + step.end).as_secs_f64() / 2.0,
            cost: step.cpu.as_secs_f64().ln(),
            exposure: a / (a + b),
            weight: step.cpu.as_secs_f64(),
        })
    };
    let mut seen: Vec<Observation> = inside.filter_map(observed).collect();
    let kinds = of_kinds(&seen, |step| step.weight);
    for step in &mut seen {
        step.weight = kinds[&step.kind];
    }
    seen
}

fn bounds(block: &Block) -> (Duration, Duration) {
    let spans = || block.a.iter().chain(&block.b);
    let begin = spans().map(|span| span.from.at).min().unwrap_or_default();
    (begin, spans().map(|span| span.to.at).max().unwrap_or_default())
}

/// Seconds of these windows in which a step could run. They are in the order of time.
fn running(spans: &[Span], step: &Call, stops: &[Stop]) -> f64 {
    let first = spans.partition_point(|span| span.to.at <= step.begin);
    let within = spans[first..].iter().take_while(|span| span.from.at < step.end);
    let seconds = |span: &Span| {
        let (from, to) = (span.from.at.max(step.begin), span.to.at.min(step.end));
        to.saturating_sub(from).as_secs_f64() - stops::between(stops, from, to).seconds
    };
    within.map(seconds).sum::<f64>().max(0.0)
}

/// A value's mean in each kind.
fn of_kinds(steps: &[Observation], value: impl Fn(&Observation) -> f64) -> BTreeMap<u32, f64> {
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for step in steps {
        let (count, sum) = sums.entry(step.kind).or_default();
        *count += 1.0;
        *sum += value(step);
    }
    sums.into_iter().map(|(kind, (count, sum))| (kind, sum / count)).collect()
}

/// What is a step's alone: without what its kind has on average, and then without what its neighbours within `near` seconds
/// have, times the root of its weight. Being linear, it leaves an effect of exposure on cost what it is.
fn alone(steps: &[Observation], near: f64, value: fn(&Observation) -> f64) -> Vec<f64> {
    let kinds = of_kinds(steps, value);
    let own: Vec<f64> = steps.iter().map(|step| value(step) - kinds[&step.kind]).collect();
    // Sums up to each step, so that a mean of neighbours is one difference.
    let mut sums = vec![(0.0, 0.0)];
    sums.extend(own.iter().zip(steps).scan((0.0, 0.0), |(sum, weight), (value, step)| {
        *sum += step.weight * value;
        *weight += step.weight;
        Some((*sum, *weight))
    }));
    let without = |(value, step): (&f64, &Observation)| {
        let from = steps.partition_point(|other| other.at < step.at - near);
        let to = steps.partition_point(|other| other.at <= step.at + near);
        let (sum, weight) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        step.weight.sqrt() * (value - sum / weight)
    };
    own.iter().zip(steps).map(without).collect()
}

/// Values cut off at the bend, and the share that was not.
fn bent(values: &[f64]) -> (Vec<f64>, f64) {
    let mut sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let bend = BEND * sizes.get(sizes.len() / 2).copied().unwrap_or_default() / MEDIAN_DEVIATION;
    let straight = sizes.partition_point(|size| *size <= bend).max(1);
    let cut = values.iter().map(|value| value.clamp(-bend, bend)).collect();
    (cut, straight as f64 / values.len().max(1) as f64)
}

#[cfg(test)]
#[path = "exposure_test.rs"]
mod tests;
