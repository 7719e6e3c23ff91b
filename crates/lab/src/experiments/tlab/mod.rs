//! `tlab`: what thread-local allocation buffers are worth, after Opsian; and a column that nobody had: no TLABs, but the agent's
//! core buffers.

mod claims;
mod counting;
mod declared;
pub(super) mod simulated;

use crate::Result;
use counting::Counting;
use experiment::jmh::{Jmh, Read};
use experiment::{Bench, Cell, Effort, Experiment, Parameters, Plan, Runner, parameters};
use jvm::agent::{AgentOptions, Levels};
use jvm::jdk::{Collector, Jdk};
use std::time::Duration;

/// Threads with TLABs: HotSpot as it is.
pub(super) const TLAB: &str = "TLAB";
/// `-XX:-UseTLAB`: each object is taken from the heap that all share.
pub(super) const NONE: &str = "none";
/// `-XX:-UseTLAB` with the agent: each object is taken from the core's buffer.
pub(super) const CORE: &str = "core buffers";
/// The source's collector.
pub(super) const PARALLEL: &str = "Parallel";
/// The source's object.
pub(super) const SMALLEST: u32 = 16;
/// The newest supported JDK whose compiled code allocates from the shared heap by itself, without TLABs: 21 has it no more.
pub(super) const INLINE_UNTIL: u32 = 17;

const COLLECTORS: [(Collector, &str); 3] =
    [(Collector::Parallel, PARALLEL), (Collector::Serial, "Serial"), (Collector::G1, "G1")];
const BUFFERS: [&str; 3] = [TLAB, NONE, CORE];
const SIZES: [u32; 3] = [SMALLEST, 48, 144];
/// The young generation in MB.
const YOUNG: usize = 400;
/// Collections are few, and every page is touched before: without TLABs the first pass over eden takes longer than the run.
const HEAP: [&str; 3] = ["-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch"];
/// About how long the heap's pages take to be touched, in seconds.
const TOUCHING: f64 = 0.15;

pub fn experiment() -> Experiment {
    Experiment::new(declared::declaration(), plan, claims::claims, claims::answer)
}

