//! The waste of `tlab=auto`: as many bytes are allocated from one collection to the next as in the stock JVM, where HotSpot gives up TLABs of which
//! much is left.

use crate::jdk::collector_flags;
use crate::launch::Launch;
use crate::matrix::{JDKS, Setting, matrix};
use crate::runner::{Case, Outcome, QUIET, Verdict};
use hotspot::collector::Collector;

/// A size of TLABs and a limit of waste that do not fit each other: with a rest of up to 128 KB a TLAB of 256 KB is given up, which is what happened
/// when its size was terrace's and the limit HotSpot's (docs/decisions/growing-tlab.md: 26 collections instead of 21).
const WASTEFUL: &str = "-XX:-ResizeTLAB -XX:TLABSize=256k -XX:TLABRefillWasteFraction=2";

pub fn cases(cases: &mut Vec<Case>) {
    // On each JDK: how HotSpot sizes TLABs differs between them.
    for jdk in JDKS {
        let name = "waste::large_among_small";
        matrix(cases, name, std::slice::from_ref(jdk), &[Collector::Parallel], large_among_small);
    }
}

fn large_among_small(setting: Setting) -> Verdict {
    // Bytes for each collection.
    let run = |launch: Launch| -> Result<u64, String> {
        let launch = launch
            .flags("-Xms700m -Xmx700m -Xmn600m -XX:-UseAdaptiveSizePolicy")
            .flags(&collector_flags(setting.collector, setting.jdk.feature).join(" "));
        launch.run(setting.jdk)?.printed("bytes")
    };
    QUIET.shared(|| {
        let stock = run(Launch::bare("Alternating").stock())?;
        let wasteful = run(Launch::bare("Alternating").args(&["collections=2"]).stock().flags(WASTEFUL))?;
        let ours = run(Launch::bare("Alternating").agent(""))?;
        let told = format!(
            "bytes for each collection: {ours}, {stock} without the agent, {wasteful} with TLABs that waste"
        );
        // What has to be seen can be seen.
        if wasteful * 110 > stock * 100 {
            return Err(format!("nothing is shown; {told}"));
        }
        if ours * 101 < stock * 100 { Err(told) } else { Ok(Outcome::Passed) }
    })
}
