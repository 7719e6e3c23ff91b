//! `levels=none`: counting and timing what passes, and leaving without a trace.

use crate::artifacts;
use crate::attach::{COLLECTING, collect_times, outlasting};
use crate::launch::Launch;
use crate::matrix::{JDKS, SERVED, USUAL, hazard};
use crate::process::{ANSWER, Finished, Running};
use crate::runner::Case;
use crate::zgc::ZGCS;
use control::times::{Kind, Way};
use control::{Control, Mode, State, View};
use hab::Counter;
use hotspot::collector::Collector;
use jvm::agent::AgentOptions;
use jvm::attach::{Attached, Loaded};
use jvm::install::Install;
use jvm::observer::Observer;
use jvm::refills::RefillTimes;
use jvm::switch;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A load whose collector works.
fn observed(collector: Collector, options: &str) -> Launch {
    let launch = Launch::new("Load").agent(format!("levels=none,control=control{options}"));
    match collector {
        Collector::Epsilon => launch.args(&["most=300m"]).flags("-Xmx1g"),
        Collector::Shenandoah | Collector::GenerationalShenandoah => {
            launch.flags("-XX:+ShenandoahVerify").collects(2)
        }
        _ => launch.flags("-Xmn8m").collects(4),
    }
}

/// What the ended JVM's times have to be.
fn timed(collector: Collector, finished: &Finished) -> Result<(), String> {
    let view = View::open(&finished.directory.join("control")).map_err(|error| error.to_string())?;
    if view.state() != Some(State::Ended) {
        return Err(format!("state {:?}", view.state()));
    }
    let times = RefillTimes::read(&view).ok_or_else(|| format!("no times: {}", view.settings()))?;
    let counts = Kind::ALL.map(|kind| Way::ALL.map(|way| times.of(kind, way).count()));
    let wrong = |what: &str| Err(format!("{what}: {counts:?} of {} passed", view.total(Counter::Passed)));
    let sum: u64 = counts.iter().flatten().sum();
    // What failed is timed, too.
    if sum < view.total(Counter::Passed) || sum > 2 * view.total(Counter::Passed) {
        return wrong("not all were timed");
    }
    let all = |way: Way| Kind::ALL.iter().map(|kind| times.of(*kind, way).count()).sum::<u64>();
    let shenandoah = matches!(collector, Collector::Shenandoah | Collector::GenerationalShenandoah);
    match collector {
        Collector::G1 if all(Way::Region) == 0 || all(Way::Quick) == 0 => return wrong("regions"),
        _ if shenandoah != (all(Way::Quick) == 0) => return wrong("Shenandoah always takes its lock"),
        Collector::G1 => {}
        _ if !shenandoah && all(Way::Region) > 0 => return wrong("regions are G1's"),
        _ => {}
    }
    // A concurrent collector need not have anybody wait.
    let waits = USUAL.contains(&collector);
    if (waits && all(Way::Collection) == 0) || (collector == Collector::Epsilon && all(Way::Collection) > 0) {
        return wrong("collections");
    }
    let tlabs = times.all(Kind::Tlab).summary();
    let ordered = 0 < tlabs.p50_ns && tlabs.p50_ns <= tlabs.p99_ns && tlabs.p99_ns <= tlabs.max_ns;
    if !ordered || tlabs.max_ns > tlabs.total_ns {
        return Err(format!("{tlabs:?}"));
    }
    Ok(())
}

/// Bytes of control memory that stay of each installation.
const KEPT: u64 = 12 << 10;

pub fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Where the agent's library is.
pub fn install() -> Install {
    Install::at(vec![artifacts::agent().parent().unwrap_or(Path::new("/")).to_owned()])
}

/// A copy of the library: another one for HotSpot and the loader.
pub fn copy(running: &Running<'_>) -> Result<Install, String> {
    let folder = running.directory.join("copy");
    std::fs::create_dir_all(&folder).map_err(text)?;
    std::fs::copy(artifacts::agent(), folder.join("libterrace.so")).map_err(text)?;
    Ok(Install::at(vec![folder]))
}

