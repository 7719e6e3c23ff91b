//! Each rule with evidence that it is for, and all of them with a healthy program's.

use super::*;
use crate::evidence::{Allocation, CpuLimits, Eden, Evidence, Jvm, Memory, Pauses, Refills, Threads, Times};
use crate::finding::Remedy;
use jvm::vm_flags::VmFlags;

pub(crate) const SECONDS: f64 = 10.0;

/// A program that allocates 1 GB/s in a few threads, well.
pub(crate) fn healthy() -> Evidence {
    let times = |count| Times {
        count,
        total_ns: count as f64 * 130.0,
        p10_ns: 90.0,
        p50_ns: 120.0,
        p99_ns: 500.0,
        max_ns: 9e4,
        ..Times::default()
    };
    Evidence {
        jvm: Jvm {
            pid: 1,
            version: "25".into(),
            collector: "Parallel".into(),
            flags: flags(""),
            ..Jvm::default()
        },
        seconds: SECONDS,
        application_cpu: Some(18.0),
        collector_cpu: Some(0.1),
        eden: Eden {
            bytes: Some(1e9),
            most_bytes: Some(2e9),
            collections: Some(10),
            stopped: Some(0.1),
            collecting: Some(0.1),
            ..Eden::default()
        },
        allocation: Some(Allocation {
            used: 1e10,
            objects: 9.9e9,
            waste_collection: 5e7,
            waste_refill: 5e7,
            ..Allocation::default()
        }),
        refills: Some(Refills { quick: times(10_000), ..Refills::default() }),
        threads: Threads {
            alive: Some(20),
            started: Some(2),
            ended: Some(2),
            allocating: Some(8),
            ..Threads::default()
        },
        memory: Memory {
            resident: Some(3e9 as u64),
            huge: Some(2e9 as u64),
            transparent: Some("madvise".into()),
            first_touches: Some(100),
            available: Some(64 << 30),
            ..Memory::default()
        },
        machine: CpuLimits { cpus: 2, nodes: 1, ..CpuLimits::default() },
        costs: crate::evidence::Costs {
            alone_ns: 5.0,
            contended_ns: Some(20.0),
            zero_ns: 0.05,
            first_touch_ns: 500.0,
        },
        ..Evidence::default()
    }
}

/// What HotSpot chooses, of which these are on the command line, `NAME=VALUE` each.
pub(crate) fn flags(chosen: &str) -> VmFlags {
    flags_by("command line", chosen)
}

/// The same as HotSpot has chosen them.
pub(crate) fn ergonomic(values: &str) -> VmFlags {
    flags_by("ergonomic", values)
}

fn flags_by(origin: &str, values: &str) -> VmFlags {
    let line = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap();
        format!("uintx {name} = {value} {{product}} {{{origin}}}\n")
    };
    let text: String = values.split_whitespace().map(line).collect();
    let others = "bool UseTLAB = true {product} {default}\n\
                  size_t InitialHeapSize = 268435456 {product} {ergonomic}\n\
                  size_t MaxHeapSize = 4294967296 {product} {ergonomic}\n";
    VmFlags::parse(&format!("{others}{text}"))
}

fn rules_for(change: impl FnOnce(&mut Evidence)) -> Vec<&'static str> {
    let mut evidence = healthy();
    change(&mut evidence);
    examine(&evidence).iter().map(|finding| finding.rule).collect()
}

#[test]
fn nothing_is_found_in_a_healthy_program_nor_in_what_was_not_seen() {
    assert_eq!(examine(&healthy()), []);
    assert_eq!(examine(&Evidence::default()), []);
}

#[test]
fn every_rule_finds_what_it_is_for_and_no_other_does() {
    let found = |change: fn(&mut Evidence)| rules_for(change);
    assert_eq!(
        found(|e| e.jvm.flags = VmFlags::parse("bool UseTLAB = false {product} {command line}")),
        ["no TLABs"]
    );
    assert_eq!(found(churning), ["ended threads"]);
    assert_eq!(
        found(|e| {
            e.jvm.flags = flags("TLABSize=2048");
            e.allocation.as_mut().unwrap().waste_refill = 2e9;
        }),
        ["refill waste"]
    );
    assert_eq!(
        found(|e| {
            e.jvm.flags = flags("TLABSize=1048576 ResizeTLAB=false");
            e.allocation.as_mut().unwrap().waste_collection = 6e9;
        }),
        ["refill waste"]
    );
    assert_eq!(
        found(|e| e.allocation.as_mut().unwrap().waste_collection = 6e9),
        [""; 0],
        "HotSpot's own choice"
    );
    assert_eq!(
        found(|e| {
            let refills = e.refills.as_mut().unwrap();
            refills.quick.count = 5_000_000;
            refills.quick.total_ns = 5e6 * 400.0;
        }),
        ["shared refills"]
    );
    assert_eq!(
        found(|e| {
            e.refills.as_mut().unwrap().objects =
                Times { count: 1_000_000, total_ns: 1e9, p10_ns: 100.0, p50_ns: 300.0, ..Times::default() };
        }),
        ["objects outside TLABs"]
    );
    assert_eq!(found(|e| e.eden.collecting = Some(1.0)), ["small young generation"]);
    assert_eq!(found(full_of_humongous_objects), ["humongous objects"]);
    assert_eq!(
        found(|e| {
            let full = Pauses { young: 0.05, young_count: 5, full: 1.0, full_count: 5, concurrent: 0.0 };
            (e.eden.pauses, e.eden.collecting) = (Some(full), Some(1.05));
        }),
        ["full collections"]
    );
    assert_eq!(
        found(|e| e.machine = CpuLimits { quota: Some(1.5), throttled: Some(0.3), ..e.machine.clone() }),
        ["throttled"]
    );
    assert_eq!(found(touching), ["first touch"]);
    assert_eq!(found(|e| e.memory.huge = Some(0)), ["small pages"]);
    assert_eq!(found(|e| e.machine.nodes = 2), ["memory nodes"]);
    assert_eq!(found(|e| e.application_cpu = Some(160.0)), ["card marks"]);
}

