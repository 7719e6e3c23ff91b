//! Flags are advised only with which the JVM starts, and works.

use super::sick::{churning, ergonomic, flags, full_of_humongous_objects, healthy};
use super::*;
use crate::evidence::CpuLimits;

fn flags_advised(change: impl Fn(&mut Evidence)) -> Vec<String> {
    let mut evidence = healthy();
    change(&mut evidence);
    let advice = examine(&evidence).into_iter().flat_map(|found| found.advice);
    let of = |advice: crate::finding::Advice| match advice.remedy {
        Remedy::Flags(flags) => flags,
        _ => vec![],
    };
    advice.flat_map(of).collect()
}

#[test]
fn larger_regions_are_advised_as_far_as_the_heap_has_enough_of_them() {
    let advised = |heap: u64, region: u64| {
        flags_advised(|e| {
            full_of_humongous_objects(e);
            e.jvm.flags = ergonomic(&format!("G1HeapRegionSize={region} MaxHeapSize={heap}"));
        })
    };
    assert_eq!(advised(1 << 30, 1 << 20), ["-XX:G1HeapRegionSize=4m"]);
    assert_eq!(advised(200 << 20, 1 << 20), ["-XX:G1HeapRegionSize=2m"]);
    assert!(advised(100 << 20, 1 << 20).is_empty(), "too few regions would be left");
    assert_eq!(advised(1 << 40, 16 << 20), ["-XX:G1HeapRegionSize=32m"]);
    assert!(advised(1 << 40, 32 << 20).is_empty(), "more is not supported by all");
    let chosen = flags_advised(|e| {
        full_of_humongous_objects(e);
        e.jvm.flags = flags("G1HeapRegionSize=1048576 MaxHeapSize=1073741824");
    });
    assert!(chosen.is_empty(), "somebody had a reason");
}

#[test]
fn a_larger_young_generation_leaves_the_old_one_its_size() {
    let heap: u64 = 4 << 30;
    let sized = |available: u64| {
        flags_advised(|e| {
            e.eden.stopped = Some(1.0);
            e.memory.available = Some(available);
            e.jvm.flags = flags(&format!("MaxHeapSize={heap}"));
        })
    };
    let number = |flag: &String| flag[4..flag.len() - 1].parse::<u64>().unwrap() << 20;
    for available in [4 << 30, 64 << 30] {
        let found = sized(available);
        let [young, all] = &found[..] else { panic!("{found:?}") };
        assert!(young.starts_with("-Xmn") && all.starts_with("-Xmx"), "{found:?}");
        let grown = number(all) - heap;
        assert!(grown > 0 && grown <= available / 2 + (1 << 20) && grown < number(young), "{found:?}");
    }
}

#[test]
fn no_flag_is_advised_with_which_the_jvm_would_not_start_or_crawl() {
    let first = |chosen: &str| {
        flags_advised(|e| {
            churning(e);
            e.jvm.flags = flags(chosen);
        })
    };
    assert_eq!(first("MinTLABSize=4096"), ["-XX:TLABSize=4k"]);
    assert!(first("MinTLABSize=8192").is_empty(), "below the least that HotSpot takes");
    assert!(first("ResizeTLAB=false").is_empty(), "every thread would keep 4 KB");
    let throttled = |chosen: &str| {
        flags_advised(|e| {
            e.machine = CpuLimits { quota: Some(1.5), throttled: Some(0.3), ..e.machine.clone() };
            e.jvm.flags = flags(chosen);
        })
    };
    assert!(
        throttled("ActiveProcessorCount=1").is_empty() && throttled("UseContainerSupport=true").is_empty()
    );
    assert_eq!(throttled("ActiveProcessorCount=8"), ["-XX:ActiveProcessorCount=2"]);
    assert_eq!(throttled("UseContainerSupport=false"), ["-XX:ActiveProcessorCount=2"]);
}

#[test]
fn flags_that_may_be_set_already_are_not_given_as_such() {
    let mut evidence = healthy();
    evidence.machine.nodes = 2;
    evidence.jvm.flags = jvm::vm_flags::VmFlags::default();
    let remedy = examine(&evidence)[0].advice[0].remedy.clone();
    assert_eq!(remedy, Remedy::Program("-XX:+UseNUMA, unless it is set".into()));
}

#[test]
fn a_young_generation_leaves_room_for_the_old_one_and_references_their_size() {
    let sized = |heap: u64, more: &str| {
        flags_advised(|e| {
            e.eden.stopped = Some(1.0);
            e.memory.available = Some(64 << 30);
            e.jvm.flags = flags(&format!("MaxHeapSize={heap} {more}"));
        })
    };
    assert!(sized(4 << 30, "").len() == 2);
    assert!(sized(100 << 20, "").is_empty(), "nearly all of the heap would be young");
    assert!(sized(32 << 30, "UseCompressedOops=true").is_empty(), "references would be larger");
    assert!(sized(32 << 30, "UseCompressedOops=false").len() == 2);
}
