//! Process mode: one JVM with the agent, switched between two modes, or two sizes.

use crate::evidence::Evidence;
use crate::in_force::InForce;
use crate::latency::{self, Latency};
use crate::stopping::Precision;
use crate::windows::{self, Subject, Way, WindowPlan};
use crate::{Comparison, Measured};
use control::Mode;
use jvm::agent::AgentOptions;
use jvm::arrival::await_agent;
use jvm::calls::CallFile;
use jvm::counts::Counts;
use jvm::observe::Jvms;
use jvm::progress_file::{Phase, ProgressFile};
use jvm::running::Running;
use jvm::workload::Report;
use jvm::{Error, Result};
use present::progress::Progress;
use serde_json::Value;
use std::time::{Duration, Instant};

/// How much longer than asked a workload may take to begin and to end: of thousands of threads each has to get a CPU once more.
const SLACK: Duration = Duration::from_secs(600);
/// Seconds that windows may be late together, beside as long as they should take.
const LATE: u64 = 60;
/// Sizes come into force with the next refill.
const TAKEN_WITHIN: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(10);
/// The calls of the warm-up that tell how long one takes.
const LAST_CALLS: usize = 100;
/// Steps that tell the sides apart within a call.
const MANY_STEPS: usize = 16;
/// Of a call, where it has many steps, one window: in shorter ones a thread that shares its CPU with a hundred others would still use the
/// TLAB of the window before.
const WINDOWS_PER_CALL: u32 = 4;
/// Pairs for which the duration has room, however long a call takes.
const ENOUGH_PAIRS: u32 = 20;

struct Live {
    running: Running,
    jvms: Jvms,
    operations: Option<ProgressFile>,
    calls: Option<CallFile>,
}

impl Live {
    /// Waits until the program is worth measuring.
    fn warm_up(&mut self, warmup: Duration) -> Result<()> {
        let since = Instant::now();
        loop {
            if self.running.poll()?.is_some() {
                self.running.check()?;
                return Err(Error::failed(
                    "the program ended during its warm-up; use a shorter --warmup, or --forks for short programs",
                ));
            }
            let passed = since.elapsed();
            match self.operations.as_mut().map(ProgressFile::phase) {
                Some(Phase::Measuring | Phase::Finished) => return Ok(()),
                Some(_) if passed > warmup + SLACK => {
                    return Err(Error::failed(
                        "the workload did not start to measure; use the terrace-workloads.jar of this version ('cargo xtask build')",
                    ));
                }
                None if passed >= warmup => return Ok(()),
                _ => std::thread::sleep(POLL),
            }
        }
    }

    /// As long as a call, where the program records them: in much shorter windows all calls would see both sides alike, in much
    /// longer ones the machine's speed wanders. A part of that where calls have steps, each of which sees one side. At most so long that pairs
    /// are enough.
    fn window(&mut self, asked: Duration, duration: Duration) -> Duration {
        let Some(recorded) = self.calls.as_mut().map(CallFile::read) else { return asked };
        let calls = &recorded.calls;
        let last = &calls[calls.len().saturating_sub(LAST_CALLS)..];
        let mut times: Vec<Duration> = last.iter().map(|call| call.end.saturating_sub(call.begin)).collect();
        times.sort_unstable();
        let usual = times.get(times.len() / 2).copied().unwrap_or_default();
        let has_steps = recorded.steps.len() >= MANY_STEPS * calls.len();
        let (least, usual) = if has_steps {
            (windows::WINDOW / 2, usual / WINDOWS_PER_CALL)
        } else {
            (windows::WINDOW, usual)
        };
        // Another length than the usual one is somebody's wish.
        let asked = if asked == windows::WINDOW { least } else { asked };
        asked.max(least).max(usual.min(duration / (4 * ENOUGH_PAIRS)))
    }

    /// The settings in force in each way, as they are at the first switch.
    fn settings(&mut self, ways: [Way; 2]) -> [Value; 2] {
        ways.map(|way| {
            self.switch(way);
            let since = Instant::now();
            while !self.jvms.have_taken_sizes() && since.elapsed() < TAKEN_WITHIN {
                std::thread::sleep(POLL);
            }
            self.jvms.settings()
        })
    }

    /// What the program says of itself; checked, and as it was written.
    fn finish(&mut self) -> Result<Option<(Report, Value)>> {
        let Some(operations) = &self.operations else {
            return self.running.end().map(|()| None);
        };
        operations.ask_to_end()?;
        if self.running.wait(SLACK)?.is_none() {
            return Err(Error::failed(format!(
                "the workload did not end within {} s of its time",
                SLACK.as_secs()
            )));
        }
        self.running.check()?;
        Report::with_line(&self.running.output()).map(Some)
    }
}

