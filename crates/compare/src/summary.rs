//! From pairs to ratios, intervals and the notes that a reader needs.

use crate::estimate::{self, Estimate};
use crate::measure::{Amount, Measure, Pair};
use crate::result::Side;
use jvm::counts::{Requests, Waste};
use jvm::{Error, Result};
use serde_json::Value;
use statistics::{FEW_PAIRS, Interval, bootstrap, scatter, two_heaps};

/// With fewer operations in a measure than this, on average, counting them is too coarse.
const FEWEST_OPERATIONS: f64 = 20.0;
/// Scatter of a side's rates from which a run is called noisy.
const NOISY: f64 = 0.2;

/// What the pairs say.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Pairs used.
    pub pairs: usize,
    /// a over b, each second.
    pub ratio: Interval,
    /// a over b, each CPU-second.
    pub ratio_cpu: Option<Interval>,
    /// Heap used up for the same work, a over b, where each measure is a process of its own.
    pub heap_use: Option<Interval>,
    /// Each pair's ratio.
    pub ratios: Vec<f64>,
    /// Warnings with their remedies.
    pub notes: Vec<String>,
}

/// Operations where they are counted and fine enough, otherwise bytes. The note says why not operations.
pub fn choose(pairs: &[Pair]) -> (Amount, Option<String>) {
    let measures = || pairs.iter().flat_map(|pair| [pair.a, pair.b]);
    let Some(operations) = measures().map(|measure| measure.operations).sum::<Option<f64>>() else {
        return (Amount::Bytes, None);
    };
    let each = operations / (2 * pairs.len()).max(1) as f64;
    if each >= FEWEST_OPERATIONS {
        return (Amount::Operations, None);
    }
    let note = format!(
        "only {each:.1} operations fall into two windows, too few to count, so bytes allocated are compared; for operations use \
         --forks or a longer --window"
    );
    (Amount::Bytes, Some(note))
}

/// The ratios of pairs. `names` are the sides', where each measure is a process of its own, so that each side has to be
/// steady; inside one process only the ratios have to be.
pub fn summarise(pairs: &[Pair], amount: Amount, names: Option<[&str; 2]>, seed: u64) -> Result<Summary> {
    let by_second = if names.is_some() { Amount::rate } else { estimate::for_running };
    let ratio = |rate: fn(Amount, &Measure) -> Option<f64>| {
        pairs
            .iter()
            .filter_map(|pair| Some(rate(amount, &pair.a)? / rate(amount, &pair.b)?))
            .collect::<Vec<f64>>()
    };
    let ratios = ratio(by_second);
    let mut notes = Vec::new();
    let Some(found) = bootstrap(&ratios, seed) else {
        return Err(Error::failed(
            "the program allocated nothing that could be compared; check that it is not idle, and that its memory may be read \
             (kernel.yama.ptrace_scope 0 or 1, the same user)",
        ));
    };
    notes.extend(without_ratio(pairs, amount));
    if ratios.len() < FEW_PAIRS {
        notes.push(format!(
            "only {} pairs: the interval is little more than their range, and no difference is decided; use a longer --duration",
            ratios.len()
        ));
    }
    let cpu = ratio(Amount::cpu_rate);
    let ratio_cpu = if cpu.len() == ratios.len() { bootstrap(&cpu, seed) } else { None };
    if ratio_cpu.is_none() {
        notes.push("CPU time is unavailable: the process's CPU clock could not be read throughout".into());
    }
    let heap = ratio(heap_rate);
    let heap_use = if heap.len() == ratios.len() { bootstrap(&heap, seed) } else { None };
    let heap_use = heap_use.map(|found| widened(found, pairs));
    match names {
        Some(names) => {
            for (side, name) in [0, 1].into_iter().zip(names) {
                let rates = rates(pairs, side, |measure| amount.rate(measure));
                notes.extend(steadiness(&rates, &format!("the rates of '{name}'"), "per second"));
            }
        }
        // What is counted in windows as short as a call is coarse, and nothing rests on it.
        None if pairs.iter().any(|pair| pair.steps.is_some()) => (),
        None => notes.extend(steadiness(&ratios, "the pairs' ratios", "")),
    }
    Ok(Summary { pairs: ratios.len(), ratio: found, ratio_cpu, heap_use, ratios, notes })
}

