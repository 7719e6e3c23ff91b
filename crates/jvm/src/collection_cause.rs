//! Why a collection came, in HotSpot's words (`GCCause::to_string`, 17 to 25).

use crate::perfdata::PerfData;

/// Of a collection that came because eden was full.
pub const FULL_EDEN: [&str; 4] =
    ["Allocation Failure", "G1 Evacuation Pause", "G1 Preventive Collection", "GCLocker Initiated GC"];
/// Of Parallel's full collection, which follows the young one of a full eden at once.
pub const ERGONOMICS: &str = "Ergonomics";
/// Where no collection is under way, or none came before.
const NONE: &str = "No GC";

/// What HotSpot says of the collection under way, or of the last one. It counts a collection when it begins, and says its cause until it ends.
pub fn of(perf: &PerfData) -> Option<&str> {
    let said = |name| perf.text(name).filter(|cause| *cause != NONE);
    said("sun.gc.cause").or_else(|| said("sun.gc.lastCause"))
}

/// Whether a young collection, of which HotSpot says this now, came because eden was full.
pub fn is_full_eden(cause: &str) -> bool {
    FULL_EDEN.contains(&cause) || cause == ERGONOMICS
}
