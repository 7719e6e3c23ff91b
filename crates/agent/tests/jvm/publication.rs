//! Double publication: a refill is under way while a collection retires the buffers. Only its owner may publish.

use crate::launch::Launch;
use crate::matrix::{JDKS, Setting, hazard, since};
use crate::runner::Case;
use crate::switching;
use hab::Counter;
use hotspot::collector::Collector;

/// Slow refills, a small young generation, and heap walks as fast as they can come, until refills have met retirements.
pub fn publication(_: Setting) -> Launch {
    Launch::new("Load")
        .args(&["until=released", "gentle=false", "command=gcClassHistogram,-all", "every=1"])
        .flags("-Xmn8m")
        .agent("core=64k,delay=300,control=control")
        .collects(3)
        .beside(|running| {
            let control = switching::open(running)?;
            running
                .wait_until("refills that a retirement met", |_| Ok(control.total(Counter::Overlapped) > 2))
        })
}

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "publication", JDKS, &[Collector::Serial, Collector::G1], publication);
    // Before 25 Parallel's allocation of a TLAB is one exchange: no collection can come in between.
    hazard(cases, "publication", since(25), &[Collector::Parallel], publication);
}
