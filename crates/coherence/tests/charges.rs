//! What each access costs, by hand. The numbers are those of the machine in `support`, in picoseconds.

mod support;

use std::cell::RefCell;
use support::accesses::{
    DRAIN, FAR, FAR_MEMORY, HOLD, L3, LOAD, LOCKED, MEMORY, MICROSECOND, NEAR, STORE, at, load, locked,
    store, took,
};
use support::{machine, number};
use terrace_coherence::memory::Traffic;
use terrace_coherence::programs::Line;
use terrace_coherence::simulation::{Simulation, last_cpu, now, work};
use terrace_coherence::watched::{AtomicU64, Ordering, fence};

/// What a step on a CPU, at a moment, takes.
type Step = (u32, u64, fn(&AtomicU64) -> u64);

/// Carries steps on one word out, each by a thread of its own; what each took, in their order.
fn steps(shape: [u32; 4], protocol: &str, scheduler: &str, steps: &[Step]) -> (Vec<u64>, Traffic) {
    let machine = machine(shape, protocol, scheduler);
    let word = Line(AtomicU64::new(0));
    let times = RefCell::new(vec![0; steps.len()]);
    let mut simulation = Simulation::new(&machine, 1, 0, 0);
    for (number, &(cpu, moment, step)) in steps.iter().enumerate() {
        let (word, times) = (&word.0, &times);
        let body = move || {
            at(moment);
            let time = step(word);
            times.borrow_mut()[number] = time;
        };
        simulation.spawn(cpu, true, body).unwrap();
    }
    let outcome = simulation.run();
    (times.into_inner(), outcome.traffic)
}

#[test]
fn a_core_alone() {
    let machine = machine([1, 1, 2, 1], "mesi", "");
    let (first, second, third) = (Line::<AtomicU64>::default(), Line::default(), Line::default());
    let mut simulation = Simulation::new(&machine, 1, 0, 0);
    let body = || {
        assert_eq!(load(&first.0), MEMORY);
        assert_eq!((load(&first.0), locked(&first.0)), (LOAD, LOCKED), "a line read alone can be written to");
        assert_eq!(locked(&second.0), MEMORY + LOCKED);
        assert_eq!((store(&second.0), load(&second.0)), (STORE, LOAD));
        assert_eq!(took(|| fence(Ordering::SeqCst)), DRAIN);
        assert_eq!(took(|| fence(Ordering::Acquire)), 0);
        let both = took(|| {
            assert_eq!(store(&third.0), STORE, "nobody waits for a store");
            assert_eq!(load(&first.0), LOAD);
            locked(&first.0);
        });
        assert_eq!(both, MEMORY + LOCKED, "but the next locked instruction");
    };
    simulation.spawn(0, true, body).unwrap();
    simulation.run();
}

#[test]
fn readers_and_a_writer_one_after_the_other() {
    let all: [Step; 5] = [
        (0, 0, locked),
        (1, MICROSECOND, load),
        (2, 2 * MICROSECOND, load),
        (3, 3 * MICROSECOND, load),
        (0, 4 * MICROSECOND, locked),
    ];
    let quick = number("switch", 1.0, "ns");
    let run = |protocol| steps([2, 1, 2, 1], protocol, &quick, &all).0;
    // Written back: the third reader finds it in memory, the fourth in its own last cache.
    assert_eq!(run("mesi"), [MEMORY + LOCKED, NEAR, FAR_MEMORY, L3, FAR + LOCKED]);
    // The newest reader answers, and its last cache the second one there.
    assert_eq!(run("mesif"), [MEMORY + LOCKED, NEAR, FAR, L3, FAR + LOCKED]);
    // The writer answers all who have nobody nearer.
    assert_eq!(run("moesi"), [MEMORY + LOCKED, NEAR, FAR, L3, FAR + LOCKED]);
}

