//! The end of the JVM: after VMDeath collections are not announced any more, while daemon threads still allocate.

use crate::artifacts;
use crate::jdk;
use crate::launch::{JDKS, Launch, SERVED, USUAL, hazard, matrix};
use crate::runner::{Case, Outcome, QUIET};
use hotspot::collector::Collector;

/// Daemon threads that allocate while the program ends.
fn leaving(by: &str) -> Launch {
    Launch::new("Leave").args(&[&format!("by={by}")]).flags("-Xmn4m").prints(&["leaving"])
}

pub fn cases(cases: &mut Vec<Case>) {
    // An agent loaded beside ours stays in Agent_OnUnload, which comes after VMDeath, for a time in which threads allocate and
    // collections run unannounced.
    for by in ["exit", "return"] {
        hazard(cases, &format!("late_collections::{by}"), JDKS, SERVED, move |setting| {
            let helper = artifacts::helper("late").expect("the helper agent");
            let most = if setting.collector == Collector::Epsilon { "-Xmx1g" } else { "-Xmx64m" };
            // With G1 it takes some hundred collections until an object is lost.
            let late = if setting.collector == Collector::G1 { 1200 } else { 250 };
            // Verification makes the heap parsable, and with that retires the buffers: what has to be shown is
            // that they are retired without it.
            let launch = leaving(by)
                .without(&["-XX:+VerifyBeforeGC", "-XX:+VerifyAfterGC"])
                .flags(&format!("-agentpath:{}={late} {most} -Xlog:gc:file=gc.log", helper.display()));
            launch.after(move |finished| {
                let log = std::fs::read_to_string(finished.directory.join("gc.log")).unwrap_or_default();
                let paused = log.lines().filter(|line| line.contains("Pause")).count() as u64;
                let announced = finished.report()?.number("pauses");
                // The report is written at VMDeath: what the log has beyond it came later.
                if USUAL.contains(&setting.collector) && paused <= announced {
                    return Err(format!(
                        "no collection after VMDeath: {paused} in the log, {announced} announced"
                    ));
                }
                Ok(())
            })
        });
        // Without help, as often as time allows: the window is short, and what happens in it differs each time.
        for repeat in 0..10 {
            matrix(
                cases,
                &format!("exit_while_allocating::{by}::{repeat}"),
                &[25],
                &[Collector::G1],
                move |setting| {
                    QUIET.shared(|| {
                        for _ in 0..6 {
                            // Verification makes the heap parsable, and with that retires the buffers: what has to be shown is
                            // that they are retired without it.
                            let launch = leaving(by)
                                .without(&["-XX:+VerifyBeforeGC", "-XX:+VerifyAfterGC"])
                                .args(&["millis=10"])
                                .flags(&jdk::collector_flags(setting.collector).join(" "));
                            launch.run(setting.jdk)?;
                        }
                        Ok(Outcome::Passed)
                    })
                },
            );
        }
    }
    hazard(cases, "exit_while_allocating", &[17, 21], USUAL, |_| leaving("exit"));
    hazard(cases, "halt_while_allocating", JDKS, USUAL, |_| leaving("halt").unreported());
}
