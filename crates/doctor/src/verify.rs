//! Each remedy that can be tried is tried, in the program itself: flags in JVMs of their own, interleaved with stock ones or beside them, Terrace by
//! windows inside one JVM.

use crate::edens::Edens;
use crate::evidence::Evidence;
use crate::finding::{Advised, Remedy};
use crate::fork_time;
use crate::report::Report;
use crate::trial::Trial;
use compare::forks::Schedule;
use compare::result::ComparisonResult;
use compare::side::Side;
use compare::windows::{SKIP, WINDOW};
use compare::{Comparison, Method, Program};
use control::{Mode, State, View};
use jvm::agent::AgentOptions;
use jvm::install::Install;
use jvm::lease::{self, Lease};
use jvm::switch::Removed;
use jvm::{Error, Result, os};
use present::progress::Progress;
use std::time::Duration;

/// Tries Terrace in a JVM that runs, where that is advised or it is there already: buffers on and off in alternate windows. An agent that came for this leaves; one that was there is
/// left as it was, also one that observes: beside it no buffers are installed, and what it has counted would not come back. Flags cannot be tried there.
pub fn in_place(
    report: &Report,
    duration: Duration,
    install: &Install,
    progress: &Progress,
) -> Result<Vec<Trial>> {
    let pid = report.evidence.jvm.pid;
    let advised = report.findings.iter().flat_map(|finding| &finding.advice);
    let settings = advised.filter_map(|advice| match &advice.remedy {
        Remedy::Terrace(settings) => Some(settings.clone()),
        _ => None,
    });
    let present = report.evidence.terrace.as_ref();
    // Of several settings the first: sizes of buffers are decided when they are installed.
    let Some(settings) = present.map(|_| Vec::new()).or_else(|| settings.into_iter().next()) else {
        return Ok(Vec::new());
    };
    let remedy = Remedy::Terrace(settings.clone()).text();
    if is_observed(pid) {
        let note = format!(
            "not tried: an observer was already installed, and stays; try again after 'terrace off {pid}'"
        );
        return Ok(vec![Trial::without_result(remedy, note)]);
    }
    // What was watched is reported, whatever becomes of the trial.
    let failed = |error: Error| Ok(vec![Trial::failure(remedy.clone(), &error)]);
    if present.is_none() {
        let options =
            AgentOptions { start_off: true, lease: lease::SECONDS, ..AgentOptions::read(&settings)? };
        // What has to be known before was told when the observer came.
        match jvm::switch::attach(pid, &options, install, |_| ()) {
            Ok(_) => {}
            Err(error) => {
                // The JVM may have taken the agent all the same. If not, there is nothing to remove.
                let _ = jvm::switch::remove(pid, None);
                return if error.is_interruption() { Err(error) } else { failed(error) };
            }
        }
    }
    // An agent that was there has no lease, and is not ours to remove.
    let lease = present.is_none().then(|| Lease::hold(pid)).transpose();
    let estimate = lease.as_ref().map_err(Clone::clone).and_then(|lease| {
        compare::in_place::measure(pid, lease.as_ref(), duration, compare::another_seed(), progress)
    });
    // Whatever came of it, also if the user has stopped us, it is not left on, unless the user has switched it on.
    let held = lease.as_ref().ok().and_then(Option::as_ref);
    let note = leave(pid, present.map(|buffers| buffers.on), held);
    drop(lease);
    if let Some(signal) = os::stopped_by() {
        // There will be no report that could tell it.
        note.iter().filter(|note| !note.is_empty()).for_each(|note| progress.line(note));
        return Err(Error::interrupted(signal));
    }
    let note = note.unwrap_or_else(|error| error.to_string());
    let (estimate, few) = match estimate {
        Ok(found) => found,
        Err(error) if note.is_empty() => return failed(error),
        Err(error) => return failed(Error::failed(format!("{error}; {note}"))),
    };
    let uncharged = estimate.stopped.is_none().then(|| "its pauses are not in the speed".to_owned());
    let notes: Vec<String> =
        uncharged.into_iter().chain(few).chain([note].into_iter().filter(|note| !note.is_empty())).collect();
    Ok(vec![Trial {
        remedy,
        collections: estimate.heap_use.map(|heap| report.evidence.collections_using(heap.median)),
        collections_of_watched: None,
        speed: Some(estimate.per_second),
        speed_cpu: estimate.per_application_second,
        shared: false,
        note: notes.join("; "),
        failed: false,
    }])
}

/// Whether somebody else's agent counts in that JVM: the doctor's own has gone by then.
fn is_observed(pid: u32) -> bool {
    // What cannot be looked into says so when buffers are to be installed.
    matches!(View::of_process(pid), Ok(Some(view)) if view.state() == Some(State::Observing))
}

