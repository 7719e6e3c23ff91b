use super::*;
use crate::evidence::{Costs, CpuLimits, Eden, Jvm, Memory, Placement, Threads};
use jvm::vm_flags::VmFlags;

fn shown(evidence: Evidence) -> String {
    let facts = facts(&Evidence { seconds: 10.0, ..evidence });
    facts.into_iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
}

#[test]
fn what_buffers_keep_from_the_heap() {
    let mut buffers =
        Buffers { levels: "core".into(), on: true, requests: 1_000_000, to_heap: 10_000, waste: 0.0 };
    let text = |buffers: &Buffers| shown(Evidence { terrace: Some(buffers.clone()), ..Evidence::default() });
    let on = text(&buffers);
    assert!(on.contains("it saves 99") && on.contains("1.00 k reach it"), "{on}");
    buffers.on = false;
    assert!(text(&buffers).contains("'terrace on 0' switches it on"), "{}", text(&buffers));
    assert!(!shown(Evidence::default()).contains("Terrace"));
}

#[test]
fn where_a_process_runs() {
    let machine = CpuLimits { cpus: 3, online: Some(8), nodes: 1, ..CpuLimits::default() };
    let text = |machine: &CpuLimits, placement| {
        shown(Evidence { machine: machine.clone(), placement, migrations: Some(50), ..Evidence::default() })
    };
    let one = text(&machine, None);
    assert!(one.contains("machine: affinity to 3 CPUs of 8, no quota, one node, 5"), "{one}");
    let machine = CpuLimits { cpuset: Some("2-4".into()), throttled: Some(0.5), nodes: 2, ..machine };
    let placement = Placement { remote: 0.25, pages: vec![0.5; 2], threads: vec![0.5; 2] };
    let two = text(&machine, Some(placement));
    for part in ["cpuset 2-4 of 8 CPUs", "throttled in 50", "2 nodes: 25"] {
        assert!(two.contains(part), "{part} in {two}");
    }
}

#[test]
fn unused_memory_is_shown_with_its_cause_or_without() {
    let allocation =
        Allocation { used: 100.0, objects: 50.0, waste_unknown: 30.0, held: 20.0, ..Allocation::default() };
    let text = shown(Evidence { allocation: Some(allocation), ..Evidence::default() });
    assert!(text.contains("unused: 20 % in new threads' TLABs, 30 % (cause unknown)"), "{text}");
}

#[test]
fn stops_for_something_else_are_told_from_collections() {
    let text = |collecting| {
        let eden = Eden { stopped: Some(0.5), collecting: Some(collecting), ..Eden::default() };
        shown(Evidence { eden, ..Evidence::default() })
    };
    assert!(text(0.03).contains("stopped 5 % of the time (0.300 % for collections)"), "{}", text(0.03));
    assert!(!text(0.48).contains("for collections"), "{}", text(0.48));
}

#[test]
fn stops_for_the_doctors_thread_dumps_are_told_where_they_are_long() {
    let text = |dumps| {
        let eden = Eden { stopped: Some(0.1), stopped_by_dumps: dumps, ..Eden::default() };
        shown(Evidence { eden, ..Evidence::default() })
    };
    let shown = text(Some(0.08));
    assert!(shown.contains("stopped 1 % of the time; 0.800 % more for the doctor's thread dumps"), "{shown}");
    assert!(!text(Some(0.009)).contains("dumps") && !text(None).contains("dumps"));
}

#[test]
fn phases_are_not_called_collections() {
    let text = |phases| {
        let eden = Eden { collections: Some(30), phases, ..Eden::default() };
        shown(Evidence { eden, ..Evidence::default() })
    };
    assert!(text(false).contains("collections: 30, 3"), "{}", text(false));
    assert!(text(true).contains("collections: 30 phases of concurrent collections, 3"), "{}", text(true));
}

#[test]
fn threads_that_ended_have_their_share() {
    let living = Group { name: "worker-N".into(), threads: 3, bytes: 100, ..Group::default() };
    let threads = Threads { groups: vec![living], of_ended: Some(300), ..Threads::default() };
    let text = shown(Evidence { threads, ..Evidence::default() });
    assert!(text.contains("threads that ended (75") && text.contains("worker-N (3, 25"), "{text}");
}

#[test]
fn whose_tlabs_were_unused_is_said_where_one_group_has_most_of_it() {
    let text = |own: f64| {
        let group =
            |name: &str, waste| Group { name: name.into(), waste_collection: waste, ..Group::default() };
        let groups =
            vec![group("busy-N", Some(10.0 - own)), group("idle-N", Some(own)), group("other", None)];
        let threads = Threads { groups, ..Threads::default() };
        let allocation =
            Allocation { used: 100.0, objects: 90.0, waste_collection: 10.0, ..Allocation::default() };
        shown(Evidence { threads, allocation: Some(allocation), ..Evidence::default() })
    };
    assert!(text(7.0).contains("unused: 10 % at collections (70 % of it by idle-N)"), "{}", text(7.0));
    assert!(text(2.0).contains("at collections (80 % of it by busy-N)"), "{}", text(2.0));
    let threads = Threads::default();
    let allocation =
        Allocation { used: 100.0, objects: 90.0, waste_collection: 10.0, ..Allocation::default() };
    let nobody = shown(Evidence { threads, allocation: Some(allocation), ..Evidence::default() });
    assert!(nobody.contains("10 % at collections") && !nobody.contains("of it"), "{nobody}");
}

#[test]
fn time_with_a_lock_is_not_called_cpu_time() {
    let times = |total_ns| Times { count: 10, timed: 10, total_ns, p50_ns: 7.0, ..Times::default() };
    let refills = Refills { quick: times(1e7), locked: times(1e7), waited_ns: 2e7, ..Refills::default() };
    let evidence = Evidence { refills: Some(refills), application_cpu: Some(1.0), ..Evidence::default() };
    let text = shown(evidence);
    assert!(
        text.contains("; 1 % of the program's CPU time, and with a lock 3 % of it used or waited"),
        "{text}"
    );
    assert!(text.contains("lock-free 1/s (p50 7 ns") && text.contains("lock 1/s (7 ns"), "{text}");
}

#[test]
fn memory_and_costs_are_shown_with_the_settings_in_force() {
    let text = |mode: &str, flags: &str| {
        let memory = Memory {
            resident: Some(100),
            huge: Some(50),
            transparent: Some(mode.into()),
            ..Memory::default()
        };
        let jvm = Jvm { flags: VmFlags::parse(flags), ..Jvm::default() };
        let costs = Costs { zero_ns: 0.05, first_touch_ns: 500.0, ..Costs::default() };
        shown(Evidence { memory, jvm, costs, ..Evidence::default() })
    };
    let flags = |huge: bool, touch: bool| {
        format!(
            "bool UseTransparentHugePages = {huge} {{product}} {{default}}\n\
             bool AlwaysPreTouch = {touch} {{product}} {{default}}\n"
        )
    };
    let shown = text("madvise", &flags(true, true));
    assert!(shown.contains("50 % on huge pages (THP madvise, requested), AlwaysPreTouch"), "{shown}");
    assert!(shown.contains("first touch 500 ns, zeroing a page 205 ns"), "{shown}");
    let shown = text("madvise", &flags(false, false));
    assert!(shown.contains("(THP madvise, not requested), no AlwaysPreTouch"), "{shown}");
    let shown = text("always", "");
    assert!(shown.contains("(THP always)") && !shown.contains("AlwaysPreTouch"), "{shown}");
}
