//! From pairs to ratios that can tell 3 % in one process: what a pause did to the window in whose time it fell is taken out, and
//! pauses are charged to both sides evenly, by how much of the heap they use up.
//!
//! A collection falls into one window, but its garbage is of many: its time says nothing of the side whose turn it was. So
//! there are three quantities, each with what it alone is good for:
//!
//! - the rate of the *application's* work while it may run: for each second outside of stops, and for each second of its
//!   threads' own CPU time, in which collectors and compilers have no part. Of each pair the logarithm of the ratio; of
//!   these the trimmed mean, which bursts of other work do not move;
//! - heap used up for the same work: what threads got, and what was wasted. A collection comes when eden is used up, so that this
//!   tells in every window what counting collections would tell after hundreds of them;
//! - the pauses' time for each byte used up, over both sides together; of few pauses it is hardly known, and the interval says so.
//!
//! What trimming leaves out could be an effect that is rare and large. So the plain ratio of all work in all time is kept
//! beside it; where the two disagree, there is one.
//!
//! Windows are times: a pause may last as long as one or several of them. A pair with such a window has no ratio of its own, but its
//! time, its pauses and the other side's work are in all sums: who leaves it out charges the longest pauses to nobody.

use crate::exposure::Exposed;
use crate::measure::{Amount, Measure, Pair};
use serde::{Deserialize, Serialize};
use statistics::Interval;
use statistics::trimmed::{standard_error, student, trimmed};

/// What pairs in one process say of side a, beside side b.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Pairs with work on both sides: those that have a ratio. The others are in the sums only.
    pub pairs: usize,
    /// Work for each second, stops for collections charged evenly by the heap used up.
    pub per_second: Interval,
    /// Work for each second in which the threads were not stopped.
    pub per_running_second: Interval,
    /// Work for each second of the application threads' own CPU time. `null` when that could not be read.
    pub per_application_second: Option<Interval>,
    /// Heap used up for the same work, which is what collections come to. `null` when the buffers were not counted.
    pub heap_use: Option<Interval>,
    /// Pauses counted for the same work. `null` when they are not known, or too few to compare.
    pub pauses: Option<Interval>,
    /// All work in all time, nothing left out and nothing charged.
    pub all_windows: Interval,
    /// Share of the time in which the threads stood still, of a and b.
    pub stopped: Option<[f64; 2]>,
}

/// Pairs with a ratio from which they are compared.
const FEWEST_RATIOS: usize = 2;
/// Pauses on a side from which they are compared.
const FEWEST_PAUSES: f64 = 5.0;
/// Less than this is none: of a pause at the end of a window a part may lie in it.
const LEAST_PAUSE: f64 = 0.5;
/// What pauses move a ratio by before it is said that they are few.
const LEAST_MOVED: f64 = 0.002;

/// The logarithm of a ratio, and what each pair has moved it by.
struct Logarithm {
    value: f64,
    influence: Vec<f64>,
    freedom: usize,
    /// Half of the interval's width that comes of what is not a pair's: pauses, which are fewer.
    beside: f64,
}

impl Logarithm {
    fn interval(&self) -> Interval {
        let half = (student(self.freedom) * standard_error(&self.influence)).hypot(self.beside);
        Interval { median: self.value.exp(), low: (self.value - half).exp(), high: (self.value + half).exp() }
    }

    /// The robust one: of each pair's own ratio.
    fn of_pairs(ratios: impl Iterator<Item = Option<f64>>) -> Option<Logarithm> {
        // A pair without a ratio moves nothing; the others keep their places, for sums with what all pairs have.
        let ratios: Vec<Option<f64>> = ratios.map(|ratio| ratio.map(f64::ln)).collect();
        let known: Vec<f64> = ratios.iter().flatten().copied().collect();
        let found = trimmed(&known)?;
        let mut moved = found.influence.into_iter();
        let influence = ratios
            .iter()
            .map(|ratio| if ratio.is_some() { moved.next().unwrap_or_default() } else { 0.0 })
            .collect();
        Some(Logarithm { value: found.mean, influence, freedom: found.freedom, beside: 0.0 })
    }

