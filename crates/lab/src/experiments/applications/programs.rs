//! The programs, as the driver names them, and the heaps that they are given.

use crate::{Error, Result};
use jvm::jdk::Jdk;

/// A program of `terrace-applications.jar`.
pub(super) struct Program {
    pub name: &'static str,
    /// What it lives in with little to spare, and what leaves it several times that.
    pub heaps: [(&'static str, &'static str); 2],
    /// Seconds before it is measured.
    pub warmup: u64,
    pub needs: Needs,
}

/// What it cannot run without.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    /// The sources that the workload `javac` compiles.
    Sources,
    /// These, and a JDK with a compiler.
    Compiler,
}

impl Program {
    pub fn compiles(&self) -> bool {
        self.needs != Needs::Nothing
    }

    /// An error where this JDK cannot run it.
    pub fn check(&self, jdk: &Jdk) -> Result<()> {
        if self.needs != Needs::Compiler || jdk.has_compiler {
            return Ok(());
        }
        let feature = jdk.feature;
        Err(Error::failed(format!("JDK {feature} has no compiler; name a full one with --java")))
    }
}

const SMALL: &str = "small";
const AMPLE: &str = "ample";

const fn program(
    name: &'static str,
    needs: Needs,
    [small, ample]: [&'static str; 2],
    warmup: u64,
) -> Program {
    Program { name, heaps: [(SMALL, small), (AMPLE, ample)], warmup, needs }
}

pub(super) const PROGRAMS: [Program; 7] = [
    program("h2", Needs::Nothing, ["-Xmx128m", "-Xmx2g"], 10),
    program("callbacks", Needs::Nothing, ["-Xmx64m", "-Xmx512m"], 3),
    program("http-connection", Needs::Nothing, ["-Xmx96m", "-Xmx1g"], 8),
    program("http-request", Needs::Nothing, ["-Xmx96m", "-Xmx1g"], 8),
    program("lucene", Needs::Nothing, ["-Xmx128m", "-Xmx1g"], 10),
    program("javac", Needs::Compiler, ["-Xmx256m", "-Xmx2g"], 15),
    program("ecj", Needs::Sources, ["-Xmx256m", "-Xmx2g"], 15),
];
