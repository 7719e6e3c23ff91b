//! Sizes: an extent is never larger than the collector accepts, nor the buffers than the heap bears.

use crate::launch::Launch;
use crate::matrix::{JDKS, USUAL, hazard};
use crate::process::Finished;
use crate::runner::Case;
use hotspot::collector::Collector;

/// The core buffers' size in force is at most the largest extent and smaller than asked.
fn reduced_from(asked: u64) -> impl Fn(&Finished) -> Result<(), String> {
    move |finished| {
        let report = finished.report()?;
        let bytes = |key: &str| report.setting(key).as_u64().unwrap_or(0);
        let (core, largest) = (bytes("core_bytes"), bytes("largest_extent_bytes"));
        if core == 0 || core > largest || core >= asked {
            return Err(format!("core={core}, largest extent {largest}, asked {asked}"));
        }
        let message = report.0["message"].as_str().unwrap_or("");
        if message.contains("reduced to") { Ok(()) } else { Err(format!("the report's message: {message}")) }
    }
}

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "clamped_to_region", JDKS, &[Collector::G1], |_| {
        Launch::new("Load")
            .flags("-XX:G1HeapRegionSize=1m -Xmn16m")
            .agent("core=1m")
            .collects(1)
            .says("core=1m is too large for this heap: reduced to")
            .after(reduced_from(1 << 20))
    });
    hazard(
        cases,
        "clamped_to_region",
        JDKS,
        &[Collector::Shenandoah, Collector::GenerationalShenandoah],
        |_| {
            Launch::new("Load")
                .flags("-Xmx64m")
                .agent("core=4m")
                .collects(1)
                .says("core=4m is too large for this heap: reduced to")
                .after(reduced_from(4 << 20))
        },
    );
    hazard(cases, "heap_too_small", JDKS, USUAL, |_| {
        Launch::new("Load")
            .args(&["live=1m"])
            .flags("-Xmx16m -Xmn4m")
            .agent("core=8m")
            .collects(1)
            .says("core=8m is too large for this heap: reduced to")
            .after(reduced_from(8 << 20))
    });
    hazard(cases, "heap_too_small_for_two_levels", JDKS, USUAL, |_| {
        Launch::new("Load")
            .args(&["live=1m"])
            .flags("-Xmx16m -Xmn4m")
            .agent("levels=core+processor,core=8m,processor=16m")
            .collects(1)
            .says("processor=16m is too large for this heap: reduced to")
            .says("core=8m is too large for this heap: reduced to")
    });
    // The smallest heaps that the collectors start with: sizes of terrace's own choice must fit, too.
    hazard(cases, "tiny_heap", JDKS, USUAL, |_| {
        Launch::new("Load")
            .args(&["live=256k", "threads=4"])
            .flags("-Xmx8m")
            .collects(2)
            .agent("levels=core+processor")
    });
}
