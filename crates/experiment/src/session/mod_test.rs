use super::*;
use crate::{Better, Measured, MeasuredCell, Quantity, Relation};
use crate::{Cell, Claim, Comparison, Declaration, Effort, Metric, Runner, Sample, Term, Wanted, parameters};
use compare::machine::Host;
use jvm::install::Install;
use std::path::Path;

/// Two cells of `threads` and one without; each is one round of two.
fn plan(_: &Bench) -> Result<Plan> {
    let cell = |pairs: &[(&str, u32)]| Cell {
        parameters: pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect(),
        seconds: 0.0,
        runner: Runner::native(|| {
            Ok(Sample::default().value("ns", 2.0).cannot_have("share", "a step has no parts"))
        }),
    };
    let is_first = std::cell::Cell::new(true);
    let sometimes = Runner::native(move || {
        let sample = Sample::default().value("ns", 2.0);
        Ok(match is_first.replace(false) {
            true => sample.value("share", 0.5),
            false => sample.cannot_have("share", "too few steps"),
        })
    });
    let cells = vec![
        cell(&[("threads", 1)]),
        cell(&[("threads", 2)]),
        Cell { runner: sometimes, ..cell(&[("size", 8)]) },
    ];
    Ok(Plan { cells, rounds: 2, ..Plan::default() })
}

/// The speed-up over the cell of one thread.
fn derive(cells: &mut [MeasuredCell]) {
    let has_base = cells.iter().any(|cell| cell.parameters == parameters([("threads", 1_u32.into())]));
    for cell in cells {
        let values = if has_base { vec![1.0] } else { Vec::new() };
        cell.metrics.insert("speed".into(), Quantity::of(values, "no base"));
    }
}

fn claims(_: &Measured) -> Vec<Claim> {
    let time = |threads: u32| Term::metric("a step", "ns").at("threads", threads);
    let claim: Comparison = time(1).is(Relation::Alike(1.5), time(2));
    vec![Claim::new("threads do not contend", "nobody").that(claim)]
}

fn request(folder: &Path, resume: bool, only: &[&str], rounds: Option<usize>) -> Request {
    let metric = Metric::new("ns", "Time", "ns", Better::Lower, "the time for a step");
    let declaration = Declaration { name: "steps".into(), metrics: vec![metric], ..Declaration::default() };
    Request {
        experiments: vec![Experiment::new(declaration, plan, claims, |_| String::new()).derive(derive)],
        only: only.iter().map(|only| (*only).to_owned()).collect(),
        bench: Bench {
            effort: Effort::Quick,
            jdks: Vec::new(),
            install: Install::at(Vec::new()),
            machine: Host::here(),
            scratch: folder.to_owned(),
            allow_sysctl: false,
            wanted: Wanted { rounds, ..Wanted::default() },
        },
        folder: folder.join("run"),
        resume,
        command: String::new(),
        complete: |_| (),
    }
}

/// State, claims that are decided, and the runs of each cell, in the order of the plan.
fn found(request: &Request) -> (State, usize, Vec<usize>) {
    let results = request.run(&Progress::none()).unwrap().results;
    let findings = &results.experiments[0];
    assert_eq!(findings.state, results.state);
    assert!(
        findings.cells.iter().all(|cell| cell.metrics["speed"].interval().is_some()),
        "the base is there"
    );
    let decided = findings.checks.iter().filter(|check| check.holds.is_some()).count();
    (results.state, decided, findings.cells.iter().map(|cell| cell.runs).collect())
}

#[test]
fn a_choice_to_continue_with_measures_these_cells_and_keeps_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let run = |resume, only: &[&str], rounds| found(&request(folder.path(), resume, only, rounds));
    assert_eq!(run(false, &[], None), (State::Finished, 1, vec![2, 2, 2]));
    assert_eq!(run(true, &["threads=2"], None), (State::Finished, 1, vec![2, 2, 2]), "nothing is left to do");
    assert_eq!(run(true, &["threads=2"], Some(3)), (State::Finished, 1, vec![2, 3, 2]));
    let error = request(folder.path(), true, &["threads=4"], None).run(&Progress::none()).err().unwrap();
    assert!(error.exit_code() == 2 && error.to_string().contains("no cell has threads=4"), "{error}");
}

#[test]
fn what_was_not_chosen_and_not_measured_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let run = |only: &[&str], rounds| found(&request(folder.path(), true, only, rounds));
    let begun = request(folder.path(), false, &[], None);
    Store::create(&begun.folder, &begun.header()).unwrap();
    assert_eq!(run(&["threads=1"], None), (State::Interrupted, 0, vec![2, 0, 0]));
    assert_eq!(run(&[], None), (State::Finished, 1, vec![2, 2, 2]));
}

#[test]
fn cells_that_a_choice_adds_stay() {
    let folder = tempfile::tempdir().unwrap();
    let run = |resume, only: &[&str]| found(&request(folder.path(), resume, only, None));
    assert_eq!(run(false, &["threads=1"]), (State::Finished, 0, vec![2]));
    assert_eq!(run(true, &["threads=2"]), (State::Finished, 1, vec![2, 2]));
    assert_eq!(run(true, &[]), (State::Finished, 1, vec![2, 2]), "what was measured is in the results");
}

#[test]
fn a_cell_cannot_have_what_none_of_its_runs_has() {
    let folder = tempfile::tempdir().unwrap();
    let results = request(folder.path(), false, &[], None).run(&Progress::none()).unwrap().results;
    for cell in &results.experiments[0].cells {
        let never = cell.parameters.contains_key("threads");
        assert!(cell.cannot_have("share") == never && !cell.cannot_have("ns"), "{cell:?}");
    }
}
