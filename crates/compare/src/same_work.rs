//! Whether bytes allocated are the same work on both sides.
//!
//! Where a program counts no operations of its own, the bytes that its objects take are compared. A flag that makes objects larger or smaller, or has compiled code
//! allocate more or fewer of them, changes what the same work allocates: the ratio would be of objects, not of speed.

use crate::side::Side;
use jvm::option_names::sets;

/// How large objects are: their headers, their references, and what they are rounded to.
const SIZES: [&str; 4] =
    ["UseCompactObjectHeaders", "UseCompressedOops", "UseCompressedClassPointers", "ObjectAlignmentInBytes"];
/// How many objects compiled code allocates: those that do not escape are in registers where it was compiled so.
const NUMBERS: [&str; 10] = [
    "DoEscapeAnalysis",
    "EliminateAllocations",
    "TieredStopAtLevel",
    "TieredCompilation",
    "UseJVMCICompiler",
    "UseGraalJIT",
    "-Xint",
    "-Xcomp",
    "Inline",
    "MaxInlineLevel",
];
/// The collector whose references are never compressed.
const LARGE_REFERENCES: &str = "-XX:+UseZGC";
/// From here on references may not be compressed: HotSpot's own limit is up to 512 MB below 32 GB.
const LARGE_HEAP: u64 = (32 << 30) - (512 << 20);

/// The first flag of one side alone that changes what the same work allocates.
pub(crate) fn differs_by([a, b]: &[Side; 2]) -> Option<&str> {
    let of = |side: &Side, flag: &String| side.flags.contains(flag);
    let only = a.flags.iter().filter(|flag| !of(b, flag)).chain(b.flags.iter().filter(|flag| !of(a, flag)));
    only.map(String::as_str).find(|flag| changes(flag))
}

fn changes(flag: &str) -> bool {
    let named = |names: &[&str]| sets(flag).iter().any(|name| names.contains(name));
    named(&SIZES) || named(&NUMBERS) || flag == LARGE_REFERENCES || heap(flag) >= Some(LARGE_HEAP)
}

/// The largest heap that a flag permits, in bytes.
fn heap(flag: &str) -> Option<u64> {
    let text = flag.strip_prefix("-Xmx").or_else(|| flag.strip_prefix("-XX:MaxHeapSize="))?;
    let digits = text.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
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

    #[test]
    fn a_flag_that_changes_objects_is_found_where_only_one_side_has_it() {
        let side = |flags: &[&str]| {
            Side::stock().with_flags(&flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>())
        };
        let found = |a: &[&str], b: &[&str]| differs_by(&[side(a), side(b)]).map(str::to_owned);
        for flag in [
            "-XX:+UseCompactObjectHeaders",
            "-XX:-UseCompressedOops",
            "-XX:ObjectAlignmentInBytes=16",
            "-XX:TieredStopAtLevel=1",
            "-XX:-DoEscapeAnalysis",
            "-Xint",
            "-XX:+UseZGC",
            "-Xmx32g",
            "-XX:MaxHeapSize=33000m",
        ] {
            assert_eq!(found(&[flag], &[]).as_deref(), Some(flag));
            assert_eq!(found(&["-XX:TLABSize=4k"], &[flag, "-Xms1g"]).as_deref(), Some(flag));
            assert_eq!(found(&[flag], &[flag]), None, "both have it");
        }
        for flag in
            ["-XX:TLABSize=4k", "-Xmx4g", "-Xmn1g", "-XX:+UseParallelGC", "-XX:+UseNUMA", "-Xmx", "-Xmx1x"]
        {
            assert_eq!(found(&[flag], &[]), None, "{flag}");
        }
        assert_eq!(
            found(&["-XX:ObjectAlignmentInBytes=8"], &["-XX:ObjectAlignmentInBytes=16"]).as_deref(),
            Some("-XX:ObjectAlignmentInBytes=8")
        );
    }
}
