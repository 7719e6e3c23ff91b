//! `constants`: the simulator's constants of the JVM, measured here, beside the values in its register.
//!
//! Everything is a difference between JVMs of which one does more of one thing, on one CPU and in CPU time of the application's own
//! thread: what both do cancels out.

use super::latency;
use crate::{Error, Result};
use coherence::constants::{self, Constant};
use compare::Program;
use compare::clock;
use compare::fixed::{self, FixedRun};
use experiment::compared::{AROUND, plan as plan_of};
use experiment::native::pin;
use experiment::{
    Bench, Better, Cell, Claim, Declaration, Experiment, Measured, Metric, NO_ANSWER, Parameter, Plan,
    Runner, Sample, parameters,
};
use jvm::agent::{AgentOptions, Tlab};
use jvm::install::Install;
use jvm::jdk::{Collector, Jdk};
use jvm::workload::{Parameters as WorkloadParameters, Workload};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);
/// Bytes of the TLABs between which the calls are the difference.
const TLABS: [u32; 2] = [1 << 10, 4 << 10];
/// Lengths of the arrays between which the work per byte is the difference.
const LENGTHS: [u64; 2] = [16, 1000];
/// Threads between which the pause per thread is the difference.
const THREADS: [u32; 2] = [100, 1000];
/// Bytes of a request of each of those threads: so many that some collections occur every second.
const REQUEST: u64 = 32 << 10;
const WARMUP: u64 = 1;

/// A constant that is measured: what has to run for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Refill,
    Heap,
    G1,
    Byte,
    Pause,
    Thread,
}

impl Which {
    const ALL: [Which; 6] = [Which::Refill, Which::Heap, Which::G1, Which::Byte, Which::Pause, Which::Thread];

    const fn constant(self) -> Constant {
        match self {
            Which::Refill => constants::REFILL,
            Which::Heap => constants::HEAP,
            Which::G1 => constants::G1_REQUEST,
            Which::Byte => constants::BYTE,
            Which::Pause => constants::PAUSE,
            Which::Thread => constants::PAUSE_THREAD,
        }
    }

    /// The register's name, with the unit: the constants have different ones.
    fn title(self) -> String {
        format!("{} ({})", self.constant().name, self.constant().unit)
    }

    /// JVMs that it takes.
    const fn jvms(self) -> u64 {
        match self {
            Which::Heap | Which::G1 => 4,
            Which::Refill | Which::Byte | Which::Thread => 2,
            Which::Pause => 1,
        }
    }
}

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims, answer)
}

fn declaration() -> Declaration {
    let metric = |key, name, text| Metric::new(key, name, "", Better::Neither, text);
    Declaration {
        name: "constants".into(),
        title: "The simulator's constants of the JVM".into(),
        question: "What do the calls and pauses take here that the simulator has as constants?".into(),
        parameters: vec![Parameter::new("constant", "constant", "")],
        metrics: vec![
            metric("measured", "here", "measured on this machine, in the constant's unit"),
            metric(
                "register",
                "in the register",
                "the value with which the simulator computes, on every machine",
            ),
            metric(
                "low",
                "range from",
                "the lowest value that `terrace plan` and `terrace sim evaluate` try",
            ),
            metric("high", "to", "the highest value that they try"),
        ],
        by_name: true,
        ..Declaration::default()
    }
}

fn plan(bench: &Bench) -> Result<Plan> {
    let Some(jdk) = bench.chosen_jdks().first() else {
        return Ok(plan_of(bench, 1, Vec::new()));
    };
    let seconds = bench.wanted.seconds.unwrap_or_else(|| bench.effort.pick(2, 5));
    let cell = |which: Which| {
        let jvms = Jvms { jdk: jdk.clone(), install: bench.install.clone(), seconds };
        let constant = which.constant();
        let runner = Runner::native(move || {
            let sample = Sample { processes: which.jvms() as usize, ..Sample::default() };
            Ok(sample
                .value("measured", jvms.measure(which)?)
                .value("register", constant.value)
                .value("low", constant.range.0)
                .value("high", constant.range.1))
        });
        let seconds = which.jvms() as f64 * ((WARMUP + seconds) as f64 + AROUND);
        Cell { parameters: parameters([("constant", which.title().into())]), seconds, runner }
    };
    Ok(plan_of(bench, bench.effort.pick(3, 10), Which::ALL.map(cell).into()))
}

