//! How large a heap is, from HotSpot's counters.

use jvm::perfdata::PerfData;

/// Young, old, and what JDK 8 has besides.
const GENERATIONS: u32 = 2;
/// Eden and two survivor spaces.
const SPACES: u32 = 3;

/// Bytes that it is committed to. `None` where nobody says.
pub(crate) fn committed(perf: &PerfData) -> Option<u64> {
    let of = |generation| perf.get(&format!("sun.gc.generation.{generation}.capacity"));
    (0..GENERATIONS).filter_map(of).reduce(u64::saturating_add)
}

/// Bytes by which the old generation may still grow. Of G1's, which has no size of its own, at most those of the whole heap.
pub(crate) fn growth_left(perf: &PerfData) -> Option<u64> {
    let most = perf.get("sun.gc.generation.1.maxCapacity")?;
    Some(most.saturating_sub(perf.get("sun.gc.generation.1.capacity")?))
}

/// Bytes in use when the last collection ended, or a little later.
pub(crate) fn used(perf: &PerfData) -> Option<u64> {
    let spaces = (0..GENERATIONS).flat_map(|generation| (0..SPACES).map(move |space| (generation, space)));
    let of = |(generation, space)| perf.get(&format!("sun.gc.generation.{generation}.space.{space}.used"));
    spaces.filter_map(of).reduce(u64::saturating_add)
}