#[test]
fn who_comes_while_the_line_is_on_its_way_waits_for_it() {
    let all: [Step; 4] =
        [(3, 0, locked), (0, MICROSECOND, locked), (1, MICROSECOND, locked), (2, MICROSECOND, locked)];
    let (mut times, traffic) = steps([1, 1, 4, 1], "mesi", "", &all);
    assert_eq!(times[1], NEAR + LOCKED, "the first one finds it free");
    times.sort_unstable();
    let turn = NEAR + HOLD;
    assert_eq!(times, [NEAR + LOCKED, turn + NEAR + LOCKED, MEMORY + LOCKED, 2 * turn + NEAR + LOCKED]);
    let total = traffic.total();
    assert_eq!((total.queued, total.moving), (turn + 2 * turn, MEMORY + 3 * NEAR));
    assert_eq!((total.writes, total.modified, total.hits), (4, 3, 0));
}

#[test]
fn threads_of_a_core_share_lines_but_not_the_locked_instruction() {
    let together: [Step; 2] = [(0, 0, locked), (1, 1_000, locked)];
    let (times, _) = steps([1, 1, 1, 2], "mesi", "", &together);
    assert_eq!(times, [MEMORY + LOCKED, MEMORY - 1_000 + 2 * LOCKED]);
    // One of the two at the line that the core has.
    let machine = machine([1, 1, 1, 2], "mesi", "");
    let word = Line(AtomicU64::new(0));
    let ends = RefCell::new(Vec::new());
    let mut simulation = Simulation::new(&machine, 1, 0, 0);
    for cpu in 0..2 {
        let body = || {
            load(&word.0);
            at(MICROSECOND);
            locked(&word.0);
            ends.borrow_mut().push(now());
        };
        simulation.spawn(cpu, true, body).unwrap();
    }
    simulation.run();
    assert_eq!(ends.take(), [MICROSECOND + LOCKED, MICROSECOND + 2 * LOCKED]);
}

/// Every locked instruction is carried out on the core to which the line came last, however often threads lose their CPU meanwhile.
fn owned_by_whoever_locks(scheduler: &str, pinned: bool) {
    let machine = machine([1, 1, 3, 1], "mesi", scheduler);
    let (word, instructions) = (AtomicU64::new(0), RefCell::new(Vec::new()));
    let mut simulation = Simulation::new(&machine, 1, 0, 10_000);
    for first in [0, 0, 1, 1, 2] {
        let (word, instructions) = (&word, &instructions);
        let body = move || {
            for _ in 0..200 {
                word.fetch_add(1, Ordering::SeqCst);
                instructions.borrow_mut().push((now() - LOCKED, last_cpu()));
            }
        };
        simulation.spawn(first, pinned, body).unwrap();
    }
    let outcome = simulation.run();
    assert_eq!(word.peek(), 1000);
    assert!(if pinned { outcome.preemptions } else { outcome.migrations } > 20);
    for (begin, core) in instructions.take() {
        let events = &outcome.traffic.events;
        let last = events.iter().rfind(|event| event.begin <= begin).expect("the line came from memory");
        assert_eq!(last.to, core, "at {begin} the line was elsewhere: {last:?}");
    }
}

#[test]
fn an_instruction_under_way_is_carried_out_before_its_thread_loses_the_cpu() {
    // Any transfer takes longer than the time slice.
    owned_by_whoever_locks(&number("quantum", 1.0, "ns"), true);
}

#[test]
fn a_thread_of_the_same_core_does_not_use_a_line_that_has_left() {
    // Both threads of core 0 want the line that it has; core 1 takes it while the first of them is at it.
    let all: [Step; 4] = [
        (0, 0, locked),
        (0, MICROSECOND, locked),
        (1, MICROSECOND + 1_000, locked),
        (2, MICROSECOND + 5_000, locked),
    ];
    let (times, traffic) = steps([1, 1, 2, 2], "mesi", &number("switch", 1.0, "ns"), &all);
    assert_eq!(times[1], LOCKED);
    assert_eq!(times[3], NEAR + LOCKED);
    // It comes back for the other one when the second core has done with it.
    assert_eq!(times[2], 4_000 + NEAR + HOLD + NEAR + LOCKED);
    assert_eq!((traffic.total().hits, traffic.total().moves()), (1, 3));
}

#[test]
fn a_thread_that_was_moved_while_it_waited_asks_again() {
    let scheduler = number("migration_rate", 1e6, "per_second") + &number("switch", 1.0, "ns");
    owned_by_whoever_locks(&scheduler, false);
}