pub fn attach(running: &mut Running<'_>, install: &Install) -> Result<Observer, String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    Observer::attach(running.pid(), install, |_| {}).map_err(text)
}

/// Puts buffers there, and waits until they serve.
pub fn put_buffers(running: &mut Running<'_>, install: &Install) -> Result<(), String> {
    let options = AgentOptions::read(&["core=64k".into()]).map_err(text)?;
    let status = switch::attach(running.pid(), &options, install, |_| {}).map_err(text)?;
    if status.state != "installed" {
        return Err(format!("{status:?}"));
    }
    let control = present(running)?;
    running.wait_until("refills of the buffers", |_| Ok(control.total(Counter::Refills) > 10))
}

/// The control memory of what is there.
pub fn present(running: &Running<'_>) -> Result<Control, String> {
    Control::of_process(running.pid()).map_err(text)?.ok_or_else(|| "no control memory".into())
}

/// Waits until requests have been counted and timed.
pub fn observe(running: &mut Running<'_>, observer: &Observer) -> Result<(), String> {
    running.wait_until("requests that are timed", |_| {
        let times = observer.refills().ok_or("no times")?;
        Ok(times.all(Kind::Tlab).count() > 20 && observer.control().total(Counter::Passed) > 20)
    })
}

/// Ends it, one way or another.
fn end(running: &mut Running<'_>, observer: Observer, way: usize) -> Result<(), String> {
    let control = present(running)?;
    match way % 3 {
        0 => observer.withdraw().map_err(text)?,
        1 => drop(observer),
        _ => {
            control.ask_to_withdraw();
            running.wait_until("a request that finds the word", |_| {
                Ok(control.state() == Some(State::Withdrawn))
            })?;
        }
    }
    match control.state() {
        Some(State::Withdrawn) => Ok(()),
        other => Err(format!("{other:?} when withdrawn in way {way}")),
    }
}

/// Attached and withdrawn again and again; the functions are HotSpot's own afterwards, or a copy would not find them.
fn again(running: &mut Running<'_>) -> Result<(), String> {
    rounds(running)?;
    let copy = copy(running)?;
    put_buffers(running, &copy)?;
    collect_times(running, 20)
}

/// The same where there are no buffers.
fn again_without_buffers(running: &mut Running<'_>) -> Result<(), String> {
    rounds(running)?;
    let copy = copy(running)?;
    let observer = attach(running, &copy)?;
    observe(running, &observer)?;
    observer.withdraw().map_err(text)?;
    collect_times(running, 20)
}

/// Bytes of control memory, of all installations so far, whether anybody has touched them or not. `None` where only those may see that who may
/// checkpoint processes.
fn occupied(running: &Running<'_>) -> Result<Option<u64>, String> {
    let process = Path::new("/proc").join(running.pid().to_string());
    let maps = std::fs::read_to_string(process.join("maps")).map_err(text)?;
    let ours = maps.lines().filter(|line| line.contains("memfd:terrace"));
    let files =
        ours.filter_map(|line| line.split(' ').next()).map(|range| process.join("map_files").join(range));
    let blocks = |path: std::path::PathBuf| std::fs::metadata(path).ok().map(|found| found.blocks() * 512);
    Ok(files.map(blocks).sum())
}

fn rounds(running: &mut Running<'_>) -> Result<(), String> {
    let mut first = None;
    for round in 0..20 {
        let observer = attach(running, &install())?;
        observe(running, &observer)?;
        collect_times(running, 1)?;
        end(running, observer, round)?;
        collect_times(running, 1)?;
        if round == 0 {
            first = occupied(running)?;
        }
    }
    // The last one's, and of each before it no more than the pages with its state.
    match first.zip(occupied(running)?) {
        Some((first, last)) if first <= KEPT || last > first + 19 * KEPT => {
            Err(format!("{last} bytes of control memory after 20 observers, {first} after the first"))
        }
        _ => Ok(()),
    }
}

/// Loads the agent as HotSpot's own command does, without what the tools know.
pub fn load(running: &Running<'_>, options: &str) -> Result<Loaded, String> {
    let jvm = Attached::to(running.pid(), ANSWER).map_err(text)?;
    jvm.load(artifacts::agent(), options).map_err(text)
}

