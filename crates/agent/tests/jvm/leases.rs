//! What a command has put into a JVM goes when that command is killed.

use crate::attach::{COLLECTING, collect_times, outlasting};
use crate::matrix::{JDKS, hazard};
use crate::observing::{attach, copy, install, is, load, present, put_buffers, text};
use crate::process::Running;
use crate::runner::Case;
use control::{Mode, State, View};
use hab::Counter;
use hotspot::collector::Collector;
use jvm::attach::Loaded;
use jvm::observer::Observer;
use std::process::Command;

/// The first argument of a process of ours that watches a JVM until it is killed; the second is the JVM's process ID.
pub const HOLD: &str = "--hold";

pub fn hold(pid: &str) -> Result<(), String> {
    let observer = Observer::attach(pid.parse().map_err(text)?, &install(), |_| {}).map_err(text)?;
    loop {
        observer.refills();
        std::thread::park();
    }
}

/// Waits until what is there has gone by itself; the functions are HotSpot's own afterwards, or a copy would not find them.
fn goes(running: &mut Running<'_>) -> Result<(), String> {
    let control = present(running)?;
    running
        .wait_until("what nobody renews is withdrawn", |_| Ok(control.state() == Some(State::Withdrawn)))?;
    if !control.has_lapsed() || control.mode() != Mode::Off || !control.message().contains("not been heard") {
        return Err(format!("{:?}: {}", control.mode(), control.message()));
    }
    collect_times(running, 2)?;
    let copy = copy(running)?;
    put_buffers(running, &copy)?;
    collect_times(running, 5)
}

fn a_killed_watcher(running: &mut Running<'_>) -> Result<(), String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    let us = std::env::current_exe().map_err(text)?;
    let pid = running.pid();
    let mut holder = Command::new(us).args([HOLD, &pid.to_string()]).spawn().map_err(text)?;
    let watched = running.wait_until("requests that it counts", |_| {
        let view = View::of_process(pid).map_err(text)?;
        Ok(view.is_some_and(|view| {
            view.state() == Some(State::Observing) && view.renewals() > 1 && view.total(Counter::Passed) > 20
        }))
    });
    let killed = holder.kill().and_then(|()| holder.wait()).map_err(text);
    watched?;
    killed?;
    goes(running)
}

/// As of a trial of buffers that was killed in a window with them.
fn buffers_that_nobody_renews(running: &mut Running<'_>) -> Result<(), String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    is(load(running, "core=64k,control=auto,lease=1")?, Loaded::Yes)?;
    goes(running)
}

/// An observer of ours that is withdrawn while it has its lease.
fn a_watcher_that_ends(running: &mut Running<'_>) -> Result<(), String> {
    let observer = attach(running, &install())?;
    let control = present(running)?;
    running.wait_until("a renewal", |_| Ok(control.renewals() > 1))?;
    if control.lease() != jvm::lease::SECONDS {
        return Err(format!("a lease of {} s", control.lease()));
    }
    observer.withdraw().map_err(text)?;
    match (control.state(), control.has_lapsed()) {
        (Some(State::Withdrawn), false) => collect_times(running, 2),
        found => Err(format!("{found:?}")),
    }
}

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "observing::killed", &[25], &[Collector::G1], |setting| {
        outlasting(setting.collector).beside(a_killed_watcher)
    });
    hazard(cases, "observing::buffers_of_nobody", JDKS, COLLECTING, |setting| {
        outlasting(setting.collector).beside(buffers_that_nobody_renews)
    });
    hazard(cases, "observing::leased", &[25], &[Collector::Parallel], |setting| {
        outlasting(setting.collector).beside(a_watcher_that_ends)
    });
}
