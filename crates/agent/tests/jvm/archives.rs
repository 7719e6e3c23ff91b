//! JVMs that are started with a class data archive, or with an AOT cache (25 and later). Those that write one refuse every native agent.

use crate::artifacts;
use crate::attach::{load, outlasting};
use crate::jdk;
use crate::launch::{Exit, Launch};
use crate::matrix::{JDKS, Setting, USUAL, hazard, matrix, since};
use crate::process::Running;
use crate::runner::{Case, Outcome, QUIET, Verdict};
use control::{State, View};
use hab::Counter;
use hotspot::collector::Collector;
use hotspot::version::Since;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::OnceLock;

/// What a JVM prints when an agent comes in the way of an archive.
const REFUSAL: Since<&str> = Since(&[
    (17, "CDS dumping does not support native JVMTI agent"),
    (26, "JVMTI agents are not allowed when dumping CDS archives"),
]);

/// The programs as an archive demands them: in a jar.
fn jar() -> Result<&'static Path, String> {
    static JAR: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let make = || {
        let tool =
            (jdk::all().iter().rev()).find_map(|jdk| jdk.tool("jar")).ok_or("no JDK with jar found")?;
        let jar = artifacts::scratch().join("programs.jar");
        let mut command = Command::new(tool);
        command.arg("cfe").arg(&jar).args(["Load", "-C"]).arg(artifacts::classes()?).arg(".");
        output(&mut command).map(|_| jar)
    };
    JAR.get_or_init(make).as_deref().map_err(Clone::clone)
}

fn output(command: &mut Command) -> Result<String, String> {
    for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"] {
        command.env_remove(variable);
    }
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(text) } else { Err(format!("{command:?}: {}\n{text}", output.status)) }
}

/// Runs the program in a stock JVM with this flag.
fn write_archive(setting: Setting, flag: &str) -> Result<String, String> {
    let mut command = Command::new(setting.jdk.java());
    command
        .args(jdk::collector_flags(setting.collector, setting.jdk.feature))
        .args(["-Xmx64m", flag, "-jar"])
        .arg(jar()?);
    output(command.args(["threads=2", "millis=50"]))
}

/// The program under the agent, with verification, from the jar.
fn launch(setting: Setting, flags: &[&str]) -> Result<Launch, String> {
    let jar = jar()?.to_string_lossy().into_owned();
    let usual = jdk::collector_flags(setting.collector, setting.jdk.feature).join(" ");
    let launch =
        Launch::new("-jar").args(&[&jar, "gc=100"]).flags("-Xmn8m -Xlog:class+load:file=classes.log");
    Ok(flags.iter().fold(launch.flags(&usual), |launch, flag| launch.flag(*flag)).collects(1))
}

fn loaded_from(directory: &Path, source: &str) -> Result<(), String> {
    let log = std::fs::read_to_string(directory.join("classes.log")).map_err(|error| error.to_string())?;
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(" Keeper source: ")).collect();
    if lines.iter().any(|line| line.contains(source)) {
        return Ok(());
    }
    Err(format!("the archive was not used: {lines:?}"))
}

fn with_dynamic_archive(setting: Setting) -> Verdict {
    let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
    if !setting.jdk.home.join("lib/server/classes.jsa").is_file() {
        return Ok(Outcome::Skipped(format!(
            "JDK {} has no archive of its own classes",
            setting.jdk.version
        )));
    }
    let archive = directory.path().join("app.jsa").display().to_string();
    write_archive(setting, &format!("-XX:ArchiveClassesAtExit={archive}"))?;
    let launch = launch(setting, &[&format!("-XX:SharedArchiveFile={archive}"), "-Xshare:on"])?;
    QUIET.shared(|| launch.run_in(setting.jdk, directory.path()))?;
    loaded_from(directory.path(), "shared objects file")?;
    Ok(Outcome::Passed)
}

fn with_static_archive(setting: Setting) -> Verdict {
    let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
    let place = |name: &str| directory.path().join(name).display().to_string();
    let (list, archive) = (place("classes.list"), place("app.jsa"));
    write_archive(setting, &format!("-XX:DumpLoadedClassList={list}"))?;
    let mut dump = Command::new(setting.jdk.java());
    dump.args(jdk::collector_flags(setting.collector, setting.jdk.feature)).args(["-Xmx64m", "-Xshare:dump"]);
    dump.arg(format!("-XX:SharedClassListFile={list}")).arg(format!("-XX:SharedArchiveFile={archive}"));
    output(dump.arg("-jar").arg(jar()?))?;
    let launch = launch(setting, &[&format!("-XX:SharedArchiveFile={archive}"), "-Xshare:on"])?;
    QUIET.shared(|| launch.run_in(setting.jdk, directory.path()))?;
    loaded_from(directory.path(), "shared objects file")?;
    Ok(Outcome::Passed)
}

fn with_cache(setting: Setting) -> Verdict {
    let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
    let cache = directory.path().join("app.aot").display().to_string();
    write_archive(setting, &format!("-XX:AOTCacheOutput={cache}"))?;
    let launch = launch(setting, &[&format!("-XX:AOTCache={cache}"), "-XX:AOTMode=on"])?;
    QUIET.shared(|| launch.run_in(setting.jdk, directory.path()))?;
    loaded_from(directory.path(), "shared objects file")?;
    Ok(Outcome::Passed)
}