/// Page faults of a program whose memory does not grow: a file's pages, or those that an allocator has given back.
#[test]
fn faults_that_leave_memory_as_it_is_are_no_first_touches_of_the_heap() {
    let grown = |bytes: Option<i64>| {
        rules_for(|e| {
            touching(e);
            e.memory.grown = bytes;
        })
    };
    assert_eq!((grown(None), grown(Some(4 << 30))), (vec!["first touch"], vec!["first touch"]));
    assert_eq!((grown(Some(0)), grown(Some(-1))), (vec![], vec![]));
}

/// Buffers outside the heap, or a leak: no flag of the heap's touches those before.
#[test]
fn native_memory_that_grows_is_no_heap_that_is_touched() {
    let of_heap = |bytes: u64| {
        rules_for(|e| {
            touching(e);
            (e.memory.grown, e.memory.heap_touched) = (Some(4 << 30), Some(bytes));
        })
    };
    assert_eq!((of_heap(0), of_heap(4 << 30)), (vec![], vec!["first touch"]));
}

#[test]
fn memory_beside_a_small_heap_needs_no_huge_pages_of_the_heaps() {
    let pages =
        |committed| rules_for(|e| (e.memory.huge, e.memory.heap_committed) = (Some(0), Some(committed)));
    assert_eq!((pages(256 << 20), pages(2 << 30)), (vec![], vec!["small pages"]));
}

/// 8 GB in 10 s, in a heap that has grown to 4 GB.
fn touching(evidence: &mut Evidence) {
    (evidence.memory.first_touches, evidence.memory.heap_committed) = (Some(2_000_000), Some(4 << 30));
}

/// Eight of ten collections come for them, in a heap of 1 GB with regions of 1 MB.
pub(super) fn full_of_humongous_objects(evidence: &mut Evidence) {
    evidence.jvm.collector = "G1".into();
    evidence.jvm.flags = ergonomic("G1HeapRegionSize=1048576 MaxHeapSize=1073741824");
    evidence.eden.collecting = Some(1.0);
    evidence.eden.collections = Some(50);
    evidence.eden.causes.add("G1 Humongous Allocation", 8);
    evidence.eden.causes.add("G1 Evacuation Pause", 2);
}

/// H2 with 64 threads on two CPUs: 2.5 s of waiting for a lock whose holder had lost its CPU, where Terrace gained nothing.
#[test]
fn waiting_for_who_has_no_cpu_is_no_cost_of_refills() {
    let waits = |working: f64, waited: f64| {
        rules_for(|e| {
            let refills = e.refills.as_mut().unwrap();
            refills.locked = Times {
                count: 11_190,
                total_ns: working,
                p10_ns: 823.0,
                p50_ns: 1_695.0,
                p99_ns: 7e6,
                max_ns: 8e7,
                ..Times::default()
            };
            refills.waited_ns = waited;
        })
    };
    assert_eq!(waits(3e7, 2.5e9), [""; 0]);
    assert_eq!(waits(2.5e9, 0.0), ["shared refills"]);
}

/// 1,000 threads a second that allocate 4 KB each from TLABs of 1 MB.
pub(super) fn churning(evidence: &mut Evidence) {
    (evidence.threads.started, evidence.threads.ended) = (Some(10_000), Some(10_000));
    evidence.eden.collecting = Some(0.025 * SECONDS);
    evidence.allocation = Some(Allocation {
        used: 1e10,
        objects: 4e7,
        waste_ended: 1e10 - 4e7,
        of_ended_thread: Some(3000.0),
        ..Allocation::default()
    });
}

#[test]
fn what_is_already_chosen_is_not_advised_again() {
    let flag_of = |change: fn(&mut Evidence)| {
        let mut evidence = healthy();
        churning(&mut evidence);
        change(&mut evidence);
        let found = examine(&evidence);
        found[0].advice.iter().any(|advice| matches!(&advice.remedy, Remedy::Flags(_)))
    };
    assert!(flag_of(|_| ()));
    assert!(!flag_of(|e| e.jvm.flags = flags("TLABSize=1048576")));
    let chosen = |name: &str, change: fn(&mut Evidence)| {
        rules_for(|e| {
            change(e);
            e.jvm.flags = flags(name);
        })
    };
    assert!(chosen("AlwaysPreTouch=true", touching).is_empty());
    assert!(chosen("UseTransparentHugePages=true", |e| e.memory.huge = Some(0)).is_empty());
    assert!(chosen("UseNUMA=true", |e| e.machine.nodes = 2).is_empty());
    assert!(chosen("UseCondCardMark=true", |e| e.application_cpu = Some(160.0)).is_empty());
}

