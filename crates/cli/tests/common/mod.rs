//! A home with stand-ins for Terrace's files and for java.
#![allow(dead_code, reason = "each test binary uses its part")]

mod interruptible;

use interruptible::interruptible;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// What is awaited comes much sooner, also on a machine with ten times as much to do.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(600);

pub struct Home {
    folder: TempDir,
}

impl Home {
    /// A TERRACE_HOME with files of the right names, and a JDK in `jdk` whose java is this script.
    pub fn new(java: &str) -> Home {
        let home = Home { folder: tempfile::tempdir().unwrap() };
        // Any library that a program of this system can load.
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let library =
            maps.lines().find_map(|line| line.split_whitespace().find(|word| word.contains("/libgcc_s")));
        std::fs::copy(library.unwrap(), home.path("libterrace.so")).unwrap();
        for name in ["terrace-workloads.jar", "commons-lang3-3.18.0-sources.jar"] {
            std::fs::write(home.path(name), "").unwrap();
        }
        std::fs::create_dir_all(home.path("jdk/bin")).unwrap();
        let release =
            "IMPLEMENTOR=\"Pretended\"\nJAVA_VERSION=\"25.0.1\"\nMODULES=\"java.base jdk.compiler\"\n";
        std::fs::write(home.path("jdk/release"), release).unwrap();
        home.script("jdk/bin/java", java);
        home
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Written by another process: a descriptor of ours, inherited by a fork in another test's thread, would make it "busy".
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let (draft, script) = (self.path("draft"), self.path(name));
        std::fs::write(&draft, format!("#!/bin/sh\n{text}\n")).unwrap();
        assert!(Command::new("cp").args([&draft, &script]).status().unwrap().success());
        assert!(Command::new("chmod").arg("755").arg(&script).status().unwrap().success());
        script
    }

    pub fn terrace(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_terrace"));
        command.args(arguments).env("TERRACE_HOME", self.folder.path()).env_remove("JAVA_TOOL_OPTIONS");
        command.stdin(std::process::Stdio::null());
        interruptible(command)
    }

    pub fn java(&self) -> String {
        text(&self.path("jdk/bin/java"))
    }
}

pub fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Standard error without what says that work began and ended.
pub fn errors(output: &Output) -> String {
    let all = String::from_utf8_lossy(&output.stderr).into_owned();
    all.lines()
        .filter(|line| !line.contains(", about ") && *line != "terrace: done")
        .collect::<Vec<_>>()
        .join("\n")
}

pub fn shown(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// One line that begins with our name and holds all of `parts`, this exit code, nothing on standard output, no panic.
pub fn assert_refused(output: &Output, code: i32, parts: &[&str]) {
    let line = errors(output);
    assert_eq!(output.status.code(), Some(code), "{line}");
    assert_eq!(line.lines().count(), 1, "one line: {line}");
    assert!(line.starts_with("terrace: ") && !line.contains("panicked"), "{line}");
    for part in parts {
        assert!(line.contains(part), "'{part}' in: {line}");
    }
    assert_eq!(shown(output), "");
}

/// A real java; without one the test is skipped.
pub fn real_java() -> Option<String> {
    let found = jvm::jdk::discover().first().map(|jdk| text(&jdk.java()));
    if found.is_none() {
        skips::skip!("no JDK found");
    }
    found
}
