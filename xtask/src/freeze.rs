//! The tests on a machine that lets nobody work for a while, again and again: each test program, and the JVMs that it starts, are stopped at random
//! moments. What a test says then must be what it says otherwise: none may depend on how fast a machine is.

use crate::cargo::{self, cargo};
use crate::shell::root;
use crate::{build, child, files};
use jvm::{Error, Result, os, resident};
use serde::Deserialize;
use statistics::Random;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Options of `freeze`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only test programs whose name contains one of these (doctor, compare, terrace_jvm) [default: all but the launches]
    programs: Vec<String>,
    /// How often each program runs.
    #[arg(long, default_value_t = 1)]
    rounds: u32,
    /// The longest stop, in milliseconds. From 2,000 on a JVM counts as stopped by somebody, which commands say.
    #[arg(long, default_value_t = 800, value_parser = clap::value_parser!(u64).range(1..2000))]
    longest: u64,
    /// Seed for the moments and lengths.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The longest time between two stops, in milliseconds: a test program of half a second is stopped once or twice.
const BETWEEN: u64 = 300;
/// A program that runs longer hangs.
const LIMIT: Duration = Duration::from_secs(1800);
/// Launches have a limit of their own for each, and are 700.
const LAUNCHES: &str = "jvm";

/// What cargo says of a program that it has built.
#[derive(Deserialize)]
struct Built {
    executable: Option<PathBuf>,
    #[serde(default)]
    manifest_path: PathBuf,
    target: Option<Target>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Debug, PartialEq)]
struct Program {
    name: String,
    file: PathBuf,
    /// Where it runs: its crate's folder.
    folder: PathBuf,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    build::checked()?;
    let wanted = |program: &Program| match &arguments.programs[..] {
        [] => program.name != LAUNCHES,
        names => names.iter().any(|name| program.name.contains(name)),
    };
    let programs: Vec<Program> = programs(&built()?).into_iter().filter(wanted).collect();
    if programs.is_empty() {
        return Err(Error::usage(format!(
            "no test program's name contains {}; without a name all run",
            arguments.programs.join(" or ")
        )));
    }
    let mut random = Random::new(arguments.seed);
    let mut failed = Vec::new();
    for program in programs.iter().flat_map(|program| (0..arguments.rounds).map(move |_| program)) {
        let (since, output) = (Instant::now(), root().join("target/freeze").join(&program.name));
        let (status, stops) = frozen(program, &output, arguments.longest, &mut random)?;
        let outcome = if status.success() { "passed" } else { "FAILED" };
        eprintln!("{}: {outcome}, stopped {stops} times in {} s", program.name, since.elapsed().as_secs());
        if !status.success() {
            eprintln!("{}", files::text(&output)?);
            failed.push(program.name.as_str());
        }
    }
    match &failed[..] {
        [] => Ok(()),
        names => Err(Error::failed(format!(
            "{} failed when stopped now and then; see above: what does the test take for granted?",
            names.join(", ")
        ))),
    }
}

/// What cargo says of the test programs, once they are built.
fn built() -> Result<String> {
    let mut command = cargo();
    command.args(["test", "--quiet", "--profile", "checked", "--workspace", "--exclude", "terrace-golden"]);
    command.args(["--no-run", "--message-format=json"]);
    let output = child::output(command.stdout(Stdio::piped()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(Error::failed("the test programs cannot be built; see above")),
    }
}

fn programs(said: &str) -> Vec<Program> {
    let program = |line: &str| {
        let built: Built = serde_json::from_str(line).ok()?;
        built.profile.filter(|profile| profile.test)?;
        let folder = built.manifest_path.parent()?.to_path_buf();
        Some(Program { name: built.target?.name, file: built.executable?, folder })
    };
    said.lines().filter_map(program).collect()
}

/// Runs it to its end, and stops it and what it starts; how often.
fn frozen(program: &Program, output: &Path, longest: u64, random: &mut Random) -> Result<(ExitStatus, u32)> {
    let failed = |error: std::io::Error| Error::failed(format!("{}: {error}", program.file.display()));
    files::create(output.parent().unwrap_or(output))?;
    let file = File::create(output).map_err(failed)?;
    let mut command = cargo::test_program(&program.file, &program.folder);
    command.stdin(Stdio::null()).stdout(file.try_clone().map_err(failed)?).stderr(file);
    os::die_with_us(&mut command);
    let mut running = command.spawn().map_err(failed)?;
    let (since, mut stops) = (Instant::now(), 0);
    loop {
        std::thread::sleep(Duration::from_millis(1 + random.bits() % BETWEEN));
        if let Some(status) = running.try_wait().map_err(failed)? {
            return Ok((status, stops));
        }
        let is_late = since.elapsed() > LIMIT;
        if is_late || os::stopped_by().is_some() {
            let _ = running.kill().and_then(|()| running.wait());
            return Err(match os::stopped_by() {
                Some(signal) => Error::interrupted(signal),
                None => Error::failed(format!("{} hangs: see {}", program.name, output.display())),
            });
        }
        stops += u32::from(stop_one(&running, Duration::from_millis(1 + random.bits() % longest), random));
    }
}

/// Stops the program or one of its JVMs for so long. Whether it did: who is stopped already has been stopped by a test, and must stay so.
fn stop_one(running: &Child, length: Duration, random: &mut Random) -> bool {
    let mut all = resident::java_below(running.id());
    // The tests themselves as often as all JVMs.
    all.extend(std::iter::repeat_n(running.id(), all.len().max(1)));
    let pid = random.one(&all);
    if os::is_stopped(pid) {
        return false;
    }
    os::signal(pid, os::STOP);
    std::thread::sleep(length);
    os::signal(pid, os::CONTINUE);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_told_from_what_they_test() {
        let line = |test: bool, name: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/x/cli/Cargo.toml","target":{{"name":"{name}"}},"profile":{{"test":{test}}},"executable":"/x/{name}-1"}}"#
            )
        };
        let said = [line(true, "doctor"), line(false, "terrace"), r#"{"reason":"build-finished"}"#.into()];
        let (file, folder) = (PathBuf::from("/x/doctor-1"), PathBuf::from("/x/cli"));
        assert_eq!(programs(&said.join("\n")), [Program { name: "doctor".into(), file, folder }]);
    }

    #[test]
    fn who_was_stopped_by_a_test_stays_so() {
        let mut random = Random::new(1);
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        assert!(stop_one(&child, Duration::ZERO, &mut random));
        os::signal(child.id(), os::STOP);
        while !os::is_stopped(child.id()) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(!stop_one(&child, Duration::ZERO, &mut random));
        assert!(os::is_stopped(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
