//! What remedies are expected to do, against evidence from which it can be told by hand.

use super::sick::{SECONDS, churning, ergonomic, flags, full_of_humongous_objects, healthy};
use super::*;
use crate::evidence::{CpuLimits, Pauses, Times};
use crate::finding::{Effect, Sure};
use jvm::vm_flags::VmFlags;

/// Of the first finding's advice, in its order.
fn effects(change: impl Fn(&mut Evidence)) -> Vec<Effect> {
    let mut evidence = healthy();
    change(&mut evidence);
    examine(&evidence)[0].advice.iter().map(|advice| advice.effect).collect()
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} instead of {expected}");
}

#[test]
fn fewer_collections_are_predicted_from_what_would_be_used_up() {
    let mut evidence = healthy();
    churning(&mut evidence);
    let found = examine(&evidence);
    let effect = found[0].advice[0].effect;
    // 40 MB of objects and 10,000 times 1,096 bytes, instead of 10 GB.
    assert!((effect.collections.unwrap() - (4e7 + 1.096e7) / 1e10).abs() < 1e-6, "{effect:?}");
    assert_eq!(effect.sure, Sure::Counted);
    // Threads stood still for 2.5 % of the time, which nearly goes.
    assert!((effect.speed.unwrap() - 1.0 / 0.975).abs() < 1e-3, "{effect:?}");
}

/// Of five collections a second three come for humongous objects, whatever ended threads leave unused.
#[test]
fn what_ended_threads_leave_brings_no_collections_of_other_causes() {
    let mut evidence = healthy();
    churning(&mut evidence);
    evidence.eden.collections = Some(50);
    evidence.eden.causes.add("G1 Evacuation Pause", 20);
    evidence.eden.causes.add("G1 Humongous Allocation", 30);
    for advice in &examine(&evidence)[0].advice {
        let collections = advice.effect.collections.unwrap();
        assert!((0.6..0.61).contains(&collections), "{advice:?}");
        // Of a 40th of the time two fifths are saved.
        near(advice.effect.speed, 1.0 / (1.0 - 0.01));
    }
}

#[test]
fn a_larger_young_generation_saves_no_collections_of_other_causes() {
    let expected = |others: u64| {
        let mut evidence = healthy();
        evidence.eden.collecting = Some(2.0);
        evidence.eden.collections = Some(20);
        evidence.eden.causes.add("Allocation Failure", 20 - others);
        evidence.eden.causes.add("Metadata GC Threshold", others);
        let found = examine(&evidence);
        found.first().map(|found| found.advice[0].effect.collections.unwrap())
    };
    assert_eq!(expected(0), Some(0.25));
    let some = expected(5).unwrap();
    assert!(some > 0.3 && some < 0.5, "{some}");
    assert_eq!(expected(20), None, "eden is never full");
}

#[test]
fn collections_for_humongous_objects_are_expected_to_stay_at_most() {
    let note = |humongous: u64| {
        let mut evidence = healthy();
        evidence.jvm.collector = "G1".into();
        evidence.eden.collecting = Some(2.0);
        evidence.eden.collections = Some(20);
        evidence.eden.causes.add("G1 Evacuation Pause", 20 - humongous);
        evidence.eden.causes.add("G1 Humongous Allocation", humongous);
        let found = examine(&evidence);
        found.iter().find(|found| found.rule == "small young generation").map(|found| found.advice[0].note)
    };
    assert!(note(0).unwrap().starts_with("if few additional objects survive"));
    assert!(note(5).unwrap().starts_with("at most so many"));
}

#[test]
fn a_young_generation_is_as_much_larger_than_eden_as_it_is_now() {
    let advised = |collector: &str, young: Option<f64>| {
        let mut evidence = healthy();
        evidence.jvm.collector = collector.into();
        evidence.jvm.flags = ergonomic("MaxHeapSize=1073741824");
        evidence.memory.available = Some(64 << 30);
        evidence.eden.collecting = Some(2.0);
        evidence.eden.collections = Some(100);
        let mb = f64::from(1 << 20);
        evidence.allocation.as_mut().unwrap().used = 100.0 * 100.0 * mb;
        (evidence.eden.bytes, evidence.eden.young_bytes) = (Some(100.0 * mb), young.map(|young| young * mb));
        let advice = &examine(&evidence)[0].advice[0];
        assert_eq!(advice.effect.collections, Some(0.25));
        advice.remedy.text()
    };
    assert_eq!(advised("Parallel", Some(140.0)), "-Xmn440m -Xmx1324m", "as much survives");
    assert_eq!(advised("Serial", Some(125.0)), "-Xmn500m -Xmx1399m -Xms1399m");
    assert_eq!(advised("Serial", None), advised("Serial", Some(125.0)), "nobody has seen it");
    assert_eq!(advised("G1", Some(200.0)), advised("G1", Some(101.0)), "regions as they are needed");
}

