//! The agent loaded twice, and a `libjvm.so` without symbols.

use crate::artifacts;
use crate::attach::{collect, tlab_flags};
use crate::jdk::{self, Jdk};
use crate::launch::{Exit, Launch};
use crate::matrix::{JDKS, Setting, USUAL, hazard, matrix};
use crate::process::patience;
use crate::runner::{Case, Outcome, QUIET, Verdict};
use hotspot::collector::Collector;
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "loaded_twice::same_path", JDKS, USUAL, |_| {
        Launch::new("Load")
            .args(&["gc=20", "threads=4"])
            .flags("-Xmn8m")
            .flag(format!("-agentpath:{}=core=128k", artifacts::agent().display()))
            .says("through its control file (the first one stays)")
            .collects(20)
    });
    matrix(cases, "loaded_twice::copy", JDKS, USUAL, |setting| {
        let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
        let copy = directory.path().join("libterrace.so");
        std::fs::copy(artifacts::agent(), &copy).map_err(|error| error.to_string())?;
        let launch = Launch::new("Load")
            .args(&["until=released", "gc=20", "threads=4"])
            .flags(&format!("-Xmn8m -XX:+{}", setting.collector.flag()))
            .flag(format!("-agentpath:{}=core=128k,tlab=2k", copy.display()))
            .says("is already replaced by another agent or a second copy of libterrace.so")
            .collects(20)
            .beside(|running| {
                if !running.wait_for("running") {
                    return Err("the program ended before it began".into());
                }
                // What the copy wanted of them is taken back.
                let flags = tlab_flags(running)?;
                let own = flags.iter().any(|flag| flag.starts_with("TLABSize = 8192 "));
                if own { Ok(()) } else { Err(format!("flags of a copy that was refused: {flags:?}")) }
            });
        QUIET.shared(|| launch.run(setting.jdk)).map(|_| Outcome::Passed)
    });
    hazard(cases, "mprotect_refused", JDKS, USUAL, |_| {
        let helper = artifacts::helper("seccomp").expect("the helper agent");
        // A fixed TLAB: the flags would have to be set before the hooks are tried.
        collecting()
            .flag(format!("-agentpath:{}", helper.display()))
            .agent("tlab=2k")
            .behind_others()
            .says("cannot make the heap's function table writable (Operation not permitted (os error 1))")
    });
    hazard(cases, "heap_over_the_limit", JDKS, &[Collector::Serial, Collector::G1], |_| {
        collecting().flags("-Xms64m -Xmx9000g").says("is too large for terrace: use at most 8 TB (-Xmx)")
    });
    matrix(cases, "slot_is_missing", JDKS, USUAL, |setting| {
        let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
        let Some((jdk, text)) = without_a_slot(setting.jdk, directory.path())? else {
            return Ok(Outcome::Skipped("objcopy or cp -rs: not on this machine".into()));
        };
        let launch = collecting().flags(&format!("-XX:+{}", setting.collector.flag())).says(text);
        QUIET.shared(|| launch.run(&jdk)).map(|_| Outcome::Passed)
    });
    matrix(cases, "library_was_replaced", JDKS, &[Collector::G1], replaced);
    for strict in [false, true] {
        let name = if strict { "stripped::strict" } else { "stripped::lenient" };
        matrix(cases, name, JDKS, &[Collector::G1], move |setting| stripped(setting, strict));
    }
}

