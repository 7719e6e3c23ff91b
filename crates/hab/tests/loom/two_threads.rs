//! Two threads.

use super::*;

/// `main` and one other thread, on one level.
fn pair(
    preemptions: Option<usize>,
    grains: usize,
    domains: u16,
    before: fn(&OneLevel, &'static Heap),
    other: fn(&OneLevel, &'static Heap),
    main: fn(&OneLevel, &'static Heap),
    after: fn(&OneLevel),
) {
    model(preemptions, move || {
        let heap = heap(grains);
        let level = level(domains, 3, heap);
        before(level, heap);
        let thread = thread::spawn(move || other(level, heap));
        main(level, heap);
        thread.join().unwrap();
        after(level);
        check(level, heap);
    });
}

fn nothing<T: ?Sized>(_: &T) {}

fn take_on_0(level: &OneLevel, heap: &'static Heap) {
    assert!(take(level, heap, CPU0));
}

fn take_two_on_0(level: &OneLevel, heap: &'static Heap) {
    assert!(take(level, heap, CPU0));
    assert!(take(level, heap, CPU0));
}

fn take_two_if_there(level: &OneLevel, heap: &'static Heap) {
    take(level, heap, CPU0);
    take(level, heap, CPU0);
}

#[test]
fn refill_against_allocate() {
    pair(Some(5), 8, 1, |_, _| (), take_two_on_0, take_on_0, nothing);
}

#[test]
fn refill_of_a_used_up_buffer_against_the_last_allocation_from_it() {
    pair(Some(5), 10, 1, take_two_on_0, take_two_on_0, take_on_0, nothing);
}

/// The heap is used up by the first refill: the other thread steals, or is refused while that refill is under way.
#[test]
fn refill_against_steal() {
    let one_on_1 = |level: &OneLevel, heap: &'static Heap| {
        take(level, heap, CPU1);
    };
    pair(Some(5), 3, 2, |_, _| (), take_two_if_there, one_on_1, nothing);
}

#[test]
fn steal_against_retire() {
    let steal = |level: &OneLevel, heap: &'static Heap| {
        take(level, heap, CPU1);
    };
    pair(Some(5), 3, 2, take_on_0, steal, |level, _| level.retire_buffers(), nothing);
}

#[test]
fn refill_against_retire_buffers() {
    pair(Some(6), 6, 1, |_, _| (), take_two_on_0, |level, _| level.retire_buffers(), nothing);
}

/// The thread that collects goes on allocating, while the other one's refill still is under way.
#[test]
fn refill_against_retire_buffers_and_a_second_refill() {
    let retire_and_take = |level: &OneLevel, heap: &'static Heap| {
        level.retire_buffers();
        take_on_0(level, heap);
    };
    pair(Some(5), 8, 1, |_, _| (), take_on_0, retire_and_take, nothing);
}

/// Whoever takes a tail out may come too late to put it in again: another thread has refilled meanwhile.
#[test]
fn refill_against_a_tail_that_is_taken_out_and_put_in() {
    let out_and_in = |level: &OneLevel, _: &'static Heap| {
        let tail = level.take_tail(0);
        if tail.bytes > 0 && !level.give_tail(0, tail) {
            level.upper().retire(tail);
        }
    };
    pair(Some(5), 8, 1, take_on_0, take_two_on_0, out_and_in, nothing);
}

#[test]
fn allocate_against_retire_buffers() {
    let retire = |level: &OneLevel, _: &'static Heap| level.retire_buffers();
    pair(None, 6, 1, take_on_0, take_on_0, retire, nothing);
}

/// Core buffers of three grains over one processor buffer of eight.
fn four_levels(
    preemptions: Option<usize>,
    other: fn(&TwoLevels, &'static Heap),
    main: fn(&TwoLevels, &'static Heap),
) {
    model(preemptions, move || {
        let heap = heap(20);
        let processor = level(2, 8, heap);
        let core = level(2, 3, processor);
        let thread = thread::spawn(move || other(core, heap));
        main(core, heap);
        thread.join().unwrap();
        check_level(core);
        core.retire_buffers();
        check_level(core);
        let passed = sum(core, &[Counter::RefillBytes, Counter::DirectBytes]);
        let supplied = [Counter::BufferBytes, Counter::StolenBytes, Counter::DirectBytes];
        assert_eq!(passed, sum(processor, &supplied));
        check(processor, heap);
    });
}

#[test]
fn four_levels_refill_against_refill() {
    let take_on_0 = |level: &TwoLevels, heap: &'static Heap| assert!(take(level, heap, CPU0));
    four_levels(Some(3), take_on_0, take_on_0);
}

#[test]
fn four_levels_refill_against_retire_buffers() {
    let take_on_0 = |level: &TwoLevels, heap: &'static Heap| assert!(take(level, heap, CPU0));
    let retire = |level: &TwoLevels, _: &'static Heap| {
        level.retire_buffers();
        level.upper().retire_buffers();
    };
    four_levels(Some(5), take_on_0, retire);
}
