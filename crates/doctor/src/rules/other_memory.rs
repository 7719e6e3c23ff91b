//! Collections that come because memory beside the heap is used up: that of class metadata, and that of compiled code. A larger heap does not make them rarer.

use crate::causes::Causes;
use crate::evidence::Evidence;
use crate::finding::{Advice, Effect, Remedy};

/// HotSpot's words (`GCCause::to_string`).
pub(super) const METADATA: [&str; 2] = ["Metadata GC Threshold", LAST_RESORT];
/// From JDK 20 on (`CodeCache::gc_on_allocation`).
pub(super) const COMPILED_CODE: [&str; 2] = ["CodeCache GC Threshold", "CodeCache GC Aggressive"];
/// After a collection that freed too little, and where the memory may not grow (`VM_CollectForMetadataAllocation::doit`).
const LAST_RESORT: &str = "Metadata GC Clear Soft References";

/// Of those that came, by their causes. G1 lets the memory grow before it collects the whole heap for it, unless its concurrent cycles unload no classes.
pub(super) fn for_metadata(evidence: &Evidence, full: &Causes) -> Advice {
    let flags = &evidence.jvm.flags;
    let grows_first = evidence.jvm.collector == "G1"
        && flags.get("ClassUnloadingWithConcurrentMark").is_none_or(|flag| flag.value == "true");
    let is_full = full.of(LAST_RESORT) > 0 || grows_first && METADATA.iter().any(|cause| full.of(cause) > 0);
    let is_limited = flags.is_chosen("MaxMetaspaceSize");
    let (remedy, note) = match (is_full, is_limited) {
        (true, true) => (
            "a larger -XX:MaxMetaspaceSize, or fewer classes that stay loaded",
            "class metadata has reached that limit: an OutOfMemoryError is near",
        ),
        (true, false) => (
            "a larger -XX:CompressedClassSpaceSize, or fewer classes that stay loaded",
            "class metadata has no room left: an OutOfMemoryError is near",
        ),
        (false, true) => (
            "a larger -XX:MetaspaceSize, below -XX:MaxMetaspaceSize, or fewer classes loaded again and again",
            "collections come when class metadata reaches that size; it grows by itself up to the latter",
        ),
        (false, false) => (
            "a larger -XX:MetaspaceSize, or fewer classes loaded again and again",
            "collections come when class metadata reaches that size; it grows by itself",
        ),
    };
    Advice { remedy: Remedy::Program(remedy.into()), effect: Effect::default(), note }
}

pub(super) fn for_compiled_code() -> Advice {
    Advice {
        remedy: Remedy::Program("a larger -XX:ReservedCodeCacheSize".into()),
        effect: Effect::default(),
        note: "compiled code fills the code cache, and collections unload what is not used; -Xlog:codecache tells when",
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::Pauses;
    use crate::rules::examine;
    use crate::rules::sick::{SECONDS, ergonomic, flags, healthy};
    use jvm::vm_flags::VmFlags;

    fn of_full(collector: &str, cause: &str, flags: VmFlags) -> String {
        let mut evidence = healthy();
        (evidence.jvm.collector, evidence.jvm.flags) = (collector.into(), flags);
        evidence.memory.available = Some(256 << 30);
        evidence.eden.pauses =
            Some(Pauses { young: 0.05, young_count: 5, full: 1.0, full_count: 5, concurrent: 0.0 });
        evidence.eden.full_causes.add(cause, 5);
        let found = examine(&evidence).into_iter().find(|found| found.rule == "full collections").unwrap();
        found.advice[0].remedy.text()
    }

    #[test]
    fn a_limit_of_class_metadata_that_is_reached_is_to_be_raised() {
        let (threshold, last) = ("Metadata GC Threshold", "Metadata GC Clear Soft References");
        let heap = "MaxHeapSize=1073741824";
        let limited = flags(&format!("{heap} MaxMetaspaceSize=268435456"));
        let grows = of_full("Parallel", threshold, ergonomic(heap));
        assert!(grows.starts_with("a larger -XX:MetaspaceSize, or"), "{grows}");
        let below = of_full("Parallel", threshold, limited.clone());
        assert!(below.starts_with("a larger -XX:MetaspaceSize, below"), "{below}");
        for (collector, cause) in [("Parallel", last), ("G1", last), ("G1", threshold)] {
            let remedy = of_full(collector, cause, limited.clone());
            assert!(remedy.starts_with("a larger -XX:MaxMetaspaceSize"), "{collector} {cause}: {remedy}");
            let remedy = of_full(collector, cause, ergonomic(heap));
            assert!(
                remedy.starts_with("a larger -XX:CompressedClassSpaceSize"),
                "{collector} {cause}: {remedy}"
            );
        }
        let without_cycles = ergonomic(&format!("{heap} ClassUnloadingWithConcurrentMark=false"));
        assert!(of_full("G1", threshold, without_cycles).starts_with("a larger -XX:MetaspaceSize"));
    }

    #[test]
    fn collections_for_compiled_code_are_not_answered_with_a_larger_heap() {
        for cause in ["CodeCache GC Threshold", "CodeCache GC Aggressive"] {
            let heap = || ergonomic("MaxHeapSize=1073741824");
            assert_eq!(of_full("Parallel", cause, heap()), "a larger -XX:ReservedCodeCacheSize");
            let mut evidence = healthy();
            (evidence.jvm.collector, evidence.jvm.flags) = ("G1".into(), heap());
            (evidence.process_cpu, evidence.concurrent_cpu) = (Some(2.0 * SECONDS), Some(0.4 * SECONDS));
            evidence.collector_cpu = evidence.concurrent_cpu;
            evidence.eden.causes.add("concurrent cycle", 2 * 20);
            evidence.eden.causes.add(cause, 20);
            let found = &examine(&evidence)[0];
            assert!(found.evidence.contains("most cycles begin for compiled code"), "{}", found.evidence);
            assert_eq!(found.advice[0].remedy.text(), "a larger -XX:ReservedCodeCacheSize");
        }
    }

    /// Of 28 GB on a machine that has much more.
    #[test]
    fn a_heap_whose_references_would_become_larger_is_not_to_grow_a_little() {
        let remedy = |heap: u64, more: &str| {
            let chosen = format!("MaxHeapSize={} UseCompressedOops=true {more}", heap << 30);
            of_full("Parallel", "Ergonomics", flags(&chosen))
        };
        assert!(remedy(28, "").contains("-XX:ObjectAlignmentInBytes=16"), "{}", remedy(28, ""));
        assert!(remedy(16, "").starts_with("-Xmx"), "{}", remedy(16, ""));
        let aligned = |heap| remedy(heap, "ObjectAlignmentInBytes=16");
        assert!(aligned(60).contains("-XX:ObjectAlignmentInBytes=32"), "{}", aligned(60));
        assert!(aligned(28).starts_with("-Xmx"), "{}", aligned(28));
    }
}