#[test]
fn a_writer_whose_own_last_cache_has_the_line_waits_for_the_farthest_copy_only() {
    let quick = number("switch", 1.0, "ns");
    let all: [Step; 4] =
        [(0, 0, load), (2, MICROSECOND, load), (3, 2 * MICROSECOND, load), (1, 3 * MICROSECOND, locked)];
    let (times, traffic) = steps([2, 1, 2, 1], "mesif", &quick, &all);
    assert_eq!(times, [MEMORY, FAR, L3, FAR + LOCKED]);
    assert_eq!((traffic.total().writes, traffic.total().written_back), (1, 0));
}

#[test]
fn a_modified_line_that_is_read_goes_to_memory_once_unless_it_can_be_owned() {
    let all: [Step; 3] = [(0, 0, locked), (1, MICROSECOND, load), (2, 2 * MICROSECOND, load)];
    let written_back = |protocol| steps([1, 1, 3, 1], protocol, "", &all).1.total().written_back;
    assert_eq!(["mesi", "mesif", "moesi"].map(written_back), [1, 1, 0]);
}

#[test]
fn a_directory_in_a_third_package_takes_one_way_more() {
    let hop = (FAR_MEMORY - MEMORY) / 2;
    let all: [Step; 3] = [(0, 0, locked), (1, MICROSECOND, locked), (2, 2 * MICROSECOND, locked)];
    // Home is the first one's package: it gives the line itself, and then asks the second for the third.
    let (times, _) = steps([3, 1, 1, 1], "mesi", "", &all);
    assert_eq!(times, [MEMORY + LOCKED, FAR + LOCKED, FAR + hop + LOCKED]);
}

#[test]
fn a_sibling_that_waits_for_a_line_leaves_the_core_to_the_other() {
    let machine = machine([1, 1, 2, 2], "mesi", "");
    let word = Line(AtomicU64::new(0));
    let took_alone = std::cell::Cell::new(0);
    let mut simulation = Simulation::new(&machine, 1, 0, 0);
    simulation.spawn(0, true, || _ = load(&word.0)).unwrap();
    simulation
        .spawn(1, true, || {
            // The other one waits for memory: this one has the core for itself.
            terrace_coherence::simulation::lock_step();
            work(1_000);
            work(1_000);
            took_alone.set(now());
        })
        .unwrap();
    simulation.run();
    assert_eq!(took_alone.get(), 2_000);
}

#[test]
fn a_line_waits_for_new_objects_on_its_link_but_not_for_more_than_cores_have_under_way() {
    for (bytes, wait) in [(8 << 10, 2_048_000), (64 << 10, 4_096_000)] {
        let mut machine = machine([2, 1, 2, 1], "mesi", "");
        machine.bandwidth.link = 1e9;
        let word = Line(AtomicU64::new(0));
        let mut simulation = Simulation::new(&machine, 1, 0, 0);
        // Half of what goes to memory crosses the links, half of that in each direction; four cores have 16 lines each under way.
        simulation.stream(1.0, false);
        simulation.spawn(0, true, || _ = locked(&word.0)).unwrap();
        simulation
            .spawn(1, true, move || {
                at(MICROSECOND);
                terrace_coherence::simulation::produce(0, bytes);
            })
            .unwrap();
        simulation
            .spawn(2, true, || {
                at(MICROSECOND);
                assert_eq!(load(&word.0), FAR + wait);
            })
            .unwrap();
        simulation.run();
    }
}

#[test]
fn a_line_from_another_package_waits_for_what_the_link_has_still_to_carry() {
    let mut machine = machine([2, 1, 2, 1], "mesi", "");
    // 64 ns for a line.
    machine.bandwidth.link = 1e9;
    let words: [Line<AtomicU64>; 2] = Default::default();
    let times = RefCell::new(Vec::new());
    let mut simulation = Simulation::new(&machine, 1, 0, 0);
    for (cpu, word) in words.iter().enumerate() {
        simulation.spawn(cpu as u32, true, || _ = locked(&word.0)).unwrap();
        let times = &times;
        let body = move || {
            at(MICROSECOND);
            let time = load(&word.0);
            times.borrow_mut().push(time);
        };
        simulation.spawn(cpu as u32 + 2, true, body).unwrap();
    }
    simulation.run();
    assert_eq!(times.take(), [FAR, FAR + 64_000]);
}
