//! How a JVM comes to the end of its memory: full collections and time before the error, terrace's defaults against stock.

use crate::files::{at, text};
use crate::maven::compile;
use crate::measure::{keep, publish};
use crate::places::installed;
use crate::shell::root;
use crate::{build, child, jdks};
use jvm::jdk::{Collector, Jdk};
use jvm::os::Exit;
use jvm::{Error, Result};
use present::numbers::{self, three};
use present::table::{Table, columns};
use serde_json::{Value, json};
use statistics::Interval;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Options of `exhaust`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Pairs of runs per row, at least 4.
    #[arg(long, default_value_t = 9)]
    pairs: usize,

    /// Only this collector: serial, parallel, g1 or shenandoah.
    #[arg(long, value_parser = collector)]
    gc: Option<Collector>,

    /// Only JDKs of this feature version.
    #[arg(long)]
    jdk: Option<u32>,

    /// Only elements with this number of references, 60 or 2: with Shenandoah of JDK 17 a run of the smallest takes five minutes.
    #[arg(long)]
    words: Option<u32>,

    /// The heap of each JVM.
    #[arg(long, default_value = HEAP, value_parser = jvm::size::parse)]
    heap: u64,

    /// So many positions of the list, with one pair each instead of --pairs: garbage comes before it, from none to 512 KB; the ratios
    /// are of sums. With Parallel the count of full collections depends on where the last objects lie in its regions.
    #[arg(long, value_parser = clap::value_parser!(u64).range(4..=512))]
    positions: Option<u64>,
}

fn collector(text: &str) -> std::result::Result<Collector, Error> {
    text.parse()
}

/// The heap, unless another is asked for: small enough to be full soon, large enough for G1's regions and Shenandoah's.
const HEAP: &str = "48m";
/// Of fewer no ratio of medians has an interval.
const FEWEST_PAIRS: usize = 4;
/// What is too much against stock.
const LIMIT: f64 = 1.2;
/// KB of a region of Parallel's (64 K words): after so much more garbage the objects lie in the same places of their regions.
const REGION: u64 = 512;
/// Rows of one position that may be above it: by chance, as docs/results/out-of-memory.md explains.
const KNOWN: (Collector, u32) = (Collector::Parallel, 21);
/// References in an element of the list: large elements, and the smallest.
const WORDS: [u32; 2] = [60, 2];

/// One run: how often the whole heap was collected, and what it took.
struct Run {
    full: f64,
    cpu_seconds: f64,
    seconds: f64,
}

/// Fills a heap, by a list of elements with so many references after so many KB of garbage. Its log lies in a folder of its own: another `exhaust` may be running.
fn once(jdk: &Jdk, flags: &[String], agent: Option<&str>, classes: &Path, list: [u64; 2]) -> Result<Run> {
    let place = tempfile::tempdir().map_err(at(Path::new("a temporary directory")))?;
    let log = place.path().join("gc.log");
    let mut command = Command::new(jdk.java());
    command.args(agent).args(flags).arg(format!("-Xlog:gc:file={}", log.display()));
    command.arg("-cp").arg(classes).arg("Exhaust").args(list.map(|argument| argument.to_string()));
    command.stdout(Stdio::null());
    let since = Instant::now();
    let exit = to_its_end(jdk, &mut command)?;
    let seconds = since.elapsed().as_secs_f64();
    let full = text(&log)?.matches("Pause Full").count() as f64;
    Ok(Run { full, cpu_seconds: exit.cpu.as_secs_f64(), seconds })
}

/// Runs a JVM to its end; what the system has accounted. An exit code other than 0 is an error.
fn to_its_end(jdk: &Jdk, command: &mut Command) -> Result<Exit> {
    let mut java = command.spawn().map_err(|error| Error::failed(format!("{}: {error}", jdk.describe())))?;
    let exit = child::ended(&java)?;
    match child::wait(&mut java)?.success() {
        true => Ok(exit),
        false => Err(Error::failed("java failed; see its output above")),
    }
}

/// The runs of a row: ours and stock's, pair by pair.
#[derive(Default)]
struct Pairs([Vec<Run>; 2]);