    /// Of one sum over another, both over all pairs.
    fn of_sums(above: &[f64], below: &[f64]) -> Option<Logarithm> {
        let (of_above, of_below) = (above.iter().sum::<f64>(), below.iter().sum::<f64>());
        if !(of_above > 0.0 && of_below > 0.0) {
            return None;
        }
        let influence = above.iter().zip(below).map(|(a, b)| a / of_above - b / of_below).collect();
        Some(Logarithm {
            value: (of_above / of_below).ln(),
            influence,
            freedom: above.len().saturating_sub(1),
            beside: 0.0,
        })
    }

    fn plus(mut self, factor: f64, other: &Logarithm) -> Logarithm {
        self.value += factor * other.value;
        self.move_by(factor, other);
        self
    }

    /// Work for each second, of work for each second of running: `share` is the seconds of pauses for one of those on both sides together, and comes on each
    /// as often as the heap is used up, `used` for the same work.
    fn slow_by_pauses(&mut self, share: &Cost, used: &Logarithm) {
        let often = (self.value + used.value) / 2.0;
        let (of_a, of_b) = (share.each * often.exp(), share.each * (-often).exp());
        let slope = (of_a / (1.0 + of_a) + of_b / (1.0 + of_b)) / 2.0;
        self.value += (1.0 + of_b).ln() - (1.0 + of_a).ln();
        let running = self.influence.clone();
        for ((own, running), used) in self.influence.iter_mut().zip(running).zip(&used.influence) {
            *own -= slope * (running + used);
        }
        self.beside = share.half_width * (of_b / (1.0 + of_b) - of_a / (1.0 + of_a)).abs();
    }

    fn move_by(&mut self, factor: f64, other: &Logarithm) {
        for (own, moved) in self.influence.iter_mut().zip(&other.influence) {
            *own += factor * moved;
        }
    }
}

/// Seconds of pauses for each unit of what they come from, on both sides together.
struct Cost {
    each: f64,
    /// Half of the width of its logarithm's interval.
    half_width: f64,
}

/// A number of events at even distances in a stretch that begins and ends anywhere is off by less than one: its standard deviation.
const COUNTED: f64 = 0.408;

impl Cost {
    /// The estimate of a renewal process: from one pause to the next is one observation, of its seconds and of what it took to come. So a
    /// pause that comes whenever eden is full is known better than one that comes at any time; of two alone hardly anything is known.
    /// What comes before the first and behind the last is one observation, too. `begun` is how many pauses began in a pair.
    fn of(pauses: &[f64], begun: &[f64], causes: &[f64]) -> Option<Cost> {
        let [seconds, all, count] = [pauses, causes, begun].map(|values| values.iter().sum::<f64>());
        if !(seconds > 0.0 && all > 0.0) {
            return None;
        }
        let (mut cycles, mut before) = (Vec::new(), 0.0);
        for ((pause, cause), begun) in pauses.iter().zip(causes).zip(begun) {
            if *begun > 0.0 {
                cycles.push(0.0);
            }
            *cycles.last_mut().unwrap_or(&mut before) += pause / seconds - cause / all;
        }
        match cycles.last_mut() {
            Some(last) => *last += before,
            None => cycles.push(before),
        }
        let deviation = standard_error(&cycles).hypot(COUNTED / count.max(1.0));
        Some(Cost { each: seconds / all, half_width: student((cycles.len() - 1).max(1)) * deviation })
    }
}

/// Seconds in which the threads were not stopped.
fn running(measure: &Measure) -> Option<f64> {
    let stopped = measure.stopped.map_or(0.0, |stopped| stopped.seconds);
    Some(measure.seconds - stopped).filter(|seconds| *seconds > 0.0)
}

/// Bytes of the heap that were used up: handed out to threads, or wasted on the way.
fn used_up(measure: &Measure) -> Option<f64> {
    measure.waste.map(|waste| (waste.of_bytes + waste.total()) as f64)
}

fn application(measure: &Measure) -> Option<f64> {
    measure.application_cpu_seconds.filter(|seconds| *seconds > 0.0)
}

/// Work for each second of the application's CPU time.
fn for_cpu(amount: Amount, measure: &Measure) -> Option<f64> {
    Some(amount.of(measure)? / application(measure)?)
}

