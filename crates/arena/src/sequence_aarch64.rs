//! The sequences of `sequence.rs` in aarch64's instructions.
//!
//! What differs. The thread pointer is a register of its own, and an address takes two instructions. The word is loaded with acquire:
//! a plain load would not order the caller's look at the bytes behind what their publisher did to them. The store that commits is a
//! plain one: only code on this CPU takes from the word until it is used up, and the kernel orders one thread's turn behind the
//! other's (`docs/memory-orders.md`). No exclusive loads and no atomic instructions: the kernel's word that nothing came between is
//! all that is needed. A conditional branch reaches 1 MB, so it stays in its section; the answer is made before the store that
//! commits, and is nothing until then.

pub(crate) use crate::area::{Area, find, is_inlined};
use crate::primitive::Atomic64;
use crate::slot::{EMPTY, REST_BITS, REST_MASK, STRIDE, Slot, Taken};
use std::arch::asm;
use std::ptr::NonNull;
use topology::RseqArea;

/// Where the thread's number is, from the area's begin.
#[inline(always)]
fn id_offset(area: Area) -> isize {
    if area.is_by_ids() { RseqArea::CONCURRENCY_ID } else { RseqArea::CPU_ID }
}

const _: () = assert!(RseqArea::CPU_ID == 4 && RseqArea::CONCURRENCY_ID == 24);
const _: () = assert!(size_of::<Slot>() == STRIDE && 1 << STRIDE_SHIFT == STRIDE);
const STRIDE_SHIFT: u32 = 7;

/// The CPU that this thread is on, as the kernel tells for sequences, or its concurrency id; `None` in a thread without any, because other
/// code has taken its area over.
#[inline(always)]
pub(crate) fn cpu(area: Area) -> Option<u32> {
    let cpu: u32;
    // SAFETY: as in `take`; an aligned load of four bytes is not torn.
    unsafe {
        asm!(
            "mrs {thread}, tpidr_el0",
            "ldr {cpu:w}, [{thread}, {at}]",
            thread = out(reg) _,
            cpu = lateout(reg) cpu,
            at = in(reg) area.offset().wrapping_add(id_offset(area)),
            options(nostack, preserves_flags, readonly),
        );
    }
    // The kernel's words for "not registered" are negative numbers; an area that was given up has a concurrency id of 0, in which `take` and
    // `replace` do not believe.
    (cpu as i32 >= 0).then_some(cpu)
}

/// The sequence of [`take`]: `$number` has the instructions that load the word's number into `slot`.
macro_rules! take {
    ($area:expr, $slots:expr, $grains:expr, $($number:literal),+) => {{
        // The first field of a slot is the word, and slots are `STRIDE` bytes apart.
        let (words, count) = ($slots.as_ptr(), $slots.len() as u32);
        let word: u64;
        asm!(
            ".pushsection __rseq_cs, \"aw\"",
            ".balign 32",
            "77:",
            ".long 0, 0",
            ".quad 22f, 33f - 22f, 44f",
            ".popsection",
            "55:",
            "mrs {thread}, tpidr_el0",
            "add {thread}, {thread}, {area}",
            "adrp {slot}, 77b",
            "add {slot}, {slot}, :lo12:77b",
            "str {slot}, [{thread}, #8]",
            "22:",
            "mov {word}, xzr",
            $($number,)+
            "cmp {slot:w}, {count:w}",
            "b.hs 66f",
            "add {slot}, {words}, {slot}, lsl #{shift}",
            "ldar {old}, [{slot}]",
            "and {next}, {old}, #{mask}",
            "cmp {next}, {grains}",
            "b.lo 66f",
            "add {next}, {old}, {delta}",
            "mov {word}, {old}",
            "str {next}, [{slot}]",
            "33:",
            "66:",
            ".pushsection __rseq_failure, \"ax\"",
            // The signature: an instruction that cannot be executed (brk #0x45e0).
            ".inst 0xd428bc00",
            "44:",
            "b 55b",
            ".popsection",
            area = in(reg) $area.offset(),
            words = in(reg) words,
            count = in(reg) count,
            grains = in(reg) $grains,
            delta = in(reg) ($grains << REST_BITS).wrapping_sub($grains),
            mask = const REST_MASK,
            shift = const STRIDE_SHIFT,
            thread = out(reg) _,
            slot = out(reg) _,
            old = out(reg) _,
            next = out(reg) _,
            word = out(reg) word,
            options(nostack),
        );
        // A word that serves has a rest.
        if word != EMPTY { Taken::Done(word) } else { Taken::Short }
    }};
}

