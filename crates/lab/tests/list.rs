//! The list of experiments and their folders are the same, and nothing else names an experiment.

use std::collections::BTreeSet;
use std::path::Path;
use terrace_lab::experiments;

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
    for folder in ["src", "../experiment/src", "../lab-report/src", "../cli/src/lab"] {
        sources(&root.join(folder), &mut all);
    }
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let is_test = path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_test"));
        for name in folders() {
            // In a folder of an experiment it may be a parameter of the same name; a fixture is a test's.
            let own = path
                .components()
                .any(|part| part.as_os_str() == "experiments" || part.as_os_str() == "fixture");
            let named = code.contains(&format!("\"{name}\""));
            assert!(own || is_test || !named, "{} names the experiment '{name}'", path.display());
        }
    }
}
