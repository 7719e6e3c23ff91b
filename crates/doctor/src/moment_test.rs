use super::*;
use crate::counters_test::{counted, counters, counters_and_texts, thread};
use crate::rules::sick::healthy;
use control::{Control, Counted};

#[test]
fn a_process_was_held_back_for_its_share_of_the_groups_time() {
    use std::time::Duration;
    let seconds = Duration::from_secs;
    let group = |used: Option<u64>, held: Option<u64>| Periods {
        all: 1,
        throttled: 1,
        held_back: held.map(seconds),
        used: used.map(seconds),
    };
    let cpu = |process| cpu::CpuTime { process: seconds(process), ..cpu::CpuTime::default() };
    let of = |used, held| {
        super::held_back(&group(Some(2), Some(10)), &group(used, held), Some((&cpu(1), &cpu(3))))
    };
    // 2 of the 8 seconds that the group used are its own.
    assert_eq!(of(Some(10), Some(18)), Some(2.0));
    assert_eq!(of(Some(3), Some(18)), Some(8.0), "never more than all");
    assert_eq!((of(None, Some(18)), of(Some(10), None), of(Some(2), Some(18))), (None, None, None));
}

#[test]
fn accounts_tell_more_exactly_than_a_dump_what_threads_allocated() {
    let looked = |account: Option<u64>| {
        let mut threads = vec![JavaThread { allocated: Some(3 << 30), ..thread("a", 1, 9.0, "A.run") }];
        let accounts = account.map(|bytes| (threads[0].id as usize, bytes));
        count_exactly(&mut threads, &accounts.into_iter().collect());
        threads
    };
    let of = |looks: [Vec<JavaThread>; 2]| groups(&looks).first().map(|group| group.bytes);
    assert_eq!(of([looked(Some(3_500_000_000)), looked(Some(3_500_000_700))]), Some(700));
    assert_eq!(of([looked(None), looked(None)]), None, "a gigabyte is too coarse");
    assert_eq!(of([looked(None), looked(Some(3_500_000_700))]), None, "one of them is rounded");
    assert_eq!(looked(Some(700))[0].exactly, None, "the account of another thread");
}

/// Spark's executors are called after the task at hand.
#[test]
fn a_thread_that_changes_its_name_is_not_a_new_one() {
    let worker = |task: &str, bytes, elapsed| JavaThread {
        allocated: Some(bytes),
        ..thread(&format!("worker for task {task}"), 1, elapsed, "java.lang.Thread.run")
    };
    let looks = [vec![worker("1.0", 5000, 0.5)], vec![worker("7.0", 5300, 2.5)]];
    let groups = groups(&looks);
    assert_eq!((groups.len(), groups[0].name.as_str(), groups[0].bytes), (1, "worker for task N.N", 300));
    assert!(short_lived::young(&looks, 3.0).is_empty(), "it stays");
}

fn moment(times: Option<RefillTimes>) -> Moment {
    Moment { times, ..counted(None) }
}

#[test]
fn counters_of_long_ago_are_not_those_of_the_end() {
    let end = |before: u64, perf: bool| {
        let mut last = counted(perf.then(|| counters(&[("of", 2)])));
        let at = last.at - std::time::Duration::from_millis(before);
        let is_ended = last.end_with(Some((at, counters(&[("of", 1)]))));
        (is_ended, last.at == at, last.perf.and_then(|perf| perf.get("of")))
    };
    assert_eq!(end(50, false), (true, true, Some(1)));
    assert_eq!(end(50, true), (false, false, Some(2)));
    assert_eq!(end(5000, false), (false, false, None));
    assert!(!counted(None).end_with(None));
}

