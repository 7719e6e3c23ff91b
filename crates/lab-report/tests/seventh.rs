//! A seventh experiment, by the recipe of docs/architecture.md: a file of its own and its place in a list. Order, repetition, resuming,
//! tables, CSV and page come by themselves.

#[path = "seventh/square_root.rs"]
mod square_root;

use compare::machine::Host;
use experiment::results::{self, State};
use experiment::session::Request;
use experiment::{Bench, Effort, Wanted};
use jvm::install::Install;
use present::progress::Progress;
use std::collections::BTreeSet;

#[test]
fn everything_common_comes_with_its_line_in_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let request = Request {
        experiments: vec![square_root::experiment()],
        only: Vec::new(),
        bench: Bench {
            effort: Effort::Quick,
            jdks: Vec::new(),
            install: Install::at(Vec::new()),
            machine: Host::here(),
            scratch: scratch.path().to_owned(),
            allow_sysctl: false,
            wanted: Wanted::default(),
        },
        folder: folder.path().to_owned(),
        resume: false,
        command: "terrace lab run square_root".into(),
        complete: |_| (),
    };
    let outcome = request.run(&Progress::none()).unwrap();
    assert!(outcome.stopped.is_none());
    let findings = &outcome.results.experiments[0];
    assert_eq!((findings.state, findings.cells.len()), (State::Finished, 2));
    assert!(findings.cells.iter().all(|cell| cell.runs == 3), "{:?}", findings.cells);
    assert_eq!(findings.checks.len(), 1);

    let files = terrace_lab_report::write(&outcome.results, folder.path()).unwrap();
    let names: BTreeSet<_> = files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, BTreeSet::from(["results.json", "square_root.csv", "index.html"]));
    assert!(
        std::fs::read_to_string(folder.path().join("index.html"))
            .unwrap()
            .contains("What does a square root cost?")
    );
    assert!(terrace_lab_report::text::run(&outcome.results, 100).contains("single precision"));
    assert_eq!(results::read(folder.path()).unwrap(), outcome.results);

    let resumed = Request { resume: true, ..request };
    let again = resumed.run(&Progress::none()).unwrap().results;
    assert_eq!(again.experiments[0].cells.len(), 2);
    // Nothing was left to do: what the first session took and met is that of the run.
    assert!(findings.seconds > 0.0 && again.experiments[0].seconds == findings.seconds);
    assert_eq!(again.disturbance.load_before, outcome.results.disturbance.load_before);
}