impl Subject for Live {
    fn switch(&mut self, way: Way) {
        self.jvms.switch(way.mode);
        if let Some(sizes) = way.sizes {
            self.jvms.ask_for_sizes(sizes);
        }
        self.jvms.refresh_threads();
    }

    fn wait(&mut self, time: Duration) {
        std::thread::sleep(time);
    }

    fn counts(&mut self) -> Result<Counts> {
        self.jvms.refresh()?;
        // Right before the moment that the counts are of: reading CPU times takes longer.
        let operations = self.operations.as_ref().and_then(ProgressFile::operations);
        let mut counts = self.jvms.counts();
        counts.operations = operations;
        Ok(counts)
    }

    fn mark(&mut self, window: Option<(usize, usize)>) -> Result<()> {
        let stretch = window.map_or(0, |(block, side)| latency::stretch(block, side));
        self.operations.as_ref().map_or(Ok(()), |file| file.begin_stretch(stretch))
    }

    fn evidence(&mut self) -> Evidence {
        Evidence {
            stops: self.jvms.stops(),
            steps: self.calls.as_mut().map(|calls| calls.read().steps.clone()),
        }
    }

    fn ended(&mut self) -> Result<bool> {
        let ended = self.running.poll()?.is_some();
        self.running.check()?;
        Ok(ended || self.operations.as_mut().is_some_and(|file| file.phase() == Phase::Finished))
    }
}

pub(crate) fn measure(
    comparison: &Comparison,
    (window, skip): (Duration, Duration),
    precision: Option<Precision>,
    progress: &Progress,
) -> Result<Measured> {
    let mut jvms = Jvms::new()?;
    let [side_a, side_b] = &comparison.sides;
    let differ = side_a.sizes() != side_b.sizes();
    let ways = comparison
        .sides
        .each_ref()
        .map(|side| Way { mode: side.mode().unwrap_or(Mode::Off), sizes: side.sizes().filter(|_| differ) });
    // Sizes that follow what is seen have followed it by the end of the warm-up.
    let side = if side_b.following() > side_a.following() { side_b } else { side_a };
    let bound = ways.iter().any(|way| way.mode == Mode::Bound);
    let options = AgentOptions { start_off: true, bound, ..side.agent.clone().unwrap_or_default() };
    let mut flags = vec![jvms.options(&options).flag(&comparison.install.agent()?)?];
    flags.extend(comparison.flags_of(side));
    // Last: what is written on the command line itself stays readable. It logs on both sides alike.
    flags.push(jvms.stop_flag());
    let mut in_force = InForce::new(side, &flags);
    let file = comparison.program.is_workload().then(|| jvms.directory().join("progress"));
    let calls = comparison.program.records_calls().then(|| jvms.directory().join("calls"));
    // No window outlives the workload, however late it is: the workload is asked to end.
    let seconds = (2 * comparison.duration).as_secs() + LATE;
    let program = comparison.program.for_seconds(seconds, comparison.warmup);
    let launch = program.launch(&flags, file.as_deref(), calls.as_deref(), &comparison.install)?;

    let length = comparison.warmup + comparison.duration;
    let [name_a, name_b] = comparison.sides.each_ref().map(|side| &side.name);
    progress.start(&format!("comparing {name_a} and {name_b} inside one JVM"), length);
    let running = Running::start(&launch, comparison.show)?;
    let mut live = Live {
        running,
        jvms,
        operations: file.as_deref().map(ProgressFile::at),
        calls: calls.as_deref().map(CallFile::at),
    };
    await_agent(&mut live.running, &mut live.jvms)?;
    // Both ways are compiled and touched before they are measured.
    live.switch(Mode::On.into());
    live.warm_up(comparison.warmup)?;
    live.jvms.refresh()?;
    live.jvms.begin();
    in_force.look(&live.jvms);
    in_force.check()?;
    let settings = differ.then(|| live.settings(ways));
    let window = live.window(window, comparison.duration);
    let [a, b] = ways;
    let plan =
        WindowPlan { a, b, window, skip, duration: comparison.duration, precision, seed: comparison.seed };
    let pairs = windows::run(&mut live, &plan, |passed| progress.passed(comparison.warmup + passed))?;
    let (report, line) = live.finish()?.unzip();
    let settings = settings.unwrap_or_else(|| [live.jvms.settings(), live.jvms.settings()]);
    Ok(Measured {
        pairs,
        amount: None,
        schedule: None,
        latency: report.as_ref().and_then(|report| Latency::of(&report.stretches, window)),
        operation: report.map(|report| report.operation),
        report: line,
        names: comparison.sides.each_ref().map(|side| side.name.clone()),
        settings,
        flags: [flags.clone(), flags],
        command: launch.describe(),
        window: Some(window),
        notes: (live.jvms.notes().into_iter())
            .chain(live.jvms.uncounted().filter(|_| !comparison.program.is_workload()))
            .chain(live.jvms.unlogged())
            .chain(in_force.note())
            .collect(),
    })
}
