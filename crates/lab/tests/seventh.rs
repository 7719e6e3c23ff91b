//! A seventh experiment, by the recipe of docs/architecture.md: a file of its own and its place in a list. Order, repetition, resuming,
//! tables, CSV and page come by themselves.

#[path = "seventh/square_root.rs"]
mod square_root;

use compare::machine::Host;
use jvm::install::Install;
use present::progress::Progress;
use std::collections::BTreeSet;
use std::path::Path;
use terrace_lab::experiment::{Bench, Effort, Wanted};
use terrace_lab::results::State;
use terrace_lab::session::Request;
use terrace_lab::{experiments, report, results};

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
    };
    let outcome = request.run(&Progress::none()).unwrap();
    assert!(outcome.stopped.is_none());
    let findings = &outcome.results.experiments[0];
    assert_eq!((findings.state, findings.cells.len()), (State::Finished, 2));
    assert!(findings.cells.iter().all(|cell| cell.runs == 3), "{:?}", findings.cells);
    assert_eq!(findings.checks.len(), 1);

    let files = report::write(&outcome.results, folder.path()).unwrap();
    let names: BTreeSet<_> = files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, BTreeSet::from(["results.json", "square_root.csv", "index.html"]));
    assert!(
        std::fs::read_to_string(folder.path().join("index.html"))
            .unwrap()
            .contains("What does a square root cost?")
    );
    assert!(report::text::run(&outcome.results, 100).contains("single precision"));
    assert_eq!(results::read(folder.path()).unwrap(), outcome.results);

    let resumed = Request { resume: true, ..request };
    assert_eq!(resumed.run(&Progress::none()).unwrap().results.experiments[0].cells.len(), 2);
}

/// The names of the folders of experiments.
fn folders() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/experiments");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let folders = entries.filter(|path| path.join("mod.rs").is_file());
    folders.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn each_folder_is_an_experiment_of_the_list() {
    let listed: BTreeSet<_> = experiments::all().into_iter().map(|one| one.declaration.name).collect();
    assert_eq!(listed, folders());
}

/// An experiment's name outside its folder would be one more place to change.
#[test]
fn no_other_source_names_an_experiment() {
    fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                sources(&entry, found);
            } else if entry.extension().is_some_and(|end| end == "rs") {
                found.push(entry);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for folder in ["src", "../cli/src/lab"] {
        sources(&root.join(folder), &mut all);
    }
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let is_test = path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_test"));
        for name in folders() {
            // In a folder of an experiment it may be a parameter of the same name.
            let own = path.components().any(|part| part.as_os_str() == "experiments");
            let named = code.contains(&format!("\"{name}\""));
            assert!(own || is_test || !named, "{} names the experiment '{name}'", path.display());
        }
    }
}