/// Work for each second in which the threads were not stopped.
pub(crate) fn for_running(amount: Amount, measure: &Measure) -> Option<f64> {
    Some(amount.of(measure)? / running(measure)?)
}

/// CPU time for each second in which the threads were not stopped.
fn busy(_: Amount, measure: &Measure) -> Option<f64> {
    Some(application(measure)? / running(measure)?)
}

/// Work for the same CPU time by what steps took, whose work is known exactly.
fn of_steps(pairs: &[Pair], amount: Amount) -> Option<Logarithm> {
    let steps: Vec<Exposed> = pairs.iter().map(|pair| pair.steps).collect::<Option<_>>()?;
    let weight: f64 = steps.iter().map(|block| block.weight).sum();
    if amount != Amount::Operations || weight <= 0.0 {
        return None;
    }
    let cost = steps.iter().map(|block| block.moved).sum::<f64>() / weight;
    let influence = steps.iter().map(|block| (cost * block.weight - block.moved) / weight).collect();
    Some(Logarithm { value: -cost, influence, freedom: steps.len().saturating_sub(1), beside: 0.0 })
}

/// What the pairs say. `None` when fewer than two have work on both sides.
pub fn estimate(pairs: &[Pair], amount: Amount) -> Option<Estimate> {
    let has_ratio = |pair: &&Pair| amount.of(&pair.a).and(amount.of(&pair.b)).is_some();
    let with_ratio = pairs.iter().filter(has_ratio).count();
    if with_ratio < FEWEST_RATIOS {
        return None;
    }
    let ratio = |rate: fn(Amount, &Measure) -> Option<f64>| {
        Logarithm::of_pairs(pairs.iter().map(|pair| Some(rate(amount, &pair.a)? / rate(amount, &pair.b)?)))
    };
    let of = |side: usize, value: &dyn Fn(&Measure) -> Option<f64>| -> Option<Vec<f64>> {
        pairs.iter().map(|pair| value(if side == 0 { &pair.a } else { &pair.b })).collect()
    };
    // Of one for the other. A pair of which either could not be read adds nothing to any of the four sums.
    let each_for = |above: &dyn Fn(&Measure) -> Option<f64>, below: &dyn Fn(&Measure) -> Option<f64>| {
        let both = |measure: &Measure| above(measure).zip(below(measure));
        let known: Vec<_> = pairs.iter().map(|pair| both(&pair.a).zip(both(&pair.b))).collect();
        let sides: Vec<_> = known.into_iter().map(Option::unwrap_or_default).collect();
        let (a, b): (Vec<_>, Vec<_>) = sides.into_iter().unzip();
        let over = |side: Vec<(f64, f64)>| {
            let (above, below): (Vec<f64>, Vec<f64>) = side.into_iter().unzip();
            Logarithm::of_sums(&above, &below)
        };
        Some(over(a)?.plus(-1.0, &over(b)?))
    };
    let work = |measure: &Measure| amount.counted(measure);
    let all_windows = each_for(&work, &|measure| Some(measure.seconds))?;
    // So much CPU time a second, so much work in it.
    let (cpu, speed, has_steps) = match of_steps(pairs, amount).zip(ratio(busy)) {
        Some((work, busy)) => {
            let speed = busy.plus(1.0, &work);
            (Some(work), speed, true)
        }
        None => (ratio(for_cpu), ratio(for_running)?, false),
    };
    let per_running_second = speed.interval();

    let counted = |side| of(side, &|measure| measure.stopped.map(|stopped| stopped.pauses));
    let paused = |side| of(side, &|measure| measure.stopped.map(|stopped| stopped.pause_seconds));
    let stood = |side| of(side, &|measure| measure.stopped.map(|stopped| stopped.seconds));
    let seconds = |side| of(side, &|measure| Some(measure.seconds));
    let run = |side| of(side, &|measure| running(measure).or(Some(0.0)));
    let sum = |values: &[f64]| values.iter().sum::<f64>();

    let used = of(0, &used_up).zip(of(1, &used_up));
    // Steps of one kind allocate the same, whatever kinds a window happens to hold: then objects are the work.
    let used_for_work = match has_steps {
        true => each_for(&used_up, &|measure| measure.bytes),
        false => each_for(&used_up, &work),
    };
    let heap_use = used_for_work.as_ref().map(Logarithm::interval);

    let mut per_second = speed;
    let mut pauses = None;
    if let (Some(count_a), Some(count_b), Some(pause_a), Some(pause_b)) =
        (counted(0), counted(1), paused(0), paused(1))
    {
        // Collections are counted only where it is not known what they come from.
        let (causes_a, causes_b) =
            used.filter(|(a, b)| sum(a) > 0.0 && sum(b) > 0.0).unwrap_or((count_a.clone(), count_b.clone()));
        let (run_a, run_b) = (run(0)?, run(1)?);
        let (paused, begun) = (each_pair(&pause_a, &pause_b), each_pair(&count_a, &count_b));
        if let Some(used) = used_for_work.as_ref().filter(|_| has_steps) {
            if let Some(share) = Cost::of(&paused, &begun, &each_pair(&run_a, &run_b)) {
                per_second.slow_by_pauses(&share, used);
            }
        } else if let Some(cost) = Cost::of(&paused, &begun, &each_pair(&causes_a, &causes_b)) {
            let mut slopes = 0.0;
            for (sign, causes, run) in [(-1.0, &causes_a, &run_a), (1.0, &causes_b, &run_b)] {
                // Seconds of pauses for each second of running, and what each pair has moved that by.
                if let Some(often) = Logarithm::of_sums(causes, run) {
                    let share = cost.each * often.value.exp();
                    let slope = sign * share / (1.0 + share);
                    per_second.value += sign * (1.0 + share).ln();
                    per_second.move_by(slope, &often);
                    slopes += slope;
                }
            }
            per_second.beside = cost.half_width * f64::abs(slopes);
        }
        if sum(&count_a).min(sum(&count_b)) >= FEWEST_PAUSES {
            pauses = each_for(&|measure| measure.stopped.map(|stopped| stopped.pauses), &work)
                .map(|found| found.interval());
        }
    }
    let share = |side| Some(sum(&stood(side)?) / sum(&seconds(side)?));
    Some(Estimate {
        pairs: with_ratio,
        per_second: per_second.interval(),
        per_running_second,
        per_application_second: cpu.map(|found| found.interval()),
        heap_use,
        pauses,
        all_windows: all_windows.interval(),
        stopped: share(0).zip(share(1)).map(|(a, b)| [a, b]),
    })
}

