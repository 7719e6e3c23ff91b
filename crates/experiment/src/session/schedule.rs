//! Which cells, and in which order.
//!
//! Each round goes through all cells of an experiment, every second one backwards (A B C, C B A): what drifts steadily
//! favours nobody, and no cell always follows the same one.

use crate::{Error, Result};
use crate::{Parameters, Plan, Runner};

/// Which cells are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Only(Vec<(String, String)>);

impl Only {
    /// From `key=value`; of every key named one value must hold. Values are compared as they are shown.
    pub fn parse(words: &[String]) -> Result<Only> {
        let pair = |word: &String| {
            let (key, value) = word.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(|| {
                Error::usage(format!("--only '{word}': write KEY=VALUE, such as threads=2"))
            })?;
            Ok((key.to_owned(), value.to_owned()))
        };
        words.iter().map(pair).collect::<Result<_>>().map(Only)
    }

    /// Whether a cell is.
    pub fn wants(&self, parameters: &Parameters) -> bool {
        let holds = |(key, value): &(String, String)| {
            parameters.get(key).is_some_and(|own| own.to_string() == *value)
        };
        self.0.iter().all(|(key, _)| self.0.iter().any(|pair| pair.0 == *key && holds(pair)))
    }
}

/// Which cells a run has, and which of them are measured now.
///
/// A run that is continued with another choice keeps what it has: results of a part would replace those of the whole, with claims that
/// lack their cells and ratios that lack their base.
#[derive(Debug)]
pub struct Choice {
    /// What the run was started with.
    started: Only,
    /// What was chosen to continue it.
    now: Option<Only>,
}

impl Choice {
    /// Of a new run.
    pub fn of(started: &[String]) -> Result<Choice> {
        Ok(Choice { started: Only::parse(started)?, now: None })
    }

    /// Of a run that is continued, with a choice of its own if `now` has any words.
    pub fn continued(started: &[String], now: &[String]) -> Result<Choice> {
        let now = (!now.is_empty()).then(|| Only::parse(now)).transpose()?;
        Ok(Choice { now, ..Choice::of(started)? })
    }

    /// Whether the run has a cell: those that it was started with, those that were measured since, and those chosen now.
    pub fn has(&self, parameters: &Parameters, is_measured: bool) -> bool {
        let is_chosen = self.now.as_ref().is_some_and(|now| now.wants(parameters));
        is_measured || is_chosen || self.started.wants(parameters)
    }

    /// Whether a cell that the run has is measured now.
    pub fn measures(&self, parameters: &Parameters) -> bool {
        self.now.as_ref().is_none_or(|now| now.wants(parameters))
    }
}

/// One run of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    pub experiment: usize,
    pub cell: usize,
    pub round: usize,
    /// About how long it takes, in seconds.
    pub seconds: f64,
}

/// What is to be done, in order. `omitted` says what is there already, or not chosen. Cells that cannot be run are left out.
pub fn tasks(plans: &[&Plan], omitted: impl Fn(usize, usize, usize) -> bool) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (experiment, plan) in plans.iter().enumerate() {
        for round in 0..plan.rounds {
            let forwards = round % 2 == 0;
            for place in 0..plan.cells.len() {
                let cell = if forwards { place } else { plan.cells.len() - 1 - place };
                let runs = !matches!(plan.cells[cell].runner, Runner::Unavailable(_));
                if runs && !omitted(experiment, cell, round) {
                    tasks.push(Task { experiment, cell, round, seconds: plan.cells[cell].seconds });
                }
            }
        }
    }
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cell, Sample, parameters};

    fn plan(cells: usize, rounds: usize) -> Plan {
        let cell = |_| Cell {
            parameters: Parameters::new(),
            seconds: 1.0,
            runner: Runner::native(|| Ok(Sample::default())),
        };
        Plan { cells: (0..cells).map(cell).collect(), rounds, ..Plan::default() }
    }

    #[test]
    fn only_cells_with_all_values_are_wanted() {
        let cell = parameters([("threads", 2_u32.into()), ("operation", "lock xadd".into())]);
        let wants = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            Only::parse(&words).unwrap().wants(&cell)
        };
        assert!(wants(&[]) && wants(&["threads=2"]) && wants(&["threads=2", "operation=lock xadd"]));
        assert!(wants(&["threads=1", "threads=2"]) && !wants(&["threads=1", "threads=4"]));
        assert!(!wants(&["threads=1"]) && !wants(&["layout=shared"]));
        assert!(Only::parse(&["threads".into()]).unwrap_err().to_string().contains("threads=2"));
    }

    #[test]
    fn a_choice_to_continue_with_adds_cells_and_removes_none() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let cells = [1_u32, 2, 4].map(|threads| parameters([("threads", threads.into())]));
        let found = |choice: &Choice| {
            cells
                .each_ref()
                .map(|cell| (choice.has(cell, false), choice.has(cell, false) && choice.measures(cell)))
        };
        let started = words(&["threads=1", "threads=2"]);
        let [all, kept, none] = [(true, true), (true, false), (false, false)];
        assert_eq!(found(&Choice::of(&started).unwrap()), [all, all, none]);
        assert_eq!(found(&Choice::continued(&started, &[]).unwrap()), [all, all, none]);
        assert_eq!(found(&Choice::continued(&started, &words(&["threads=2"])).unwrap()), [kept, all, none]);
        assert_eq!(found(&Choice::continued(&started, &words(&["threads=4"])).unwrap()), [kept, kept, all]);
        let plain = Choice::continued(&started, &[]).unwrap();
        assert!(plain.has(&cells[2], true) && plain.measures(&cells[2]), "measured by an earlier choice");
    }

    #[test]
    fn every_second_round_goes_backwards() {
        let plan = plan(3, 3);
        let order: Vec<usize> = tasks(&[&plan], |_, _, _| false).iter().map(|task| task.cell).collect();
        assert_eq!(order, [0, 1, 2, 2, 1, 0, 0, 1, 2]);
    }

    #[test]
    fn what_is_there_and_what_cannot_be_run_are_left_out() {
        let (one, mut two) = (plan(2, 2), plan(2, 1));
        two.cells[0].runner = Runner::Unavailable("no pool".into());
        let left = tasks(&[&one, &two], |experiment, cell, round| (experiment, cell, round) == (0, 1, 0));
        let left: Vec<_> = left.iter().map(|task| (task.experiment, task.cell, task.round)).collect();
        assert_eq!(left, [(0, 0, 0), (0, 1, 1), (0, 0, 1), (1, 1, 0)]);
    }
}
