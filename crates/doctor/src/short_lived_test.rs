use super::*;
use crate::counters_test::thread;
use control::{Control, Counted};

#[test]
fn threads_that_stay_are_not_young_however_young_the_jvm_is() {
    let driver = |elapsed| thread("driver-0", 1, elapsed, "java.lang.Thread.run");
    let callback = |number, name| thread(name, number, 0.0, "Callbacks.called");
    let looks = [
        vec![driver(2.5)],
        vec![driver(3.5), callback(7, "Thread-7")],
        vec![driver(5.5), callback(9, "Thread-9")],
    ];
    let names: Vec<&str> = young(&looks, 3.0).iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(names, ["Thread-7", "Thread-9"]);
}

#[test]
fn a_thread_that_is_seen_once_or_ends_is_young() {
    let task = |number| thread("task", number, 0.2, "java.lang.Thread.run");
    let looks = [vec![task(1)], vec![task(2)]];
    assert_eq!(young(&looks, 3.0).len(), 2, "the same address and name, and another thread");
    assert_eq!(young(&looks[..1], 3.0).len(), 1, "one look does not tell that it stays");
    let looks = [vec![task(1)], vec![]];
    assert_eq!(young(&looks, 3.0).len(), 1);
    assert!(young(&[], 3.0).is_empty());
}

/// Callbacks of microseconds, and native threads that live for seconds, each with the age at which it is met.
#[test]
fn who_lives_long_stands_for_few_that_started() {
    let seen = |all: &[(f64, &str)]| {
        let all = all.iter().enumerate();
        all.map(|(number, (age, frame))| thread("t", number as u64, *age, frame)).collect::<Vec<_>>()
    };
    let share =
        |all: &[(f64, &str)], started| attached(&seen(all).iter().collect::<Vec<_>>(), 4, 30.0, started);
    let native = (1.0, "Callbacks.called");
    assert_eq!(share(&[native; 3], Some(30_000)), None, "threads of a tenth of a millisecond were not met");
    assert_eq!(share(&[native; 3], Some(12)), Some(1.0));
    assert_eq!(share(&[(0.0, "Callbacks.called")], Some(60_000)), Some(1.0));
    let mixed = share(&[(0.01, "java.lang.Thread.run"), native], Some(100)).unwrap();
    assert!((mixed - 1.0 / 101.0).abs() < 1e-9, "{mixed}");
    let java = (0.0, "java.lang.Thread.run");
    assert_eq!(
        share(&[java], Some(30_000)),
        None,
        "it may live for a second, beside callbacks that were not met"
    );
    assert_eq!(share(&[java], Some(300)), Some(0.0));
    assert_eq!((share(&[(0.0, "java.lang.Thread.exit")], Some(1)), share(&[], None)), (None, None));
}

/// Two callbacks whose ages a dump does not tell, beside a pool's thread of half a second.
#[test]
fn threads_that_come_and_go_are_named_by_their_numbers() {
    let named =
        |name: &str, number, age| JavaThread { name: name.into(), ..thread("t", number, age, "a.B.run") };
    let seen = [named("pool-1-thread-7", 1, 0.5), named("Thread-8", 2, 0.0), named("Thread-9", 3, 0.0)];
    let of = |started| met(&seen.iter().collect::<Vec<_>>(), 4, 10.0, started);
    let found = of(Some(600));
    let names: Vec<&str> = found.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["Thread-N", "pool-N-thread-N"]);
    assert!((found[0].share - 400.0 / 402.0).abs() < 1e-9, "{found:?}");
    assert_eq!(met(&[], 4, 10.0, Some(0)), []);
    assert_eq!(of(Some(80_000)), [], "callbacks of microseconds, which nobody has met");
}