impl Pairs {
    fn of(&self, figure: fn(&Run) -> f64) -> [Vec<f64>; 2] {
        self.0.each_ref().map(|runs| runs.iter().map(figure).collect())
    }

    /// Ours over stock's: of the medians where the list lies in one position, else of the sums over the positions.
    fn ratio(&self, figure: fn(&Run) -> f64, one_position: bool) -> Result<Interval> {
        let [ours, stock] = self.of(figure);
        let ratio = if one_position {
            statistics::ratio_of_medians(&stock, &ours, 1)
        } else {
            let pairs: Vec<[f64; 2]> = ours.into_iter().zip(stock).map(<[f64; 2]>::from).collect();
            statistics::trimmed::ratio_of_sums(&pairs)
        };
        ratio.ok_or_else(|| Error::failed("a ratio has no interval: a JVM took no measurable time"))
    }

    fn middle(&self, figure: fn(&Run) -> f64, one_position: bool) -> [f64; 2] {
        self.of(figure).map(|values| {
            let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
            if one_position { statistics::median(&values).unwrap_or(0.0) } else { mean }
        })
    }
}

/// Of one full collection and none, the ratio is of one and one.
fn at_least_one(run: &Run) -> f64 {
    run.full.max(1.0)
}

/// Bytes of an element of the list with so many references: a header of 16 and compressed references, to the heap's grain.
fn bytes(words: u32) -> u32 {
    (16 + 4 * words).next_multiple_of(8)
}

/// A row as it is kept: `ratios` are of full collections, CPU time and elapsed time.
fn kept(
    jdk: &Jdk,
    collector: Collector,
    words: u32,
    arguments: &Arguments,
    pairs: &Pairs,
    ratios: &[Interval; 3],
) -> Value {
    let one_position = arguments.positions.is_none();
    let heap = jvm::size::format(arguments.heap);
    let heap = arguments.positions.map_or(heap.clone(), |count| format!("{heap}, {count} positions, means"));
    let counts = pairs.of(|run| run.full);
    let middles = pairs.middle(|run| run.full, one_position);
    let side = |at: usize| {
        let end = |of: fn(f64, f64) -> f64| counts[at].iter().copied().reduce(of);
        json!({ "median": middles[at], "low": end(f64::min), "high": end(f64::max), "values": counts[at] })
    };
    let ratio = |at: usize| {
        let Interval { median, low, high } = ratios[at];
        json!({ "median": median, "low": low, "high": high })
    };
    json!({ "parameters": { "collector": collector.name(), "jdk": jdk.feature, "bytes": bytes(words), "heap": heap },
        "processes": 2 * pairs.0[0].len(),
        "metrics": { "full": side(0), "full_stock": side(1), "full_ratio": ratio(0), "cpu": ratio(1),
            "seconds": ratio(2) } })
}

/// Where a row is, against [`LIMIT`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// As far as the intervals tell.
    Below,
    /// An interval includes it.
    Open,
    Above,
    KnownAbove,
}

fn place(ratios: &[Interval; 3], row: (Collector, u32), one_position: bool) -> Place {
    let is_known = one_position && row == KNOWN;
    if ratios.iter().any(|ratio| ratio.low > LIMIT) {
        if is_known { Place::KnownAbove } else { Place::Above }
    } else if ratios.iter().any(|ratio| ratio.high > LIMIT) {
        Place::Open
    } else {
        Place::Below
    }
}

/// Says which rows are above the limit, and which may be. One that is above and not known is an error: whoever calls this sees it in the exit code.
fn conclude(rows: &[(String, Place)]) -> Result<()> {
    let of = |wanted: Place| {
        let names: Vec<&str> =
            rows.iter().filter(|(_, place)| *place == wanted).map(|(name, _)| name.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join("; ") }
    };
    let above = of(Place::Above);
    println!("rows above {LIMIT}: {above}");
    println!("rows above {LIMIT} that are known (docs/results/out-of-memory.md): {}", of(Place::KnownAbove));
    println!("rows whose interval includes {LIMIT} (use more --pairs): {}", of(Place::Open));
    match rows.iter().any(|(_, place)| *place == Place::Above) {
        true => Err(Error::failed(format!(
            "above {LIMIT} of a stock JVM: {above}; repeat it with more --pairs, and find the cause"
        ))),
        false => Ok(()),
    }
}

