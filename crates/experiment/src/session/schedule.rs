//! The order of cells.
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

/// One run of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    pub experiment: usize,
    pub cell: usize,
    pub round: usize,
    /// About how long it takes, in seconds.
    pub seconds: f64,
}

/// What is to be done, in order. `done` says what is there already. Cells that cannot be run are left out.
pub fn tasks(plans: &[&Plan], done: impl Fn(usize, usize, usize) -> bool) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (experiment, plan) in plans.iter().enumerate() {
        for round in 0..plan.rounds {
            let forwards = round % 2 == 0;
            for place in 0..plan.cells.len() {
                let cell = if forwards { place } else { plan.cells.len() - 1 - place };
                let runs = !matches!(plan.cells[cell].runner, Runner::Unavailable(_));
                if runs && !done(experiment, cell, round) {
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
