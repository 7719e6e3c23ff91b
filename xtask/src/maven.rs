//! Maven, with the project's wrapper, and the JDK that it runs on.

use crate::shell::{root, run};
use jvm::jdk::{self, Jdk};
use jvm::{Error, Result};
use std::path::Path;
use std::process::Command;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// The jar alone.
    Jar,
    /// And its tests.
    Tested,
    /// And what is published beside it, sources and documentation, of nothing that an earlier commit left, and all of one time: seconds
    /// since 1970.
    Published(u64),
}

/// Has Maven give everything in its archives this time.
pub fn time(seconds: u64) -> String {
    format!("-Dproject.build.outputTimestamp={seconds}")
}

/// The oldest JDK with `javac`: Java is compiled for 17, and `terrace.jar` for 11. The compiler's module is not enough for Maven.
pub fn compiler_jdk() -> Result<Jdk> {
    let jdks = jdk::discover().into_iter().filter(|jdk| jdk.tool("javac").is_some());
    jdks.min_by_key(|jdk| jdk.feature).ok_or_else(|| {
        Error::failed("no JDK with a compiler (javac) found; install one (17 or later), or set JAVA_HOME")
    })
}

/// Maven with the project's wrapper, on that JDK.
pub fn maven() -> Result<Command> {
    let jdk = compiler_jdk()?;
    let mut maven = Command::new(root().join("java/mvnw"));
    maven.current_dir(root().join("java")).env("JAVA_HOME", &jdk.home).args(["--quiet", "--batch-mode"]);
    Ok(maven)
}

/// Compiles one source file of the workspace for JDK 17 and later.
pub fn compile(source: &str, classes: &Path) -> Result<()> {
    let mut javac = Command::new(compiler_jdk()?.home.join("bin/javac"));
    javac.args(["--release", "17", "-Xlint:all", "-Werror", "-d"]).arg(classes).arg(root().join(source));
    run(&mut javac)
}