/// One measured run.
struct Setup {
    workload: Workload,
    threads: u32,
    size: u64,
    collector: Collector,
    agent: bool,
    flags: Vec<String>,
}

struct Jvms {
    jdk: Jdk,
    install: Install,
    seconds: u64,
}

impl Jvms {
    fn measure(&self, which: Which) -> Result<f64> {
        let cycle = || {
            let unknown = "the core's clock could not be measured; stop what runs beside, and measure again";
            clock::cycle_nanoseconds().ok_or_else(|| Error::failed(unknown))
        };
        match which {
            Which::Refill => {
                let [call, cycle] = [self.call(Collector::Parallel, true)?, pin::alone(cycle)??];
                // The buffer's exchange is among the accesses.
                let locked = pin::alone(|| latency::locked(EXCHANGE))??;
                Ok((call - locked) / cycle)
            }
            // What the heap takes more than a core's buffer, less than nothing if that is so. Both have a locked instruction: one on a
            // buffer's top, one on the heap's.
            Which::Heap => {
                let [stock, buffers] =
                    [self.call(Collector::Parallel, false)?, self.call(Collector::Parallel, true)?];
                Ok((stock - buffers) / pin::alone(cycle)??)
            }
            Which::G1 => {
                let [g1, parallel] =
                    [self.call(Collector::G1, false)?, self.call(Collector::Parallel, false)?];
                Ok((g1 - parallel) / pin::alone(cycle)??)
            }
            Which::Byte => Ok(self.byte()? / pin::alone(cycle)??),
            Which::Pause => Ok(pause(&self.run(&young(Workload::Alloc, 1, LENGTHS[0], "64m"))?)? * 1e3),
            Which::Thread => {
                let pauses = THREADS
                    .map(|threads| pause(&self.run(&young(Workload::Threads, threads, REQUEST, "4m"))?));
                let [few, many] = pauses;
                Ok(per_thread(few?, many?) * 1e6)
            }
        }
    }

    fn run(&self, setup: &Setup) -> Result<FixedRun> {
        let parameters = WorkloadParameters {
            threads: Some(setup.threads),
            size: Some(setup.size),
            seconds: Some(self.seconds),
            warmup: Some(WARMUP),
            ..WorkloadParameters::default()
        };
        let program = Program::Workload(setup.workload, parameters, self.jdk.clone());
        let agent = AgentOptions { tlab: Tlab::Stock, ..AgentOptions::default() };
        let mut flags = self.jdk.select(setup.collector)?;
        flags.extend(setup.flags.iter().cloned());
        // JVMs inherit the CPU of the thread that starts them.
        pin::alone(|| fixed::run(&program, setup.agent.then_some(&agent), &flags, &self.install, LIMIT))?
    }

    /// Nanoseconds of a refill of a TLAB, as the difference between two sizes.
    fn call(&self, collector: Collector, agent: bool) -> Result<f64> {
        let mut points = Vec::new();
        for tlab in TLABS {
            let flags = ["-Xms1g", "-Xmx1g", "-Xmn512m", "-XX:-ResizeTLAB"].map(str::to_owned);
            let sizes = ["TLABSize", "MinTLABSize"].map(|flag| format!("-XX:{flag}={tlab}"));
            let flags = flags.into_iter().chain(sizes).collect();
            let setup =
                Setup { workload: Workload::Alloc, threads: 1, size: LENGTHS[0], collector, agent, flags };
            let (nanoseconds, bytes) = object(&self.run(&setup)?)?;
            points.push((bytes / f64::from(tlab), nanoseconds));
        }
        Ok(slope(points[1], points[0]))
    }

    /// Nanoseconds of a byte of an object, as the difference between two sizes, with TLABs that are rarely refilled.
    fn byte(&self) -> Result<f64> {
        let mut points = Vec::new();
        for size in LENGTHS {
            let (nanoseconds, bytes) = object(&self.run(&young(Workload::Alloc, 1, size, "512m"))?)?;
            points.push((bytes, nanoseconds));
        }
        Ok(slope(points[0], points[1]))
    }
}

