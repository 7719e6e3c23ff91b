//! Restartable sequences: short pieces of code that the kernel starts again from the beginning when the thread was preempted,
//! migrated or interrupted by a signal inside them. A store that ends one is therefore atomic for everything that happens on this
//! CPU, without a locked instruction (rseq(2); the paper's wish in its section III.A).
//!
//! A sequence is described by a `struct rseq_cs`; its address is stored into the thread's rseq area, and from the first instruction
//! to the one that commits the kernel watches. If it interferes it goes on at the abort handler, which begins again. The four bytes
//! before a handler are the signature that glibc registered.
//!
//! Both sequences here have one store as their end, into a word that only code on that word's CPU may change by a sequence. Each processor's
//! instructions are in a file of their own.

/// The `struct rseq_cs` of a sequence from 22 to 33, with its handler at 44.
macro_rules! descriptor {
    () => {
        ".pushsection __rseq_cs, \"aw\"
         .balign 32
         77:
         .long 0, 0
         .quad 22f, 33f - 22f, 44f
         .popsection"
    };
}

/// A sequence that takes, of these instructions, and what they need besides the operands of every processor and of each kind. Gives the word that was
/// taken from.
macro_rules! taking {
    ($area:expr, $slots:expr, $grains:expr; $($instructions:tt)*) => {{
        // The first field of a slot is the word, and slots are `STRIDE` bytes apart.
        let (words, count) = ($slots.as_ptr(), $slots.len() as u32);
        let word: u64;
        asm!(
            $($instructions)*
            area = in(reg) $area.offset(),
            words = in(reg) words,
            count = in(reg) count,
            grains = in(reg) $grains,
            mask = const REST_MASK,
            shift = const STRIDE_SHIFT,
            slot = out(reg) _,
            next = out(reg) _,
            word = out(reg) word,
            options(nostack),
        );
        word
    }};
}

/// The same of [`replace`]. Gives 1 if it did.
macro_rules! replacing {
    ($area:expr, $word:expr, $cpu:expr, $old:expr, $new:expr, $id:expr; $($instructions:tt)*) => {{
        let done: u32;
        asm!(
            $($instructions)*
            area = in(reg) $area.offset(),
            id = in(reg) $id,
            word = in(reg) $word.as_ptr(),
            cpu = in(reg) $cpu,
            old = in(reg) $old,
            new = in(reg) $new,
            scratch = out(reg) _,
            done = out(reg) done,
            options(nostack),
        );
        done
    }};
}

#[cfg_attr(target_arch = "x86_64", path = "sequence/x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "sequence/aarch64.rs")]
mod instructions;

pub(crate) use crate::area::{Area, find, is_inlined};
use crate::primitive::Atomic64;
use crate::slot::{EMPTY, REST_BITS, REST_MASK, STRIDE, Slot, Taken};
use instructions::{cutting, number, replaced, taken, taken_aligned};
use std::arch::asm;
use std::ptr::NonNull;
use topology::RseqArea;

const _: () = assert!(size_of::<Slot>() == STRIDE && 1 << STRIDE_SHIFT == STRIDE);
const STRIDE_SHIFT: u32 = 7;

/// Where the thread's number is, from the area's begin.
#[inline(always)]
fn id_offset(area: Area) -> isize {
    if area.is_by_ids() { RseqArea::CONCURRENCY_ID } else { RseqArea::CPU_ID }
}

/// The CPU that this thread is on, as the kernel tells for sequences, or its concurrency id; `None` in a thread without any, because other
/// code has taken its area over.
#[inline(always)]
pub(crate) fn cpu(area: Area) -> Option<u32> {
    // SAFETY: as in `take`; an aligned load of four bytes is not torn.
    let at = |offset: isize| unsafe { number(area.offset().wrapping_add(offset)) };
    // The kernel's words for "not registered" are negative numbers, and the concurrency id is 0 then. Only the thread itself gives its area up, so
    // that two loads tell of one state.
    let is_registered = |cpu: u32| cpu as i32 >= 0;
    let found = at(id_offset(area));
    let has_area = is_registered(found) && (!area.is_by_ids() || is_registered(at(RseqArea::CPU_ID)));
    has_area.then_some(found)
}

/// Takes `grains` from the word of the current CPU: its lower field shrinks, its upper one grows.
///
/// Cost when it fits: two loads, two compares and two stores; no locked or exclusive access, no store that another CPU sees.
///
/// # Safety
/// The first word of slot `i` belongs to CPU `i`: it is changed by nothing but these sequences while its lower field is not 0.
/// `grains` is not 0 and at most [`REST_MASK`]. The area [`is_inlined`]: it goes by CPUs.
#[inline(always)]
pub(crate) unsafe fn take(area: Area, slots: &[Slot], grains: u64) -> Taken {
    // SAFETY: the area at `offset` from the thread pointer belongs to this thread and lives as long (glibc). The descriptor and the handler are
    // constant and stay loaded (`pinned`). Everything read and written is what the caller vouches for. Without an area the CPU is a negative number,
    // larger than any count.
    served(unsafe { taken!(area, slots, grains, by_cpu) })
}

/// As [`take`], and before them as many grains as lie between the top and a multiple of `gap + 1` of them. `gap` is one less than a power of two,
/// and less than [`REST_MASK`] / 2.
///
/// Cost when it fits: as [`take`], and six instructions for the gap.
///
/// # Safety
/// As for [`take`].
#[inline(always)]
pub(crate) unsafe fn take_aligned(area: Area, slots: &[Slot], grains: u64, gap: u64) -> Taken {
    // SAFETY: as in `take`.
    served(unsafe { taken_aligned!(area, slots, grains, gap, by_cpu) })
}

/// As [`take_aligned`], of whatever area.
///
/// # Safety
/// As for [`take`], for the concurrency id where the area goes by it.
pub(crate) unsafe fn take_by_any(area: Area, slots: &[Slot], grains: u64, gap: u64) -> Taken {
    let word = match (is_inlined(area), gap) {
        // SAFETY: the caller's promise.
        (true, 0) => return unsafe { take(area, slots, grains) },
        // SAFETY: the caller's promise.
        (true, _) => return unsafe { take_aligned(area, slots, grains, gap) },
        // SAFETY: as in `take`; the CPU is looked at because the id of a thread without an area is 0.
        (false, 0) => unsafe { taken!(area, slots, grains, by_any) },
        // SAFETY: as above.
        (false, _) => unsafe { taken_aligned!(area, slots, grains, gap, by_any) },
    };
    served(word)
}

/// A word that serves has a rest.
#[inline(always)]
fn served(word: u64) -> Taken {
    if word != EMPTY { Taken::Done(word) } else { Taken::Short }
}

/// Stores `new` into a word of CPU (or id) `cpu` if this thread is on that CPU and the word still is `old`; says whether it did.
///
/// # Safety
/// `word` belongs to CPU `cpu` as in [`take`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn replace(area: Area, word: &Atomic64, cpu: u32, old: u64, new: u64) -> bool {
    // SAFETY: as in `take`.
    let done: u32 = unsafe { replaced!(area, NonNull::from(word), cpu, old, new) };
    done != 0
}
