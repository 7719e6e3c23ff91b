//! The sequences in aarch64's instructions.
//!
//! What differs. The thread pointer is a register of its own, and an address takes two instructions. The word is loaded with acquire:
//! a plain load would not order the caller's look at the bytes behind what their publisher did to them. The store that commits is a
//! plain one: only code on this CPU (or with this concurrency id) takes from the word until it is used up, and the kernel orders one thread's turn
//! behind the other's (`docs/memory-orders.md`). No exclusive loads and no atomic instructions: the kernel's word that nothing came between is
//! all that is needed. A conditional branch reaches 1 MB, so it stays in its section; the answer is made before the store that
//! commits, and is nothing until then.

use std::arch::asm;
use topology::RseqArea;

const _: () = assert!(RseqArea::CPU_ID == 4 && RseqArea::CONCURRENCY_ID == 24);

/// The thread's number, so many bytes from the thread pointer.
///
/// # Safety
/// As for [`super::cpu`].
#[inline(always)]
pub(super) unsafe fn number(at: isize) -> u32 {
    let number: u32;
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "mrs {thread}, tpidr_el0",
            "ldr {number:w}, [{thread}, {at}]",
            thread = out(reg) _,
            number = lateout(reg) number,
            at = in(reg) at,
            options(nostack, preserves_flags, readonly),
        );
    }
    number
}

/// The sequence of [`super::take`].
macro_rules! taken {
    ($area:expr, $slots:expr, $grains:expr, $number:ident) => {
        cutting! {
            $area, $slots, $grains, $number;
            [
                "and {next}, {old}, #{mask}",
                "cmp {next}, {grains}",
                "b.lo 66f",
                "add {next}, {old}, {delta}"
            ],
            delta = in(reg) ($grains << REST_BITS).wrapping_sub($grains),
        }
    };
}

/// The sequence of [`super::take_aligned`].
macro_rules! taken_aligned {
    ($area:expr, $slots:expr, $grains:expr, $gap:expr, $number:ident) => {
        cutting! {
            $area, $slots, $grains, $number;
            [
                "lsr {next}, {old}, #{bits}",
                "neg {next}, {next}",
                "and {next}, {next}, {gap}",
                "add {next}, {next}, {grains}",
                "and {rest}, {old}, #{mask}",
                "cmp {rest}, {next}",
                "b.lo 66f",
                // So many grains from the lower field to the upper one.
                "add {rest}, {old}, {next}, lsl #{bits}",
                "sub {next}, {rest}, {next}"
            ],
            bits = const REST_BITS,
            gap = in(reg) $gap,
            rest = out(reg) _,
        }
    };
}

/// A sequence that takes: `$cut` makes the `next` word of `old`; `$load` has the instructions that load the word's number into `slot`.
macro_rules! cutting {
    ($area:expr, $slots:expr, $grains:expr, by_cpu; $($rest:tt)*) => {
        cutting!($area, $slots, $grains, ["ldr {slot:w}, [{thread}, #4]"]; $($rest)*)
    };
    ($area:expr, $slots:expr, $grains:expr, by_any; $($rest:tt)*) => {
        cutting!(
            $area, $slots, $grains,
            ["ldr {slot:w}, [{thread}, #4]", "tbnz {slot:w}, #31, 66f", "ldr {slot:w}, [{thread}, #24]"];
            $($rest)*
        )
    };
    (
        $area:expr, $slots:expr, $grains:expr, [$($load:literal),+];
        [$($cut:literal),+], $($operands:tt)*
    ) => {
        taking! {
            $area, $slots, $grains;
            descriptor!(),
            "55:",
            "mrs {thread}, tpidr_el0",
            "add {thread}, {thread}, {area}",
            "adrp {slot}, 77b",
            "add {slot}, {slot}, :lo12:77b",
            "str {slot}, [{thread}, #8]",
            "22:",
            "mov {word}, xzr",
            $($load,)+
            "cmp {slot:w}, {count:w}",
            "b.hs 66f",
            "add {slot}, {words}, {slot}, lsl #{shift}",
            "ldar {old}, [{slot}]",
            $($cut,)+
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
            thread = out(reg) _,
            old = out(reg) _,
            $($operands)*
        }
    };
}

/// The sequence of [`super::replace`].
macro_rules! replaced {
    ($area:expr, $word:expr, $cpu:expr, $old:expr, $new:expr) => {
        replacing! {
            $area, $word, $cpu, $old, $new, id_offset($area);
            descriptor!(),
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
            thread = out(reg) _,
        }
    };
}

pub(super) use {cutting, replaced, taken, taken_aligned};
