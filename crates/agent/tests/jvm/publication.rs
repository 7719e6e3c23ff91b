//! Double publication: a refill is under way while a collection retires the buffers. Only its owner may publish.

use crate::launch::{JDKS, Launch, USUAL, hazard};
use crate::runner::Case;

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "publication", JDKS, USUAL, |_| {
        // Slow refills, a small young generation, and heap walks as fast as they can come: most refills see a retirement.
        Launch::new("Load")
            .args(&["millis=1000", "command=gcClassHistogram,-all", "every=1"])
            .flags("-Xmn8m")
            .agent("core=64k,delay=300")
            .collects(3)
            .after(|finished| {
                let (walks, collections) =
                    (finished.report()?.number("parsability"), finished.printed("collections")?);
                if finished.printed("commands")? == 0 || walks + collections == 0 {
                    return Err("no heap walk came in".into());
                }
                Ok(())
            })
    });
}
