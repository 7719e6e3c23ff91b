//! How large a heap is, from HotSpot's counters, and how much of it is in memory.

use crate::evidence::Memory;
use jvm::attach::Attached;
use jvm::perfdata::PerfData;
use memory::Mappings;
use std::ops::Range;

/// Young, old, and what JDK 8 has besides.
const GENERATIONS: u32 = 2;
/// Eden and two survivor spaces.
const SPACES: u32 = 3;
/// Generation and space.
const EDEN: (u32, u32) = (0, 0);

/// Of what a heap is committed to, which the kernel's list has to contain.
const LEAST_COVERED: f64 = 0.9;

/// What is known of it.
pub(crate) fn describe(
    mappings: Option<&Mappings>,
    perf: Option<&PerfData>,
    attached: Option<&Attached>,
    memory: &mut Memory,
) {
    memory.heap_committed = perf.and_then(committed);
    memory.growth_left = perf.and_then(growth_left);
    memory.heap_used = perf.and_then(used);
    memory.heap_resident =
        attached.zip(mappings).and_then(|(jvm, mappings)| resident(mappings, jvm, memory.heap_committed));
}

/// Where it is. `None` where the JVM does not say that (ZGC).
pub(crate) fn place(jvm: &Attached) -> Option<Range<usize>> {
    range(&jvm.diagnose("GC.heap_info").ok()?)
}

/// Bytes of it that are in memory. `None` where the JVM does not say where it is, or nobody can look.
fn resident(mappings: &Mappings, jvm: &Attached, committed: Option<u64>) -> Option<u64> {
    let range = place(jvm)?;
    let (seen, covered) = mappings.of_range(&range);
    seen_of_heap(seen.resident(), covered as u64, committed.unwrap_or(range.len() as u64))
}

/// `None` where the kernel's list does not have the heap: what is not there is not known to be out of memory.
fn seen_of_heap(resident: u64, covered: u64, committed: u64) -> Option<u64> {
    (covered as f64 >= LEAST_COVERED * committed as f64).then_some(resident)
}

/// From the first of its spaces to the end of the last: what HotSpot prints as `[begin, end)`, with the end of what is used or committed between them.
fn range(said: &str) -> Option<Range<usize>> {
    let spaces = said.split('[').skip(1).filter_map(|rest| {
        let (inside, _) = rest.split_once([')', ']'])?;
        let number = |text: &str| usize::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok();
        let mut numbers = inside.split(',').map(number);
        let first = numbers.next()??;
        Some(first..numbers.next_back()??)
    });
    spaces.reduce(|one, other| one.start.min(other.start)..one.end.max(other.end))
}

/// Before JDK 18 G1 adds some bytes to each generation's capacity, so that it is none at no time (`G1MonitoringSupport::pad_capacity`).
const PAGE: u64 = 4096;

/// Bytes that it is committed to. `None` where nobody says.
pub(crate) fn committed(perf: &PerfData) -> Option<u64> {
    let of = |generation| {
        perf.get(&format!("sun.gc.generation.{generation}.capacity")).map(|bytes| bytes / PAGE * PAGE)
    };
    (0..GENERATIONS).filter_map(of).reduce(u64::saturating_add)
}

/// Bytes by which the old generation may still grow. Of G1's, which has no size of its own, at most those of the whole heap.
pub(crate) fn growth_left(perf: &PerfData) -> Option<u64> {
    let most = perf.get("sun.gc.generation.1.maxCapacity")?;
    Some(most.saturating_sub(perf.get("sun.gc.generation.1.capacity")?))
}

/// Bytes in use when the last collection ended, without eden: its counter goes on with each region that G1 gives to threads, so that it says how long ago
/// the collection was. Only where a young generation has survivor spaces its first one is eden; ZGC's has one for all.
pub(crate) fn used(perf: &PerfData) -> Option<u64> {
    let of = |generation, space| perf.get(&format!("sun.gc.generation.{generation}.space.{space}.used"));
    let has_eden = (1..SPACES).any(|space| of(0, space).is_some());
    let spaces = (0..GENERATIONS).flat_map(|generation| (0..SPACES).map(move |space| (generation, space)));
    let left =
        spaces.filter(|at| !has_eden || *at != EDEN).filter_map(|(generation, space)| of(generation, space));
    left.reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heap_that_the_kernel_does_not_list_has_no_size_in_memory() {
        assert_eq!(seen_of_heap(200, 1000, 1000), Some(200));
        assert_eq!(seen_of_heap(0, 1000, 1000), Some(0), "nothing of it has been touched");
        assert_eq!(seen_of_heap(20, 500, 1000), None);
    }

    /// 4 GB, as G1 of JDK 17 has them: three times eight bytes in the young generation, once in the old one.
    #[test]
    fn what_g1_adds_to_capacities_is_no_memory() {
        let of = |young: i64, old: i64| {
            let values = [("sun.gc.generation.0.capacity", young), ("sun.gc.generation.1.capacity", old)];
            committed(&crate::counters_test::counters(&values))
        };
        assert_eq!(of((1 << 30) + 24, (3 << 30) + 8), Some(4 << 30));
        assert_eq!(of(1 << 30, 3 << 30), Some(4 << 30));
    }

    #[test]
    fn a_heap_is_where_its_spaces_are() {
        let parallel = "PSYoungGen      total 95744K, used 48063K [0xf9c00000, 0xfc000000, 0x100000000)\n \
             eden space 89088K, 47% used [0xf9c00000,0xfc5bfe38,0xff300000)\n\
             ParOldGen       total 157184K, used 107571K [0xed400000, 0xf6d80000, 0xf9c00000)";
        let g1 = "garbage-first heap   total reserved 307200K, committed 307200K, used 120119K [0xed400000, 0x100000000)\n \
             region size 1024K, 12 young (12288K), 5 survivors (5120K)";
        let shenandoah =
            "Reserved region:\n - [0xed400000, 0x100000000) \nCollection set:\n - map (vanilla): 0x4b50";
        for said in [parallel, g1, shenandoah] {
            assert_eq!(range(said), Some(0xed40_0000..0x1_0000_0000), "{said}");
        }
        for said in ["", "ZHeap used 300M, capacity 300M", "[1, 2)", "[0x10)", "[0x10, 0x"] {
            assert_eq!(range(said), None, "{said}");
        }
    }
}