pub fn is(found: Loaded, expected: Loaded) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{found:?}, expected {expected:?}")) }
}

/// What is refused again and again leaves one mapping.
const REFUSED: usize = 30;

fn refused_again(running: &mut Running<'_>) -> Result<(), String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    for _ in 0..REFUSED {
        is(load(running, "core=65544,control=auto")?, Loaded::Refused)?;
    }
    let process = Path::new("/proc").join(running.pid().to_string());
    let maps = std::fs::read_to_string(process.join("maps")).map_err(text)?;
    let mapped = maps.lines().filter(|line| line.contains("memfd:terrace")).count();
    if mapped != 1 {
        return Err(format!("{mapped} mappings after {REFUSED} refusals"));
    }
    if present(running)?.state() != Some(State::Refused) {
        return Err("its state is not that of a refusal".into());
    }
    put_buffers(running, &install())?;
    collect_times(running, 2)
}

/// An observer gives way to buffers, and to nothing else; buffers stay.
fn makes_way(running: &mut Running<'_>) -> Result<(), String> {
    let observer = attach(running, &install())?;
    let second = Observer::attach(running.pid(), &install(), |_| {}).err().map(text).unwrap_or_default();
    if !second.contains("already has terrace (observing)") {
        return Err(format!("a second observer: {second}"));
    }
    is(load(running, "levels=none")?, Loaded::Refused)?;
    observe(running, &observer)?;
    // What is refused leaves it where it is.
    is(load(running, "core=65544,control=auto")?, Loaded::Refused)?;
    if observer.control().state() != Some(State::Observing) {
        return Err(format!("{:?} after a refusal", observer.control().state()));
    }
    collect_times(running, 1)?;
    is(load(running, "core=64k,strict=true,control=not/there")?, Loaded::Refused)?;
    if observer.control().state() != Some(State::Observing) {
        return Err(format!("{:?} after a failure", observer.control().state()));
    }
    collect_times(running, 1)?;
    is(load(running, "core=64k,control=auto")?, Loaded::Yes)?;
    collect_times(running, 2)?;
    // It has been withdrawn, and nothing of what is there now goes with it.
    drop(observer);
    is(load(running, "withdraw=true")?, Loaded::Refused)?;
    present(running)?.ask_to_withdraw();
    let control = present(running)?;
    let before = control.total(Counter::Refills);
    running.wait_until("refills of buffers", |_| Ok(control.total(Counter::Refills) > before + 10))?;
    collect_times(running, 2)?;
    if control.state() == Some(State::Installed) { Ok(()) } else { Err(format!("{:?}", control.state())) }
}

/// Buffers that were tried leave at a collection, once they are switched off; the functions are HotSpot's own afterwards, or a copy would
/// not find them.
fn buffers_leave(running: &mut Running<'_>) -> Result<(), String> {
    for round in 0..6 {
        // At times another hierarchy than before.
        let options =
            ["levels=core,core=64k", "levels=core+processor,core=16k,processor=128k,delay=100"][round % 2];
        is(load(running, &format!("{options},control=auto"))?, Loaded::Yes)?;
        let control = present(running)?;
        running.wait_until("refills of the buffers", |_| Ok(control.total(Counter::Refills) > 10))?;
        control.ask_to_withdraw();
        collect_times(running, 1)?;
        if control.state() != Some(State::Installed) {
            return Err(format!("{:?} while they are on", control.state()));
        }
        if round % 3 == 0 {
            control.ask_to_stay();
            // Who has seen the word that was taken back has acted by then.
            collect_times(running, 1)?;
            control.set_mode(Mode::Off);
            collect_times(running, 1)?;
            if control.state() != Some(State::Installed) {
                return Err(format!("{:?} though they were to stay", control.state()));
            }
        }
        if round % 3 == 1 {
            // It waits for a while only: what is waited for below is that they are gone.
            switch::remove(running.pid(), None).map_err(text)?;
        } else {
            control.set_mode(Mode::Off);
            control.ask_to_withdraw();
        }
        running.wait_until("a collection at which none is being refilled", |_| {
            Ok(control.state() == Some(State::Withdrawn))
        })?;
        collect_times(running, 2)?;
    }
    let copy = copy(running)?;
    put_buffers(running, &copy)?;
    collect_times(running, 10)
}