/// Why pairs have no ratio of their own, where that is so of more than a tenth of them.
fn without_ratio(pairs: &[Pair], amount: Amount) -> Option<String> {
    let count = |is: &dyn Fn(&Pair) -> bool| pairs.iter().filter(|pair| is(pair)).count();
    let unread = count(&|pair| amount.counted(&pair.a).and(amount.counted(&pair.b)).is_none());
    let nothing = |measure: &Measure| amount.counted(measure).is_some_and(|amount| amount <= 0.0);
    let idle = count(&|pair| nothing(&pair.a) || nothing(&pair.b));
    let many = |number: usize| number * 10 > pairs.len();
    let all = pairs.len();
    if many(unread) {
        return Some(format!(
            "in {unread} of {all} pairs the work of one side could not be read, so they count for nothing: threads come and go faster \
             than their accounts can be read; use a program with operations of its own"
        ));
    }
    let done = if amount == Amount::Bytes { "allocated" } else { "done" };
    many(idle).then(|| {
        let (a, b) = (count(&|pair| nothing(&pair.a)), count(&|pair| nothing(&pair.b)));
        format!(
            "in {idle} of {all} pairs nothing was {done} on one side (a in {a}, b in {b}): they have no ratio of their own, only their time and \
             their pauses count; use a longer --window where pauses are as long, and look at all_windows where it is mostly one side"
        )
    })
}

/// Less of the CPUs than this is no load that speed could follow.
const IDLE: f64 = 0.5;

/// That work per second may say nothing: a program that others give its work, such as a server under a load of a fixed rate, does the same on both sides.
/// `running` are the sides that share the CPUs: of two at the same time each has half of them at most.
pub fn of_idle_cpus(running: &[&Side], amount: Amount, cpus: usize) -> Option<String> {
    let busy = |side: &&Side| Some(side.throughput.median / side.throughput_cpu.as_ref()?.median);
    let busy = running.iter().map(busy).sum::<Option<f64>>()?;
    let program = if running.len() > 1 { "both JVMs of the program" } else { "the program" };
    (amount == Amount::Bytes && busy < IDLE * cpus as f64).then(|| {
        format!(
            "{program} used {busy:.2} of {cpus} CPUs: where others decide how much work it gets, work per second is the same on both sides, and \
             work per CPU-second tells more"
        )
    })
}

/// Work for each second of CPU time: in one JVM, where there is an estimate, of the application's own threads or not at all, because collectors
/// and compilers work for both sides; of JVMs apart that of the whole process. And why it is not there.
pub fn of_cpu(
    estimate: Option<&Estimate>,
    process: Option<Interval>,
) -> (Option<Interval>, Option<&'static str>) {
    let Some(estimate) = estimate else { return (process, None) };
    let own = estimate.per_application_second;
    let lacks = own.is_none() && process.is_some();
    let why = "CPU time of the application's own threads is unavailable: /proc/PID/task could not be read throughout, and the whole \
               process's has the collectors' of both sides in it";
    (own, lacks.then_some(why))
}

/// Heap used up for each unit of work.
fn heap_rate(amount: Amount, measure: &Measure) -> Option<f64> {
    Some(measure.heap_used? / amount.of(measure)?)
}

/// An interval of heap used up with what no pair knows: the same on each side in all pairs, so that their scatter does not show it.
fn widened(found: Interval, pairs: &[Pair]) -> Interval {
    let unknown = |side| {
        let shares = rates(pairs, side, |measure| Some(measure.heap_unknown / measure.heap_used?));
        shares.iter().sum::<f64>() / shares.len().max(1) as f64
    };
    let (a, b) = (unknown(0), unknown(1));
    Interval { low: found.low * (1.0 - a) / (1.0 + b), high: found.high * (1.0 + a) / (1.0 - b), ..found }
}

