//! Whoever walks the heap finds objects only: dumps, histograms, stacks, recordings, JVMTI's tags.

use crate::artifacts;
use crate::launch::Launch;
use crate::matrix::{JDKS, SERVED, USUAL, hazard};
use crate::process::Finished;
use crate::runner::Case;
use hotspot::collector::Collector;

/// A load with a diagnostic command as often as it can be answered.
fn commanded(command: &str, every: u32) -> Launch {
    let every = format!("every={every}");
    Launch::new("Load").args(&[&format!("command={command}"), &every]).flags("-Xmn8m").after(|finished| {
        if finished.printed("commands")? >= 4 { Ok(()) } else { Err("too few commands came in".into()) }
    })
}

/// The dumps are heap dumps, and whole: the last record is the end mark.
fn dumped(finished: &Finished) -> Result<(), String> {
    let mut dumps = 0;
    for entry in std::fs::read_dir(&finished.directory).map_err(|error| error.to_string())?.flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "hprof") {
            let bytes = std::fs::read(entry.path()).map_err(|error| error.to_string())?;
            if !bytes.starts_with(b"JAVA PROFILE 1.0.") || bytes.len() < 100_000 {
                return Err(format!("{}: {} bytes are no heap dump", entry.path().display(), bytes.len()));
            }
            dumps += 1;
        }
    }
    if dumps > 0 { Ok(()) } else { Err("no heap dump was written".into()) }
}

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "heap_dump", JDKS, USUAL, |_| commanded("dump", 200).after(dumped));
    hazard(cases, "heap_dump::shenandoah", JDKS, &[Collector::Shenandoah], |_| {
        commanded("dump", 200).after(dumped)
    });
    hazard(cases, "histogram", JDKS, &SERVED[3..], |setting| match setting.collector {
        Collector::Epsilon => commanded("gcClassHistogram,-all", 1).args(&["most=500m"]).flags("-Xmx1g"),
        _ => commanded("gcClassHistogram,-all", 1),
    });
    hazard(cases, "thread_stacks", JDKS, USUAL, |_| commanded("threadPrint,-l", 1));
    hazard(cases, "dump_before_full_collection", JDKS, USUAL, |_| {
        Launch::new("Load")
            .args(&["gc=200"])
            .flags("-Xmn8m -XX:+HeapDumpBeforeFullGC")
            .collects(1)
            .after(dumped)
    });
    hazard(cases, "tools_from_outside", JDKS, USUAL, |_| {
        Launch::new("Load").args(&["until=released"]).flags("-Xmn8m").after(dumped).beside(|running| {
            running.wait_for("running");
            running.jcmd(&["GC.class_histogram", "-all"])?;
            running.jcmd(&["GC.heap_dump", "-all", "outside.hprof"])?;
            running.jcmd(&["Thread.print", "-l"]).map(|_| ())
        })
    });
    hazard(cases, "recording", JDKS, USUAL, |_| {
        Launch::new("Load")
            .args(&["live=12m"])
            .flags("-Xmn8m -XX:StartFlightRecording:settings=profile,path-to-gc-roots=true,filename=walk.jfr")
            .collects(2)
            .after(|finished| {
                let bytes =
                    std::fs::metadata(finished.directory.join("walk.jfr")).map_or(0, |found| found.len());
                if bytes > 10_000 { Ok(()) } else { Err(format!("the recording has {bytes} bytes")) }
            })
    });
    // A helper agent that gives every object a tag, fillers included, again and again.
    hazard(cases, "tags", JDKS, USUAL, |_| {
        let helper = artifacts::helper("tagger").expect("the helper agent");
        Launch::new("Load")
            .args(&["until=released", "gentle=false"])
            .flags("-Xmn8m")
            .flag(format!("-agentpath:{}", helper.display()))
            .collects(1)
            .beside(|running| {
                running.wait_until("walks of the helper agent", |running| {
                    Ok(running.stderr().lines().filter(|line| line.starts_with("tagged ")).count() > 3)
                })
            })
    });
}
