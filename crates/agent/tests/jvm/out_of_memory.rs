//! What HotSpot does on its own when memory is used up (`OnOutOfMemoryError`, `ExitOnOutOfMemoryError`): as in the stock JVM, and not where
//! there was no such error.

use crate::affinity;
use crate::attach::COLLECTING;
use crate::jdk;
use crate::launch::{Exit, Launch};
use crate::matrix::{JDKS, SERVED, Setting, hazard, matrix, only_if_asked};
use crate::process::{Finished, Running};
use crate::runner::{Case, Outcome, QUIET, Verdict};
use hotspot::collector::Collector;
use std::time::Duration;

pub fn cases(cases: &mut Vec<Case>) {
    // Without Epsilon, which ends the JVM on its own then.
    for by in ["exit", "return"] {
        matrix(cases, &format!("command_on_out_of_memory::{by}"), JDKS, COLLECTING, move |setting| {
            QUIET.shared(|| command_as_in_stock(setting, by))
        });
    }
    hazard(cases, "last_memory", JDKS, &[Collector::Epsilon], |_| {
        let launch = Launch::bare("Fill").args(&["words=2500", "by=halt"]).agent("core=1m");
        let heap = "-Xms512m -Xmx512m -XX:-ExitOnOutOfMemoryError -XX:TLABSize=4k -XX:-ResizeTLAB";
        launch.flags(heap).beside(chase).after(nothing_is_left)
    });
    // HotSpot's own way out of a full heap, as often as it takes to meet it at an odd moment.
    matrix(cases, "exit_on_out_of_memory", JDKS, SERVED, |setting| {
        let slow = matches!(setting.collector, Collector::Shenandoah | Collector::GenerationalShenandoah);
        let times = if slow { 5 } else { 30 };
        QUIET.shared(|| exits(setting, times))
    });
    // Many minutes, most of them Shenandoah's, which takes up to eight seconds for one.
    only_if_asked(cases, "exit_on_out_of_memory::hundred", JDKS, SERVED, |setting| {
        QUIET.shared(|| exits(setting, 100))
    });
}

/// Moves the program from CPU to CPU, so that each has a buffer with a rest.
fn chase(running: &mut Running<'_>) -> Result<(), String> {
    let cpus = affinity::allowed();
    for cpu in (0..cpus.len()).cycle() {
        if !running.is_running() {
            break;
        }
        for task in affinity::tasks(running.pid()) {
            affinity::set(task, &cpus[cpu..=cpu]);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// Epsilon never collects: what other cores' buffers hold is the last memory that there is.
fn nothing_is_left(finished: &Finished) -> Result<(), String> {
    const OBJECT: u64 = 16 + 2500 * 8;
    let report = finished.report()?;
    let (left, buffers) = (report.remaining(0), 4 * report.domains(0));
    if left < buffers * OBJECT {
        return Ok(());
    }
    Err(format!(
        "{left} bytes are left in {buffers} buffers, each enough for no more than one object of {OBJECT}"
    ))
}

fn exits(setting: Setting, times: usize) -> Verdict {
    let flags = jdk::collector_flags(setting.collector, setting.jdk.feature).join(" ");
    for time in 1..=times {
        Launch::bare("Fill")
            .agent("log=warn")
            .unreported()
            .flags(&format!("-Xmx16m -XX:+ExitOnOutOfMemoryError {flags}"))
            .prints(&["Terminating due to java.lang.OutOfMemoryError"])
            .exit(Exit::Code(3))
            .run(setting.jdk)
            .map_err(|why| format!("time {time} of {times}: {why}"))?;
    }
    Ok(Outcome::Passed)
}

/// A program that runs out of memory, and one that ends with a heap which is nearly full: the command of `OnOutOfMemoryError` is run once, as in the
/// stock JVM, and not at all.
fn command_as_in_stock(setting: Setting, by: &str) -> Verdict {
    let run = |launch: Launch, most: Option<u64>| -> Result<Filled, String> {
        // G1's regions are large: of a small heap some percent are one of them.
        let heap = if setting.collector == Collector::G1 { "-Xmx64m" } else { "-Xmx24m" };
        let launch = launch
            .args(&[&format!("by={by}")])
            .args(&most.map(|most| format!("most={most}")).iter().map(String::as_str).collect::<Vec<_>>())
            // The end is what does not fit, and nothing that depends on times. Blanks would be another flag's beginning here.
            .flags(&format!("{heap} -XX:-UseGCOverheadLimit -XX:OnOutOfMemoryError=echo>>commands"))
            .flags(&jdk::collector_flags(setting.collector, setting.jdk.feature).join(" "))
            .after(|finished| filled(finished).map(|_| ()));
        let directory =
            tempfile::tempdir_in(crate::artifacts::scratch()).map_err(|error| error.to_string())?;
        filled(&launch.run_in(setting.jdk, directory.path())?)
    };
    let stock = || Launch::bare("Fill").stock();
    let ours = || Launch::bare("Fill").agent("log=warn");
    let full = run(stock(), None)?;
    if full.commands == 0 {
        return Err("the stock JVM ran no command: nothing can be compared".into());
    }
    let full_of_ours = run(ours(), None)?;
    if full_of_ours.commands != full.commands {
        return Err(format!(
            "out of memory: {} commands, {} without the agent",
            full_of_ours.commands, full.commands
        ));
    }
    // As near to the end as a stock JVM surely comes without an error: with Shenandoah the end differs by 6 % from run to run.
    let most = full.elements / 100 * 90;
    for (launch, whose) in [(stock(), "the stock JVM"), (ours(), "the agent")] {
        let Filled { commands, elements } = run(launch, Some(most))?;
        if (commands, elements) != (0, most) {
            return Err(format!(
                "{whose}: {commands} commands after {elements} of {most} elements, and no error"
            ));
        }
    }
    Ok(Outcome::Passed)
}

/// What became of a run of `Fill`.
struct Filled {
    /// How often the command was run: HotSpot waits for its end.
    commands: usize,
    elements: u64,
}

fn filled(finished: &Finished) -> Result<Filled, String> {
    let marks = std::fs::read_to_string(finished.directory.join("commands")).unwrap_or_default();
    Ok(Filled { commands: marks.lines().count(), elements: finished.printed("elements")? })
}
