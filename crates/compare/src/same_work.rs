//! Whether bytes allocated are the same work on both sides.
//!
//! Where a program counts no operations of its own, the bytes that its objects take are compared. A flag that makes objects larger or smaller, or has compiled code
//! allocate more or fewer of them, changes what the same work allocates: the ratio would be of objects, not of speed.

use crate::memory::most_heap;
use crate::side::Side;
use jvm::option_names::sets;

/// How large objects are: their headers, their references, and what they are rounded to.
const SIZES: [&str; 5] = [
    "UseCompactObjectHeaders",
    "UseCompressedOops",
    "UseCompressedClassPointers",
    "ObjectAlignmentInBytes",
    "CompactStrings",
];
/// How many objects compiled code allocates: those that do not escape are in registers where it was compiled so.
const NUMBERS: [&str; 18] = [
    "DoEscapeAnalysis",
    "EliminateAllocations",
    "TieredStopAtLevel",
    "TieredCompilation",
    "UseJVMCICompiler",
    "UseGraalJIT",
    "CompilationMode",
    "EliminateAutoBox",
    "AutoBoxCacheMax",
    "OptimizeStringConcat",
    "ReduceAllocationMerges",
    "MaxInlineSize",
    "FreqInlineSize",
    "InlineSmallCode",
    "-Xint",
    "-Xcomp",
    "Inline",
    "MaxInlineLevel",
];
/// The collector whose references are never compressed.
const LARGE_REFERENCES: &str = "-XX:+UseZGC";
/// From here on references may not be compressed: HotSpot's own limit is up to 512 MB below 32 GB.
const LARGE_HEAP: u64 = (32 << 30) - (512 << 20);

/// The first flag of one side alone that changes what the same work allocates, or the heap that only one side has. `options` are all of each side's JVM, and `limit` is the memory
/// by which HotSpot sizes a heap.
pub(crate) fn differs_by(sides: &[Side; 2], options: &[Vec<String>; 2], limit: u64) -> Option<String> {
    let [a, b] = sides;
    let only = |one: &Side, other: &Side| {
        one.flags.iter().find(|flag| changes(flag) && !other.flags.contains(flag)).cloned()
    };
    only(a, b).or_else(|| only(b, a)).or_else(|| {
        let [a, b] = options.each_ref().map(|options| most_heap(options, limit) >= LARGE_HEAP);
        (a != b).then(|| "a heap of 32 GB, with its larger references,".to_owned())
    })
}

fn changes(flag: &str) -> bool {
    let named = |names: &[&str]| sets(flag).iter().any(|name| names.contains(name));
    named(&SIZES) || named(&NUMBERS) || flag == LARGE_REFERENCES
}

/// What is to be known of a comparison by bytes in which this flag differs.
pub(crate) fn note(flag: &str) -> String {
    format!(
        "not comparable: bytes allocated are compared, and {flag} changes how many of them the same work allocates; compare a program that \
         counts its operations (--workload), or whole runs of one that ends"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a size HotSpot gives itself no heap that would cost it the compression.
    #[test]
    fn a_heap_that_nobody_chose_has_compressed_references_on_any_machine() {
        let found = |a: &[&str], b: &[&str]| {
            let options = [a, b].map(|flags| flags.iter().map(|flag| (*flag).to_owned()).collect());
            differs_by(&[Side::stock(), Side::stock()], &options, 256 << 30)
        };
        assert_eq!(found(&["-Xmx8g"], &[]), None);
        assert!(found(&["-Xmx40g"], &[]).is_some_and(|what| what.contains("32 GB")));
        assert!(found(&["-XX:MaxRAMPercentage=50"], &[]).is_some());
    }

    #[test]
    fn a_flag_that_changes_objects_is_found_where_only_one_side_has_it() {
        let side = |flags: &[&str]| {
            Side::stock().with_flags(&flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>())
        };
        let found = |a: &[&str], b: &[&str]| {
            let sides = [side(a), side(b)];
            let options = sides.each_ref().map(|side| side.flags.clone());
            differs_by(&sides, &options, 16 << 30)
        };
        for flag in [
            "-XX:+UseCompactObjectHeaders",
            "-XX:-UseCompressedOops",
            "-XX:ObjectAlignmentInBytes=16",
            "-XX:TieredStopAtLevel=1",
            "-XX:-DoEscapeAnalysis",
            "-Xint",
            "-XX:+UseZGC",
            "-XX:-CompactStrings",
        ] {
            assert_eq!(found(&[flag], &[]).as_deref(), Some(flag));
            assert_eq!(found(&["-XX:TLABSize=4k"], &[flag, "-Xms1g"]).as_deref(), Some(flag));
            assert_eq!(found(&[flag], &[flag]), None, "both have it");
        }
        for flag in ["-XX:TLABSize=4k", "-Xmx4g", "-Xmn1g", "-XX:+UseParallelGC", "-XX:+UseNUMA"] {
            assert_eq!(found(&[flag], &[]), None, "{flag}");
        }
        for large in ["-Xmx32g", "-XX:MaxHeapSize=33000m"] {
            assert!(found(&[large], &["-Xmx4g"]).is_some_and(|heap| heap.starts_with("a heap of 32 GB")));
            assert_eq!(found(&[large], &["-Xmx48g"]), None, "both have large references");
        }
        assert_eq!(
            found(&["-XX:ObjectAlignmentInBytes=8"], &["-XX:ObjectAlignmentInBytes=16"]).as_deref(),
            Some("-XX:ObjectAlignmentInBytes=8")
        );
    }
}