/// What a cell is about.
#[derive(Clone, Copy)]
struct Point {
    collector: (Collector, &'static str),
    bytes: u32,
    threads: u32,
    buffers: &'static str,
}

impl Point {
    fn parameters(self, jdk: &str) -> Parameters {
        parameters([
            ("jdk", jdk.into()),
            ("collector", self.collector.1.into()),
            ("bytes", self.bytes.into()),
            ("threads", self.threads.into()),
            ("buffers", self.buffers.into()),
        ])
    }
}

/// Everything, or in a quick run: Parallel with every size, one thread with the smallest only; the others with the smallest.
fn points(effort: Effort, threads: &[u32]) -> Vec<Point> {
    let mut points = Vec::new();
    for collector in COLLECTORS {
        for bytes in SIZES {
            for &threads in threads {
                let wanted = match effort {
                    Effort::Full => true,
                    Effort::Quick => {
                        threads <= 2 && (bytes == SMALLEST || collector.1 == PARALLEL && threads == 2)
                    }
                };
                if wanted {
                    points.extend(BUFFERS.map(|buffers| Point { collector, bytes, threads, buffers }));
                }
            }
        }
    }
    points
}

/// The JDKs to measure: all, or in a quick run the first, and the first that allocates as the source's did.
fn jdks(bench: &Bench) -> Vec<Option<&Jdk>> {
    let mut chosen: Vec<Option<&Jdk>> = match bench.effort {
        Effort::Full => bench.jdks.iter().map(Some).collect(),
        Effort::Quick => bench.jdks.first().into_iter().map(Some).collect(),
    };
    if !chosen.iter().flatten().any(|jdk| jdk.feature <= INLINE_UNTIL) {
        chosen.extend(bench.jdks.iter().find(|jdk| jdk.feature <= INLINE_UNTIL).map(Some));
    }
    if chosen.is_empty() {
        chosen.push(None);
    }
    chosen
}

fn plan(bench: &Bench) -> Result<Plan> {
    let counting = Counting::here();
    let mut plan = Plan { rounds: bench.effort.pick(3, 5), ..Plan::default() };
    for (index, jdk) in jdks(bench).into_iter().enumerate() {
        for point in points(bench.effort, &bench.thread_counts()) {
            let main = bench.effort == Effort::Full || index == 0;
            if main || (point.collector.1 == PARALLEL && point.bytes == SMALLEST) {
                plan.cells.push(cell(bench, jdk, point, &counting));
            }
        }
    }
    plan.notes = notes(bench);
    Ok(plan)
}

fn notes(bench: &Bench) -> Vec<String> {
    let mut notes = vec![format!(
        "without TLABs, compiled code of JDK {INLINE_UNTIL} allocates from the shared heap with an inline \
         compare-and-set, as in the source; later JDKs call into the JVM for each object, so there a figure without \
         TLABs is mostly the cost of that call. Core buffers always need the call"
    )];
    if bench.effort == Effort::Quick {
        notes.push(
            "left out: more than 2 threads; objects of 48 and 144 bytes with one thread, and with Serial and G1; all but the first \
             JDK, and of an older one that allocates inline all but Parallel with 16 bytes. 'terrace lab run tlab --full' has them"
                .into(),
        );
    }
    if !bench.jdks.iter().any(|jdk| jdk.feature <= INLINE_UNTIL) {
        notes.push(format!(
            "no JDK {INLINE_UNTIL} here, so the source's compare-and-set in compiled code was not measured; name one with --java"
        ));
    }
    notes
}

fn cell(bench: &Bench, jdk: Option<&Jdk>, point: Point, counting: &Counting) -> Cell {
    let Some(jdk) = jdk else {
        return Cell::without_jdk(point.parameters("any"));
    };
    let parameters = point.parameters(&jdk.feature.to_string());
    match jmh(bench, jdk, point, counting) {
        Err(error) => Cell::unavailable(parameters, error.to_string()),
        Ok(jmh) => {
            let (bench, counting) = (bench.clone(), counting.clone());
            let seconds = jmh.seconds() + TOUCHING;
            let runner = Runner::native(move || jmh.run(&bench).map(|sample| counting.finish(sample)));
            Cell { parameters, seconds, runner }
        }
    }
}

fn jmh(bench: &Bench, jdk: &Jdk, point: Point, counting: &Counting) -> Result<Jmh> {
    let mut flags = jdk.select(point.collector.0)?;
    flags.extend(HEAP.map(str::to_owned));
    flags.push(format!("-Xmn{YOUNG}m"));
    flags.push(if point.buffers == TLAB { "-XX:+UseTLAB" } else { "-XX:-UseTLAB" }.into());
    if point.buffers == CORE {
        // Strict: a JVM without the buffers must not pass for one that has them.
        let options = AgentOptions { levels: Some(Levels::Core), strict: true, ..AgentOptions::default() };
        flags.push(options.flag(&bench.install.agent()?)?);
    }
    let (warmup, iterations) = bench.effort.pick(
        ((1, Duration::from_millis(300)), (3, Duration::from_millis(130))),
        ((3, Duration::from_secs(1)), (5, Duration::from_secs(1))),
    );
    let mut reads = vec![Read::times("", "rate", 1.0), Read::over("", "ns", 1e9 * f64::from(point.threads))];
    reads.extend(counting.reads());
    Ok(Jmh {
        jdk: jdk.clone(),
        flags,
        benchmark: format!("terrace.benchmarks.Tlab.object{}", point.bytes),
        parameters: Vec::new(),
        threads: point.threads,
        warmup,
        iterations,
        reads,
        counters: counting.events(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use compare::machine::Host;
    use jvm::install::Install;

    fn bench(effort: Effort) -> Bench {
        Bench {
            effort,
            jdks: Vec::new(),
            install: Install::at(Vec::new()),
            machine: Host { cpus: 4, ..Host::here() },
            scratch: std::env::temp_dir(),
            allow_sysctl: false,
            wanted: experiment::Wanted::default(),
        }
    }

    #[test]
    fn the_full_grid_has_everything_and_the_quick_one_what_the_checks_need() {
        let full = points(Effort::Full, &[1, 2, 4, 8]);
        assert_eq!(full.len(), 3 * 3 * 4 * 3);
        let quick = points(Effort::Quick, &[1, 2, 4, 8]);
        assert_eq!(quick.len(), (2 + 1 + 1 + 2 + 2) * 3);
        assert!(quick.iter().all(|point| point.threads <= 2));
    }

    #[test]
    fn without_a_jdk_every_cell_says_so() {
        let plan = plan(&bench(Effort::Quick)).unwrap();
        assert_eq!(plan.cells.len(), 24);
        for cell in &plan.cells {
            assert!(matches!(&cell.runner, Runner::Unavailable(reason) if reason.contains("--java")));
        }
        assert!(plan.notes.iter().any(|note| note.contains("left out")));
    }

    #[test]
    fn every_cell_has_all_parameters_and_every_metric_is_declared() {
        let declaration = declared::declaration();
        let plan = plan(&bench(Effort::Full)).unwrap();
        for parameter in &declaration.parameters {
            assert!(plan.cells.iter().all(|cell| cell.parameters.contains_key(&parameter.key)));
        }
        for metric in counting::METRICS {
            assert!(declaration.metric(metric.key).is_some(), "{}", metric.key);
        }
    }
}
