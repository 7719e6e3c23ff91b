//! The sequences' instructions, run in an area that nobody restarts: what they load, compare and store. That the kernel begins them
//! again is for `tests/interrupted.rs`, where it has areas; qemu has none, and these tests run there, too.

use crate::grain::GRAIN;
use crate::percpu::{Happened, PerCpu, Sizes};
use crate::primitive::{Atomic64, Ordering};
use crate::reserve::Reserve;
use crate::segments::Segments;
use crate::sequence::{Area, cpu, replace, take, take_by_any};
use crate::slot::{EMPTY, REFILLING, REST_BITS, Slot, Taken, cut};

/// As long as the area of any kernel so far, and aligned as it.
#[repr(C, align(32))]
struct Fake {
    cpu_id_start: u32,
    cpu_id: u32,
    descriptor: u64,
    flags: u32,
    node: u32,
    concurrency_id: u32,
    rest: [u32; 9],
}

impl Fake {
    /// The area of a thread on this CPU.
    fn on(cpu_id: u32) -> Fake {
        Fake {
            cpu_id_start: cpu_id,
            cpu_id,
            descriptor: 0,
            flags: 0,
            node: 0,
            concurrency_id: 0,
            rest: [0; 9],
        }
    }

    fn area(&mut self) -> Area {
        self.of_kind(false)
    }

    fn of_kind(&mut self, by_ids: bool) -> Area {
        let thread: isize;
        // SAFETY: reads the thread pointer; on x86-64 the control block begins with its own address.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            std::arch::asm!("mov {}, fs:0", out(reg) thread, options(nostack, preserves_flags, readonly));
            #[cfg(target_arch = "aarch64")]
            std::arch::asm!("mrs {}, tpidr_el0", out(reg) thread, options(nostack, preserves_flags, readonly));
        }
        let at = (&raw mut *self).expose_provenance() as isize;
        // SAFETY: used on this thread, and not longer than `self` lives.
        unsafe { Area::at(at.wrapping_sub(thread), by_ids) }
    }
}

const WORD: u64 = 7 << REST_BITS | 5;

fn slots() -> [Slot; 3] {
    let slots = [Slot::new(), Slot::new(), Slot::new()];
    slots[1].words[0].store(WORD, Ordering::Relaxed);
    slots
}

fn words(slots: &[Slot]) -> [u64; 3] {
    [0, 1, 2].map(|slot: usize| slots[slot].words[0].load(Ordering::Relaxed))
}

#[test]
fn a_request_is_cut_from_the_word_of_its_cpu_alone() {
    let (mut fake, slots) = (Fake::on(1), slots());
    let area = fake.area();
    assert_eq!(cpu(area), Some(1));
    // SAFETY: only this thread uses the slots.
    let taken = [2, 4, 3, 1].map(|grains| unsafe { take(area, &slots, grains) });
    let after = 9 << REST_BITS | 3;
    assert_eq!(taken, [Taken::Done(WORD), Taken::Short, Taken::Done(after), Taken::Short]);
    assert_eq!(words(&slots), [EMPTY, 12 << REST_BITS, EMPTY]);
    assert_ne!(fake.descriptor, 0, "the kernel was told of the sequence");
}

#[test]
fn nothing_is_taken_from_a_word_being_refilled_nor_by_a_cpu_without_a_slot() {
    let slots = slots();
    slots[2].words[0].store(REFILLING, Ordering::Relaxed);
    // 3 and 64 are no slots; the others are the kernel's words for "no area".
    for number in [0, 2, 3, 64, -1_i32 as u32, -2_i32 as u32] {
        // SAFETY: only this thread uses the slots.
        assert_eq!(unsafe { take(Fake::on(number).area(), &slots, 1) }, Taken::Short, "{number}");
    }
    assert_eq!(words(&slots), [EMPTY, WORD, REFILLING]);
    assert_eq!(cpu(Fake::on(-1_i32 as u32).area()), None);
}

#[test]
fn a_word_is_replaced_if_cpu_and_value_are_as_expected() {
    let mut fake = Fake::on(2);
    let area = fake.area();
    let word = Atomic64::new(WORD);
    // SAFETY: only this thread uses the word.
    let replace = |cpu, old, new| unsafe { replace(area, &word, cpu, old, new) };
    assert!(!replace(1, WORD, 1) && !replace(2, WORD + 1, 2) && !replace(2, WORD | 1 << 63, 3));
    assert_eq!(word.load(Ordering::Relaxed), WORD);
    assert!(replace(2, WORD, REFILLING));
    assert_eq!(word.load(Ordering::Relaxed), REFILLING);
}