#[test]
fn zgc_is_advised_nothing_that_it_does_not_have() {
    let advised = |collector: &str| {
        let mut evidence = healthy();
        churning(&mut evidence);
        evidence.eden.collecting = Some(1.0);
        let bytes = evidence.allocation.as_mut().unwrap();
        bytes.waste_ended = 0.3 * bytes.used;
        evidence.jvm.collector = collector.into();
        let advice = examine(&evidence).into_iter().flat_map(|found| found.advice);
        advice.map(|advice| advice.remedy.text()).collect::<Vec<_>>().join("; ")
    };
    for remedy in ["terrace", "-Xmn", "-XX:TLABSize=4k"] {
        assert!(advised("Parallel").contains(remedy), "{}", advised("Parallel"));
        assert_eq!(advised("Z").contains(remedy), remedy == "-XX:TLABSize=4k", "{}", advised("Z"));
    }
}

#[test]
fn terrace_is_not_advised_where_it_is_on() {
    let terrace = |on| {
        let mut evidence = healthy();
        churning(&mut evidence);
        evidence.terrace = Some(crate::evidence::Buffers { levels: "core".into(), on, ..Default::default() });
        let found = examine(&evidence);
        found[0].advice.iter().any(|advice| matches!(advice.remedy, Remedy::Terrace(_)))
    };
    assert!(terrace(false) && !terrace(true));
}

#[test]
fn memory_beside_its_threads_is_no_trouble() {
    let placed = |remote| {
        rules_for(|e| {
            e.machine.nodes = 2;
            e.placement = Some(crate::evidence::Placement { remote, ..Default::default() });
        })
    };
    assert_eq!((placed(0.01), placed(0.4)), (vec![], vec!["memory nodes"]));
}

#[test]
fn native_threads_are_told_not_to_detach() {
    let advice = |attached| {
        let mut evidence = healthy();
        churning(&mut evidence);
        evidence.threads.attached = Some(attached);
        examine(&evidence)[0].advice[1].remedy.text()
    };
    assert!(advice(0.9).contains("do not detach"));
    assert!(advice(0.1).contains("a pool"));
}

#[test]
fn no_advice_is_made_for_memory_that_is_not_there() {
    let with = |change: fn(&mut Evidence)| {
        rules_for(|e| {
            e.memory.available = Some(1 << 20);
            change(e);
        })
    };
    assert!(with(touching).is_empty(), "the heap has 4 GB");
}

/// A page that is touched anywhere then takes all of a huge one.
#[test]
fn huge_pages_are_advised_where_all_of_the_heap_fits() {
    let rules = |change: fn(&mut Evidence)| {
        rules_for(|e| {
            (e.memory.huge, e.memory.heap_committed) = (Some(0), Some(4 << 30));
            change(e);
        })
    };
    assert_eq!(rules(|_| ()), ["small pages"]);
    assert!(rules(|e| e.memory.available = Some(1 << 20)).is_empty(), "a group with a limit");
    assert!(rules(|e| e.memory.transparent = Some("always".into())).is_empty(), "it has been given them");
}

#[test]
fn only_g1_is_said_to_have_a_pause_time_goal() {
    let note = |collector: &str| {
        let mut evidence = healthy();
        evidence.eden.collecting = Some(1.0);
        let bytes = evidence.allocation.as_mut().unwrap();
        bytes.waste_ended = 0.3 * bytes.used;
        evidence.jvm.collector = collector.into();
        examine(&evidence)[0].advice[0].note
    };
    assert!(note("G1").contains("pause-time goal") && !note("Parallel").contains("pause-time goal"));
}

#[test]
fn an_eden_that_ended_threads_leave_unused_is_not_too_small() {
    let stopped = |unused: f64| {
        rules_for(|e| {
            churning(e);
            e.eden.collecting = Some(1.0);
            let bytes = e.allocation.as_mut().unwrap();
            bytes.waste_ended = unused * bytes.used;
        })
    };
    assert_eq!(stopped(0.9), ["ended threads"]);
    assert_eq!(stopped(0.2), ["ended threads", "small young generation"]);
}

/// One collection a second of 3 ms, and a monitoring tool whose thread dumps stop threads for 5 % of the time.
#[test]
fn threads_that_stop_for_something_else_need_no_larger_eden() {
    let stopped = |all: f64, collecting: f64| {
        rules_for(|e| (e.eden.stopped, e.eden.collecting) = (Some(all), Some(collecting)))
    };
    assert_eq!(stopped(0.053 * SECONDS, 0.003 * SECONDS), [""; 0]);
    assert_eq!(stopped(0.053 * SECONDS, 0.05 * SECONDS), ["small young generation"]);
}
