//! A run of the lab: every experiment's cells in turn, forwards and backwards, with everything kept as soon as it is there.
//!
//! | part | what it is |
//! |---|---|
//! | [`store`] | the folder: what was asked, and every sample, a line each; a run can end at any moment and go on |
//! | [`schedule`] | which cells a run has, their order, and what is left to do |
//! | [`canary`], [`overhead`] | what the machine and the harness themselves do to a measurement |
//! | [`judge`] | from samples to findings, and what to say of noise |

pub mod canary;
pub mod judge;
pub mod overhead;
pub mod schedule;
pub mod store;

use crate::machine::counters::hardware_counters;
use crate::machine::page::HostDescription;
use crate::results::{Findings, Results, SCHEMA, State};
use crate::session::canary::Canaries;
use crate::session::schedule::{Choice, Task};
use crate::session::store::{Header, METHOD, Store};
use crate::{Bench, Experiment, Parameters, Plan};
use crate::{Error, Result};
use compare::noise::Watch;
use jvm::os;
use present::progress::Progress;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub struct Request {
    /// What is run, in this order.
    pub experiments: Vec<Experiment>,
    /// Only cells with these values, `key=value`; none means all. Where a run goes on, only these are measured, and those that it has are
    /// kept.
    pub only: Vec<String>,
    pub bench: Bench,
    /// The folder for everything that is kept.
    pub folder: PathBuf,
    /// Go on with what an earlier run left there.
    pub resume: bool,
    /// The command that measures the same again.
    pub command: String,
    /// What is added to results that are complete: their simulated counterparts.
    pub complete: fn(&mut Results),
}

pub struct SessionResult {
    /// All that is known, also after an interruption.
    pub results: Results,
    /// Why it ended early.
    pub stopped: Option<Error>,
}

struct Planned {
    experiment: Experiment,
    plan: Plan,
    /// Rounds and precision that the run was started with, without cells: what cells need that are not measured now.
    started: Plan,
    failed: BTreeMap<String, String>,
}

impl Request {
    fn header(&self) -> Header {
        Header {
            schema: SCHEMA,
            method: METHOD,
            terrace: env!("CARGO_PKG_VERSION").into(),
            effort: self.bench.effort,
            experiments: self.experiments.iter().map(|one| one.declaration.name.clone()).collect(),
            only: self.only.clone(),
            jdks: self.bench.jdks.iter().map(|jdk| jdk.home.clone()).collect(),
            allow_sysctl: self.bench.allow_sysctl,
            wanted: self.bench.wanted,
            agent: self.bench.install.agent_build().ok(),
            command: self.command.clone(),
            started_unix: store::now_unix(),
        }
    }

    fn choice(&self, found: Option<&Store>) -> Result<Choice> {
        match found {
            Some(store) => Choice::continued(&store.header().only, &self.only),
            None => Choice::of(&self.only),
        }
    }

    /// `found` is the run that goes on.
    fn planned(&self, choice: &Choice, found: Option<&Store>) -> Result<Vec<Planned>> {
        let started = found.map_or(self.bench.wanted, |store| store.header().wanted);
        let mut planned = Vec::new();
        for experiment in &self.experiments {
            let mut plan = (experiment.plan)(&self.bench).map_err(|error| {
                Error::failed(format!("{} cannot be planned: {error}", experiment.declaration.name))
            })?;
            let name = &experiment.declaration.name;
            plan.cells.retain(|cell| {
                let is_measured =
                    found.is_some_and(|store| !store.samples(name, &cell.parameters).is_empty());
                choice.has(&cell.parameters, is_measured)
            });
            let started = Plan {
                rounds: started.rounds.unwrap_or(plan.rounds),
                precision: started.precision.or(plan.precision),
                ..Plan::default()
            };
            plan.rounds = self.bench.wanted.rounds.unwrap_or(plan.rounds);
            plan.precision = self.bench.wanted.precision.or(plan.precision);
            planned.push(Planned { experiment: experiment.clone(), plan, started, failed: BTreeMap::new() });
        }
        let mut cells = planned.iter().flat_map(|one| &one.plan.cells);
        if !cells.any(|cell| choice.measures(&cell.parameters)) {
            let chosen = match found {
                Some(store) if self.only.is_empty() => &store.header().only,
                _ => &self.only,
            };
            return Err(Error::usage(format!(
                "no cell has {}; 'terrace lab list --format json' shows the parameters, results.json their values",
                chosen.join(" and ")
            )));
        }
        Ok(planned)
    }

