//! Restartable sequences: short pieces of code that the kernel starts again from the beginning when the thread was preempted,
//! migrated or interrupted by a signal inside them. A store that ends one is therefore atomic for everything that happens on this
//! CPU, without a locked instruction (rseq(2); the paper's wish in its section III.A).
//!
//! A sequence is described by a `struct rseq_cs`; its address is stored into the thread's rseq area, and from the first instruction
//! to the one that commits the kernel watches. If it interferes it goes on at the abort handler, which begins again. The four bytes
//! before a handler are the signature that glibc registered.
//!
//! Both sequences here have one store as their end, into a word that only code on that word's CPU may change by a sequence.

pub(crate) use crate::area::{Area, find, is_inlined};
use crate::primitive::Atomic64;
use crate::slot::{EMPTY, REST_BITS, REST_MASK, STRIDE, Slot, Taken};
use std::arch::asm;
use std::ptr::NonNull;
use topology::RseqArea;

const _: () = assert!(size_of::<Slot>() == STRIDE && 1 << STRIDE_SHIFT == STRIDE);
const STRIDE_SHIFT: u32 = 7;

/// Where the thread's number is, from the thread pointer.
#[inline(always)]
fn id_offset(area: Area) -> isize {
    area.offset().wrapping_add(if area.is_by_ids() { RseqArea::CONCURRENCY_ID } else { RseqArea::CPU_ID })
}

/// The CPU that this thread is on, as the kernel tells for sequences, or its concurrency id; `None` in a thread without any, because other
/// code has taken its area over.
#[inline(always)]
pub(crate) fn cpu(area: Area) -> Option<u32> {
    let cpu: u32;
    // SAFETY: as in `take`; an aligned load of four bytes is not torn.
    unsafe {
        asm!(
            "mov {cpu:e}, dword ptr fs:[{at}]",
            cpu = lateout(reg) cpu,
            at = in(reg) id_offset(area),
            options(nostack, preserves_flags, readonly),
        );
    }
    // The kernel's words for "not registered" are negative numbers; an area that was given up has a concurrency id of 0, in which `take` and
    // `replace` do not believe.
    (cpu as i32 >= 0).then_some(cpu)
}

/// The sequence of [`take`]: `$id` is where the word's number lies in the area, `$check` what makes sure that the area is the kernel's.
macro_rules! take {
    ($area:expr, $slots:expr, $grains:expr, $id:expr, $($check:literal),*) => {{
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
            "lea {slot}, [rip + 77b]",
            "mov qword ptr fs:[{area} + 8], {slot}",
            "22:",
            $($check,)*
            "mov {slot:e}, dword ptr fs:[{area} + {id}]",
            "cmp {slot:e}, {count:e}",
            "jae 88f",
            "shl {slot}, {shift}",
            "mov {word}, qword ptr [{words} + {slot}]",
            "mov {next:e}, {word:e}",
            "and {next:e}, {mask}",
            "cmp {next}, {grains}",
            "jb 88f",
            "lea {next}, [{word} + {delta}]",
            "mov qword ptr [{words} + {slot}], {next}",
            "33:",
            ".pushsection __rseq_failure, \"ax\"",
            "88:",
            "xor {word:e}, {word:e}",
            "jmp 33b",
            // An instruction that cannot be executed, whose last four bytes are the signature.
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "44:",
            "jmp 55b",
            ".popsection",
            area = in(reg) $area.offset(),
            words = in(reg) words,
            count = in(reg) count,
            grains = in(reg) $grains,
            delta = in(reg) ($grains << REST_BITS).wrapping_sub($grains),
            id = const $id,
            mask = const REST_MASK,
            shift = const STRIDE_SHIFT,
            slot = out(reg) _,
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
/// Cost when it fits: two loads, two compares and two stores; no locked instruction, no store that another CPU sees.
///
/// # Safety
/// The first word of slot `i` belongs to CPU `i`: it is changed by nothing but these sequences while its lower field is not 0.
/// `grains` is not 0 and at most [`REST_MASK`]. The area [`is_inlined`]: it goes by CPUs.
#[inline(always)]
pub(crate) unsafe fn take(area: Area, slots: &[Slot], grains: u64) -> Taken {
    // SAFETY: FS is the base of the thread's control block; the area at `offset` belongs to this thread and lives as long (glibc).
    // The descriptor and the handler are constant and stay loaded. Everything read and written is what the caller vouches for. Without an area
    // the CPU is a negative number, larger than any count.
    unsafe { take!(area, slots, grains, RseqArea::CPU_ID,) }
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
        take!(area, slots, grains, RseqArea::CONCURRENCY_ID, "cmp dword ptr fs:[{area} + 4], 0", "jl 88f")
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
            "lea {scratch}, [rip + 77b]",
            "mov qword ptr fs:[{area} + 8], {scratch}",
            "22:",
            "xor {done:e}, {done:e}",
            // Without an area a negative number, and an id of 0.
            "cmp dword ptr fs:[{area} + 4], 0",
            "jl 66f",
            "cmp {cpu:e}, dword ptr fs:[{id}]",
            "jne 66f",
            "cmp {old}, qword ptr [{word}]",
            "jne 66f",
            "mov qword ptr [{word}], {new}",
            "33:",
            "mov {done:e}, 1",
            "66:",
            ".pushsection __rseq_failure, \"ax\"",
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "44:",
            "jmp 55b",
            ".popsection",
            area = in(reg) area.offset(),
            id = in(reg) id_offset(area),
            word = in(reg) word.as_ptr(),
            cpu = in(reg) cpu,
            old = in(reg) old,
            new = in(reg) new,
            scratch = out(reg) _,
            done = out(reg) done,
            options(nostack),
        );
    }
    done != 0
}
