//! Everything that the `terrace` command needs, into one folder.

use crate::cargo::cargo;
use crate::files::{copy, create};
use crate::jar;
use crate::maven::{Goal, maven, time};
use crate::places::{checked_folder, folder, installed};
use crate::shell::{root, run};
use jvm::install::Install;
use jvm::{Error, Result};
use std::path::{Path, PathBuf};

/// Builds the agent, the command and all jars.
pub fn all() -> Result<()> {
    programs()?;
    jar::of_this_machine(Goal::Jar)?;
    workloads(Goal::Jar)
}

/// What tests take as it is shipped: the agent and all jars, with the Java tests. The command has tests of its own, in their profile. Maven, which mostly
/// waits, runs beside cargo.
pub fn for_tests() -> Result<()> {
    create(folder())?;
    std::thread::scope(|scope| {
        let java = scope.spawn(|| workloads(Goal::Tested));
        let rust = agent();
        let java = java.join().unwrap_or_else(|_| Err(Error::failed("mvnw: cannot be run")));
        rust.map(drop).and(java)
    })?;
    // Last: the agent is inside.
    jar::of_this_machine(Goal::Tested)
}

pub fn agent() -> Result<PathBuf> {
    run(cargo().args(["build", "--release", "--quiet", "-p", "terrace-agent"]))?;
    installed().agent()
}

fn programs() -> Result<()> {
    run(cargo().args(["build", "--release", "--quiet", "-p", "terrace-agent", "-p", "terrace-cli"]))
}

/// What tests of the command find beside it: the agent with assertions, and the same workloads.
pub fn checked() -> Result<()> {
    run(cargo().args(["build", "--profile", "checked", "--quiet", "-p", "terrace-agent"]))?;
    copy(folder().join(jar::NAME), checked_folder().join(jar::NAME))?;
    put_jars(&installed(), &checked_folder())
}

/// Builds what is in `java`, with its tests or without, and puts the jars beside the command.
pub fn workloads(goal: Goal) -> Result<()> {
    let mut maven = maven()?;
    match goal {
        Goal::Jar => maven.arg("-DskipTests"),
        Goal::Tested => &mut maven,
        Goal::Published(seconds) => maven.args(["-DskipTests", "clean"]).arg(time(seconds)),
    };
    let modules = ["workloads", "benchmarks", "jmh-profiler"];
    run(maven.args(["-pl", &modules.join(","), "package"]))?;
    let built = modules.map(|module| root().join("java").join(module).join("target"));
    put_jars(&Install::at(built.into()), &folder())
}

fn put_jars(from: &Install, to: &Path) -> Result<()> {
    for jar in [from.workloads()?, from.sources()?, from.benchmarks()?, from.profiler()?] {
        copy(&jar, to.join(jar.file_name().unwrap_or_default()))?;
    }
    Ok(())
}