/// Both steps under the agent.
fn making_a_cache(setting: Setting) -> Verdict {
    let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
    let file = |name: &str| directory.path().join(name);
    let (configuration, cache) = (file("app.conf"), file("app.aot"));
    let configured = format!("-XX:AOTConfiguration={}", configuration.display());
    let record = launch(setting, &["-XX:AOTMode=record", &configured])?;
    QUIET.shared(|| record.run_in(setting.jdk, directory.path()))?;
    let create = ["-XX:AOTMode=create", &configured, &format!("-XX:AOTCache={}", cache.display())];
    // The program does not run, so that no collection and no report has to come.
    let create = launch(setting, &create)?.collects(0).unreported().prints(&[]);
    QUIET.shared(|| create.run_in(setting.jdk, directory.path()))?;
    if cache.is_file() { Ok(Outcome::Passed) } else { Err("no cache was made".into()) }
}

/// In one step, under the agent: at its end the JVM starts another one with the same options, the agent's among them, which makes the cache. That one
/// is left alone: the agent says nothing for it, and report and control file are those of the JVM that ran the program.
fn making_a_cache_in_one_step(setting: Setting) -> Verdict {
    let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
    let cache = directory.path().join("app.aot").display().to_string();
    let own = Rc::new(Cell::new(0));
    let found = Rc::clone(&own);
    let make = launch(setting, &[&format!("-XX:AOTCacheOutput={cache}")])?
        .agent("core=64k,control=control")
        .beside(move |running| {
            own.set(running.pid());
            Ok(())
        })
        // The other JVM's, which inherits standard output.
        .prints(&["done", "AOTCache creation is complete"])
        .after(move |finished| {
            let (report, pid) = (finished.report()?, u64::from(found.get()));
            if (report.number("pid"), &report.0["state"]) != (pid, &"ended".into()) {
                return Err(format!("not the report of {pid}: {}", report.0));
            }
            if !finished.stderr.contains("-XX:AOTMode=create") || !finished.stderr.contains("libterrace.so") {
                return Err("no other JVM with the agent's option was started".into());
            }
            let view = View::open(&finished.directory.join("control")).map_err(|error| error.to_string())?;
            match (u64::from(view.pid()) == pid, view.state(), view.total(Counter::Buffers)) {
                (true, Some(State::Ended), 1..) => Ok(()),
                other => Err(format!("the control file's last copy says {other:?}")),
            }
        });
    QUIET.shared(|| make.run_in(setting.jdk, directory.path()))?;
    let launch = launch(setting, &[&format!("-XX:AOTCache={cache}"), "-XX:AOTMode=on"])?;
    QUIET.shared(|| launch.run_in(setting.jdk, directory.path()))?;
    loaded_from(directory.path(), "shared objects file")?;
    Ok(Outcome::Passed)
}

/// `jcmd PID VM.cds static_dump`: HotSpot starts a JVM with the options of the running one, which writes the archive if it has no agent among them. Before
/// JDK 25 that fails for another reason: the programs lie in a folder.
fn written_by_jcmd(running: &mut Running<'_>, expected: bool) -> Result<(), String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    let (Ok(answer) | Err(answer)) = running.jcmd(&["VM.cds", "static_dump"]);
    let written = answer.contains("_static.jsa") && !answer.contains("is not created");
    if written == expected { Ok(()) } else { Err(answer) }
}

pub fn cases(cases: &mut Vec<Case>) {
    matrix(cases, "archives::dynamic", since(17), USUAL, with_dynamic_archive);
    matrix(cases, "archives::static", JDKS, USUAL, with_static_archive);
    matrix(cases, "archives::cache", since(25), USUAL, with_cache);
    matrix(cases, "archives::making_a_cache", since(25), &[Collector::G1], making_a_cache);
    matrix(cases, "archives::making_a_cache_in_one_step", since(25), USUAL, making_a_cache_in_one_step);
    // What docs/troubleshooting.md and `terrace run` say of HotSpot: if it changes, they must.
    hazard(cases, "archives::by_jcmd::started_with_it", since(25), &[Collector::G1], |_| {
        Launch::new("Load")
            .args(&["until=released"])
            .flags("-Xmn16m")
            .beside(|running| written_by_jcmd(running, false))
            .collects(1)
    });
    hazard(cases, "archives::by_jcmd::attached", since(25), &[Collector::G1], |setting| {
        outlasting(setting.collector).beside(|running| {
            written_by_jcmd(running, true)?;
            let answer = load(running, "core=64k")?;
            if !answer.contains("return code: 0") {
                return Err(answer);
            }
            written_by_jcmd(running, true)
        })
    });
    for (name, flag) in [
        ("dump", "-Xshare:dump -XX:SharedArchiveFile=x.jsa"),
        ("at_exit", "-XX:ArchiveClassesAtExit=x.jsa"),
        ("recorded", "-XX:+RecordDynamicDumpInfo"),
        ("by_itself", "-XX:+AutoCreateSharedArchive -XX:SharedArchiveFile=x.jsa"),
    ] {
        let jdks = since(if name == "by_itself" { 21 } else { 17 });
        matrix(
            cases,
            &format!("archives::refused_by_hotspot::{name}"),
            jdks,
            &[Collector::G1],
            move |setting| {
                let refusal = REFUSAL.in_version(setting.jdk.feature).ok_or("no refusal is known")?;
                let launch =
                    Launch::bare("Hello").flags(flag).unreported().prints(&[refusal]).exit(Exit::Code(1));
                QUIET.shared(|| launch.run(setting.jdk)).map(|_| Outcome::Passed)
            },
        );
    }
}
