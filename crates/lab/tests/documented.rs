//! Whatever a document chooses by `--only` (or by an option of `cargo xtask` that becomes one) is a cell of that experiment: who renames a
//! parameter or a value finds the documents that name it.

use experiment::{Bench, Effort, Parameters, Wanted};
use jvm::install::Install;
use jvm::jdk::Jdk;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use terrace_lab::experiments;

/// Measuring commands of `cargo xtask`, the longest first, and their experiments.
const COMMANDS: [(&str, &str); 8] = [
    ("matrix --defaults --control", "defaults"),
    ("matrix --defaults", "defaults"),
    ("applications", "applications"),
    ("matrix", "matrix"),
    ("sizing", "sizing"),
    ("bound", "bound"),
    ("stock", "baseline"),
    ("waste", "waste"),
];
/// Their options, and the parameters that these choose by.
const OPTIONS: [(&str, &str); 8] = [
    ("--gc", "collector"),
    ("--jdk", "jdk"),
    ("--workload", "workload"),
    ("--threads", "threads"),
    ("--young", "young"),
    ("--size", "arrays"),
    ("--program", "program"),
    ("--heap", "heap"),
];

/// What a command asks for.
#[derive(Debug, Default, PartialEq)]
struct Asked {
    experiments: Vec<String>,
    only: Vec<(String, String)>,
    full: bool,
}

/// The words of a command as a shell takes them.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in command.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn asked(command: &str) -> Option<Asked> {
    let known: Vec<String> = experiments::all().into_iter().map(|one| one.declaration.name).collect();
    let mut asked = Asked::default();
    let rest = match command.strip_prefix("cargo xtask ") {
        Some(rest) => {
            let begins =
                |name: &str| rest.strip_prefix(name).filter(|more| more.is_empty() || more.starts_with(' '));
            let (rest, experiment) = COMMANDS.iter().find_map(|(name, one)| Some((begins(name)?, one)))?;
            asked.experiments.push((*experiment).to_owned());
            asked.full = true;
            rest
        }
        None => command.split_once("terrace lab run")?.1,
    };
    let mut words = words(rest).into_iter();
    while let Some(word) = words.next() {
        let option = OPTIONS.iter().find(|(option, _)| *option == word);
        if let Some((_, key)) = option.filter(|_| command.starts_with("cargo")) {
            asked.only.push(((*key).to_owned(), words.next()?));
        } else if word == "--only" {
            let (key, value) = words
                .next()
                .and_then(|pair| {
                    Some(pair.split_once('=')?).map(|(key, value)| (key.to_owned(), value.to_owned()))
                })
                .unwrap_or_else(|| panic!("{command}: --only KEY=VALUE"));
            asked.only.push((key, value));
        } else if word == "--full" {
            asked.full = true;
        } else if known.contains(&word) {
            asked.experiments.push(word);
        }
    }
    Some(asked)
}

/// Each command with a choice, and where it stands.
fn documented() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    for folder in ["docs", "docs/decisions", "docs/results"] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        files.extend(entries.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    let mut found = BTreeMap::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            let place = format!("{}:{}", file.file_name().unwrap().display(), number + 1);
            let block = line.strip_prefix("$ ").map(|command| command.split("  #").next().unwrap().trim());
            for command in block.into_iter().chain(line.split('`').skip(1).step_by(2)) {
                if command.starts_with("cargo xtask ") || command.contains("terrace lab run ") {
                    found.entry(command.to_owned()).or_insert(place.clone());
                }
            }
        }
    }
    found
}

/// A JDK that has every collector, as far as it is asked: what is planned runs nothing else.
fn jdk(folder: &Path, feature: u32) -> Jdk {
    let home = folder.join(feature.to_string());
    std::fs::create_dir_all(home.join("bin")).unwrap();
    for (name, text) in [
        ("release", format!("JAVA_VERSION=\"{feature}\"\nMODULES=\"jdk.compiler\"\n")),
        ("bin/java", "#!/bin/sh\nexit 0\n".into()),
    ] {
        std::fs::write(home.join(name), text).unwrap();
        std::fs::set_permissions(home.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    Jdk::at(&home).unwrap()
}

fn cells(experiment: &str, full: bool, jdks: &[Jdk], scratch: PathBuf) -> Vec<Parameters> {
    let bench = Bench {
        effort: if full { Effort::Full } else { Effort::Quick },
        jdks: jdks.to_vec(),
        install: Install::at(Vec::new()),
        machine: compare::machine::Host::here(),
        scratch,
        allow_sysctl: false,
        wanted: Wanted::default(),
    };
    let found = experiments::all().into_iter().find(|one| one.declaration.name == experiment);
    let plan = (found.unwrap_or_else(|| panic!("{experiment}: no such experiment")).plan)(&bench).unwrap();
    plan.cells.into_iter().map(|cell| cell.parameters).collect()
}

#[test]
fn every_cell_that_a_document_chooses_is_there() {
    let scratch = tempfile::tempdir().unwrap();
    let jdks = [25, 21, 17].map(|feature| jdk(scratch.path(), feature));
    let mut choosing = 0;
    for (command, place) in documented() {
        let Some(asked) = asked(&command).filter(|asked| !asked.only.is_empty()) else { continue };
        assert!(!asked.experiments.is_empty(), "{place}: {command}: names no experiment");
        choosing += 1;
        for experiment in &asked.experiments {
            let mut cells = cells(experiment, asked.full, &jdks, scratch.path().to_owned());
            for (key, value) in &asked.only {
                let has = |cell: &Parameters, value: &str| {
                    cell.get(key).is_some_and(|own| own.to_string() == value)
                };
                assert!(
                    cells.iter().any(|cell| has(cell, value)),
                    "{place}: {command}: '{experiment}' has no cell with {key}={value} (and what was chosen before)"
                );
                // Several values of a key are alternatives.
                let values: Vec<&String> =
                    asked.only.iter().filter(|other| other.0 == *key).map(|other| &other.1).collect();
                cells.retain(|cell| values.iter().any(|value| has(cell, value)));
            }
        }
    }
    assert!(choosing >= 8, "only {choosing} commands choose cells: are they still found?");
}

#[test]
fn a_command_is_read_as_a_shell_and_the_command_do() {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(
        asked(
            "target/release/terrace lab run sizing --full --only 'program=ecj, application' --only size=64k --rounds 5"
        ),
        Some(Asked {
            experiments: vec!["sizing".into()],
            only: vec![pair("program", "ecj, application"), pair("size", "64k")],
            full: true,
        })
    );
    let defaults = asked("cargo xtask matrix --defaults --workload javac --seconds 120").unwrap();
    assert_eq!(
        (defaults.experiments, defaults.only),
        (vec!["defaults".into()], vec![pair("workload", "javac")])
    );
    assert_eq!(asked("cargo xtask wasteful"), None);
}
