//! JDKs that are not supported, or not known.

use crate::artifacts;
use crate::jdk::{self, Jdk};
use crate::launch::Launch;
use crate::loading::copy_without_library;
use crate::matrix::JDKS;
use crate::process::{ANSWER, Running};
use crate::runner::{Case, Outcome, QUIET, Verdict};
use crate::version_number;
use hotspot::version::{Feature, Supported};
use jvm::attach::{Attached, Loaded};
use std::process::Command;

pub fn cases(cases: &mut Vec<Case>) {
    for strict in [false, true] {
        let name = |way: &str| format!("jdk_8_is_refused::{way}{}", if strict { "_strict" } else { "" });
        cases.push(Case::new(name("load"), move || {
            let agent = format!("-agentpath:{}", artifacts::agent().display());
            of_8(|jdk| version_of_8(jdk, &agent, strict, [NOT_8, &format!("use JDK {Supported}")]))
        }));
        cases.push(Case::new(name("jar"), move || {
            let agent = format!("-javaagent:{}", artifacts::jar()?.display());
            of_8(|jdk| {
                version_of_8(jdk, &agent, strict, ["Java 1.8 is not supported", "use JDK 11 or later"])
            })
        }));
    }
    cases.push(Case::new("jdk_8_is_refused::attach", || of_8(attach_to_8)));
    cases.push(Case::new("unsupported_jdk", || {
        let between = |jdk: &&Jdk| jdk.feature.0 > 8 && !JDKS.contains(&jdk.feature.0);
        let Some(jdk) = jdk::all().iter().find(between) else {
            return Ok(Outcome::Skipped("every JDK found from 11 on is supported".into()));
        };
        let launch =
            Launch::bare("Hello").unreported().prints(&["hello"]).says(format!("use JDK {Supported}"));
        launch.run(jdk).map(|_| Outcome::Passed)
    }));
    cases.push(Case::new("newer_than_known::refused", || {
        let launch = load().unreported().says("is newer than this terrace supports: update terrace");
        pretended(newest(), launch)
    }));
    cases.push(Case::new("newer_than_known::tried", || {
        pretended(newest(), load().agent("core=64k,unknown=try").collects(20))
    }));
    // Names of 26 and later are not in it: the checks decide, not the option.
    cases.push(Case::new("newer_than_known::checks_do_not_hold", || {
        let launch =
            load().agent("core=64k,unknown=try").unreported().says("not found as expected in libjvm.so");
        pretended(25, launch)
    }));
}

fn of_8(body: impl Fn(&'static Jdk) -> Verdict) -> Verdict {
    match jdk::of(8) {
        Ok(jdk) => QUIET.shared(|| body(jdk)),
        Err(_) => Ok(Outcome::Skipped("JDK 8: not found (cargo xtask jdks 8)".into())),
    }
}

const NOT_8: &str = "JDK 8 (HotSpot 25.";

/// The test programs are for later versions; the JVM's own answer shows that it runs.
fn version_of_8(jdk: &Jdk, agent: &str, strict: bool, words: [&str; 2]) -> Verdict {
    let agent = format!("{agent}=strict={strict}");
    let output =
        Command::new(jdk.java()).args([&agent, "-version"]).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("terrace:")).collect();
    let refused = lines.len() == 1 && words.iter().all(|words| lines[0].contains(words));
    let runs = output.status.success() && said.contains("openjdk version \"1.8.");
    if refused && runs != strict { Ok(Outcome::Passed) } else { Err(format!("{}: {said}", output.status)) }
}

/// A program of the JDK's own that runs until it is ended.
fn attach_to_8(jdk: &Jdk) -> Verdict {
    let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
    let mut registry = Command::new(jdk.java());
    registry.args(["-Xmx64m", "sun.rmi.registry.RegistryImpl", "0"]);
    let mut running = Running::start(jdk, directory.path(), registry)?;
    let pid = running.pid();
    running.wait_until("a JVM that can be attached to", |_| {
        let loaded = Attached::to(pid, ANSWER).and_then(|jvm| jvm.load(artifacts::agent(), ""));
        match loaded {
            Ok(Loaded::Refused) => Ok(true),
            // It has only begun to start.
            Ok(Loaded::TooEarly) | Err(_) => Ok(false),
            Ok(Loaded::Yes) => Err("it was loaded".into()),
        }
    })?;
    running.wait_until("the agent's line", |running| Ok(running.stderr().contains(NOT_8)))?;
    if running.is_running() { Ok(Outcome::Passed) } else { Err("the application has ended".into()) }
}

fn newest() -> u32 {
    Feature::SUPPORTED.iter().map(|feature| feature.0).max().unwrap_or(0)
}

/// Twenty collections under verification.
fn load() -> Launch {
    Launch::new("Load").args(&["gc=20", "pauses=40"]).flags("-Xmn8m -XX:+UseG1GC")
}

/// A launch on a JDK whose HotSpot says that it is one version later than all that are known: in a copy of its library the number that
/// it tells (`Abstract_VM_Version::_vm_major_version`) is another. All else is what it was.
fn pretended(feature: u32, launch: Launch) -> Verdict {
    let Ok(jdk) = jdk::of(feature) else {
        return Ok(Outcome::Skipped(format!("JDK {feature}: not found (cargo xtask jdks {feature})")));
    };
    let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
    let home = directory.path().join("jdk");
    let Some(library) = copy_without_library(jdk, &home)? else {
        return Ok(Outcome::Skipped("cp -rs: not on this machine".into()));
    };
    let mut bytes = std::fs::read(jdk.libjvm()).map_err(|error| error.to_string())?;
    let at = version_number::place(&bytes).ok_or("the version's number has no place in the library")?;
    if bytes[at..at + 4] != feature.to_ne_bytes() {
        return Err(format!("the library does not say {feature} where its number should be"));
    }
    bytes[at..at + 4].copy_from_slice(&(newest() + 1).to_ne_bytes());
    std::fs::write(&library, bytes).map_err(|error| error.to_string())?;
    let changed = Jdk::at(&home).ok_or("the changed copy is no JDK")?;
    QUIET.shared(|| launch.run(&changed)).map(|_| Outcome::Passed)
}