/// The same by `terrace attach`.
fn is_replaced(running: &mut Running<'_>) -> Result<(), String> {
    let observer = attach(running, &install())?;
    observe(running, &observer)?;
    put_buffers(running, &install())?;
    collect_times(running, 2)
}

/// As in a container, whose JVM has the library as a copy that is gone.
fn without_its_file(running: &mut Running<'_>) -> Result<(), String> {
    let copy = copy(running)?;
    let observer = attach(running, &copy)?;
    std::fs::remove_dir_all(running.directory.join("copy")).map_err(text)?;
    observe(running, &observer)?;
    observer.withdraw().map_err(text)?;
    put_buffers(running, &install())?;
    collect_times(running, 2)
}

/// One that came with the JVM, with a report.
fn from_the_start(running: &mut Running<'_>) -> Result<(), String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    switch::switch(running.pid(), control::Mode::Off).map_err(text)?;
    collect_times(running, 2)?;
    put_buffers(running, &install())?;
    // Where it did not withdraw by the command's own request, its report is there when the next one is.
    let report = std::fs::read_to_string(running.directory.join("report.json")).map_err(text)?;
    if report.contains("\"state\":\"withdrawn\"") {
        return Ok(());
    }
    Err(format!("the report that is written when it withdraws: {report}"))
}

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "observing::times", JDKS, SERVED, |setting| {
        let collector = setting.collector;
        observed(collector, ",times=true").after(move |finished| timed(collector, finished))
    });
    hazard(cases, "observing::times_with_levels", &[25], &[Collector::Serial], |_| {
        Launch::bare("Hello")
            .agent("times=true")
            .unreported()
            .prints(&["hello"])
            .says("times=true: only requests that are passed on are timed; use levels=none, without bound")
    });
    hazard(cases, "observing::again", JDKS, COLLECTING, |setting| {
        outlasting(setting.collector).beside(again)
    });
    hazard(cases, "observing::zgc_times", JDKS, ZGCS, |setting| {
        let collector = setting.collector;
        observed(collector, ",times=true").flags("-Xmx192m").after(move |finished| timed(collector, finished))
    });
    hazard(cases, "observing::zgc_again", JDKS, ZGCS, |setting| {
        outlasting(setting.collector).flags("-Xmx192m").beside(again_without_buffers)
    });
    hazard(cases, "observing::makes_way", JDKS, USUAL, |setting| {
        outlasting(setting.collector)
            .flags("-XX:ObjectAlignmentInBytes=16")
            .says("libterrace.so is already loaded")
            .says("core=65544: use a multiple of ObjectAlignmentInBytes=16")
            .says("control directory not: No such file")
            .says("no observer to withdraw")
            .beside(makes_way)
    });
    hazard(cases, "observing::buffers_leave", JDKS, COLLECTING, |setting| {
        outlasting(setting.collector).beside(|running| {
            if !running.wait_for("running") {
                return Err("the program ended before it began".into());
            }
            buffers_leave(running)
        })
    });
    hazard(cases, "observing::refused_again", JDKS, &[Collector::Serial], |setting| {
        let line = "core=65544: use a multiple of ObjectAlignmentInBytes=16";
        let launch = outlasting(setting.collector).flags("-XX:ObjectAlignmentInBytes=16");
        (0..REFUSED).fold(launch, |launch, _| launch.says(line)).beside(refused_again)
    });
    hazard(cases, "observing::is_replaced", JDKS, COLLECTING, |setting| {
        outlasting(setting.collector).beside(is_replaced)
    });
    hazard(cases, "observing::without_its_file", JDKS, COLLECTING, |setting| {
        outlasting(setting.collector).beside(without_its_file)
    });
    hazard(cases, "observing::from_the_start", JDKS, USUAL, |setting| {
        let options = "levels=none,times=true,control=auto,report=report.json";
        let agent = format!("-agentpath:{}={options}", artifacts::agent().display());
        outlasting(setting.collector).flag(agent).beside(from_the_start)
    });
}
