//! Everything that the `terrace` command needs, into one folder.

use crate::cargo::cargo;
use crate::jar::{self, Goal};
use crate::shell::{root, run};
use jvm::install::Install;
use jvm::jdk;
use jvm::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the command finds the agent, the workloads and the benchmarks beside itself.
pub fn folder() -> PathBuf {
    root().join("target/release")
}

/// The installation in that folder.
pub fn installed() -> Install {
    Install::at(vec![folder()])
}

/// Where tests of the command look for the same.
pub fn checked_folder() -> PathBuf {
    root().join("target/checked")
}

/// Builds the agent, the command and all jars.
pub fn all() -> Result<()> {
    programs()?;
    jar::of_this_machine(Goal::Jar)?;
    workloads(Goal::Jar)
}

/// The same, and the Java tests. Maven, which mostly waits, runs beside cargo.
pub fn all_with_java_tests() -> Result<()> {
    std::fs::create_dir_all(folder()).map_err(|error| Error::failed(format!("target/release: {error}")))?;
    std::thread::scope(|scope| {
        let java = scope.spawn(|| workloads(Goal::Tested));
        let rust = programs();
        let java = java.join().unwrap_or_else(|_| Err(Error::failed("mvnw: could not be run")));
        rust.and(java)
    })?;
    // Last: the agent is inside.
    jar::of_this_machine(Goal::Tested)
}

/// Builds the agent alone.
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
    let jar = folder().join(jar::NAME);
    std::fs::copy(&jar, checked_folder().join(jar::NAME))
        .map_err(|error| Error::failed(format!("{}: {error}", jar.display())))?;
    put_jars(&installed(), &checked_folder())
}

/// The oldest JDK with a compiler: Java is compiled for 17, and `terrace.jar` for 11.
pub fn compiler_jdk() -> Result<jdk::Jdk> {
    let jdks = jdk::discover().into_iter().filter(|jdk| jdk.has_compiler);
    jdks.min_by_key(|jdk| jdk.feature).ok_or_else(|| {
        Error::failed("no JDK with a compiler found; install one (17 or later), or set JAVA_HOME")
    })
}

/// Maven with the project's wrapper, on that JDK.
pub fn maven() -> Result<Command> {
    let jdk = compiler_jdk()?;
    let mut maven = Command::new(root().join("java/mvnw"));
    maven.current_dir(root().join("java")).env("JAVA_HOME", &jdk.home).args(["--quiet", "--batch-mode"]);
    Ok(maven)
}

/// Builds what is in `java`, with its tests or without, and puts the jars beside the command.
pub fn workloads(goal: Goal) -> Result<()> {
    let mut maven = maven()?;
    match goal {
        Goal::Jar => maven.arg("-DskipTests"),
        Goal::Tested => &mut maven,
        Goal::Published(seconds) => maven.args(["-DskipTests", "clean"]).arg(jar::time(seconds)),
    };
    let modules = ["workloads", "benchmarks", "jmh-profiler"];
    run(maven.args(["-pl", &modules.join(","), "package"]))?;
    let built = modules.map(|module| root().join("java").join(module).join("target"));
    put_jars(&Install::at(built.into()), &folder())
}

fn put_jars(from: &Install, to: &Path) -> Result<()> {
    for jar in [from.workloads()?, from.sources()?, from.benchmarks()?, from.profiler()?] {
        let name = jar.file_name().unwrap_or_default().to_owned();
        std::fs::copy(&jar, to.join(&name))
            .map_err(|error| Error::failed(format!("copy of {}: {error}", jar.display())))?;
    }
    Ok(())
}