/// How long an exchange is timed.
const EXCHANGE: Duration = Duration::from_millis(50);

/// A stock JVM with Parallel and a young generation of this size.
fn young(workload: Workload, threads: u32, size: u64, young: &str) -> Setup {
    let flags = vec!["-Xms1g".into(), "-Xmx1g".into(), format!("-Xmn{young}")];
    Setup { workload, threads, size, collector: Collector::Parallel, agent: false, flags }
}

fn too_short(what: &str) -> Error {
    Error::failed(format!("{what}; increase --seconds"))
}

/// Nanoseconds of the application's CPU time and bytes for an object.
fn object(run: &FixedRun) -> Result<(f64, f64)> {
    let rate = run.per_application_second.ok_or_else(|| too_short("a JVM was too short to be measured"))?;
    let bytes = run.report.allocated_bytes.ok_or_else(|| Error::failed("a JVM does not count bytes"))?;
    Ok((1e9 / rate, bytes / run.report.operations))
}

/// What one more of something costs, from how many there were and what that took.
fn slope(few: (f64, f64), many: (f64, f64)) -> f64 {
    (many.1 - few.1) / (many.0 - few.0)
}

/// Seconds of a collection.
fn pause(run: &FixedRun) -> Result<f64> {
    let (count, seconds) = (run.report.collections, run.report.collection_seconds);
    match count.zip(seconds) {
        Some((count, seconds)) if count > 0 => Ok(seconds / count as f64),
        _ => Err(too_short("no collection occurred")),
    }
}

/// Seconds of a pause for each thread.
fn per_thread(few: f64, many: f64) -> f64 {
    let [least, most] = THREADS.map(f64::from);
    slope((least, few), (most, many))
}

/// The register's values are frozen: what is measured here decides nothing.
fn claims(_: &Measured) -> Vec<Claim> {
    Vec::new()
}

fn answer(measured: &Measured) -> String {
    let inside = |which: &Which| {
        let found = measured.median("measured", &[("constant", which.title().into())])?;
        let (low, high) = which.constant().range;
        Some(low <= found && found <= high)
    };
    let found: Vec<bool> = Which::ALL.iter().filter_map(inside).collect();
    if found.is_empty() {
        return NO_ANSWER.into();
    }
    let within = found.iter().filter(|inside| **inside).count();
    format!(
        "{within} of {} constants lie within the register's range here. The simulator keeps its own values: they are the same \
         for every machine.",
        found.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::fixture::{cell, conclude};

    #[test]
    fn what_one_more_costs_is_the_slope() {
        // 8 refills of 1 KB and 2 of 4 KB for the same bytes; 100 ns each, and 1000 for the rest.
        assert_eq!(slope((2.0, 1200.0), (8.0, 1800.0)), 100.0);
        // 1.2 ms with 100 threads, 3 ms with 1,000: 2 us each.
        assert!((per_thread(1.2e-3, 3e-3) * 1e6 - 2.0).abs() < 1e-9);
    }

    #[test]
    fn the_answer_counts_what_lies_inside_the_registers_ranges() {
        let of = |which: Which, measured| {
            cell(parameters([("constant", which.title().into())]), &[("measured", measured)])
        };
        let cells = [of(Which::Refill, 200.0), of(Which::Heap, 90.0), of(Which::Pause, 30.0)];
        let (answer, checks) = conclude(&experiment(), &cells);
        assert!(answer.starts_with("2 of 3 constants lie within"), "{answer}");
        assert!(checks.is_empty(), "the register is frozen: nothing is claimed");
        assert_eq!(conclude(&experiment(), &[]).0, NO_ANSWER);
    }

    #[test]
    fn each_constant_is_named_as_in_the_register() {
        for which in Which::ALL {
            let constant = which.constant();
            assert!(constants::ALL.contains(&constant), "{constant:?}");
            assert!(
                constant.command.contains("lab run constants"),
                "the register has to name the command: {constant:?}"
            );
        }
        let measured =
            constants::ALL.iter().filter(|constant| constant.command.contains("lab run constants"));
        assert_eq!(measured.count(), Which::ALL.len());
    }
}
