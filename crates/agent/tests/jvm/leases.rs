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

/// Bytes of memory that are this process's alone, without those that its agents count in.
fn dirty(running: &Running<'_>) -> Result<u64, String> {
    let smaps = std::fs::read_to_string(format!("/proc/{}/smaps", running.pid())).map_err(text)?;
    let (mut sum, mut counts) = (0, true);
    for line in smaps.lines() {
        match line.strip_prefix("Private_Dirty:") {
            Some(number) if counts => {
                sum += number.trim().trim_end_matches(" kB").parse::<u64>().map_err(text)? << 10;
            }
            // A mapping's own line begins with its addresses.
            None if line.split(' ').next().is_some_and(|word| word.contains('-')) => {
                counts = !line.contains("memfd:terrace");
            }
            _ => {}
        }
    }
    Ok(sum)
}

/// Bytes that stay of each observer at most, beside its control memory: of its own, and of what HotSpot notes of each agent.
const KEPT: u64 = 6 << 10;
const ROUNDS: u64 = 60;

/// Observers that come and go. What HotSpot does anyway (`-Xint`: it compiles nothing) it has done in the first rounds.
fn little_stays(running: &mut Running<'_>) -> Result<(), String> {
    let round = |running: &mut Running<'_>| attach(running, &install())?.withdraw().map_err(text);
    for _ in 0..20 {
        round(running)?;
    }
    let before = dirty(running)?;
    for _ in 0..ROUNDS {
        round(running)?;
    }
    let grown = dirty(running)?.saturating_sub(before);
    println!("{} bytes stay of each of {ROUNDS} observers", grown / ROUNDS);
    match grown <= ROUNDS * KEPT {
        true => Ok(()),
        false => Err(format!("{grown} bytes more after {ROUNDS} observers")),
    }
}

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "observing::killed", &[25], &[Collector::G1], |setting| {
        outlasting(setting.collector).beside(a_killed_watcher)
    });
    hazard(cases, "observing::buffers_of_nobody", JDKS, COLLECTING, |setting| {
        outlasting(setting.collector).beside(buffers_that_nobody_renews)
    });
    hazard(cases, "observing::little_stays", &[25], &[Collector::Serial], |setting| {
        outlasting(setting.collector).flags("-Xint -Xms64m -Xmx64m -XX:+AlwaysPreTouch").beside(little_stays)
    });
    hazard(cases, "observing::leased", &[25], &[Collector::Parallel], |setting| {
        outlasting(setting.collector).beside(a_watcher_that_ends)
    });
}
