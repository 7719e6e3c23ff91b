//! Command lines whose words are read, while nothing is done.

use crate::found::root;
use crate::stage::{Stage, quoted, succeeded};
use std::path::Path;
use std::process::Command;

/// Whether its words are understood.
pub fn words(stage: &Stage, command: &str) -> Result<(), String> {
    let mut words = command.split_whitespace();
    match (words.next(), words.next()) {
        (Some("cargo"), Some("test" | "build" | "run")) => targets(command),
        (Some("make"), _) => {
            // What it would do, with the workspace's own files.
            let command = command.replace("make ", "make --dry-run ");
            succeeded(&command, &stage.run(&command, "0"))
        }
        _ => usage(stage, command),
    }
}

/// One of our own commands: the help stands for what it would do.
fn usage(stage: &Stage, command: &str) -> Result<(), String> {
    // What is redirected is not made.
    let words = command.split(" > ").next().unwrap_or(command);
    let words = words.replacen("cargo xtask", &quoted(Path::new(env!("CARGO_BIN_EXE_xtask"))), 1);
    let output = stage.run(&format!("{words} --help"), "0");
    succeeded(&words, &output)?;
    let taught = String::from_utf8_lossy(&output.stdout).contains("Usage:");
    taught.then_some(()).ok_or_else(|| format!("{words}: no usage is shown"))
}

/// The packages of a manifest, as cargo sees them.
fn packages(manifest: &Path) -> Result<Vec<serde_json::Value>, String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"]);
    let output = cargo.arg(manifest).current_dir(root()).output().map_err(|error| error.to_string())?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("{}: {error}", manifest.display()))?;
    Ok(metadata["packages"].as_array().ok_or("cargo metadata: no packages")?.clone())
}

/// Cargo's packages, features and tests that a command names are those of the workspace, or of the manifest that it names.
fn targets(command: &str) -> Result<(), String> {
    let packages = packages(&root().join("Cargo.toml"))?;
    let mut package = None;
    let mut words = command.split_whitespace().skip(2);
    while let Some(word) = words.next() {
        match word {
            "-p" => {
                let name = words.next().unwrap_or_default();
                let found = packages.iter().find(|package| package["name"] == name);
                package = Some(found.ok_or_else(|| format!("{command}: no package '{name}'"))?.clone());
            }
            "--manifest-path" => {
                package = self::packages(&root().join(words.next().unwrap_or_default()))?.into_iter().next();
            }
            "--features" => {
                let name = words.next().unwrap_or_default();
                if package.as_ref().is_none_or(|package| package["features"][name].is_null()) {
                    return Err(format!("{command}: its package has no feature '{name}'"));
                }
            }
            "--test" => {
                let name = words.next().unwrap_or_default();
                let targets = package.as_ref().and_then(|package| package["targets"].as_array());
                let is = |target: &serde_json::Value| target["name"] == name && target["kind"][0] == "test";
                if !targets.is_some_and(|targets| targets.iter().any(is)) {
                    return Err(format!("{command}: its package has no test '{name}'"));
                }
            }
            "--profile" => drop(words.next()),
            "--release" | "--no-default-features" => {}
            "--" => break,
            other => {
                return Err(format!("{command}: '{other}' is not understood here; teach it to this test"));
            }
        }
    }
    Ok(())
}
