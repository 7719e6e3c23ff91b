//! ZGC is observed: what passes is counted and nothing is changed, and whoever wants buffers is told why there are none.

use crate::accounting::unrecorded;
use crate::attach::{collect, load, outlasting};
use crate::launch::Launch;
use crate::matrix::{JDKS, Setting, hazard, matrix, since};
use crate::process::{Finished, Running};
use crate::runner::{Case, Outcome, QUIET};
use crate::{artifacts, jdk};
use control::{Control, Mode, State};
use hab::Counter;
use hotspot::collector::Collector;
use jvm::agent::AgentOptions;
use jvm::install::Install;
use jvm::resize::{self, Wish};
use jvm::switch::{self, Switched};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

/// With generations, and without.
pub const ZGCS: &[Collector] = &[Collector::Z, Collector::SingleGenerationZ];
/// What a user is told who has asked for nothing.
pub const OBSERVED: &str = "ZGC is observed only";
/// What ZGC verifies of objects, roots and what it has moved, as far as the JDK has that.
const VERIFIED: &str = "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:+ZVerifyObjects -XX:+ZVerifyRoots \
                        -XX:+ZVerifyMarking -XX:+ZVerifyForwarding";

fn observed(main: &'static str) -> Launch {
    Launch::new(main).agent("log=warn").flags(VERIFIED).flags("-Xmx192m").says(OBSERVED)
}

/// A report of requests that were counted, and of nothing that was done.
fn only_counted(finished: &Finished) -> Result<(), String> {
    let report = finished.report()?;
    let message = report.0["message"].as_str().unwrap_or_default();
    let (passed, bytes) = (report.sum(0, "passed"), report.sum(0, "passed_bytes"));
    let others: u64 = (report.0["total"].as_object().into_iter().flatten())
        .filter(|(name, _)| !name.starts_with("passed"))
        .filter_map(|(_, count)| count.as_u64())
        .sum();
    let right = passed > 0 && bytes > passed * 16 && others == 0 && report.number("parsability") == 0;
    let told = message.contains(OBSERVED)
        && report.setting("levels") == "none"
        && report.setting("tlab") == "stock"
        && report.setting("only_observed") == true
        && report.0["state"] == "ended";
    if right && told { Ok(()) } else { Err(format!("{:#}", report.0)) }
}

/// Pauses of a cycle: three of a generation.
const CYCLE: u64 = 6;

/// Thread buffers and objects outside of them, and their bytes; pauses.
type Counts = (u64, u64, u64);

fn counts(control: &Control) -> Counts {
    (control.total(Counter::Passed), control.total(Counter::PassedBytes), control.pauses())
}

/// Every thread buffer, every object outside of one, and every pause is an event of the flight recorder: as many as were counted, of as
/// many bytes. The recording began between the first two moments, and ended between the last two. Pauses are recorded when their cycle
/// ends: of the one that was under way at either end all may be there, or none.
fn agrees(finished: &Finished, moments: &[Counts]) -> Result<(), String> {
    let [before, started, worked, stopped] = moments else { return Err(format!("{moments:?}")) };
    let own = unrecorded(finished, stopped.2 - before.2)?;
    let recorded =
        |keys: &[&str]| -> Result<u64, String> { keys.iter().map(|key| finished.printed(key)).sum() };
    for (what, keys, of, [unseen, beyond]) in [
        (
            "requests",
            &["tlabs", "outside"][..],
            (|counts: &Counts| counts.0) as fn(&Counts) -> u64,
            [own[0], 0],
        ),
        ("bytes", &["tlab_bytes", "outside_bytes"], |counts| counts.1, [own[1], 0]),
        ("pauses", &["pauses"], |counts| counts.2, [CYCLE, CYCLE]),
    ] {
        let (least, most) = (of(worked) - of(started), of(stopped) - of(before));
        let found = recorded(keys)?;
        if least <= unseen || found + unseen < least || found > most + beyond {
            return Err(format!(
                "{what}: {found} recorded, {least} to {most} counted, of which {unseen} may be unrecorded"
            ));
        }
    }
    if recorded(&["lost"])? == 0 { Ok(()) } else { Err("events were lost".into()) }
}

/// Opens the control file once the agent says that it observes.
fn open(running: &mut Running<'_>) -> Result<Control, String> {
    let (path, mut opened) = (running.directory.join("control"), None);
    running.wait_until("the control file says that the agent observes", |_| {
        opened = Control::open(&path).ok().filter(|control| control.state() == Some(State::Observing));
        Ok(opened.is_some())
    })?;
    opened.ok_or_else(|| "no control file".into())
}