/// What an agent has counted: so many threads of each name.
fn counted(names: &[(&str, u64)]) -> NewThreads {
    let control = Control::anonymous(Counted { levels: &[1], timed: 1 }).unwrap();
    for (text, threads) in names {
        let mut name = [0; 16];
        name[..text.len()].copy_from_slice(text.as_bytes());
        (0..*threads).for_each(|_| control.new_threads().unwrap().count(|| 0, || name));
    }
    NewThreads::read(&control).unwrap()
}

fn of(name: &str, share: f64) -> ShortLived {
    ShortLived { name: name.into(), share, is_of_others: false, unused: None }
}

#[test]
fn threads_that_nobody_has_met_are_named_by_their_first_tlabs() {
    let stays = thread("main", 1, 9.0, "Main.main");
    let new = |number| thread("worker-of-the-pool-1", number, 0.5, "java.lang.Thread.run");
    let old = thread("old-3", 2, 9.0, "java.lang.Thread.run");
    let looks = [vec![stays.clone(), old], vec![stays, new(7), new(8)]];
    let counted = counted(&[("gnat-1", 60), ("mayfly-2", 37), ("worker-of-the-p", 4)]);
    let found = named(&[], &looks, 3.0, Some(200), None, Some(counted.clone()));
    // Of the pool's four two are there; the old one has gone.
    assert_eq!(
        found,
        [("gnat-N", 0.6), ("mayfly-N", 0.37), ("worker-of-the-pool-N", 0.02), ("old-N", 0.01)]
            .map(|(name, share)| of(name, share))
    );
    // Without a dump: by what the kernel has.
    let found = named(&[], &[], 3.0, None, None, Some(counted));
    assert_eq!(found.last().map(|kind| kind.name.as_str()), Some("worker-of-the-p"));
    assert_eq!(named(&[], &looks, 3.0, Some(200), None, None), []);
}

/// One that has stood still so far gets its first TLAB, and one of a group whose name fits two shortened ones.
#[test]
fn who_is_there_at_the_end_has_not_ended() {
    let late = |bytes| JavaThread { allocated: Some(bytes), ..thread("late-1", 1, 9.0, "a.B.run") };
    let new = thread("a-pool-of-threads-1", 2, 0.5, "java.lang.Thread.run");
    let other = thread("a-pool-of-thrift-1", 3, 9.0, "java.lang.Thread.run");
    let looks = [vec![late(0), other.clone()], vec![late(80), other, new]];
    let counted = counted(&[("late-1", 1), ("a-pool-of-thr-1", 1), ("a-pool-of-threa", 1), ("gnat-1", 8)]);
    let found = named(&[], &looks, 3.0, Some(200), None, Some(counted));
    assert_eq!(found, [of("gnat-N", 8.0 / 9.0), of("a-pool-of-thr-N", 1.0 / 9.0)]);
}

#[test]
fn names_for_which_there_was_no_room_are_no_names() {
    let counted = NewThreads { others: 11, ..counted(&[("gnat-1", 10)]) };
    assert_eq!(named(&[], &[], 3.0, None, None, Some(counted)), []);
}

#[test]
fn native_threads_are_called_as_java_calls_them_where_enough_were_met() {
    let driver = thread("driver-0", 1, 9.0, "java.lang.Thread.run");
    let callback = |number, name| thread(name, number, 0.0, "Callbacks.called");
    let looks = [vec![driver.clone()], vec![driver.clone(), callback(7, "Thread-7")], vec![driver]];
    let seen = young(&looks, 3.0);
    // The kernel has the name of who started them.
    let counted = counted(&[("driver-0", 100)]);
    let by = |started, attached| named(&seen, &looks, 3.0, Some(started), attached, Some(counted.clone()));
    assert_eq!(by(100, Some(1.0)), [of("Thread-N", 1.0)]);
    let of_driver = [ShortLived { is_of_others: true, ..of("driver-N", 1.0) }];
    assert_eq!(by(100_000, Some(1.0)), of_driver, "one does not stand for as many");
    assert_eq!(by(100, None), of_driver);
}
