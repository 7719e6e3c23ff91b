//! Flags are advised only with which the JVM starts, and works.

use super::sick::{churning, ergonomic, flags, full_of_humongous_objects, healthy};
use super::*;
use crate::evidence::{CpuLimits, Pauses};
use crate::finding::Effect;
use jvm::vm_flags::VmFlags;

pub(super) fn flags_advised(change: impl Fn(&mut Evidence)) -> Vec<String> {
    let mut evidence = healthy();
    change(&mut evidence);
    let advice = examine(&evidence).into_iter().flat_map(|found| found.advice);
    let of = |advice: crate::finding::Advised| match advice.remedy {
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
    assert!(advised(1 << 40, 32 << 20).is_empty(), "HotSpot itself chooses no larger ones");
    let chosen = flags_advised(|e| {
        full_of_humongous_objects(e);
        e.jvm.flags = flags("G1HeapRegionSize=1048576 MaxHeapSize=1073741824");
    });
    assert!(chosen.is_empty(), "somebody had a reason");
}

/// Of a flag such as `-Xmx100m`, in bytes.
fn size(flag: &str) -> u64 {
    flag[4..flag.len() - 1].parse::<u64>().unwrap() << 20
}

#[test]
fn a_larger_young_generation_leaves_the_old_one_its_size() {
    let heap: u64 = 4 << 30;
    let sized = |available: u64| {
        flags_advised(|e| {
            e.eden.collecting = Some(1.0);
            e.memory.available = Some(available);
            e.jvm.flags = flags(&format!("MaxHeapSize={heap}"));
        })
    };
    for available in [8 << 30, 64 << 30] {
        let found = sized(available);
        let [young, all] = &found[..] else { panic!("{found:?}") };
        assert!(young.starts_with("-Xmn") && all.starts_with("-Xmx"), "{found:?}");
        let grown = size(all) - heap;
        assert!(grown > 0 && grown <= (available - heap) / 2 + (1 << 20) && grown < size(young), "{found:?}");
    }
}

/// A chosen initial heap stays as it is, and with it the young generation that fits in it.
#[test]
fn a_larger_young_generation_gets_the_heap_that_it_needs_at_once() {
    let heap: u64 = 4 << 30;
    for collector in ["G1", "Parallel", "Serial"] {
        let advised = |flags: VmFlags| {
            let found = flags_advised(|e| {
                e.jvm.collector = collector.into();
                e.eden.collecting = Some(1.0);
                e.jvm.flags = flags.clone();
            });
            let of = |name: &str| found.iter().find(|flag| flag.starts_with(name)).map(|flag| size(flag));
            (of("-Xms"), of("-Xmx").unwrap())
        };
        let (initial, all) = advised(flags(&format!("InitialHeapSize={heap} MaxHeapSize={heap}")));
        assert_eq!(initial, Some(all), "{collector}");
        let (initial, _) = advised(ergonomic(&format!("InitialHeapSize={heap} MaxHeapSize={heap}")));
        assert_eq!(initial.is_some(), collector == "Serial");
    }
}

/// What the present heap has not touched yet is not to be had for a larger one.
#[test]
fn a_larger_heap_fits_the_limit_with_all_of_it_in_use() {
    let mb = |number: u64| number << 20;
    // A container of 2 GB; the heap in use, what else is in memory, and the most that the heap may have.
    let advised = |limit: u64, [used, others, most]: [u64; 3], chosen: &str| {
        let found = flags_advised(|e| {
            e.jvm.collector = "G1".into();
            e.eden.collecting = Some(1.0);
            let eden = mb(400) as f64;
            (e.eden.bytes, e.eden.mean_bytes) = (Some(eden), Some(eden));
            e.allocation.as_mut().unwrap().used = 10.0 * eden;
            e.memory.resident = Some(mb(used + others));
            e.memory.available = Some(mb(limit - used - others));
            e.memory.heap_committed = Some(mb(most));
            e.memory.heap_used = Some(mb(used - 400));
            e.jvm.flags = flags(&format!("MaxHeapSize={} {chosen}", mb(most)));
        });
        found.last().map(|all| size(all) >> 20)
    };
    for (used, others, most) in [(800, 224, 1536), (500, 100, 1536), (800, 224, 900), (500, 100, 600)] {
        for limit in [2048, 4096, 64 << 10] {
            let heap = advised(limit, [used, others, most], "");
            assert!(heap.is_none_or(|heap| heap + others <= limit), "{heap:?} of {limit}");
        }
    }
    assert_eq!(advised(2048, [800, 224, 1536], ""), None, "the present heap takes nearly all of it");
    assert!(advised(2048, [500, 100, 600], "").is_some());
    // All that is committed is in memory, whether it was used or not.
    assert_eq!(advised(2048, [500, 600, 1500], ""), None);
    assert!(advised(3000, [500, 1500, 1500], "AlwaysPreTouch=true").is_some());
}

#[test]
fn no_size_is_advised_where_the_limit_or_the_heap_is_unknown() {
    let advice = |change: fn(&mut Evidence)| {
        let mut evidence = healthy();
        evidence.eden.collecting = Some(1.0);
        change(&mut evidence);
        let found = examine(&evidence).remove(0).advice.remove(0);
        (found.remedy.text(), found.effect)
    };
    assert!(advice(|_| ()).0.starts_with("-Xmn"));
    for change in
        [|e: &mut Evidence| e.memory.available = None, |e: &mut Evidence| e.jvm.flags = VmFlags::default()]
    {
        let (text, effect) = advice(change);
        assert!(text.starts_with("a larger young generation"), "{text}");
        assert!(!text.contains(|letter: char| letter.is_ascii_digit()), "{text}");
        assert_eq!(effect, Effect::default());
    }
}

#[test]
fn a_small_eden_is_found_where_there_is_no_memory_for_a_larger_one() {
    let mut evidence = healthy();
    (evidence.eden.collecting, evidence.memory.available) = (Some(1.0), Some(1 << 20));
    let found = examine(&evidence).remove(0);
    assert_eq!(found.rule, "small young generation");
    assert!(found.advice[0].remedy.text().starts_with("more memory for a larger heap"), "{found:?}");
}

/// Live objects leave 14 % of G1's heap, and eden gets half of that.
#[test]
fn an_eden_in_a_full_heap_needs_a_larger_heap() {
    let found = |collector: &str, used: u64, full: u64| {
        let mut evidence = healthy();
        evidence.jvm.collector = collector.into();
        evidence.jvm.flags = ergonomic("MaxHeapSize=230000000");
        evidence.memory.heap_used = Some(used);
        (evidence.eden.bytes, evidence.eden.mean_bytes) = (Some(16e6), Some(16e6));
        evidence.eden.collecting = Some(4.0);
        evidence.eden.pauses = Some(Pauses {
            young: 4.0,
            young_count: 1000,
            full: full as f64,
            full_count: full,
            concurrent: 0.0,
        });
        evidence.eden.collections = Some(1000 + full);
        let of = |found: Finding| (found.rule, found.advice[0].remedy.text());
        examine(&evidence).into_iter().map(of).collect::<Vec<_>>()
    };
    let larger = "-Xmx438m".to_owned();
    assert_eq!(found("G1", 198_000_000, 0), [("small young generation", larger.clone())]);
    assert_eq!(found("G1", 198_000_000, 2), [("full collections", larger)], "once");
    for (collector, used) in [("G1", 100_000_000), ("Parallel", 198_000_000)] {
        assert!(found(collector, used, 0)[0].1.starts_with("-Xmn"), "{collector} {used}");
    }
}

#[test]
fn full_collections_are_told_by_what_brings_them() {
    let advised = |collector: &str, cause: &str| {
        let mut evidence = healthy();
        evidence.jvm.collector = collector.into();
        evidence.eden.pauses =
            Some(Pauses { young: 0.05, young_count: 5, full: 1.0, full_count: 5, concurrent: 0.0 });
        evidence.eden.full_causes.add(cause, 5);
        // Young ones of other causes say nothing of these.
        evidence.eden.causes.add("System.gc()", 5);
        evidence.eden.causes.add("Metadata GC Threshold", 5);
        let found = examine(&evidence).into_iter().find(|found| found.rule == "full collections").unwrap();
        found.advice.into_iter().map(|advice| advice.remedy.text()).collect::<Vec<_>>()
    };
    assert_eq!(
        advised("G1", "System.gc()"),
        ["-XX:+ExplicitGCInvokesConcurrent", "call System.gc() less often"]
    );
    assert_eq!(advised("Parallel", "System.gc()"), ["call System.gc() less often"]);
    assert!(advised("Parallel", "Metadata GC Threshold")[0].contains("-XX:MetaspaceSize"));
    assert_eq!(
        advised("Parallel", "Heap Inspection Initiated GC"),
        ["have tools inspect the heap less often"]
    );
    assert_eq!(advised("Parallel", "Ergonomics"), ["-Xmx8192m"]);
}

#[test]
fn a_heap_that_may_still_grow_is_not_to_become_larger() {
    let advised = |committed: u64, growth_left: u64, available: u64| {
        let mut evidence = healthy();
        evidence.jvm.flags = ergonomic(&format!("MaxHeapSize={}", 8u64 << 30));
        evidence.eden.pauses =
            Some(Pauses { young: 0.05, young_count: 5, full: 1.0, full_count: 5, concurrent: 0.0 });
        evidence.eden.full_causes.add("Ergonomics", 5);
        evidence.memory.heap_committed = Some(committed);
        evidence.memory.growth_left = Some(growth_left);
        evidence.memory.available = Some(available);
        let found = examine(&evidence).into_iter().find(|found| found.rule == "full collections").unwrap();
        found.advice[0].remedy.text()
    };
    assert_eq!(advised(1 << 30, 5 << 30, 64 << 30), "-Xms8192m");
    assert!(advised(1 << 30, 5 << 30, 7 << 30).starts_with("a larger initial heap"));
    // Its young generation could grow, and its old one, which is full, could not.
    assert_eq!(advised(5 << 30, 0, 64 << 30), "-Xmx16384m");
    assert_eq!(advised(7 << 30, 8 << 30, 64 << 30), "-Xmx16384m");
}

/// The flag touches what the heap begins with, once: the rest when it grows, and what was given back when it is used again.
#[test]
fn no_more_is_touched_at_the_start_than_the_heap_begins_with() {
    let touched = |committed: u64| {
        flags_advised(|e| {
            e.memory.first_touches = Some(2_000_000);
            e.memory.heap_committed = Some(committed);
        })
    };
    assert_eq!(touched(4 << 30), ["-Xms4096m", "-XX:+AlwaysPreTouch"]);
    assert!(touched(256 << 20).is_empty(), "of 8 GB that were touched 256 MB are the heap's");
}

/// `-Xms4097m -Xmx4096m` keeps a JVM from starting.
#[test]
fn the_initial_heap_is_no_larger_than_the_heap() {
    let touched = |initial: u64, committed: u64| {
        let flags = flags_advised(|e| {
            e.jvm.flags = flags(&format!("InitialHeapSize={initial} MaxHeapSize={}", 4u64 << 30));
            e.memory.first_touches = Some(2_000_000);
            e.memory.heap_committed = Some(committed);
        });
        flags.join(" ")
    };
    assert_eq!(touched(1 << 30, (4 << 30) + 4096), "-Xms4096m -XX:+AlwaysPreTouch");
    assert_eq!(touched(4 << 30, (4 << 30) + 4096), "-XX:+AlwaysPreTouch");
    assert_eq!(touched((4 << 30) - 4096, 4 << 30), "-XX:+AlwaysPreTouch", "no difference");
}

/// As a container with one CPU starts.
#[test]
fn serial_begins_with_the_heap_that_its_young_generation_needs() {
    let advised = |collector: &str, initial: u64| {
        let flags = flags_advised(|e| {
            e.jvm.collector = collector.into();
            e.jvm.flags = ergonomic(&format!("InitialHeapSize={initial} MaxHeapSize=1073741824"));
            e.eden.bytes = Some(1e8);
            e.eden.collecting = Some(1.0);
            e.eden.collections = Some(100);
        });
        flags.join(" ")
    };
    let heap = |flags: String| flags.split_once("-Xms").map(|(_, heap)| heap.to_owned());
    let small = advised("Serial", 32 << 20);
    assert!(small.contains(&format!("-Xmx{}", heap(small.clone()).unwrap())), "{small}");
    assert_eq!(heap(advised("Serial", 1 << 30)), None);
    assert_eq!(heap(advised("Parallel", 32 << 20)), None, "grows by its own policy");
}

#[test]
fn a_quota_never_leaves_one_processor() {
    let advised = |quota: f64, chosen: &str| {
        flags_advised(|e| {
            e.machine = CpuLimits { quota: Some(quota), throttled: Some(0.5), ..e.machine.clone() };
            e.jvm.flags = flags(chosen);
        })
    };
    assert!(advised(0.5, "ActiveProcessorCount=2").is_empty());
    assert_eq!(advised(0.5, "ActiveProcessorCount=8"), ["-XX:ActiveProcessorCount=2"]);
    assert_eq!(advised(2.5, "ActiveProcessorCount=8"), ["-XX:ActiveProcessorCount=3"]);
    // HotSpot did not read the quota, and has a collector thread for each of eight processors.
    let counted = |flags: VmFlags| {
        flags_advised(|e| {
            e.machine = CpuLimits { quota: Some(2.0), throttled: Some(0.5), ..e.machine.clone() };
            e.jvm.flags = flags.clone();
        })
    };
    assert_eq!(counted(ergonomic("ParallelGCThreads=8")), ["-XX:ActiveProcessorCount=2"]);
    assert!(
        counted(ergonomic("ParallelGCThreads=2")).is_empty()
            && counted(flags("ParallelGCThreads=8")).is_empty()
    );
}

#[test]
fn tlabs_that_hotspot_resizes_are_not_advised_to_be_larger() {
    let advised = |chosen: &str| {
        flags_advised(|e| {
            e.jvm.flags = flags(chosen);
            let refills = e.refills.as_mut().unwrap();
            (refills.quick.count, refills.quick.total_ns) = (5_000_000, 5e6 * 400.0);
        })
    };
    assert!(advised("TLABSize=4096").is_empty());
    assert_eq!(advised("TLABSize=4096 ResizeTLAB=false"), ["-XX:TLABSize=32k"]);
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
    let throttled_of = |cpus: usize, chosen: &str| {
        flags_advised(|e| {
            e.machine = CpuLimits { quota: Some(1.5), throttled: Some(0.3), cpus, ..e.machine.clone() };
            e.jvm.flags = flags(chosen);
        })
    };
    let throttled = |chosen: &str| throttled_of(8, chosen);
    assert!(
        throttled("ActiveProcessorCount=1").is_empty() && throttled("UseContainerSupport=true").is_empty()
    );
    assert_eq!(throttled("ActiveProcessorCount=8"), ["-XX:ActiveProcessorCount=2"]);
    // With two processors it would have two threads for pauses, and does not start with more for concurrent work.
    assert!(throttled("ActiveProcessorCount=8 ConcGCThreads=4").is_empty());
    assert!(!throttled("ActiveProcessorCount=8 ConcGCThreads=2").is_empty());
    assert!(!throttled("ActiveProcessorCount=8 ConcGCThreads=4 ParallelGCThreads=4").is_empty());
    assert_eq!(throttled("UseContainerSupport=false"), ["-XX:ActiveProcessorCount=2"]);
    assert!(throttled_of(2, "UseContainerSupport=false").is_empty(), "it counts no more than two");
}

#[test]
fn flags_that_may_be_set_already_are_not_given_as_such() {
    let mut evidence = healthy();
    evidence.machine.nodes = 2;
    evidence.jvm.flags = VmFlags::default();
    let remedy = examine(&evidence)[0].advice[0].remedy.clone();
    assert_eq!(remedy, Remedy::Program("-XX:+UseNUMA, unless it is set".into()));
}

/// Without libnuma HotSpot switches the flag off: to give it once more does not help.
#[test]
fn a_flag_that_was_given_and_is_off_is_not_given_again() {
    let remedy = |flags: VmFlags| {
        let mut evidence = healthy();
        (evidence.machine.nodes, evidence.jvm.flags) = (2, flags);
        examine(&evidence)[0].advice[0].remedy.clone()
    };
    assert_eq!(remedy(ergonomic("MaxHeapSize=1073741824")), Remedy::flag("-XX:+UseNUMA"));
    for given in [ergonomic("UseNUMA=false"), flags("UseNUMA=false")] {
        assert!(remedy(given).text().contains("libnuma"));
    }
}

#[test]
fn a_young_generation_leaves_room_for_the_old_one_and_references_their_size() {
    let sized = |heap: u64, more: &str| {
        flags_advised(|e| {
            e.eden.collecting = Some(1.0);
            (e.eden.bytes, e.eden.mean_bytes) = (Some(4e9), Some(4e9));
            e.allocation.as_mut().unwrap().used = 4e10;
            e.memory.available = Some(256 << 30);
            e.jvm.flags = flags(&format!("MaxHeapSize={heap} {more}"));
        })
    };
    assert!(sized(16 << 30, "").len() == 2);
    assert!(sized(100 << 20, "").is_empty(), "nearly all of the heap would be young");
    assert!(sized(32 << 30, "UseCompressedOops=true").is_empty(), "references would be larger");
    assert!(sized(32 << 30, "UseCompressedOops=false").len() == 2);
    // HotSpot's own limit is below 32 GB: G1 of JDK 25 has small references with -Xmx32736m, and large ones with -Xmx32738m.
    let bound = |more: &str| size(&sized(24 << 30, &format!("UseCompressedOops=true {more}"))[1]) >> 20;
    assert!((24 << 10..32_256).contains(&bound("")), "{}", bound(""));
    assert!(bound("ObjectAlignmentInBytes=16") > 32_768);
}

/// Before JEP 345 the flag spreads G1's heap over all nodes, whoever allocates.
#[test]
fn g1_takes_notice_of_nodes_from_jdk_14_on() {
    let advised = |collector: &str, version: &str| {
        let found = flags_advised(|e| {
            e.machine.nodes = 2;
            (e.jvm.collector, e.jvm.version) = (collector.into(), version.into());
        });
        !found.is_empty()
    };
    let of_g1 = ["11.0.33", "13.0.2", "14", "25.0.3", "of unknown version"].map(|jdk| advised("G1", jdk));
    assert_eq!(of_g1, [false, false, true, true, false]);
    assert!(advised("Parallel", "11.0.33"));
}