fn rates(pairs: &[Pair], side: usize, rate: impl Fn(&Measure) -> Option<f64>) -> Vec<f64> {
    pairs.iter().filter_map(|pair| rate(if side == 0 { &pair.a } else { &pair.b })).collect()
}

fn steadiness(values: &[f64], what: &str, unit: &str) -> Option<String> {
    if let Some((low, high)) = two_heaps(values) {
        let (low, high) = (present::numbers::count(low), present::numbers::count(high));
        return Some(format!(
            "bimodal: {what} have two modes, around {low} and {high} {unit}, so something other than allocation dominates; try \
             --jvm-arg=-XX:+UseCondCardMark (false sharing of card marks), a longer --warmup or a quieter machine, and compare \
             several runs"
        ).replace(" ,", ","));
    }
    let scatter = scatter(values).filter(|scatter| *scatter > NOISY)?;
    Some(format!(
        "noisy: {what} vary by {:.0} %; stop other work on the machine or use a longer --duration",
        scatter * 100.0
    ))
}

/// One side's totals. `side` 0 is a, 1 is b.
pub fn side(
    pairs: &[Pair],
    side: usize,
    amount: Amount,
    name: &str,
    settings: Value,
    flags: Vec<String>,
    seed: u64,
) -> Side {
    let measures: Vec<&Measure> =
        pairs.iter().map(|pair| if side == 0 { &pair.a } else { &pair.b }).collect();
    let sum =
        |of: fn(&Measure) -> Option<f64>| measures.iter().map(|measure| of(measure)).sum::<Option<f64>>();
    let nothing = Interval { median: 0.0, low: 0.0, high: 0.0 };
    let throughput = rates(pairs, side, |measure| amount.rate(measure));
    let throughput_cpu = rates(pairs, side, |measure| amount.cpu_rate(measure));
    let counted = |measures: &[&Measure]| measures.iter().map(|measure| measure.collections).sum();
    let collections: Option<u64> = counted(&measures);
    // For the same work: only where that could be read.
    let known: Vec<&Measure> =
        measures.iter().copied().filter(|measure| amount.counted(measure).is_some()).collect();
    let work: f64 = known.iter().filter_map(|measure| amount.counted(measure)).sum();
    let (work, unit) = match amount {
        Amount::Operations => (work / 1e6, "million operations"),
        Amount::Bytes => (work / 1e9, "GB"),
        Amount::Runs => (work, "run"),
    };
    let wasted = measures.iter().map(|measure| measure.waste).collect::<Option<Vec<Waste>>>();
    let asked = measures.iter().map(|measure| measure.requests).collect::<Option<Vec<Requests>>>();
    Side {
        name: name.to_owned(),
        settings,
        flags,
        throughput: bootstrap(&throughput, seed).unwrap_or(nothing),
        rates: throughput,
        throughput_cpu: bootstrap(&throughput_cpu, seed),
        collections,
        work: Some(work).filter(|work| *work > 0.0),
        collections_rate: counted(&known).filter(|_| work > 0.0).map(|count| count as f64 / work),
        collections_unit: unit.to_owned(),
        heap_used: sum(|measure| measure.heap_used),
        collection_seconds: sum(|measure| measure.collection_seconds),
        waste: wasted.map(sum_of),
        requests: asked.map(sum_of),
    }
}

