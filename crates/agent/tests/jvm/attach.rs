//! Loaded into a running JVM under load (`jcmd PID JVMTI.agent_load`).

use crate::artifacts;
use crate::launch::Launch;
use crate::loading::without_a_slot;
use crate::matrix::{JDKS, SERVED, Setting, USUAL, hazard, matrix};
use crate::process::Running;
use crate::runner::{Case, Outcome, QUIET};
use crate::zgc::ZGCS;
use hotspot::collector::Collector;
use std::time::Duration;

/// Loads the agent; gives jcmd's answer.
pub fn load(running: &mut Running<'_>, options: &str) -> Result<String, String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    // jcmd takes the text in quotes for one argument, whatever it has inside.
    let (agent, options) = (artifacts::agent().display().to_string(), format!("\"{options}\""));
    running.jcmd(&["JVMTI.agent_load", &agent, &options])
}

pub fn expect(answer: &str, text: &str) -> Result<(), String> {
    if answer.contains(text) { Ok(()) } else { Err(format!("jcmd answered {answer}, expected {text}")) }
}

/// As [`load`], of a copy of the library: another one for HotSpot and the loader.
fn load_copy(running: &mut Running<'_>, name: &str, options: &str) -> Result<String, String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    let copy = running.directory.join(name);
    std::fs::copy(artifacts::agent(), &copy).map_err(|error| error.to_string())?;
    running.jcmd(&["JVMTI.agent_load", &copy.display().to_string(), &format!("\"{options}\"")])
}

/// Waits until the program's JVM has collected 20 times more. Whoever left something behind is found out.
pub fn collect(running: &mut Running<'_>) -> Result<(), String> {
    collect_times(running, 20)
}