fn stripped(setting: Setting, strict: bool) -> Result<Outcome, String> {
    let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
    let strip = ["--strip-all", "--remove-section=.gnu_debuglink"];
    let Some(jdk) = changed_copy(setting.jdk, &directory.path().join("jdk"), "strip", &strip)? else {
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

/// A copy of this JDK in which one of the heap's virtual functions has no name, and what the agent says of that. `None` where there is no
/// tool for it.
pub fn without_a_slot(jdk: &Jdk, directory: &Path) -> Result<Option<(Jdk, &'static str)>, String> {
    let change = ["--wildcard", "--strip-symbol=*17allocate_new_tlabEmmPm"];
    let text =
        "the heap's virtual function allocate_new_tlab (17allocate_new_tlabEmmPm) not found as expected";
    let copy = changed_copy(jdk, &directory.join("jdk"), "objcopy", &change)?;
    Ok(copy.map(|copy| (copy, text)))
}

/// A JDK of symbolic links, but for what finds its own place by its real path, and `libjvm.so`, as `tool` (of binutils) changes it.
/// `None` where there is no such tool.
fn changed_copy(jdk: &Jdk, to: &Path, tool: &str, arguments: &[&str]) -> Result<Option<Jdk>, String> {
    let Some(library) = copy_without_library(jdk, to)? else { return Ok(None) };
    let mut change = Command::new(tool);
    change.args(arguments);
    // strip names its output by an option, objcopy by a second argument.
    if tool == "strip" {
        change.arg("-o").arg(&library).arg(jdk.libjvm());
    } else {
        change.arg(jdk.libjvm()).arg(&library);
    }
    if !change.status().is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    Ok(Some(Jdk::at(to).ok_or("the changed copy is no JDK")?))
}

/// Such a copy that lacks its `libjvm.so`, and where that belongs. `None` where cp does not make links.
pub fn copy_without_library(jdk: &Jdk, to: &Path) -> Result<Option<PathBuf>, String> {
    let linked = Command::new("cp").arg("-rs").arg(&jdk.home).arg(to).status();
    if !linked.is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    for file in
        ["bin/java", "bin/java.loader", "bin/java.program", "lib/libjli.so", "lib/jli/libjli.so", "release"]
    {
        let (own, place) = (jdk.home.join(file), to.join(file));
        if own.is_file() {
            let copied = std::fs::remove_file(&place).and_then(|()| std::fs::copy(&own, &place));
            copied.map_err(|error| error.to_string())?;
        }
    }
    let library = to.join("lib/server/libjvm.so");
    std::fs::remove_file(&library).map_err(|error| error.to_string())?;
    Ok(Some(library))
}

/// A load that ends when it has collected 20 times with the agent that was refused.
fn collecting() -> Launch {
    Launch::new("Load")
        .args(&["until=released", "millis=50", "gc=20", "threads=4"])
        .flags("-Xmn8m -Xlog:gc:file=gc.log")
        .unreported()
        .beside(collect)
}

/// An upgrade in place: another build's library lies where the running one was read from.
fn replaced(setting: Setting) -> Verdict {
    let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
    let another = |jdk: &&Jdk| jdk.feature.0 > 8 && jdk.version != setting.jdk.version;
    let Some(other) = jdk::all().iter().find(another) else {
        return Ok(Outcome::Skipped("a second JDK: not found".into()));
    };
    let nothing = ["--strip-debug"];
    let Some(jdk) = changed_copy(setting.jdk, &directory.path().join("jdk"), "strip", &nothing)? else {
        return Ok(Outcome::Skipped("strip or cp -rs: not on this machine".into()));
    };
    let (library, upgrade) = (jdk.libjvm(), other.libjvm());
    let launch = Launch::new("Load")
        .args(&["until=released", "millis=100", "gc=20", "threads=4"])
        .flags("-Xmn8m -XX:+UseG1GC -XX:+EnableDynamicAgentLoading")
        .stock()
        .says("was replaced since this JVM started (an upgrade in place): restart the application")
        .beside(move |running| {
            if !running.wait_for("running") {
                return Err("the program ended before it began".into());
            }
            let new = library.with_extension("new");
            let moved = std::fs::copy(&upgrade, &new).and_then(|_| std::fs::rename(&new, &library));
            moved.map_err(|error| error.to_string())?;
            // A tool of the JDK as it was: that of the copy would run the new library.
            let agent = artifacts::agent().display().to_string();
            let pid = running.pid().to_string();
            let answer = setting.jdk.tool("jcmd").ok_or("no jcmd")?;
            let output = Command::new(answer)
                .arg(patience())
                .args([&pid, "JVMTI.agent_load", &agent, "\"core=64k\""])
                .output()
                .map_err(|error| error.to_string())?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            if text.contains("return code: -1") { Ok(()) } else { Err(format!("jcmd answered {text}")) }
        });
    QUIET.shared(|| launch.run(&jdk)).map(|_| Outcome::Passed)
}