/// The garbage before the list in each pair, in KB.
fn positions(arguments: &Arguments) -> Vec<u64> {
    match arguments.positions {
        None => vec![0; arguments.pairs],
        Some(count) => (0..count).map(|at| REGION * at / count).collect(),
    }
}

/// Measures in pairs A B B A and shows the medians; an error if a row is too much against stock.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.pairs < FEWEST_PAIRS && arguments.positions.is_none() {
        return Err(Error::usage("--pairs must be 4 or more: of fewer no ratio has an interval"));
    }
    if arguments.words.is_some_and(|words| !WORDS.contains(&words)) {
        return Err(Error::usage("--words must be 60 or 2"));
    }
    jdks::install()?;
    let mut jdks = jdks::measured();
    jdks.retain(|jdk| arguments.jdk.is_none_or(|only| only == jdk.feature));
    if jdks.is_empty() {
        return Err(Error::usage(
            "this JDK is not found, or not measured: choose --jdk 17, 21 or 25 (21: cargo xtask jdks)",
        ));
    }
    build::all()?;
    let classes = root().join("target/terrace/exhaust");
    compile("xtask/src/exhaust/Exhaust.java", &classes)?;
    let agent = format!("-agentpath:{}", installed().agent()?.display());
    let one_position = arguments.positions.is_none();
    let positions = positions(arguments);
    let mut rows =
        Table::new(["terrace : stock", "full collections", "ratio", "CPU s", "ratio", "s", "ratio"]);
    let (mut cells, mut places) = (Vec::new(), Vec::new());
    let collectors = [Collector::Serial, Collector::Parallel, Collector::G1, Collector::Shenandoah];
    for jdk in &jdks {
        for collector in collectors.into_iter().filter(|gc| arguments.gc.is_none_or(|only| only == *gc)) {
            let Ok(flags) = jdk.select(collector) else {
                eprintln!("skipped: {} on {}: not in this build", collector.name(), jdk.describe());
                continue;
            };
            for words in WORDS.into_iter().filter(|words| arguments.words.is_none_or(|only| only == *words)) {
                let name = format!("{} {}, {words} words", collector.name(), jdk.feature);
                let mut pairs = Pairs::default();
                let flags = [flags.clone(), vec![format!("-Xmx{}", arguments.heap)]].concat();
                for (pair, garbage) in positions.iter().enumerate() {
                    eprintln!("{name}: pair {} of {}", pair + 1, positions.len());
                    for side in if pair % 2 == 0 { [0, 1] } else { [1, 0] } {
                        let option = (side == 0).then_some(agent.as_str());
                        pairs.0[side].push(once(jdk, &flags, option, &classes, [words.into(), *garbage])?);
                    }
                }
                let figures: [fn(&Run) -> f64; 3] = [at_least_one, |run| run.cpu_seconds, |run| run.seconds];
                let [full, cpu, wall] = figures.map(|figure| pairs.ratio(figure, one_position));
                let ratios = [full?, cpu?, wall?];
                let counted: [fn(&Run) -> f64; 3] = [|run| run.full, figures[1], figures[2]];
                let middles = counted.map(|figure| pairs.middle(figure, one_position));
                let mut row = vec![name.clone()];
                for ([ours, stock], ratio) in middles.iter().zip(&ratios) {
                    row.extend([format!("{} : {}", three(*ours), three(*stock)), numbers::ratio(ratio)]);
                }
                eprintln!("{}", row.join("  "));
                places.push((name, place(&ratios, (collector, jdk.feature), one_position)));
                rows.push(row);
                cells.push(kept(jdk, collector, words, arguments, &pairs, &ratios));
                // Whoever stops it has the rows that are done.
                keep("exhaust", &cells)?;
            }
        }
    }
    print!("{}", rows.text(columns()));
    let kind = if one_position { "medians" } else { "means over positions" };
    println!(
        "{kind} of {} runs each, one growing list, -Xmx{}; ratios with 95 % intervals",
        positions.len(),
        jvm::size::format(arguments.heap)
    );
    // What was measured is kept in any case.
    publish("exhaust", &cells)?;
    conclude(&places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(positions: Option<u64>) -> Arguments {
        Arguments { pairs: 3, gc: None, jdk: None, words: None, heap: 48 << 20, positions }
    }

    #[test]
    fn positions_are_one_or_evenly_apart_in_a_region() {
        assert_eq!(positions(&arguments(None)), [0; 3]);
        assert_eq!(positions(&arguments(Some(4))), [0, 128, 256, 384]);
    }

    #[test]
    fn a_row_that_is_above_the_limit_and_not_known_is_an_error() {
        let ratio = |low, high| Interval { median: (low + high) / 2.0, low, high };
        let one = ratio(0.9, 1.1);
        let row =
            |collector, jdk, worst, one_position| place(&[one, worst, one], (collector, jdk), one_position);
        assert_eq!(row(Collector::Serial, 17, one, true), Place::Below);
        assert_eq!(row(Collector::Serial, 17, ratio(1.1, 1.3), true), Place::Open);
        assert_eq!(row(Collector::Serial, 17, ratio(1.21, 1.3), true), Place::Above);
        assert_eq!(row(Collector::Parallel, 21, ratio(1.6, 1.8), true), Place::KnownAbove);
        assert_eq!(row(Collector::Parallel, 21, ratio(1.6, 1.8), false), Place::Above, "over all positions");
        assert_eq!(row(Collector::Parallel, 21, one, true), Place::Below);
        assert_eq!(row(Collector::Parallel, 25, ratio(1.6, 1.8), true), Place::Above);
        let rows = |places: &[Place]| -> Vec<_> {
            places.iter().enumerate().map(|(at, place)| (format!("row {at}"), *place)).collect()
        };
        assert!(conclude(&rows(&[Place::Below, Place::Open, Place::KnownAbove])).is_ok());
        let error = conclude(&rows(&[Place::Below, Place::Above, Place::Above])).unwrap_err().to_string();
        assert!(error.contains("row 1; row 2"), "{error}");
    }

    #[test]
    fn what_is_known_is_documented() {
        let page = include_str!("../../docs/results/out-of-memory.md");
        let (collector, jdk) = KNOWN;
        assert_eq!(collector, Collector::Parallel);
        assert!(page.contains(&format!("**Parallel of JDK {jdk}**")));
    }

    #[test]
    fn a_row_is_kept_with_its_counts_and_without_places() {
        let run = |full| Run { full, cpu_seconds: 1.0, seconds: 1.0 };
        let pairs = Pairs([[8.0, 27.0, 4.0].map(run).into(), [4.0, 9.0, 9.0].map(run).into()]);
        let Some(jdk) = jvm::jdk::discover().pop() else {
            skips::skip!("a JDK: not found");
            return;
        };
        let ratio = Interval { median: 0.9, low: 0.5, high: 1.5 };
        let row = |positions| kept(&jdk, Collector::Parallel, 60, &arguments(positions), &pairs, &[ratio; 3]);
        let one = row(None);
        assert_eq!(
            one["parameters"],
            json!({ "collector": "parallel", "jdk": jdk.feature, "bytes": 256, "heap": "48m" })
        );
        assert_eq!(one["processes"], 6);
        assert_eq!(
            one["metrics"]["full"],
            json!({ "median": 8.0, "low": 4.0, "high": 27.0, "values": [8.0, 27.0, 4.0] })
        );
        assert_eq!(one["metrics"]["seconds"], json!({ "median": 0.9, "low": 0.5, "high": 1.5 }));
        assert_eq!(row(Some(64))["parameters"]["heap"], "48m, 64 positions, means");
        assert_eq!([bytes(60), bytes(2)], [256, 24]);
    }

    #[test]
    fn one_position_gives_medians_and_several_give_means() {
        let run = |full| Run { full, cpu_seconds: 1.0, seconds: 1.0 };
        let pairs = Pairs([[8.0, 27.0, 4.0].map(run).into(), [4.0, 9.0, 9.0].map(run).into()]);
        assert_eq!(pairs.middle(|run| run.full, true), [8.0, 9.0]);
        assert_eq!(pairs.middle(|run| run.full, false), [13.0, 22.0 / 3.0]);
        let mean = pairs.ratio(at_least_one, false).unwrap().median;
        assert!((mean - 39.0 / 22.0).abs() < 1e-9, "{mean}");
    }
}
