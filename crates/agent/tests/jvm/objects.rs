//! Fillers and alignment: whatever shape objects have, tails can be filled and walks find only objects.

use crate::launch::Launch;
use crate::matrix::{JDKS, SERVED, USUAL, hazard, since};
use crate::runner::Case;
use hotspot::collector::Collector;

/// Heap walks beside the collections: a gap that no object covers shows at once.
fn walked() -> Launch {
    Launch::new("Load").args(&["gc=50"]).flags("-Xmn8m").collects(2)
}

pub fn cases(cases: &mut Vec<Case>) {
    for bytes in [16, 32, 256] {
        hazard(cases, &format!("alignment::{bytes}"), JDKS, USUAL, move |_| {
            walked().flags(&format!("-XX:ObjectAlignmentInBytes={bytes} -XX:TLABSize=6k"))
        });
    }
    hazard(cases, "alignment::256::shenandoah", JDKS, &[Collector::Shenandoah], |_| {
        walked().flags("-XX:ObjectAlignmentInBytes=256 -XX:+ShenandoahVerify")
    });
    hazard(cases, "wide_class_pointers", JDKS, USUAL, |_| walked().flags("-XX:-UseCompressedClassPointers"));
    hazard(cases, "wide_pointers", JDKS, USUAL, |_| {
        walked().flags("-XX:-UseCompressedOops -XX:-UseCompressedClassPointers")
    });
    hazard(cases, "compact_headers", since(25), SERVED, |setting| {
        let launch = Launch::new("Load").flags("-XX:+UseCompactObjectHeaders");
        if setting.collector == Collector::Epsilon {
            return launch.args(&["most=500m"]).flags("-Xmx1g");
        }
        launch.args(&["gc=50"]).flags("-Xmn8m").collects(2)
    });
    hazard(cases, "zeroed_tlabs", JDKS, USUAL, |_| walked().flags("-XX:+ZeroTLAB"));
    // Sizes that leave remainders of every length.
    for (at, options) in
        ["core=12344,tlab=1k", "core=4k,tlab=2040", "core=65528,tlab=3336"].into_iter().enumerate()
    {
        hazard(cases, &format!("odd_sizes::{at}"), JDKS, USUAL, move |_| {
            let gone = ["-XX:-ResizeTLAB", "-XX:TLABSize=8k"];
            walked().without(&gone).agent(options)
        });
    }
}
