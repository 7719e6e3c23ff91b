//! What `terrace doctor PID` costs the program that it watches: its work while the command runs, over that in as much time before and after.

use crate::child::{output, pause};
use crate::measure::publish;
use crate::places::{folder, installed};
use crate::{advice, build};
use control::View;
use jvm::accounts::Accounts;
use jvm::cpu::Threads;
use jvm::jdk::{Collector, Jdk};
use jvm::observer::Observer;
use jvm::running::Running;
use jvm::workload::{self, Parameters, Workload};
use jvm::{Error, Result, observe};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Options of `observing`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Seconds for which the doctor watches
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Rounds of each row, in which the program is watched twice and left alone twice
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u64).range(2..))]
    rounds: u64,
    /// Only this workload: alloc, churn or javac
    #[arg(long, value_parser = ["alloc", "churn", "javac"])]
    workload: Option<String>,
    /// Only this collector: g1 or parallel
    #[arg(long, value_parser = advice::compared_collector)]
    gc: Option<Collector>,
}

/// One that does nothing but allocate, one whose threads come and go, and one that works.
const WORKLOADS: [Workload; 3] = [Workload::Alloc, Workload::Churn, Workload::Javac];
const THREADS: u32 = 2;
/// Until most of it is compiled.
const WARM_UP: Duration = Duration::from_secs(30);
/// For the accounts of a JVM whose threads come and go.
const PATIENCE: Duration = Duration::from_secs(5);

/// Measures, and writes a run that `cargo xtask results` takes.
pub fn run(arguments: &Arguments) -> Result<()> {
    build::all()?;
    let jdk = jvm::jdk::measured().into_iter().next();
    let jdk = jdk.ok_or_else(|| Error::failed("no JDK is here: install one"))?;
    let mut cells = Vec::new();
    for collector in advice::COLLECTORS.into_iter().filter(|gc| arguments.gc.is_none_or(|only| only == *gc)) {
        let wanted =
            |workload: &Workload| arguments.workload.as_ref().is_none_or(|only| only == workload.name());
        for workload in WORKLOADS.into_iter().filter(wanted) {
            eprintln!("{} {}: {} rounds", workload.name(), collector.name(), arguments.rounds);
            cells.push(cell(arguments, &jdk, collector, workload)?);
        }
    }
    publish("observing", &cells)
}

/// What a program has done so far.
struct Done {
    at: Instant,
    /// Bytes that objects took.
    objects: f64,
    /// CPU-seconds of its own threads.
    cpu: f64,
}

struct Watched {
    pid: u32,
    accounts: Accounts,
    threads: Threads,
}

impl Watched {
    /// The accounts are where an agent has found them, and stay there when it has gone.
    fn find(pid: u32) -> Result<Watched> {
        let observer = Observer::attach(pid, &installed(), |_| ())?;
        let settings = observe::settings(observer.control());
        observer.withdraw()?;
        let accounts = Accounts::from_settings(pid, &settings)
            .ok_or_else(|| Error::failed("this JVM's accounts of allocated bytes cannot be read"))?;
        Ok(Watched { pid, accounts, threads: Threads::of(pid) })
    }

    fn done(&mut self) -> Result<Done> {
        let ended = || Error::failed("the workload has ended");
        self.threads.refresh();
        let objects = self.accounts.read_within(PATIENCE).ok_or_else(ended)? as f64;
        let cpu = self.threads.cpu().ok_or_else(ended)?.application().as_secs_f64();
        Ok(Done { at: Instant::now(), objects, cpu })
    }

    /// Bytes per second and per CPU-second meanwhile.
    fn rates(&mut self, meanwhile: impl FnOnce(u32) -> Result<()>) -> Result<[f64; 2]> {
        let before = self.done()?;
        meanwhile(self.pid)?;
        let after = self.done()?;
        let objects = after.objects - before.objects;
        Ok([objects / (after.at - before.at).as_secs_f64(), objects / (after.cpu - before.cpu)])
    }
}

fn cell(arguments: &Arguments, jdk: &Jdk, collector: Collector, workload: Workload) -> Result<Value> {
    let flags = [jdk.select(collector)?, vec!["-Xmx512m".into()]].concat();
    // Each window, and whatever the command takes besides.
    let seconds = (4 * arguments.rounds + 8) * (arguments.seconds + 10);
    let parameters = Parameters { threads: Some(THREADS), seconds: Some(seconds), ..Parameters::default() };
    let launch = workload::launch(workload, &parameters, jdk, &flags, (None, None), &installed())?;
    let mut running = Running::start(&launch, false)?;
    pause(WARM_UP)?;
    let mut watched = Watched::find(running.pid())?;
    // As long as the command takes: first measured without counting.
    let since = Instant::now();
    examine(watched.pid, arguments.seconds)?;
    let window = since.elapsed();
    let with = |watched: &mut Watched| watched.rates(|pid| examine(pid, arguments.seconds));
    let without = |watched: &mut Watched| watched.rates(|_| pause(window));
    let mut ratios: [Vec<f64>; 2] = Default::default();
    for round in 1..=arguments.rounds {
        eprintln!("round {round} of {}, about {} s", arguments.rounds, 4 * window.as_secs());
        // A B B A: what drifts, as a program that is still being compiled does, is on both sides.
        let a = with(&mut watched)?;
        let (b, again) = (without(&mut watched)?, without(&mut watched)?);
        let a = [a, with(&mut watched)?];
        let mean = |rates: [[f64; 2]; 2], which: usize| rates[0][which].midpoint(rates[1][which]);
        for (which, ratios) in ratios.iter_mut().enumerate() {
            ratios.push(mean(a, which) / mean([b, again], which));
        }
    }
    let view = View::of_process(watched.pid)?;
    if view.is_some_and(|view| view.state() == Some(control::State::Observing)) {
        return Err(Error::failed("an observer stayed in the JVM: this is a bug"));
    }
    running.end()?;
    let [speed, cpu] = ratios.map(|ratios| statistics::trimmed::geometric(&ratios));
    Ok(json!({
        "parameters": { "program": workload.name(), "collector": collector.name(), "jdk": jdk.feature, "seconds": arguments.seconds },
        "rounds": arguments.rounds,
        "processes": 1,
        "metrics": { "speed": speed, "cpu": cpu },
    }))
}

/// As a user would ask.
fn examine(pid: u32, seconds: u64) -> Result<()> {
    let mut command = Command::new(folder().join("terrace"));
    command.args(["doctor", &pid.to_string(), "--seconds", &seconds.to_string(), "--format", "json"]);
    let answer = output(command.stdout(Stdio::null()).stderr(Stdio::piped()))?;
    match answer.status.success() {
        true => Ok(()),
        false => Err(Error::failed(format!("terrace doctor: {}", String::from_utf8_lossy(&answer.stderr)))),
    }
}