    /// Runs what is not there yet. An error is returned only when nothing could begin.
    pub fn run(&self, progress: &Progress) -> Result<SessionResult> {
        let found = self.resume.then(|| Store::resume(&self.folder, &self.header())).transpose()?;
        // Before anything is written: what cannot be planned leaves nothing behind.
        let choice = self.choice(found.as_ref())?;
        let mut planned = self.planned(&choice, found.as_ref())?;
        let mut store = match found {
            Some(store) => store,
            None => Store::create(&self.folder, &self.header())?,
        };
        if store.outdated() > 0 {
            let others = if self.only.is_empty() {
                ""
            } else {
                "; those that --only leaves out are measured by --resume without it"
            };
            progress.line(&format!(
                "{} samples are from another build of the agent and do not count: their cells are measured again{others}",
                store.outdated()
            ));
        }
        let page = HostDescription::here(&self.bench.jdks, hardware_counters().to_string());
        let overhead = overhead::measure();
        store.begin(compare::machine::load())?;
        let mut watch = Watch::begin();
        let mut canaries = Canaries::resume(store.canaries(), store.spent());
        let plans: Vec<&Plan> = planned.iter().map(|one| &one.plan).collect();
        let tasks = schedule::tasks(&plans, |experiment, cell, round| {
            let name = &self.experiments[experiment].declaration.name;
            let parameters = &plans[experiment].cells[cell].parameters;
            !choice.measures(parameters) || store.has(name, parameters, round)
        });
        let total: f64 = tasks.iter().map(|task| task.seconds).sum();
        progress.start(&format!("the lab ({})", self.bench.effort.name()), Duration::from_secs_f64(total));
        let mut stopped = None;
        let mut done = 0.0;
        let mut shown = usize::MAX;
        let before = store.spent();
        let since = Instant::now();
        for task in &tasks {
            let Planned { experiment, plan, .. } = &planned[task.experiment];
            let name = experiment.declaration.name.clone();
            let samples = store.samples(&name, &plan.cells[task.cell].parameters);
            if plan.is_precise(experiment.declaration.first_metric(), &samples) {
                done += task.seconds;
                continue;
            }
            if shown != task.experiment {
                shown = task.experiment;
                progress.line(&format!(
                    "{name}: {} (about {:.0} s left in total)",
                    experiment.declaration.title,
                    total - done
                ));
            }
            if let Some(signal) = os::stopped_by() {
                stopped = Some(Error::interrupted(signal));
                break;
            }
            canaries.sing(before + since.elapsed().as_secs_f64(), &mut store)?;
            let began = Instant::now();
            let ran = self.one(&mut planned[task.experiment], task, &mut store, progress, &name);
            store.take_seconds(&name, began.elapsed().as_secs_f64())?;
            store.pass(watch.lap())?;
            if let Err(error) = ran {
                stopped = Some(error);
                break;
            }
            done += task.seconds;
            progress.passed(Duration::from_secs_f64(done));
            store.spend(before + since.elapsed().as_secs_f64())?;
        }
        store.pass(watch.lap())?;
        progress.finish();
        let findings: Vec<Findings> =
            planned.iter().map(|one| judge::findings(one, &choice, &store)).collect();
        let is_any = |state| findings.iter().any(|one| one.state == state);
        let state = if stopped.is_some() {
            State::Interrupted
        } else if is_any(State::Failed) {
            State::Failed
        } else if is_any(State::Interrupted) {
            // All that was chosen now is measured, but not all that the run was started with.
            State::Interrupted
        } else {
            State::Finished
        };
        let mut results = Results {
            schema: SCHEMA,
            method: METHOD,
            terrace: env!("CARGO_PKG_VERSION").into(),
            effort: self.bench.effort,
            command: store.header().command.clone(),
            started_unix: store.header().started_unix,
            seconds: store.spent(),
            state,
            machine: page,
            disturbance: store.disturbance(),
            canaries: canaries.results(),
            overhead,
            experiments: findings,
            simulated: Vec::new(),
            notes: Vec::new(),
        };
        // Who interrupts does not want to wait; 'terrace lab report' does it then.
        if stopped.is_none() {
            (self.complete)(&mut results);
        }
        results.notes = judge::notes(&results);
        Ok(SessionResult { results, stopped })
    }

    /// One run of one cell. Only what ends the whole session is an error.
    fn one(
        &self,
        planned: &mut Planned,
        task: &Task,
        store: &mut Store,
        progress: &Progress,
        name: &str,
    ) -> Result<()> {
        let cell = &planned.plan.cells[task.cell];
        let parameters: &Parameters = &cell.parameters;
        let text = crate::value::name(parameters);
        progress.say(format!("{name} {text}"));
        match cell.runner.run(&self.bench) {
            Ok(sample) => store.keep(name, parameters, task.round, sample),
            Err(error) if error.is_interruption() => Err(error),
            Err(error) => {
                // Not kept in the folder: when it is resumed, it is tried again.
                planned.failed.insert(text, error.to_string());
                Ok(())
            }
        }
    }
}

#[cfg(test)]
#[path = "mod_test.rs"]
mod tests;