#[test]
fn objects_that_are_not_humongous_any_more_fill_eden() {
    // 1 GB/s fill an eden of 1 GB; of five collections a second four come for humongous objects.
    let collecting = |e: &mut Evidence| {
        full_of_humongous_objects(e);
        e.eden.collections = Some(50);
    };
    near(effects(collecting)[0].collections, 0.2);
    near(effects(collecting)[0].speed, 1.0 / (1.0 - 0.1 * 0.8));
    // One in fifty comes for metadata, and empties eden before it is full.
    let disturbed = |e: &mut Evidence| {
        collecting(e);
        e.eden.causes.add("Metadata GC Threshold", 1);
        e.eden.causes.add("G1 Humongous Allocation", 39);
    };
    let others = 5.0 / 50.0;
    near(effects(disturbed)[0].collections, (others + others / f64::exp_m1(others)) / 5.0);
    // 40 of the 50 young collections, of 8 ms each; the whole heap's pauses stay.
    let with_pauses = |e: &mut Evidence| {
        collecting(e);
        e.eden.collecting = Some(1.0);
        e.eden.pauses =
            Some(Pauses { young: 0.4, young_count: 50, full: 0.6, full_count: 0, concurrent: 0.0 });
    };
    near(effects(with_pauses)[0].speed, 1.0 / (1.0 - 0.04 * 0.8));
}

/// Where the JVM's memory may not be read, or its flags are not known.
#[test]
fn humongous_objects_are_found_whatever_else_is_not_seen() {
    let found = |change: fn(&mut Evidence)| {
        let mut evidence = healthy();
        full_of_humongous_objects(&mut evidence);
        change(&mut evidence);
        let found = examine(&evidence).into_iter().find(|found| found.rule == "humongous objects").unwrap();
        found.advice.into_iter().map(|advice| (advice.remedy.text(), advice.effect)).collect::<Vec<_>>()
    };
    let unread = found(|e| e.allocation = None);
    assert_eq!((unread.len(), unread[0].1), (2, Effect::default()), "{unread:?}");
    assert_eq!(found(|e| e.jvm.flags = VmFlags::default()).len(), 1);
}

#[test]
fn without_tlabs_all_time_of_requests_is_to_be_saved() {
    let off = |seen: bool| {
        effects(|e| {
            e.jvm.flags = VmFlags::parse("bool UseTLAB = false {product} {command line}");
            let refills = e.refills.as_mut().unwrap();
            refills.objects = Times { count: 50_000_000, total_ns: 9e9, ..Times::default() };
            e.refills = e.refills.take().filter(|_| seen);
        })[0]
    };
    // 9 of 18 CPU-seconds, in the 0.99 of the time in which threads run.
    near(off(true).speed, 1.0 / (1.0 - 0.99 * 0.5));
    assert_eq!((off(false).speed, off(false).sure), (None, Sure::Untold));
}

#[test]
fn larger_tlabs_leave_fewer_objects_outside_and_more_of_eden_unused() {
    let outside = |chosen: &'static str| {
        effects(|e| {
            e.jvm.flags = flags(chosen);
            e.refills.as_mut().unwrap().objects =
                Times { count: 1_000_000, total_ns: 1.8e9, p10_ns: 100.0, p50_ns: 300.0, ..Times::default() };
        })[0]
    };
    // Where nobody knows the flags TLABs are taken to be used, as they are.
    let mut evidence = healthy();
    evidence.jvm.flags = VmFlags::default();
    evidence.refills.as_mut().unwrap().objects =
        Times { count: 1_000_000, total_ns: 1.8e9, p10_ns: 100.0, p50_ns: 300.0, ..Times::default() };
    assert_eq!(examine(&evidence)[0].rule, "objects outside TLABs");
    // A tenth of the time in which threads run, of which a fifth remains; 0.5 % of eden becomes 2.5 %, for which collections take 1 % of the time more often.
    let more = |unused: f64| 0.01 * (1.0 / (1.0 - unused) - 1.0);
    near(outside("TLABWasteTargetPercent=1").speed, 1.0 / (1.0 - 0.99 * 0.08 + more(0.02)));
    near(outside("TLABWasteTargetPercent=1").collections, 1.0 / 0.98);
    near(outside("TLABWasteTargetPercent=2").speed, 1.0 / (1.0 - 0.99 * 0.06 + more(0.0075)));
}