/// Removes the agent that came for the trial, or leaves buffers as they were: on or off. What should be known of that.
fn leave(pid: u32, were_on: Option<bool>, lease: Option<&Lease>) -> Result<String> {
    match were_on {
        Some(true) => jvm::switch::switch(pid, Mode::On).map(|_| String::new()),
        Some(false) => Ok(String::new()),
        None => jvm::switch::remove(pid, lease).map(|removed| match removed {
            Removed::Gone => "the agent was withdrawn from the JVM".into(),
            Removed::Leaving => format!(
                "the agent leaves process {pid} at its next collection; until then it passes on every request"
            ),
            Removed::Kept => format!("the buffers stay; 'terrace off {pid}' switches them off"),
        }),
    }
}

/// For the same work: what they come to in an eden of the same size, because HotSpot resizes it, and a few are counted coarsely; but as they were
/// counted where the remedy is another size, or keeps them from coming.
fn collections(remedy: &Remedy, found: &ComparisonResult, evidence: &Evidence) -> Option<f64> {
    let used = found.heap_use.as_ref().map(|heap| evidence.collections_using(heap.median));
    match remedy.saves_collections_only() {
        true => found.collections_ratio,
        false => used.or(found.collections_ratio),
    }
}

/// How remedies are tried.
pub struct Trials<'a> {
    pub program: &'a Program,
    /// Flags for the JVM that it has anyway.
    pub flags: &'a [String],
    pub warmup: Duration,
    /// For each remedy.
    pub duration: Duration,
    /// The measured time of each JVM; `None`: as long as a remedy needs.
    pub fork: Option<Duration>,
    pub seed: u64,
    /// How JVMs with a flag and without it run.
    pub schedule: Schedule,
    pub install: &'a Install,
}

impl Trials<'_> {
    /// Tries each remedy of the report once. One that fails says why, and the others are tried all the same. Each is in the report when it ends, also if the
    /// next one is interrupted.
    pub fn run(&self, report: &mut Report, progress: &Progress) -> Result<()> {
        let advice = report.findings.iter().flat_map(|finding| &finding.advice);
        let advice: Vec<Advised> = advice.cloned().collect();
        for advice in &advice {
            let remedy = &advice.remedy;
            let text = remedy.text();
            if report.trial(&text).is_some() {
                continue;
            }
            let fork = self.fork.unwrap_or_else(|| fork_time::of(advice, &report.evidence, self.duration));
            let Some(comparison) = self.comparison(remedy, fork)? else { continue };
            progress.line(&format!("trying {text}"));
            let trial = match comparison.run(progress) {
                Ok(found) => {
                    let shared = found.method.schedule.as_deref() == Some(Schedule::Concurrent.name());
                    let saves = remedy.saves_collections_only();
                    let edens = saves.then(|| Edens::of(&report.evidence, &found.sides)).flatten();
                    // A program that ends by itself is measured as a whole.
                    let few = fork_time::few(advice, &found.sides.a, found.pairs);
                    let few = few.filter(|_| found.unit != "runs/s");
                    let own = edens.as_ref().and_then(Edens::note).into_iter().chain(few);
                    let notes: Vec<String> = own.chain(found.notes.clone()).collect();
                    Trial {
                        remedy: text,
                        collections: collections(remedy, &found, &report.evidence),
                        collections_of_watched: edens.map(|edens| edens.collections()),
                        // Of JVMs that share the CPUs work per second says less.
                        speed: Some(found.ratio_cpu.filter(|_| shared).unwrap_or(found.ratio)),
                        shared: shared && found.ratio_cpu.is_some(),
                        speed_cpu: found.ratio_cpu,
                        note: notes.join("; "),
                        failed: false,
                    }
                }
                Err(error) if os::stopped_by().is_some() => return Err(error),
                Err(error) => Trial::failure(text, &error),
            };
            report.trials.push(trial);
        }
        Ok(())
    }

    /// `None` for what only people can change.
    fn comparison(&self, remedy: &Remedy, fork: Duration) -> Result<Option<Comparison>> {
        let (sides, method) = match remedy {
            Remedy::Program(_) => return Ok(None),
            Remedy::Flags(flags) => (
                [Side::stock().with_flags(flags), Side::stock()],
                Method::Forks { fork, schedule: self.schedule },
            ),
            Remedy::Terrace(settings) => {
                let agent = AgentOptions::read(settings)?;
                let method = Method::Windows { window: WINDOW, skip: SKIP, precision: None };
                ([Side::terrace(agent.clone()), Side::off(agent)], method)
            }
        };
        Ok(Some(Comparison {
            program: self.program.clone(),
            sides,
            flags: self.flags.to_vec(),
            method,
            warmup: self.warmup,
            duration: self.duration,
            seed: self.seed,
            show: false,
            install: self.install.clone(),
        }))
    }
}