fn recorded(_: Setting) -> Launch {
    let moments = Rc::new(RefCell::new(Vec::new()));
    let found = Rc::clone(&moments);
    observed("Recorded")
        .agent("control=control")
        .flags("-Xmx256m -XX:FlightRecorderOptions:repository=recorded")
        .beside(move |running| {
            let control = open(running)?;
            for mark in ["before", "started", "worked", "stopped"] {
                running.at(mark, |_| {
                    moments.borrow_mut().push(counts(&control));
                    Ok(())
                })?;
            }
            Ok(())
        })
        .after(move |finished| agrees(finished, &found.borrow()))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// One clear line, and an error.
fn told<T: std::fmt::Debug>(outcome: jvm::Result<T>, expected: &str) -> Result<(), String> {
    match outcome.map_err(text) {
        Err(line) if line.contains(expected) && line.lines().count() == 1 => Ok(()),
        other => Err(format!("{other:?}, expected '{expected}'")),
    }
}

fn control_of(running: &Running<'_>) -> Result<Control, String> {
    Control::of_process(running.pid()).map_err(text)?.ok_or_else(|| "no control memory".into())
}

/// `terrace attach`, `on`, `set` and `off`, again and again.
fn switched(running: &mut Running<'_>) -> Result<(), String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    let install = Install::at(vec![artifacts::agent().parent().unwrap_or(Path::new("/")).to_owned()]);
    let pid = running.pid();
    let attach = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        switch::attach(pid, &AgentOptions::read(&words)?, &install, |_| {})
    };
    for _ in 0..3 {
        told(attach(&["core=64k"]), "refused: ZGC already allocates from per-CPU pages")?;
        told(switch::switch(pid, Mode::On), "has no buffers")?;
        let status = attach(&[]).map_err(text)?;
        if status.state != "observing" || !status.message.contains(OBSERVED) {
            return Err(format!("{status:?}"));
        }
        let control = control_of(running)?;
        running.wait_until("requests", |_| Ok(control.total(Counter::Passed) > 100))?;
        told(switch::switch(pid, Mode::On), OBSERVED)?;
        told(resize::resize(pid, &[Wish::read("core=64k").map_err(text)?]), OBSERVED)?;
        // It gives way to nothing.
        told(attach(&[]), "already has terrace (observing)")?;
        told(attach(&["core=64k"]), OBSERVED)?;
        // HotSpot's own way to load it does not end it, either.
        expect_refused(running, "core=64k")?;
        expect_refused(running, "log=warn")?;
        let before = control.total(Counter::Passed);
        running.wait_until("requests", |_| Ok(control.total(Counter::Passed) > before + 100))?;
        collect(running)?;
        if switch::switch(pid, Mode::Off).map_err(text)? != Switched::Withdrawn {
            return Err("it did not withdraw".into());
        }
        // Who was in a hook by then has come out of it.
        collect(running)?;
        let withdrawn = control.total(Counter::Passed);
        collect(running)?;
        if control.state() != Some(State::Withdrawn) || control.total(Counter::Passed) != withdrawn {
            return Err(format!("{:?}, {withdrawn} requests and then more", control.state()));
        }
    }
    Ok(())
}

fn expect_refused(running: &mut Running<'_>, options: &str) -> Result<(), String> {
    let answer = load(running, options)?;
    if answer.contains("return code: -1") { Ok(()) } else { Err(format!("{options}: {answer}")) }
}

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "zgc::load", JDKS, ZGCS, |_| {
        observed("Load").args(&["gc=20", "threads=4"]).collects(4).after(only_counted)
    });
    hazard(cases, "zgc::without_tlabs", JDKS, ZGCS, |_| {
        observed("Load").args(&["gc=20", "threads=4"]).flags("-XX:-UseTLAB").collects(4)
    });
    hazard(cases, "zgc::walkers", JDKS, ZGCS, |_| {
        observed("Load").args(&["threads=4", "command=gcClassHistogram,-all"]).after(only_counted)
    });
    hazard(cases, "zgc::recorded", since(17), ZGCS, recorded);
    hazard(cases, "zgc::asked_for", JDKS, ZGCS, |_| {
        Launch::new("Load")
            .agent("levels=none,strict=true")
            .args(&["gc=20", "threads=4"])
            .flags("-Xmx192m")
            .collects(4)
            .after(only_counted)
    });
    for (name, options) in [
        ("levels", "levels=core"),
        ("size", "processor=auto"),
        ("tlab", "levels=none,tlab=4k"),
        ("bound", "levels=none,bound=true"),
    ] {
        hazard(cases, &format!("zgc::is_refused::{name}"), JDKS, ZGCS, move |_| {
            Launch::bare("Hello")
                .agent(options)
                .prints(&["hello"])
                .unreported()
                .says("ZGC already allocates from per-CPU pages")
        });
    }
    hazard(cases, "zgc::switched", JDKS, ZGCS, |setting| {
        let launch = outlasting(setting.collector).flags(VERIFIED).flags("-Xmx192m");
        // Three times: refused, observed, and twice refused while it observes.
        (0..3).fold(launch.beside(switched), |launch, _| {
            launch
                .says("(running without buffers)")
                .says(OBSERVED)
                .says("(the installed agent stays)")
                .says("libterrace.so is already loaded")
        })
    });
    hazard(cases, "zgc::failed_attaches", JDKS, ZGCS, |setting| {
        let launch = outlasting(setting.collector).flags(VERIFIED).flags("-Xmx192m").beside(|running| {
            for _ in 0..3 {
                expect_refused(running, "core=64k")?;
            }
            collect(running)
        });
        (0..3).fold(launch, |launch, _| launch.says("ZGC already allocates from per-CPU pages"))
    });
    for by in ["exit", "return"] {
        matrix(cases, &format!("zgc::full_heap::{by}"), JDKS, ZGCS, move |setting| {
            let flags = jdk::collector_flags(setting.collector, setting.jdk.feature).join(" ");
            let launch = Launch::bare("Fill").args(&["words=60", &format!("by={by}")]).agent("log=warn");
            QUIET.shared(|| launch.says(OBSERVED).flags(&format!("-Xmx64m {flags}")).run(setting.jdk))?;
            Ok(Outcome::Passed)
        });
        hazard(cases, &format!("zgc::exit_while_allocating::{by}"), JDKS, ZGCS, move |_| {
            observed("Leave").args(&[&format!("by={by}")]).prints(&["leaving"])
        });
    }
}