pub fn collect_times(running: &mut Running<'_>, times: usize) -> Result<(), String> {
    let log = running.directory.join("gc.log");
    let pauses = || std::fs::read_to_string(&log).unwrap_or_default().matches("Pause").count();
    let enough = pauses() + times;
    while pauses() < enough {
        if !running.is_running() {
            return Err("the program ended while collections were waited for".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Flags that the agent may set.
const TLAB_FLAGS: [&str; 3] = ["MinTLABSize", "ResizeTLAB", "TLABSize"];

/// They, as a JVM has them now: `NAME = VALUE` and where that comes from.
pub fn tlab_flags(running: &Running<'_>) -> Result<Vec<String>, String> {
    let words = |line: &str| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    let flags = running.jcmd(&["VM.flags", "-all"])?;
    let flags = flags.lines().map(words);
    Ok(flags.filter(|flag| TLAB_FLAGS.iter().any(|name| flag.starts_with(&format!("{name} = ")))).collect())
}

/// A program that collects all the time and ends when all is done.
pub fn outlasting(collector: Collector) -> Launch {
    // ZGC's cycle has several pauses, which are told as its phases.
    let log = if ZGCS.contains(&collector) { "-Xlog:gc,gc+phases" } else { "-Xlog:gc" };
    long(collector).args(&["millis=50", "gc=20", "threads=4"]).flags(&format!("{log}:file=gc.log"))
}

/// A program long enough for the attaching and for collections behind it.
fn long(setting: Collector) -> Launch {
    let launch = Launch::new("Load")
        .args(&["until=released", "millis=700"])
        .flags("-XX:+EnableDynamicAgentLoading")
        .stock();
    match setting {
        // Slow enough to have memory left when the agent is there.
        Collector::Epsilon => launch.args(&["threads=2", "most=1700m"]).flags("-Xmx2g -Xint"),
        Collector::Shenandoah | Collector::GenerationalShenandoah => {
            launch.args(&["pauses=2"]).flags("-XX:+ShenandoahVerify")
        }
        Collector::Z | Collector::SingleGenerationZ => launch,
        _ => launch.args(&["gc=100", "pauses=2"]).flags("-Xmn8m"),
    }
}

/// Loaded while threads allocate and the heap is collected; both go on.
pub fn during_load(setting: Setting, options: &str) -> Launch {
    let options = format!("{options},report=report.json");
    long(setting.collector).beside(move |running| expect(&load(running, &options)?, "return code: 0")).after(
        move |finished| {
            let report = finished.report()?;
            report.check()?;
            let (refills, collections) = (report.sum(0, "refills"), report.number("pauses"));
            if refills == 0 || (collections == 0 && setting.collector != Collector::Epsilon) {
                return Err(format!("{refills} refills and {collections} collections: attached too late"));
            }
            Ok(())
        },
    )
}

/// Twice the same refusal, and collections after each: what was refused has left nothing behind.
fn refused(launch: Launch, text: &str) -> Launch {
    launch.says(text).says(text).beside(|running| {
        for _ in 0..2 {
            expect(&load(running, "tlab=2k")?, "return code: -1")?;
            collect(running)?;
        }
        Ok(())
    })
}

pub const COLLECTING: &[Collector] = SERVED.split_at(5).0;

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "attach::core", JDKS, SERVED, |setting| during_load(setting, "core=64k"));
    hazard(cases, "attach::two_levels", JDKS, SERVED, |setting| {
        during_load(setting, "levels=core+processor,core=32k,processor=256k,tlab=2k")
            // Eden may have shrunk by then.
            .maybe_says("is too large for this heap")
            .says("tlab=2048 applies to threads that start from now on")
    });
    hazard(cases, "attach::twice", JDKS, USUAL, |setting| {
        outlasting(setting.collector).says("through its control file (the installed agent stays)").beside(
            |running| {
                expect(&load(running, "core=64k")?, "return code: 0")?;
                expect(&load(running, "core=64k")?, "return code: -1")?;
                collect(running)
            },
        )
    });
    // A mistake can be mended, and what was refused has left nothing behind.
    hazard(cases, "attach::mistake", JDKS, USUAL, |setting| {
        outlasting(setting.collector)
            .says("unknown option cores")
            .says("core=65537: use a multiple of 8 bytes")
            .says("core=65544: use a multiple of ObjectAlignmentInBytes=16")
            .flags("-XX:ObjectAlignmentInBytes=16")
            .beside(|running| {
                for options in ["cores=64k", "core=65537", "core=65544"] {
                    expect(&load(running, options)?, "return code: -1")?;
                    collect(running)?;
                }
                expect(&load(running, "core=64k,report=report.json")?, "return code: 0")?;
                collect(running)
            })
            .after(
                |finished| {
                    if finished.report()?.sum(0, "refills") > 0 { Ok(()) } else { Err("no refill".into()) }
                },
            )
    });
    // HotSpot unloads a library whose attaching failed; the events of its JVMTI environment would come into nothing.
    hazard(cases, "attach::copy_after_agentpath", JDKS, COLLECTING, |setting| {
        let own = format!("-agentpath:{}=core=64k", artifacts::agent().display());
        outlasting(setting.collector)
            .flag(own)
            .says("is already replaced by another agent or a second copy of libterrace.so")
            .beside(|running| {
                expect(&load_copy(running, "copy.so", "core=128k")?, "return code: -1")?;
                collect(running)
            })
    });
    hazard(cases, "attach::copy_after_attach", JDKS, USUAL, |setting| {
        outlasting(setting.collector)
            .says("is already replaced by another agent or a second copy of libterrace.so")
            .says("is already replaced by another agent or a second copy of libterrace.so")
            .beside(|running| {
                expect(&load_copy(running, "first.so", "core=64k")?, "return code: 0")?;
                collect(running)?;
                expect(&load_copy(running, "second.so", "core=128k")?, "return code: -1")?;
                collect(running)?;
                expect(&load(running, "core=128k")?, "return code: -1")?;
                collect(running)
            })
    });
    hazard(cases, "attach::mprotect_refused", JDKS, USUAL, |setting| {
        let helper = artifacts::helper("seccomp").expect("the helper agent");
        outlasting(setting.collector)
            .without(&["-XX:-ResizeTLAB", "-XX:TLABSize=8k"])
            .flag(format!("-agentpath:{}", helper.display()))
            .says("cannot make the heap's function table writable (Operation not permitted (os error 1))")
            .beside(|running| {
                if !running.wait_for("running") {
                    return Err("the program ended before it began".into());
                }
                let before = tlab_flags(running)?;
                expect(&load(running, "tlab=2k")?, "return code: -1")?;
                // Nothing of it may show: not the flags either.
                let after = tlab_flags(running)?;
                if before.len() != TLAB_FLAGS.len() || after != before {
                    return Err(format!("before an agent that was refused {before:?}, after it {after:?}"));
                }
                collect(running)
            })
    });
    hazard(cases, "attach::control_file_cannot_be_made", JDKS, &[Collector::G1], |setting| {
        outlasting(setting.collector)
            .says("(running without a control file)")
            .says("(running without buffers)")
            .beside(|running| {
                expect(&load(running, "control=missing/control,strict=true")?, "return code: -1")?;
                collect(running)?;
                expect(&load(running, "control=missing/control")?, "return code: 0")?;
                collect(running)
            })
    });
    hazard(cases, "attach::heap_over_the_limit", JDKS, &[Collector::Serial, Collector::G1], |setting| {
        let text = "is too large for terrace: use at most 8 TB (-Xmx)";
        refused(outlasting(setting.collector).flags("-Xms64m -Xmx9000g"), text)
    });
    matrix(cases, "attach::slot_is_missing", JDKS, USUAL, |setting| {
        let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
        let Some((jdk, text)) = without_a_slot(setting.jdk, directory.path())? else {
            return Ok(Outcome::Skipped("objcopy or cp -rs: not on this machine".into()));
        };
        let launch = outlasting(setting.collector).flags(&format!("-XX:+{}", setting.collector.flag()));
        QUIET.shared(|| refused(launch, text).run(&jdk)).map(|_| Outcome::Passed)
    });
    hazard(cases, "attach::zgc_is_refused", JDKS, ZGCS, |setting| {
        let launch = long(setting.collector).flags("-Xmx256m");
        launch
            .says("ZGC already allocates")
            .beside(|running| expect(&load(running, "core=64k")?, "return code: -1"))
    });
}
