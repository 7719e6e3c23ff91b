//! The sequences in x86-64's instructions. FS is the base of the thread's control block.

use std::arch::asm;

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
            "mov {number:e}, dword ptr fs:[{at}]",
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
                "mov {next:e}, {word:e}",
                "and {next:e}, {mask}",
                "cmp {next}, {grains}",
                "jb 88f",
                "lea {next}, [{word} + {delta}]"
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
                "mov {next}, {word}",
                "shr {next}, {bits}",
                "neg {next}",
                "and {next}, {gap}",
                "add {next}, {grains}",
                "mov {rest:e}, {word:e}",
                "and {rest:e}, {mask}",
                "cmp {rest}, {next}",
                "jb 88f",
                // So many grains from the lower field to the upper one.
                "imul {next}, {next}, {mask}",
                "add {next}, {word}"
            ],
            bits = const REST_BITS,
            gap = in(reg) $gap,
            rest = out(reg) _,
        }
    };
}

/// A sequence that takes: `$cut` makes the `next` word of `word`; `$id` is where the word's number lies in the area, `$check` what makes sure that
/// the area is the kernel's.
macro_rules! cutting {
    ($area:expr, $slots:expr, $grains:expr, by_cpu; $($rest:tt)*) => {
        cutting!($area, $slots, $grains, RseqArea::CPU_ID, []; $($rest)*)
    };
    ($area:expr, $slots:expr, $grains:expr, by_any; $($rest:tt)*) => {
        cutting!(
            $area, $slots, $grains, RseqArea::CONCURRENCY_ID, ["cmp dword ptr fs:[{area} + 4], 0", "jl 88f"]; $($rest)*
        )
    };
    (
        $area:expr, $slots:expr, $grains:expr, $id:expr, [$($check:literal),*];
        [$($cut:literal),+], $($operands:tt)*
    ) => {
        taking! {
            $area, $slots, $grains;
            descriptor!(),
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
            $($cut,)+
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
            id = const $id,
            $($operands)*
        }
    };
}

/// The sequence of [`super::replace`].
macro_rules! replaced {
    ($area:expr, $word:expr, $cpu:expr, $old:expr, $new:expr) => {
        replacing! {
            $area, $word, $cpu, $old, $new, $area.offset().wrapping_add(id_offset($area));
            descriptor!(),
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
        }
    };
}

pub(super) use {cutting, replaced, taken, taken_aligned};
