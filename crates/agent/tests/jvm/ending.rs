//! The end of the JVM: after VMDeath collections are not announced any more, while daemon threads still allocate.

use crate::artifacts;
use crate::attach::COLLECTING;
use crate::jdk;
use crate::launch::Launch;
use crate::matrix::{JDKS, SERVED, Setting, USUAL, hazard, matrix, only_if_asked, since};
use crate::runner::{Case, Outcome, QUIET, Verdict};
use hotspot::collector::Collector;
use hotspot::version::Feature;

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
            let shenandoah =
                matches!(setting.collector, Collector::Shenandoah | Collector::GenerationalShenandoah);
            let collects =
                USUAL.contains(&setting.collector) || (shenandoah && setting.jdk.feature >= Feature(26));
            // With G1 it takes some hundred collections until an object is lost; Shenandoah has none before 26, and Epsilon never.
            let late = match setting.collector {
                _ if !collects => "250",
                Collector::G1 => "0,200,gc.log",
                _ => "0,10,gc.log",
            };
            // Verification makes the heap parsable, and with that retires the buffers: what has to be shown is
            // that they are retired without it.
            let launch = leaving(by)
                .without(&["-XX:+VerifyBeforeGC", "-XX:+VerifyAfterGC"])
                .flag(format!("-agentpath:{}={late}", helper.display()))
                .flags(&format!("{most} -Xlog:gc:file=gc.log"));
            // Shenandoah's own verification retires nothing.
            let launch = if shenandoah { launch.flags("-XX:+ShenandoahVerify") } else { launch };
            let launch =
                if setting.collector == Collector::Epsilon { launch.args(&["most=500m"]) } else { launch };
            launch.after(move |finished| {
                let log = std::fs::read_to_string(finished.directory.join("gc.log")).unwrap_or_default();
                let paused = log.lines().filter(|line| line.contains("Pause")).count() as u64;
                let announced = finished.report()?.number("pauses");
                // The report is written at VMDeath: what the log has beyond it came later.
                if collects && paused <= announced {
                    return Err(format!(
                        "no collection after VMDeath: {paused} in the log, {announced} announced"
                    ));
                }
                Ok(())
            })
        });
        // The same inside another agent's VMDeath callback, which comes before ours: up to 25 the event still announces collections
        // then, and from 26 on no event does, while the buffers are still on.
        hazard(cases, &format!("collections_in_vm_death::{by}"), JDKS, USUAL, move |setting| {
            let helper = artifacts::helper("dying").expect("the helper agent");
            let pauses = if setting.collector == Collector::G1 { 200 } else { 10 };
            leaving(by)
                .without(&["-XX:+VerifyBeforeGC", "-XX:+VerifyAfterGC"])
                .flag(format!("-agentpath:{}={pauses},gc.log", helper.display()))
                .flags("-Xlog:gc:file=gc.log")
                .behind_others()
                .prints(&["leaving", "collected in VMDeath"])
        });
        // Without help, as often as time allows: the window is short, and what happens in it differs each time.
        for repeat in 0..10 {
            matrix(
                cases,
                &format!("exit_while_allocating::{by}::{repeat}"),
                since(25),
                &[Collector::G1],
                move |setting| {
                    QUIET.shared(|| {
                        for _ in 0..6 {
                            // Verification makes the heap parsable, and with that retires the buffers: what has to be shown is
                            // that they are retired without it.
                            let launch = leaving(by)
                                .without(&["-XX:+VerifyBeforeGC", "-XX:+VerifyAfterGC"])
                                .args(&["millis=10"])
                                .flags(
                                    &jdk::collector_flags(setting.collector, setting.jdk.feature).join(" "),
                                );
                            launch.run(setting.jdk)?;
                        }
                        Ok(Outcome::Passed)
                    })
                },
            );
        }
    }
    // An end with a full heap: nothing may be allocated for it, and nobody be waited for.
    for by in ["exit", "return"] {
        matrix(cases, &format!("full_heap::{by}"), JDKS, COLLECTING, move |setting| {
            QUIET.shared(|| full_heap(setting, by))
        });
    }
    // As often as it takes to meet an odd moment.
    only_if_asked(cases, "full_heap::hundred", JDKS, COLLECTING, |setting| {
        let flags = jdk::collector_flags(setting.collector, setting.jdk.feature).join(" ");
        QUIET.shared(|| {
            for time in 1..=100 {
                Launch::bare("Fill")
                    .args(&["words=60", "by=exit"])
                    .agent("log=warn")
                    .flags(&format!("-Xmx24m {flags}"))
                    .run(setting.jdk)
                    .map_err(|why| format!("time {time} of 100: {why}"))?;
            }
            Ok(Outcome::Passed)
        })
    });
    // As it was seen to hang for ever, when the agent still allocated at VMDeath.
    matrix(cases, "full_heap::48m", &[17], &[Collector::Shenandoah], |setting| {
        let launch = Launch::bare("Fill").args(&["words=60", "by=exit"]).agent("log=warn");
        let launch = launch.flags("-XX:+UseShenandoahGC -Xmx48m");
        QUIET.shared(|| launch.run(setting.jdk)).map(|_| Outcome::Passed)
    });
    // With more threads the heap is verified all the time, and the one that ends the program waits up to half a minute for its turn.
    hazard(cases, "exit_while_allocating", &[11, 17, 21], USUAL, |_| leaving("exit").args(&["threads=6"]));
    hazard(cases, "halt_while_allocating", JDKS, USUAL, |_| {
        leaving("halt").args(&["threads=6"]).unreported()
    });
}

