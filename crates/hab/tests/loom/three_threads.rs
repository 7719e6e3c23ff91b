//! Three threads, with a bound on preemptions.

use super::*;

type Role = fn(&OneLevel, &'static Heap);

fn trio(preemptions: usize, grains: usize, domains: u16, roles: [Role; 3], after: fn(&OneLevel)) {
    model(Some(preemptions), move || {
        let heap = heap(grains);
        let level = level(domains, 3, heap);
        let [first, second, main] = roles;
        let threads = [first, second].map(|role| thread::spawn(move || role(level, heap)));
        main(level, heap);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        after(level);
        check(level, heap);
    });
}

fn take_on_0(level: &OneLevel, heap: &'static Heap) {
    take(level, heap, CPU0);
}

fn take_on_1(level: &OneLevel, heap: &'static Heap) {
    take(level, heap, CPU1);
}

fn retire(level: &OneLevel, _: &'static Heap) {
    level.retire_buffers();
}

#[test]
fn two_refills_against_retire_buffers() {
    trio(3, 8, 1, [take_on_0, take_on_0, retire], |_| ());
}

#[test]
fn refill_against_steal_against_retire_buffers() {
    trio(3, 3, 2, [take_on_0, take_on_1, retire], |_| ());
}

#[test]
fn two_collections_at_once() {
    trio(3, 6, 1, [take_on_0, retire, retire], |_| ());
}