/// Takes `grains` from the word of the current CPU: its lower field shrinks, its upper one grows.
///
/// Cost when it fits: two loads, one of them with acquire, two compares and two stores; no exclusive access, no store that another
/// CPU sees.
///
/// # Safety
/// The first word of slot `i` belongs to CPU `i`: it is changed by nothing but these sequences while its lower field is not 0.
/// `grains` is not 0 and at most [`REST_MASK`]. The area [`is_inlined`]: it goes by CPUs.
#[inline(always)]
pub(crate) unsafe fn take(area: Area, slots: &[Slot], grains: u64) -> Taken {
    // SAFETY: TPIDR_EL0 is the thread pointer; the area at `offset` belongs to this thread and lives as long (glibc). The descriptor
    // and the handler are constant and stay loaded. Everything read and written is what the caller vouches for. Without an area the
    // CPU is a negative number, larger than any count.
    unsafe { take!(area, slots, grains, "ldr {slot:w}, [{thread}, #4]") }
}

/// As [`take`], of whatever area.
///
/// # Safety
/// As for [`take`], for the concurrency id where the area goes by it.
pub(crate) unsafe fn take_by_any(area: Area, slots: &[Slot], grains: u64) -> Taken {
    if is_inlined(area) {
        // SAFETY: the caller's promise.
        return unsafe { take(area, slots, grains) };
    }
    // SAFETY: as in `take`; the CPU is looked at because the id of a thread without an area is 0.
    unsafe {
        take!(
            area,
            slots,
            grains,
            "ldr {slot:w}, [{thread}, #4]",
            "tbnz {slot:w}, #31, 66f",
            "ldr {slot:w}, [{thread}, #24]"
        )
    }
}

/// Stores `new` into a word of CPU (or id) `cpu` if this thread is on that CPU and the word still is `old`; says whether it did.
///
/// # Safety
/// `word` belongs to CPU `cpu` as in [`take`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn replace(area: Area, word: &Atomic64, cpu: u32, old: u64, new: u64) -> bool {
    let word = NonNull::from(word);
    let done: u32;
    // SAFETY: as in `take`.
    unsafe {
        asm!(
            ".pushsection __rseq_cs, \"aw\"",
            ".balign 32",
            "77:",
            ".long 0, 0",
            ".quad 22f, 33f - 22f, 44f",
            ".popsection",
            "55:",
            "mrs {thread}, tpidr_el0",
            "add {thread}, {thread}, {area}",
            "adrp {scratch}, 77b",
            "add {scratch}, {scratch}, :lo12:77b",
            "str {scratch}, [{thread}, #8]",
            "22:",
            "mov {done:w}, wzr",
            // Without an area a negative number, and an id of 0.
            "ldr {scratch:w}, [{thread}, #4]",
            "tbnz {scratch:w}, #31, 66f",
            "ldr {scratch:w}, [{thread}, {id}]",
            "cmp {scratch:w}, {cpu:w}",
            "b.ne 66f",
            "ldar {scratch}, [{word}]",
            "cmp {scratch}, {old}",
            "b.ne 66f",
            "mov {done:w}, #1",
            "str {new}, [{word}]",
            "33:",
            "66:",
            ".pushsection __rseq_failure, \"ax\"",
            ".inst 0xd428bc00",
            "44:",
            "b 55b",
            ".popsection",
            area = in(reg) area.offset(),
            id = in(reg) id_offset(area),
            word = in(reg) word.as_ptr(),
            cpu = in(reg) cpu,
            old = in(reg) old,
            new = in(reg) new,
            thread = out(reg) _,
            scratch = out(reg) _,
            done = out(reg) done,
            options(nostack),
        );
    }
    done != 0
}
