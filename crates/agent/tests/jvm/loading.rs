//! The agent loaded twice, and a `libjvm.so` without symbols.

use crate::artifacts;
use crate::jdk::Jdk;
use crate::launch::{Exit, JDKS, Launch, Setting, USUAL, hazard, matrix};
use crate::runner::{Case, Outcome, QUIET};
use hotspot::collector::Collector;
use std::path::Path;
use std::process::Command;

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "loaded_twice::same_path", JDKS, USUAL, |_| {
        let again = format!("-agentpath:{}=core=128k", artifacts::agent().display());
        Launch::new("Load")
            .args(&["millis=300"])
            .flags(&format!("-Xmn8m {again}"))
            .says("libterrace.so is already loaded")
    });
    matrix(cases, "loaded_twice::copy", JDKS, USUAL, |setting| {
        let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
        let copy = directory.path().join("libterrace.so");
        std::fs::copy(artifacts::agent(), &copy).map_err(|error| error.to_string())?;
        let launch = Launch::new("Load")
            .args(&["millis=500"])
            .flags(&format!(
                "-Xmn8m -XX:+{} -agentpath:{}=core=128k",
                setting.collector.flag(),
                copy.display()
            ))
            .says("is already replaced by another agent or a second copy of libterrace.so")
            .collects(1);
        QUIET.shared(|| launch.run(setting.jdk)).map(|_| Outcome::Passed)
    });
    for strict in [false, true] {
        let name = if strict { "stripped::strict" } else { "stripped::lenient" };
        matrix(cases, name, JDKS, &[Collector::G1], move |setting| stripped(setting, strict));
    }
}

fn stripped(setting: Setting, strict: bool) -> Result<Outcome, String> {
    let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
    let Some(jdk) = copy_without_symbols(setting.jdk, &directory.path().join("jdk"))? else {
        return Ok(Outcome::Skipped("strip or cp -rs: not on this machine".into()));
    };
    let mut launch =
        Launch::bare("Hello").unreported().says("has no symbols: install the JDK's debug symbols");
    launch = if strict {
        launch.agent("strict=true").prints(&[]).never("hello").exit(Exit::NotZero)
    } else {
        launch.prints(&["hello"])
    };
    QUIET.shared(|| launch.run(&jdk)).map(|_| Outcome::Passed)
}

/// A JDK of symbolic links, but for what finds its own place by its real path; `libjvm.so` stripped.
fn copy_without_symbols(jdk: &Jdk, to: &Path) -> Result<Option<Jdk>, String> {
    let done = |command: &mut Command| command.status().is_ok_and(|status| status.success());
    if !done(Command::new("cp").arg("-rs").arg(&jdk.home).arg(to)) {
        return Ok(None);
    }
    for file in ["bin/java", "lib/libjli.so", "release"] {
        let place = to.join(file);
        std::fs::remove_file(&place).map_err(|error| error.to_string())?;
        std::fs::copy(jdk.home.join(file), &place).map_err(|error| error.to_string())?;
    }
    let library = to.join("lib/server/libjvm.so");
    std::fs::remove_file(&library).map_err(|error| error.to_string())?;
    let mut strip = Command::new("strip");
    strip.arg("--strip-all").arg("--remove-section=.gnu_debuglink").arg("-o").arg(&library).arg(jdk.libjvm());
    if !done(&mut strip) {
        return Ok(None);
    }
    Ok(Some(Jdk::at(to).ok_or("the stripped copy is no JDK")?))
}