fn sum_of<T: Default + std::ops::AddAssign>(all: Vec<T>) -> T {
    all.into_iter().fold(T::default(), |mut total, one| {
        total += one;
        total
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(operations: f64, collections: u64) -> Measure {
        Measure {
            seconds: 1.0,
            cpu_seconds: Some(2.0),
            operations: Some(operations),
            bytes: Some(operations * 1e3),
            collections: Some(collections),
            ..Measure::default()
        }
    }

    fn pairs(count: usize, a: f64, b: f64) -> Vec<Pair> {
        (0..count).map(|_| Pair { a: measure(a, 1), b: measure(b, 4), steps: None }).collect()
    }

    #[test]
    fn a_program_that_waits_for_its_work_is_told() {
        let interval = |median: f64| Interval { median, low: median, high: median };
        let side = |rate: f64, cpu_rate: f64| {
            let pairs = [Pair { a: measure(1.0, 1), b: measure(1.0, 1), steps: None }; 5];
            let side = side(&pairs, 0, Amount::Operations, "", serde_json::Value::Null, vec![], 0);
            Side { throughput: interval(rate), throughput_cpu: Some(interval(cpu_rate)), ..side }
        };
        let told = |side: &Side, amount| of_idle_cpus(&[side], amount, 4);
        assert!(told(&side(100.0, 100.0), Amount::Bytes).unwrap().contains("used 1.00 of 4 CPUs"));
        assert_eq!(told(&side(100.0, 40.0), Amount::Bytes), None, "2.5 CPUs");
        assert_eq!(told(&side(100.0, 100.0), Amount::Operations), None, "they are its own");
        // At the same time each of two has half of two CPUs.
        let together = |of: &Side| of_idle_cpus(&[of, of], Amount::Bytes, 2);
        assert_eq!(together(&side(95.0, 100.0)), None);
        assert!(together(&side(45.0, 100.0)).unwrap().contains("both JVMs of the program used 0.90 of 2"));
    }

    #[test]
    fn ratios_and_collections_for_the_same_work() {
        let pairs = pairs(10, 3e6, 2e6);
        let summary = summarise(&pairs, Amount::Operations, Some(["terrace", "stock"]), 1).unwrap();
        assert_eq!((summary.pairs, summary.ratio.median, summary.ratio_cpu.unwrap().median), (10, 1.5, 1.5));
        assert!(summary.notes.is_empty(), "{:?}", summary.notes);
        let a = side(&pairs, 0, Amount::Operations, "a", Value::Null, vec![], 1);
        let b = side(&pairs, 1, Amount::Operations, "b", Value::Null, vec![], 1);
        assert_eq!((a.collections, b.collections), (Some(10), Some(40)));
        assert_eq!((a.collections_rate, b.collections_rate), (Some(10.0 / 30.0), Some(2.0)));
        assert_eq!((a.work, b.work), (Some(30.0), Some(20.0)));
        assert_eq!(a.waste, None, "not known is not zero");
        let mut unread = pairs.clone();
        unread[3].a.operations = None;
        let a = side(&unread, 0, Amount::Operations, "a", Value::Null, vec![], 1);
        assert_eq!((a.collections, a.collections_rate), (Some(10), Some(9.0 / 27.0)));
    }

    #[test]
    fn operations_that_are_too_few_give_way_to_bytes() {
        assert_eq!(choose(&pairs(10, 100.0, 90.0)), (Amount::Operations, None));
        let (amount, note) = choose(&pairs(10, 3.0, 2.0));
        assert_eq!(amount, Amount::Bytes);
        assert!(note.unwrap().contains("--forks"));
        let uncounted = Pair { a: Measure::default(), b: Measure::default(), steps: None };
        assert_eq!(choose(&[uncounted]), (Amount::Bytes, None));
    }

    #[test]
    fn what_makes_numbers_doubtful_is_said_with_its_remedy() {
        let mut doubtful = pairs(20, 3e6, 2e6);
        for pair in doubtful.iter_mut().step_by(2) {
            pair.b = measure(4e6, 0);
        }
        let notes = summarise(&doubtful, Amount::Operations, Some(["terrace", "stock"]), 1).unwrap().notes;
        assert!(notes.iter().any(|note| note.contains("bimodal: the rates of 'stock'")), "{notes:?}");
        let notes = summarise(&doubtful, Amount::Operations, None, 1).unwrap().notes;
        assert!(
            notes[0].contains("the pairs' ratios have two modes, around 0.750 and 1.50, so"),
            "{notes:?}"
        );
        let few = summarise(&pairs(4, 1e6, 1e6), Amount::Operations, Some(["a", "b"]), 1).unwrap();
        assert!(few.notes[0].contains("only 4 pairs"));
        let noisy: Vec<f64> = (0..20).map(|i| 1.0 + f64::from(i) / 10.0).collect();
        assert!(steadiness(&noisy, "the rates of 'a'", "per second").unwrap().contains("noisy"));
    }

    #[test]
    fn an_idle_program_has_no_ratio() {
        let idle = [Pair { a: Measure::default(), b: Measure::default(), steps: None }; 9];
        assert!(summarise(&idle, Amount::Bytes, Some(["a", "b"]), 1).is_err());
    }

    #[test]
    fn pairs_without_a_ratio_are_said_with_the_side_that_did_nothing() {
        let mut idle = pairs(20, 3e6, 2e6);
        (0..3).for_each(|at| idle[at].a = measure(0.0, 0));
        idle[4].b = measure(0.0, 0);
        let notes = |pairs: &[Pair], amount| summarise(pairs, amount, None, 1).unwrap().notes;
        let found = notes(&idle, Amount::Bytes);
        assert!(
            found[0].contains("in 4 of 20 pairs nothing was allocated on one side (a in 3, b in 1)"),
            "{found:?}"
        );
        assert!(found[0].contains("all_windows") && !found.iter().any(|note| note.contains("CPU time")));
        assert!(notes(&idle, Amount::Operations)[0].contains("nothing was done"));
        assert!(notes(&idle[1..], Amount::Bytes)[0].contains("in 3 of 19"));
        assert!(notes(&idle[3..], Amount::Bytes).is_empty(), "one is not many");
        (0..3).for_each(|at| idle[at].a.bytes = None);
        let found = notes(&idle, Amount::Bytes);
        assert!(found[0].contains("in 3 of 20 pairs the work of one side could not be read"), "{found:?}");
    }

    #[test]
    fn a_count_of_collections_is_not_taken_for_what_a_whole_run_used_up() {
        // 2.99 edens and 3.01 in each run: two collections and three, and then up to an eden.
        let run = |collections: f64| Measure {
            heap_used: Some(collections + 0.5),
            heap_unknown: 0.5,
            ..measure(1.0, collections as u64)
        };
        let pairs = [Pair { a: run(2.0), b: run(3.0), steps: None }; 10];
        let found = summarise(&pairs, Amount::Runs, Some(["a", "b"]), 1).unwrap().heap_use.unwrap();
        assert!(found.low < 2.99 / 3.01 && 2.99 / 3.01 < found.high, "{found:?}");
        // The extremes: 2 over 4 and 3 over 3.
        assert!((found.low - 0.5).abs() < 1e-9 && (found.high - 1.0).abs() < 1e-9, "{found:?}");
        let known = pairs.map(|Pair { a, b, steps }| {
            let of = |measure| Measure { heap_unknown: 0.0, ..measure };
            Pair { a: of(a), b: of(b), steps }
        });
        let found = summarise(&known, Amount::Runs, Some(["a", "b"]), 1).unwrap().heap_use.unwrap();
        assert_eq!((found.low, found.high), (2.5 / 3.5, 2.5 / 3.5));
    }

    #[test]
    fn in_one_jvm_the_cpu_time_is_the_applications_or_none() {
        let pairs = pairs(10, 3e6, 2e6);
        let whole = summarise(&pairs, Amount::Operations, None, 1).unwrap().ratio_cpu;
        let estimate = estimate::estimate(&pairs, Amount::Operations).unwrap();
        assert!(whole.is_some() && estimate.per_application_second.is_none());
        let (ratio, why) = of_cpu(Some(&estimate), whole);
        assert!(ratio.is_none() && why.unwrap().contains("application's own threads is unavailable"));
        assert_eq!(of_cpu(None, whole), (whole, None), "of JVMs apart");
        let own = Estimate { per_application_second: Some(Interval::exactly(2.0)), ..estimate };
        assert_eq!(of_cpu(Some(&own), whole), (Some(Interval::exactly(2.0)), None));
    }

    #[test]
    fn unreadable_cpu_time_is_said_not_guessed() {
        let mut pairs = pairs(10, 1e6, 1e6);
        pairs[3].a.cpu_seconds = None;
        let summary = summarise(&pairs, Amount::Operations, Some(["a", "b"]), 1).unwrap();
        assert_eq!(summary.ratio_cpu, None);
        assert!(summary.notes[0].contains("CPU time is unavailable"));
    }
}