/// Of each pair both sides together.
fn each_pair(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// That what pauses cost rests on few of them, where it shows; and that it is not known, where none came and the sides come to the next at different times.
pub fn of_few_pauses(pairs: &[Pair], estimate: &Estimate) -> Option<String> {
    let stopped = pairs.iter().flat_map(|pair| [pair.a.stopped, pair.b.stopped]);
    let pauses = stopped.map(|stopped| stopped.map(|stopped| stopped.pauses)).sum::<Option<f64>>()?;
    if pauses < LEAST_PAUSE {
        let differs = estimate.heap_use.is_some_and(|heap| heap.low > 1.0 || heap.high < 1.0);
        return differs.then(|| {
            "no collection came: what they cost is not in the ratio; use a longer --duration".to_owned()
        });
    }
    let moved = estimate.per_second.median / estimate.per_running_second.median;
    (pauses < FEWEST_PAUSES && moved.ln().abs() > LEAST_MOVED).then(|| {
        format!(
            "what collections cost rests on {}: outside of them a/b per second is {}; use a longer --duration",
            if pauses < 1.5 { "a single pause".to_owned() } else { format!("only {pauses:.0} pauses") },
            present::numbers::ratio(&estimate.per_running_second)
        )
    })
}

/// Half of an interval's width, as a share of its middle.
pub fn half_width(interval: &Interval) -> f64 {
    (interval.high / interval.low).ln() / 2.0
}

impl Estimate {
    /// The wider of the two intervals that a precision is asked of.
    pub fn precision(&self) -> f64 {
        let cpu = self.per_application_second.as_ref().map_or(0.0, half_width);
        half_width(&self.per_second).max(cpu)
    }
}

#[cfg(test)]
#[path = "estimate_test.rs"]
mod tests;
