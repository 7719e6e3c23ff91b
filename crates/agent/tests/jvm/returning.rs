//! An observer whose successor is refused: it stays, or comes back, with what it has counted, and with whom it belongs to.

use crate::artifacts;
use crate::attach::{collect_times, outlasting};
use crate::jdk::collector_flags;
use crate::launch::Launch;
use crate::matrix::{JDKS, Setting, USUAL, hazard, matrix};
use crate::observing::{attach, copy, install, is, load, observe, present, put_buffers, text};
use crate::process::{ANSWER, Running};
use crate::runner::{Case, Outcome, QUIET, Verdict};
use crate::surroundings::Surroundings;
use control::State;
use hab::Counter;
use hotspot::collector::Collector;
use jvm::attach::{Attached, Loaded};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Has a process open no more than so many descriptors beside those that it has; gives the limit that it had.
fn limit(running: &mut Running<'_>, more: usize) -> Result<libc::rlimit, String> {
    let pid = running.pid();
    let mut taken = BTreeSet::new();
    // HotSpot closes the connection of an answer when the answer is there already: what stays is the one on which it listens.
    running.wait_until("the end of the last connection", |_| {
        let folder = std::fs::read_dir(format!("/proc/{pid}/fd")).map_err(text)?;
        let entries: Vec<_> = folder.flatten().map(|entry| entry.path()).collect();
        let is_socket = |path: &&PathBuf| {
            std::fs::read_link(path).is_ok_and(|target| target.to_string_lossy().starts_with("socket:"))
        };
        let sockets = entries.iter().filter(is_socket).count();
        let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u64>().ok();
        let before = std::mem::replace(&mut taken, entries.iter().filter_map(number).collect());
        // Files that are open for a moment are not there twice.
        Ok(sockets <= 1 && before == taken)
    })?;
    let most = (0..).filter(|number| !taken.contains(number)).nth(more).unwrap_or(0);
    let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    set_limit(pid, None, Some(&mut before))?;
    set_limit(pid, Some(&libc::rlimit { rlim_cur: most, ..before }), None)?;
    Ok(before)
}

fn set_limit(pid: u32, new: Option<&libc::rlimit>, old: Option<&mut libc::rlimit>) -> Result<(), String> {
    let new = new.map_or(std::ptr::null(), std::ptr::from_ref);
    let old = old.map_or(std::ptr::null_mut(), std::ptr::from_mut);
    // SAFETY: null, or valid for the call.
    match unsafe { libc::prlimit(pid as libc::pid_t, libc::RLIMIT_NOFILE, new, old) } {
        0 => Ok(()),
        _ => Err(text(std::io::Error::last_os_error())),
    }
}

/// The next installation's memory takes the last descriptor: what it wants of files afterwards, when the observer has stepped aside, fails.
fn comes_back(running: &mut Running<'_>) -> Result<(), String> {
    let observer = attach(running, &install())?;
    observe(running, &observer)?;
    let before = observer.control().total(Counter::Passed);
    // That of the connection on which HotSpot is asked, and the memory's.
    let unlimited = limit(running, 2)?;
    let refused = load(running, "core=64k,control=auto,report=report.json");
    set_limit(running.pid(), Some(&unlimited), None)?;
    is(refused?, Loaded::Refused)?;
    let (back, state) = (present(running)?.total(Counter::Passed), observer.control().state());
    if state != Some(State::Observing) || back < before {
        return Err(format!("{state:?}, {back} requests counted, {before} before the failure"));
    }
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", running.pid())).map_err(text)?;
    if maps.lines().filter(|line| line.contains("memfd:terrace")).count() != 2 {
        return Err("the other was refused before the observer stepped aside".into());
    }
    running.wait_until("requests that it counts", |_| {
        Ok(observer.control().total(Counter::Passed) > back + 20)
    })?;
    collect_times(running, 2)?;
    // It is still the one's who attached it.
    observer.withdraw().map_err(text)?;
    if present(running)?.state() != Some(State::Withdrawn) {
        return Err("an observer that is withdrawn stays".into());
    }
    let copy = copy(running)?;
    put_buffers(running, &copy)?;
    collect_times(running, 5)
}

/// An observer that itself has no memory that commands find.
fn unseen(setting: Setting) -> Verdict {
    let line =
        "cannot share counters with commands: Operation not permitted (os error 1); allow memfd_create";
    let launch = Launch::new("Load")
        .args(&["until=released", "millis=50", "gc=20"])
        .flags("-XX:+EnableDynamicAgentLoading -Xmn8m -Xlog:gc:file=gc.log")
        .flags(&collector_flags(setting.collector, setting.jdk.feature).join(" "))
        .within(Surroundings::refusing(&[libc::SYS_memfd_create]))
        .agent("levels=none,control=auto")
        .says(line)
        .says(line)
        .beside(|running| {
            if !running.wait_for("running") {
                return Err("the program ended before it began".into());
            }
            is(load(running, "core=64k,control=auto,unseen=refuse,report=other.json")?, Loaded::Refused)?;
            collect_times(running, 2)
        })
        .after(|finished| {
            let report = finished.report()?;
            let counted = report.sum(0, "passed");
            match report.0["state"].as_str() {
                Some("ended") if counted > 0 => Ok(()),
                state => Err(format!("{state:?}, {counted} requests: the observer has not stayed")),
            }
        });
    QUIET.shared(|| launch.run(setting.jdk)).map(|_| Outcome::Passed)
}

/// The report of one that came back has all that it counted.
fn reports_all(running: &mut Running<'_>) -> Result<(), String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    let control = present(running)?;
    running.wait_until("requests", |_| Ok(control.total(Counter::Passed) > 20))?;
    // By then it has loaded its classes, each from a file.
    collect_times(running, 5)?;
    // From its first connection on HotSpot listens, by a descriptor more.
    Attached::to(running.pid(), ANSWER).map_err(text)?;
    let before = control.total(Counter::Passed);
    let unlimited = limit(running, 2)?;
    let refused = load(running, "core=64k,control=auto,report=other.json");
    set_limit(running.pid(), Some(&unlimited), None)?;
    is(refused?, Loaded::Refused)?;
    std::fs::write(running.directory.join("before"), before.to_string()).map_err(text)?;
    collect_times(running, 1)
}

pub fn cases(cases: &mut Vec<Case>) {
    const FAILED: &str = "Too many open files";
    hazard(cases, "observing::comes_back", JDKS, USUAL, |setting| {
        outlasting(setting.collector).says(FAILED).beside(comes_back)
    });
    hazard(cases, "observing::reports_all", JDKS, USUAL, |setting| {
        let agent = format!(
            "-agentpath:{}=levels=none,control=auto,log=info,report=report.json",
            artifacts::agent().display()
        );
        let launch = outlasting(setting.collector).flags(&agent).says(FAILED).beside(reports_all);
        // At the start, and when it came back.
        launch.says("info: installed").says("info: installed").after(|finished| {
            let before = std::fs::read_to_string(finished.directory.join("before")).map_err(text)?;
            let before: u64 = before.parse().map_err(text)?;
            let report = finished.report()?;
            match (report.0["state"].as_str(), report.sum(0, "passed")) {
                (Some("ended"), counted) if counted > before => Ok(()),
                found => Err(format!("{found:?}, {before} before the failure")),
            }
        })
    });
    matrix(cases, "observing::unseen_stays", JDKS, &[Collector::G1], unseen);
}