#[test]
fn an_aligned_request_takes_the_gap_before_it_too() {
    for by_ids in [false, true] {
        let mut fake = Fake::on(1);
        fake.concurrency_id = 1;
        let area = fake.of_kind(by_ids);
        for (top, rest) in
            [(0, 9), (1, 9), (7, 40), (31, 9), (33, 31), (33, 32), (u64::from(u32::MAX) << 7, 5)]
        {
            let word = top << REST_BITS | rest;
            for (grains, gap) in
                [(1, 0), (1, 1), (2, 1), (9, 1), (8, 1), (8, 3), (3, 7), (1, 31), (1 << 23, 31)]
            {
                let slots = slots();
                slots[1].words[0].store(word, Ordering::Relaxed);
                // SAFETY: only this thread uses the slots.
                let taken = unsafe { take_by_any(area, &slots, grains, gap) };
                let expected = cut(word, grains, gap);
                let outcome = if expected.is_some() { Taken::Done(word) } else { Taken::Short };
                assert_eq!(
                    (taken, words(&slots)[1]),
                    (outcome, expected.unwrap_or(word)),
                    "{top} {rest} {grains} {gap}"
                );
                assert_eq!((words(&slots)[0], words(&slots)[2]), (EMPTY, EMPTY));
            }
        }
    }
    let (mut none, slots) = (Fake::on(-1_i32 as u32), slots());
    // SAFETY: as above.
    let taken = [false, true].map(|by_ids| unsafe { take_by_any(none.of_kind(by_ids), &slots, 1, 1) });
    assert_eq!(taken, [Taken::Short; 2]);
}

#[test]
fn with_concurrency_ids_the_word_is_that_of_the_id() {
    let mut fake = Fake::on(2);
    fake.concurrency_id = 1;
    let (area, slots) = (fake.of_kind(true), slots());
    assert_eq!(cpu(area), Some(1));
    // SAFETY: only this thread uses the slots.
    let taken = [2, 4].map(|grains| unsafe { take_by_any(area, &slots, grains, 0) });
    assert_eq!(taken, [Taken::Done(WORD), Taken::Short]);
    let word = &slots[1].words[0];
    let held = word.load(Ordering::Relaxed);
    // SAFETY: as above.
    let replaced = [2, 1].map(|id| unsafe { replace(area, word, id, held, EMPTY) });
    assert_eq!(replaced, [false, true]);

    // A thread without an area has the id 0.
    let mut none = Fake::on(-1_i32 as u32);
    let (area, slots) = (none.of_kind(true), [Slot::new()]);
    // Who believed in it would try forever to take what `take` and `replace` do not give.
    assert_eq!(cpu(area), None);
    slots[0].words[0].store(WORD, Ordering::Relaxed);
    // SAFETY: as above.
    let taken = unsafe { take_by_any(area, &slots, 1, 0) };
    assert_eq!(taken, Taken::Short);
    // SAFETY: as above.
    assert!(!unsafe { replace(area, &slots[0].words[0], 0, WORD, EMPTY) });
}

/// Who believes in its id of 0 tries for ever to take what is not given.
#[test]
fn a_thread_without_an_area_is_served_past_the_buffers() {
    const LIMIT: usize = 64;
    for by_ids in [false, true] {
        let mut none = Fake::on(-1_i32 as u32);
        let sizes = Sizes::equal(32 * GRAIN, 3);
        let buffers = PerCpu::new(none.of_kind(by_ids), topology::CpuSource::detect(), 1 << 20, sizes);
        let reserve = Reserve::new(Segments::foreign(1 << 20, LIMIT * GRAIN), LIMIT * GRAIN);
        let take = || buffers.allocate(GRAIN, GRAIN, &reserve, |_| ());
        let mut starts: Vec<usize> = std::iter::from_fn(take).collect();
        starts.dedup();
        assert_eq!((starts.len(), take()), (LIMIT, None));
        assert_eq!(buffers.happened(), Happened::default());
    }
}
