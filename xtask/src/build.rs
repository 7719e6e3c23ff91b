//! Everything that the `terrace` command needs, into one folder.

use crate::shell::{cargo, root, run};
use lab::jvm::install::Install;
use lab::jvm::jdk;
use lab::{Error, Result};
use std::path::PathBuf;
use std::process::Command;

/// Where the command finds the agent, the workloads and the benchmarks beside itself.
pub fn folder() -> PathBuf {
    root().join("target/release")
}

/// The installation in that folder.
pub fn installed() -> Install {
    Install::at(vec![folder()])
}

/// Builds the agent, the command, the workloads and the benchmarks.
pub fn all() -> Result<()> {
    run(cargo().args(["build", "--release", "--quiet", "-p", "terrace-agent", "-p", "terrace-cli"]))?;
    workloads(false)
}

/// Maven with the project's wrapper, on the oldest compiler found: all Java is compiled for 17.
pub fn maven() -> Result<Command> {
    let jdks = jdk::discover();
    let jdk = jdks.iter().filter(|jdk| jdk.has_compiler).min_by_key(|jdk| jdk.feature).ok_or_else(|| {
        Error::failed("no JDK with a compiler found; install one (17 or later), or set JAVA_HOME")
    })?;
    let mut maven = Command::new(root().join("java/mvnw"));
    maven.current_dir(root().join("java")).env("JAVA_HOME", &jdk.home).args(["--quiet", "--batch-mode"]);
    Ok(maven)
}

/// Builds the workloads and benchmarks, with their tests or without, and puts them beside the command.
pub fn workloads(test: bool) -> Result<()> {
    let mut maven = maven()?;
    if !test {
        maven.arg("-DskipTests");
    }
    run(maven.arg("package"))?;
    let built = ["workloads", "benchmarks"].map(|module| root().join("java").join(module).join("target"));
    let install = Install::at(built.into());
    for jar in [install.workloads()?, install.sources()?, install.benchmarks()?] {
        let name = jar.file_name().unwrap_or_default().to_owned();
        std::fs::copy(&jar, folder().join(&name))
            .map_err(|error| Error::failed(format!("copy of {}: {error}", jar.display())))?;
    }
    Ok(())
}
