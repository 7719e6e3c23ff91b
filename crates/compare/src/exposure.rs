//! Calls that are longer than windows: each is set beside the share of its time in which one side was on.
//!
//! Calls of one kind do the same work, so that their CPU time says how fast they were. A window that had to hold whole calls of
//! many threads would be seconds long, and a machine's speed wanders by more than what is looked for in seconds. So windows are as
//! short as a call, and the logarithm of a call's CPU time is regressed on its *exposure*: the share of its running time on side
//! a. What a kind takes, and what all calls of the same moments take, is removed from both first. A call that takes
//! ten times as long as its like moves the result no more than one of two and a half deviations (Huber's estimator, in one step).

use crate::evidence::{Block, Span};
use jvm::calls::Call;
use jvm::stops::{self, Stop};
use std::collections::BTreeMap;
use std::time::Duration;

/// So many calls for each block on average, or they say nothing.
const FEWEST_CALLS: usize = 4;
/// Where Huber's function bends, in deviations.
const BEND: f64 = 2.5;
/// The median distance from the middle, of a normal distribution's deviation.
const MEDIAN_DEVIATION: f64 = 0.6745;

/// What the calls around one block say: the logarithm of CPU time for the same work, a over b, is the sum of all blocks' `moved`
/// over the sum of their `weight`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Exposed {
    pub moved: f64,
    pub weight: f64,
}

/// A call, as the regression sees it.
struct Observation {
    kind: u32,
    /// The middle of its time.
    at: f64,
    /// The logarithm of its CPU time.
    cost: f64,
    /// The share of its running time on side a.
    exposure: f64,
}

/// What the calls say of each block. `None` where they are too few.
pub fn of_blocks(blocks: &[Block], calls: &[Call], stops: &[Stop]) -> Option<Vec<Exposed>> {
    let mut seen = observations(blocks, calls, stops);
    if seen.len() < FEWEST_CALLS * blocks.len() {
        return None;
    }
    seen.sort_by(|one, other| one.at.total_cmp(&other.at));
    let starts: Vec<f64> = blocks.iter().map(|block| bounds(block).0.as_secs_f64()).collect();
    let length = (seen.last()?.at - starts.first()?) / blocks.len() as f64;
    let costs = alone(&seen, length, |call| call.cost);
    let exposures = alone(&seen, length, |call| call.exposure);

    let weight: f64 = exposures.iter().map(|x| x * x).sum();
    if weight <= 0.0 {
        return None;
    }
    let first = bent(&costs).0.iter().zip(&exposures).map(|(cost, x)| cost * x).sum::<f64>() / weight;
    let left: Vec<f64> = costs.iter().zip(&exposures).map(|(cost, x)| cost - first * x).collect();
    let (left, straight) = bent(&left);
    let mut found = vec![Exposed::default(); blocks.len()];
    for ((call, x), left) in seen.iter().zip(&exposures).zip(left) {
        let block = starts.partition_point(|start| *start <= call.at).saturating_sub(1);
        found[block].moved += x * (first * x + left / straight);
        found[block].weight += x * x;
    }
    Some(found)
}

/// The calls that lie between the first window and the last.
fn observations(blocks: &[Block], calls: &[Call], stops: &[Stop]) -> Vec<Observation> {
    let side = |side: fn(&Block) -> &[Span; 2]| -> Vec<Span> {
        let mut spans: Vec<Span> = blocks.iter().flat_map(side).copied().collect();
        spans.sort_by_key(|span| span.from.at);
        spans
    };
    let (of_a, of_b) = (side(|block| &block.a), side(|block| &block.b));
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return Vec::new() };
    let (begin, end) = (bounds(first).0, bounds(last).1);
    let inside = calls.iter().filter(|call| call.begin >= begin && call.end <= end && !call.cpu.is_zero());
    let observed = |call: &Call| {
        let (a, b) = (running(&of_a, call, stops), running(&of_b, call, stops));
        (a + b > 0.0).then(|| Observation {
            kind: call.kind,
            at: (call.begin + call.end).as_secs_f64() / 2.0,
            cost: call.cpu.as_secs_f64().ln(),
            exposure: a / (a + b),
        })
    };
    inside.filter_map(observed).collect()
}

fn bounds(block: &Block) -> (Duration, Duration) {
    let spans = || block.a.iter().chain(&block.b);
    let begin = spans().map(|span| span.from.at).min().unwrap_or_default();
    (begin, spans().map(|span| span.to.at).max().unwrap_or_default())
}

/// Seconds of these windows in which a call could run. They are in the order of time.
fn running(spans: &[Span], call: &Call, stops: &[Stop]) -> f64 {
    let first = spans.partition_point(|span| span.to.at <= call.begin);
    let within = spans[first..].iter().take_while(|span| span.from.at < call.end);
    let seconds = |span: &Span| {
        let (from, to) = (span.from.at.max(call.begin), span.to.at.min(call.end));
        to.saturating_sub(from).as_secs_f64() - stops::between(stops, from, to).seconds
    };
    within.map(seconds).sum::<f64>().max(0.0)
}

/// What is a call's alone: without what its kind has on average, and then without what its neighbours within `near` seconds
/// have. Being linear, it leaves an effect of exposure on cost what it is.
fn alone(calls: &[Observation], near: f64, value: fn(&Observation) -> f64) -> Vec<f64> {
    let mut kinds: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for call in calls {
        let (count, sum) = kinds.entry(call.kind).or_default();
        *count += 1.0;
        *sum += value(call);
    }
    let own =
        |call: &Observation| kinds.get(&call.kind).map_or(0.0, |(count, sum)| value(call) - sum / count);
    let own: Vec<f64> = calls.iter().map(own).collect();
    // Sums up to each call, so that a mean of neighbours is one difference.
    let mut sums = vec![0.0];
    sums.extend(own.iter().scan(0.0, |sum, value| {
        *sum += value;
        Some(*sum)
    }));
    let without = |(value, call): (&f64, &Observation)| {
        let from = calls.partition_point(|other| other.at < call.at - near);
        let to = calls.partition_point(|other| other.at <= call.at + near);
        value - (sums[to] - sums[from]) / (to - from) as f64
    };
    own.iter().zip(calls).map(without).collect()
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
