//! What is done to the control file and to the report's path: the JVM goes on, and what is not ours stays.

use crate::artifacts;
use crate::launch::Launch;
use crate::matrix::{JDKS, Setting, hazard, matrix};
use crate::process::Running;
use crate::runner::{Case, Outcome, QUIET, Verdict};
use crate::surroundings::Surroundings;
use crate::switching;
use control::{Control, Mode, State, View};
use hab::Counter;
use hotspot::collector::Collector;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

const G1: &[Collector] = &[Collector::G1];

fn scratch() -> Result<tempfile::TempDir, String> {
    tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())
}

/// A program that runs until it is released.
fn long(options: &str) -> Launch {
    Launch::new("Load").args(&["until=released", "millis=100"]).flags("-Xmn16m").agent(options)
}

fn truncate(path: &Path, bytes: u64) -> Result<(), String> {
    let file = File::options().write(true).open(path).map_err(|error| error.to_string())?;
    file.set_len(bytes).map_err(|error| error.to_string())
}

/// Waits until the buffers have served more than before: the application has gone on.
fn goes_on(running: &mut Running<'_>, view: &View) -> Result<(), String> {
    let before = view.total(Counter::Buffers);
    while view.total(Counter::Buffers) <= before + 100 {
        if !running.is_running() {
            return Err("the JVM has ended".into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

fn truncated(running: &mut Running<'_>) -> Result<(), String> {
    // The agent writes the file once more behind what the memory says.
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    let view = switching::open(running)?;
    let path = running.directory.join("control");
    for bytes in [4096, 1, 0] {
        truncate(&path, bytes)?;
        goes_on(running, &view)?;
        match Control::open(&path).map(|_| ()).map_err(|error| error.to_string()) {
            Err(line) if line.contains("is not a control file") && line.lines().count() == 1 => {}
            other => return Err(format!("a reader of the truncated file got {other:?}")),
        }
    }
    // The memory itself cannot be truncated.
    let pid = running.pid();
    let mut found = 0;
    let folder = format!("/proc/{pid}/fd");
    for link in std::fs::read_dir(folder).map_err(|error| error.to_string())?.flatten() {
        if std::fs::read_link(link.path()).is_ok_and(|name| name.to_string_lossy().contains("memfd:terrace"))
        {
            found += 1;
            if truncate(&link.path(), 0).is_ok() {
                return Err("the memory could be truncated".into());
            }
        }
    }
    goes_on(running, &view)?;
    let before = view.pauses();
    while view.pauses() == before && running.is_running() {
        std::thread::sleep(Duration::from_millis(2));
    }
    if found == 1 { Ok(()) } else { Err(format!("{found} descriptors of terrace's memory")) }
}

fn unlinked(running: &mut Running<'_>) -> Result<(), String> {
    let view = switching::open(running)?;
    std::fs::remove_file(running.directory.join("control")).map_err(|error| error.to_string())?;
    goes_on(running, &view)?;
    match View::of_process(running.pid()) {
        Ok(Some(_)) => Ok(()),
        other => Err(format!("not found without the file: {:?}", other.map(|found| found.is_some()))),
    }
}

fn last_copy(directory: &Path) -> Result<(), String> {
    let view = View::open(&directory.join("control")).map_err(|error| error.to_string())?;
    if view.state() == Some(State::Ended) && view.total(Counter::Buffers) > 0 && view.mode() == Mode::Off {
        return Ok(());
    }
    Err(format!("the last copy says {:?}", view.state()))
}

/// Withdrawn where no file can be written: in a hook, or at a collection. The end writes it.
fn withdrawn(running: &mut Running<'_>, counter: Counter) -> Result<(), String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    let control = Control::open(&running.directory.join("control")).map_err(|error| error.to_string())?;
    running.wait_until("what it counts", |_| Ok(control.total(counter) > 20))?;
    control.set_mode(Mode::Off);
    control.ask_to_withdraw();
    running.wait_until("a withdrawal", |_| Ok(control.state() == Some(State::Withdrawn)))
}

fn last_copy_of_withdrawn(directory: &Path, counter: Counter) -> Result<(), String> {
    let view = View::open(&directory.join("control")).map_err(|error| error.to_string())?;
    match (view.state(), view.total(counter)) {
        (Some(State::Withdrawn), 21..) => Ok(()),
        found => Err(format!("the last copy says {found:?}")),
    }
}

/// A second JVM with the same path runs without a control file, and the first one keeps its own.
fn second(setting: Setting) -> Verdict {
    let directory = scratch()?;
    let launch = long("core=64k,control=control").beside(move |running| {
        let view = switching::open(running)?;
        let path = running.directory.join("control").display().to_string();
        let other = Launch::bare("Hello").agent(format!("control={path}")).unreported().prints(&["hello"]);
        other.says("belongs to a running JVM").run(setting.jdk)?;
        goes_on(running, &view)?;
        View::open(Path::new(&path)).map_err(|error| error.to_string())?;
        Ok(())
    });
    QUIET.shared(|| launch.run_in(setting.jdk, directory.path()))?;
    last_copy(directory.path())?;
    // It was left behind, and is replaced.
    let next = Launch::bare("Hello").agent("control=control,strict=true").prints(&["hello"]);
    QUIET.shared(|| next.run_in(setting.jdk, directory.path()))?;
    Ok(Outcome::Passed)
}

/// A file that is not ours, at each of the paths that are written to.
fn precious(setting: Setting) -> Verdict {
    let directory = scratch()?;
    let jar = directory.path().join("app.jar");
    for (options, line) in [
        (
            "control=app.jar",
            "control file app.jar exists and was not created by terrace: it is left unchanged",
        ),
        ("report=app.jar", "report=app.jar: exists and is not one of your reports, so it was not replaced"),
        ("report=link.json", "report=link.json: is a symbolic link, which is not followed"),
    ] {
        std::fs::write(&jar, "PK precious").map_err(|error| error.to_string())?;
        let _ = std::os::unix::fs::symlink("app.jar", directory.path().join("link.json"));
        let launch = Launch::bare("Hello").agent(options).unreported().prints(&["hello"]).says(line);
        QUIET.shared(|| launch.run_in(setting.jdk, directory.path()))?;
        if std::fs::read(&jar).ok().as_deref() != Some(b"PK precious") {
            return Err(format!("{options}: the file was changed"));
        }
    }
    Ok(Outcome::Passed)
}

/// A report goes to standard output behind what the program wrote, and to a pipe.
fn elsewhere(setting: Setting) -> Verdict {
    let directory = scratch()?;
    let launch = Launch::bare("Hello").agent("report=/dev/stdout").unreported();
    let launch = launch.prints(&["hello\n{\"terrace\":", "\"total\""]);
    QUIET.shared(|| launch.run_in(setting.jdk, directory.path()))?;
    let pipe = directory.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        return Ok(Outcome::Skipped("mkfifo: not on this machine".into()));
    }
    let nobody = Launch::bare("Hello").agent("report=pipe").unreported().prints(&["hello"]);
    QUIET.shared(|| {
        nobody.says("report=pipe: No such device or address").run_in(setting.jdk, directory.path())
    })?;
    // There before the JVM is, which does not wait for anybody.
    let mut options = File::options();
    let mut reader =
        options.read(true).custom_flags(libc::O_NONBLOCK).open(&pipe).map_err(|e| e.to_string())?;
    let somebody = Launch::bare("Hello").agent("report=pipe").unreported().prints(&["hello"]);
    QUIET.shared(|| somebody.run_in(setting.jdk, directory.path()))?;
    // A pipe holds more than a report.
    let mut text = String::new();
    match reader.read_to_string(&mut text) {
        Ok(_) if text.starts_with("{\"terrace\":") => Ok(Outcome::Passed),
        other => Err(format!("the pipe's reader got {other:?}: {text}")),
    }
}

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "control::truncated", JDKS, G1, |_| {
        long("core=64k,control=control")
            .flags("-Xmn8m")
            .beside(truncated)
            .collects(1)
            .after(|finished| last_copy(&finished.directory))
    });
    hazard(cases, "control::unlinked", JDKS, G1, |_| long("core=64k,control=control").beside(unlinked));
    hazard(cases, "control::without_a_file", JDKS, G1, |_| {
        long("core=64k,control=auto").beside(|running| {
            if !running.wait_for("running") {
                return Err("the program ended before it began".into());
            }
            let view = View::of_process(running.pid()).map_err(|error| error.to_string())?;
            let view = view.ok_or("not found among the process's descriptors")?;
            goes_on(running, &view)
        })
    });
    for (name, options, counter) in [
        ("in_a_hook", "levels=none,control=control", Counter::Passed),
        ("at_a_collection", "core=64k,control=control", Counter::Refills),
    ] {
        hazard(cases, &format!("control::withdrawn_{name}"), JDKS, G1, move |_| {
            long(options)
                .flags("-Xmn8m")
                .unreported()
                .beside(move |running| withdrawn(running, counter))
                .after(move |finished| last_copy_of_withdrawn(&finished.directory, counter))
        });
    }
    matrix(cases, "control::second_jvm", JDKS, G1, second);
    matrix(cases, "control::precious", JDKS, G1, precious);
    matrix(cases, "report::elsewhere", JDKS, G1, elsewhere);
    // A report, what went wrong with one, and a refusal: none of them keeps a JVM whose standard error nobody reads.
    for (name, options) in [("report", "report=-"), ("line", "report=/no/such/report"), ("refusal", "core=1")]
    {
        hazard(cases, &format!("report::full_standard_error::{name}"), JDKS, G1, move |_| {
            let launch = Launch::bare("Hello").agent(options).unreported().prints(&["hello"]);
            launch.within(Surroundings::full_standard_error())
        });
    }
}