/// TLABs of 4 KB that HotSpot does not resize: refills are an eighth of the threads' time.
#[test]
fn tlabs_become_as_large_as_collections_let_them() {
    let advised = |threads: u64, eden: f64, collecting: f64| {
        let mut evidence = healthy();
        evidence.jvm.flags = flags("TLABSize=4096 ResizeTLAB=false");
        (evidence.eden.bytes, evidence.eden.mean_bytes) = (Some(eden), Some(eden));
        (evidence.eden.collecting, evidence.eden.stopped) = (Some(collecting), Some(collecting));
        evidence.eden.collections = Some(100);
        let bytes = evidence.allocation.as_mut().unwrap();
        (bytes.used, bytes.waste_collection) = (100.0 * eden, threads as f64 * 2048.0 * 100.0);
        bytes.objects = bytes.used - bytes.waste();
        evidence.threads.allocating = Some(threads);
        let refills = evidence.refills.as_mut().unwrap();
        (refills.quick.count, refills.quick.total_ns) = (5_000_000, 2.25e9);
        let found = examine(&evidence).into_iter().find(|found| found.rule == "shared refills").unwrap();
        let of = |advice: crate::finding::Advised| (advice.remedy.text(), advice.effect);
        found.advice.into_iter().map(of).collect::<Vec<_>>()
    };
    let few = advised(8, 64e6, 0.1);
    assert_eq!(few[0].0, "-XX:TLABSize=32k");
    near(few[0].1.collections, 1.0 / (1.0 - 8.0 * 14.0 * 1024.0 / 64e6));
    // 2,000 threads leave 6 % of eden unused now, and would leave half of it.
    let many = advised(2000, 64e6, 2.0);
    assert_eq!(many[0].0, "-XX:TLABSize=8k", "{many:?}");
    assert!(many[0].1.speed.unwrap() > 1.0 && many[0].1.collections.unwrap() > 1.05, "{many:?}");
    assert_eq!(advised(8000, 64e6, 3.0)[0].0, "terrace", "any size costs more than it saves");
}

#[test]
fn a_quota_costs_the_time_for_which_it_holds_threads_back() {
    let raised = |held_back: Option<f64>| {
        effects(|e| {
            (e.application_cpu, e.process_cpu) = (Some(1.0), Some(2.0));
            e.machine = CpuLimits { quota: Some(0.2), throttled: Some(0.9), held_back, ..e.machine.clone() };
        })[0]
    };
    near(raised(Some(8.0)).speed, 5.0);
    near(raised(Some(100.0)).speed, 2.0 * SECONDS / 2.0);
    assert_eq!(raised(None).speed, None);
}

/// 250,000 pages of which a touch takes 500 ns, 204.8 of them to zero it.
#[test]
fn huge_pages_save_at_least_first_touches() {
    let effect = effects(|e| {
        (e.memory.huge, e.memory.heap_committed) = (Some(0), Some(4 << 30));
        (e.memory.first_touches, e.memory.grown) = (Some(250_006), Some(2 << 30));
    })[0];
    near(effect.speed, 1.0 / (1.0 - 0.99 * 0.25 * (0.5 - 0.2048) / 18.0));
    let unseen = effects(|e| {
        (e.memory.huge, e.memory.heap_committed, e.memory.first_touches) = (Some(0), Some(4 << 30), None);
    })[0];
    assert_eq!((unseen.speed, unseen.sure), (None, Sure::Untold));
}

/// Eden of 1 GB fills once a second, whatever pauses come besides.
#[test]
fn pauses_of_a_concurrent_cycle_do_not_empty_eden() {
    let mut evidence = healthy();
    evidence.eden.collections = Some(30);
    evidence.eden.causes.add("G1 Evacuation Pause", 10);
    evidence.eden.causes.add("concurrent cycle", 20);
    near(evidence.bytes_of_eden(), 1e9);
    let rates = evidence.collection_rates().unwrap();
    // They come for what young collections have copied to the old generation.
    near(Some(rates.with_larger_eden(4.0).all()), 0.25 + 2.0 / 4.0);
    // Bytes of humongous objects are not eden's.
    evidence.eden.mean_bytes = Some(2e8);
    near(evidence.bytes_of_eden(), 2.2e8);
}
