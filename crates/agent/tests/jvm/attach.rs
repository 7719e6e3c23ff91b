//! Loaded into a running JVM under load (`jcmd PID JVMTI.agent_load`).

use crate::artifacts;
use crate::launch::{JDKS, Launch, SERVED, hazard};
use crate::process::Running;
use crate::runner::Case;
use hotspot::collector::Collector;

/// Loads the agent; gives jcmd's answer.
fn load(running: &mut Running<'_>, options: &str) -> Result<String, String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    // jcmd takes the text in quotes for one argument, whatever it has inside.
    let (agent, options) = (artifacts::agent().display().to_string(), format!("\"{options}\""));
    running.jcmd(&["JVMTI.agent_load", &agent, &options])
}

fn expect(answer: &str, text: &str) -> Result<(), String> {
    if answer.contains(text) { Ok(()) } else { Err(format!("jcmd answered {answer}, expected {text}")) }
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
        Collector::Shenandoah | Collector::GenerationalShenandoah => launch.flags("-XX:+ShenandoahVerify"),
        Collector::Z => launch,
        _ => launch.args(&["gc=100"]).flags("-Xmn8m"),
    }
}

pub fn cases(cases: &mut Vec<Case>) {
    for options in ["core=64k", "levels=core+processor,core=32k,processor=256k,tlab=2k"] {
        let name = if options.contains("processor") { "attach::two_levels" } else { "attach::core" };
        hazard(cases, name, JDKS, SERVED, move |setting| {
            let launch = long(setting.collector).beside(move |running| {
                expect(&load(running, &format!("{options},report=report.json"))?, "return code: 0")
            });
            let launch = if options.contains("tlab") {
                launch.says("tlab=2048 applies to threads that start from now on")
            } else {
                launch
            };
            launch.after(move |finished| {
                let report = finished.report()?;
                report.check()?;
                let (refills, collections) = (report.sum(0, "refills"), report.number("pauses"));
                if refills == 0 || (collections == 0 && setting.collector != Collector::Epsilon) {
                    return Err(format!(
                        "{refills} refills and {collections} collections: attached too late"
                    ));
                }
                Ok(())
            })
        });
    }
    hazard(cases, "attach::twice", JDKS, &[Collector::G1], |setting| {
        long(setting.collector).says("libterrace.so is already loaded").beside(|running| {
            expect(&load(running, "core=64k")?, "return code: 0")?;
            expect(&load(running, "core=64k")?, "return code: -1")
        })
    });
    hazard(cases, "attach::mistake", JDKS, &[Collector::G1], |setting| {
        long(setting.collector)
            .args(&["millis=100"])
            .says("unknown option cores")
            .beside(|running| expect(&load(running, "cores=64k")?, "return code: -1"))
    });
    hazard(cases, "attach::zgc", JDKS, &[Collector::Z], |_| {
        let launch = long(Collector::Z).flags("-Xmx256m");
        launch
            .says("ZGC already allocates")
            .beside(|running| expect(&load(running, "core=64k")?, "return code: -1"))
    });
}