#[test]
fn a_refill_that_lost_its_cpu_is_no_work() {
    let control = Control::anonymous(Counted { levels: &[1], timed: 1 }).unwrap();
    control.set_settings(r#"{"clock":"monotonic"}"#);
    let times = &control.times()[0];
    let first = moment(RefillTimes::read(&control));
    // Those within what work can take, and one each that waited for a lock, or for a collection.
    for way in [Way::Quick, Way::Region, Way::Collection] {
        for _ in 0..99 {
            times.record(Kind::Tlab, way, 1_000, true);
        }
        times.record(Kind::Tlab, way, 20 * PREEMPTED_NS, true);
    }
    for (way, count) in [(Way::Quick, 3), (Way::Region, 5)] {
        for _ in 0..count {
            times.record(Kind::Object, way, 1_000, true);
        }
    }
    let last = moment(RefillTimes::read(&control));
    let objects = |collector| refills(&first, &last, collector).unwrap().objects.count;
    assert_eq!([objects("G1"), objects(SHENANDOAH)], [3, 5], "humongous objects are none for a TLAB");
    let found = refills(&first, &last, "G1").unwrap();
    let work = 99_000.0;
    for times in [found.quick, found.locked] {
        assert_eq!(times.count, 100);
        assert!((times.total_ns / work - 1.0).abs() < 0.25, "to a bucket's width: {times:?}");
    }
    assert!((found.waited_ns / (20.0 * PREEMPTED_NS as f64) - 1.0).abs() < 0.25, "{}", found.waited_ns);
    assert!(
        found.collecting.total_ns > 20.0 * PREEMPTED_NS as f64,
        "a pause is no wait: {:?}",
        found.collecting
    );
    assert!(refills(&moment(None), &moment(None), "G1").is_none(), "nobody has timed them");
}

/// 30 s in which `started` threads came, the living became `more`, and each that came took 1 MB and used 100 KB of it.
fn grown(started: i64, more: i64) -> Evidence {
    let at = |started: i64, living: i64| Moment {
        perf: Some(counters(&[("java.threads.started", 50 + started), ("java.threads.live", 20 + living)])),
        used: started as u64 * 1_000_000,
        objects: Some(started as u64 * 100_000),
        ..moment(None)
    };
    let (first, last) = (at(0, 0), at(started, more));
    let mut evidence = healthy();
    (evidence.seconds, evidence.eden) = (30.0, crate::stops::eden(&first, &last, 0.0));
    evidence.threads = threads(&first, &last, &[vec![], vec![]], &Waste::default(), evidence.seconds);
    evidence.threads.of_ended = of_ended(&first, &last, &evidence, 2);
    evidence.allocation = allocation(&first, &last, &Waste::default(), &evidence);
    evidence
}

#[test]
fn threads_that_come_and_stay_have_not_ended() {
    let server = grown(300, 300);
    let bytes = server.allocation.as_ref().unwrap();
    assert_eq!((server.threads.ended, bytes.waste_ended, bytes.held), (Some(0), 0.0, 2.7e8));
    assert_eq!((server.threads.of_ended, bytes.of_ended_thread), (None, None));
    assert_eq!(crate::rules::examine(&server), []);
    // One in ten stays.
    let mixed = grown(3000, 300);
    let bytes = mixed.allocation.as_ref().unwrap();
    assert_eq!((mixed.threads.ended, bytes.of_ended_thread), (Some(2700), Some(3e8 / 2700.0)));
    // No collection came: who was there before may have a TLAB, too.
    let expected = 2.7e9 * 2700.0 / (2700.0 + 320.0);
    assert!((bytes.waste_ended / expected - 1.0).abs() < 1e-9 && bytes.held > 0.0, "{bytes:?}");
    assert!(crate::rules::examine(&mixed).iter().any(|found| found.rule == "ended threads"));
    // Those that were there before have ended, too.
    assert_eq!((grown(10, -15).threads.ended, grown(0, 0).threads.ended), (Some(25), Some(0)));
}

#[test]
fn threads_of_a_pool_that_was_there_hold_their_tlabs() {
    let mut first = grown(30, 0);
    let waste = |evidence: &Evidence| {
        let at = |used| Moment { used, objects: Some(0), ..moment(None) };
        allocation(&at(0), &at(1000), &Waste::default(), evidence).unwrap().waste_ended
    };
    (first.threads.ended, first.threads.alive, first.eden.collections) = (Some(30), Some(90), Some(0));
    assert_eq!(waste(&first), 250.0);
}

/// Shenandoah counts eight phases of a cycle, in one of which TLABs are retired.
#[test]
fn waste_at_a_collection_is_not_that_of_each_of_its_phases() {
    let (mut waste, mut seen) = (Waste::default(), None);
    for look in 0..=80 {
        let cycle = look / 8;
        let numbers = [
            ("sun.gc.collector.0.invocations", look),
            ("sun.gc.tlab.gcWaste", 100 + cycle),
            ("sun.gc.tlab.refillWaste", 10),
            ("sun.gc.tlab.fills", 1000 * cycle),
        ];
        let name = [("sun.gc.collector.0.name", "Shenandoah concurrent phases")];
        waste.add(&counters_and_texts(&numbers, &name), &mut seen);
    }
    assert_eq!((waste.collections, waste.at_refill), (10, 10.0 * 10.0 * WORD));
    let mut evidence = Evidence { seconds: 30.0, ..Evidence::default() };
    (evidence.eden.collections, evidence.eden.phases) = (Some(80), true);
    let at = |used| Moment { used, objects: Some(0), ..moment(None) };
    let found = allocation(&at(0), &at(1 << 20), &waste, &evidence).unwrap();
    assert_eq!(found.waste_refill, 10.0 * 10.0 * WORD);
}

#[test]
fn what_nobody_counted_is_of_unknown_cause() {
    let unused = |perf: bool, collections: u64, seen: u64| {
        let counted = || counters(&[("java.threads.started", 300), ("java.threads.live", 20)]);
        let at = |used| Moment { perf: perf.then(counted), used, objects: Some(0), ..moment(None) };
        let mut evidence = Evidence { seconds: 30.0, ..Evidence::default() };
        evidence.eden.collections = Some(collections);
        let ended = perf.then_some(300);
        evidence.threads = Threads { started: ended, ended, ..Threads::default() };
        let waste = Waste { collections: seen, ..Waste::default() };
        let found = allocation(&at(0), &at(1000), &waste, &evidence).unwrap();
        (found.waste_ended, found.waste_unknown)
    };
    assert_eq!(unused(true, 5, 5), (1000.0, 0.0));
    assert_eq!(unused(true, 0, 0), (1000.0, 0.0), "nothing was lost at collections");
    assert_eq!(unused(true, 5, 0), (0.0, 1000.0), "nobody looked at them");
    assert_eq!(unused(false, 5, 0), (0.0, 1000.0), "no counters");
    let still = grown(0, 0);
    assert!(still.allocation.is_none());
    // Threads that were there before have TLABs, too.
    let mut evidence = healthy();
    (evidence.threads.started, evidence.threads.ended) = (Some(0), Some(0));
    evidence.eden.collections = Some(0);
    let (first, last) = (moment(None), moment(None));
    let [first, last] = [(first, 0), (last, 1000)].map(|(at, used)| Moment { used, objects: Some(0), ..at });
    assert_eq!(allocation(&first, &last, &Waste::default(), &evidence).unwrap().waste_unknown, 1000.0);
}