/// The program ends as it does in a stock JVM, however full the heap is, and after not many more full collections: one for each buffer comes to
/// hundreds.
fn full_heap(setting: Setting, by: &str) -> Verdict {
    // With the smallest elements Shenandoah goes through more than a hundred full collections, in a stock JVM as well, for minutes.
    let slow = matches!(setting.collector, Collector::Shenandoah | Collector::GenerationalShenandoah);
    for words in if slow { &["words=60"][..] } else { &["words=60", "words=2"] } {
        let fill = || Launch::bare("Fill").args(&[words, &format!("by={by}")]);
        let mut ours = full_collections(setting, fill().agent("log=warn"))?;
        // The number differs from run to run, Shenandoah's of JDK 17 by more than a factor of three in a stock JVM: where one run is not enough, the
        // largest of three counts. How busy the machine is, only Shenandoah's depends on, whose cycles may fall behind: the smallest of three is ours.
        let mut stock = 0;
        for _ in 0..3 {
            stock = stock.max(full_collections(setting, fill().stock())?);
            if slow && ours > most_full(setting, stock) {
                ours = ours.min(full_collections(setting, fill().agent("log=warn"))?);
            }
            if ours <= most_full(setting, stock) {
                break;
            }
        }
        if ours > most_full(setting, stock) {
            return Err(format!("{words}: {ours} full collections, at most {stock} without the agent"));
        }
    }
    Ok(Outcome::Passed)
}

/// How many full collections are as good as so many in a stock JVM. With Parallel of JDK 21 it depends on how much of eden is garbage
/// (docs/results/out-of-memory.md): with the smallest elements and 24 MB it is 125 to 134, in a stock JVM 39.
fn most_full(setting: Setting, stock: usize) -> usize {
    let is_known = setting.collector == Collector::Parallel && setting.jdk.feature == Feature(21);
    if is_known { 4 * stock + 10 } else { 3 * stock + 10 }
}

fn full_collections(setting: Setting, launch: Launch) -> Result<usize, String> {
    let flags = jdk::collector_flags(setting.collector, setting.jdk.feature).join(" ");
    let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
    launch.flags(&format!("-Xmx24m -Xlog:gc:file=gc.log {flags}")).run_in(setting.jdk, directory.path())?;
    let log = std::fs::read_to_string(directory.path().join("gc.log")).map_err(|error| error.to_string())?;
    Ok(log.matches("Pause Full").count())
}
