//! The loops whose instructions are known. On x86-64 they are written in assembly, and a test reads them back from the
//! executable: what a compiler makes of `fetch_add` depends on whether the result is used.
//!
//! They have names of their own in the symbol table so that a profiler and the test find them.

#[cfg(target_arch = "x86_64")]
use crate::primitive::Counter;

#[cfg(test)]
#[path = "kernels_test.rs"]
mod test;

/// Where the instructions of the kernels come from on this architecture.
#[cfg(target_arch = "x86_64")]
pub const INSTRUCTIONS: &str = "written in assembly, checked by disassembling";
/// Where the instructions of the kernels come from on this architecture.
#[cfg(not(target_arch = "x86_64"))]
pub const INSTRUCTIONS: &str =
    "the compiler's for fetch_add and compare_exchange: this architecture has no lock prefix";

/// A loop that adds 1 so many times; `$value` is a register of the instructions'.
#[cfg(target_arch = "x86_64")]
macro_rules! adding {
    ($(#[$about:meta])* $name:ident: $($instruction:literal),+ $(; $value:ident)?) => {
        $(#[$about])*
        #[inline(never)]
        #[unsafe(no_mangle)]
        pub(super) extern "C" fn $name(counter: &Counter, times: u64) {
            // SAFETY: the counter is valid memory of 8 bytes, aligned, as long as the reference; it may be written through a shared
            // reference because it is an atomic. With a lock prefix the access is atomic.
            unsafe {
                core::arch::asm!(
                    "jmp 3f",
                    "2:",
                    $($instruction,)+
                    "3:",
                    "sub {times}, 1",
                    "jnc 2b",
                    counter = in(reg) counter.as_ptr(),
                    times = inout(reg) times => _,
                    $($value = out(reg) _,)?
                    options(nostack),
                );
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
adding! {
    /// With a plain instruction: what an increment costs without a lock.
    ///
    /// Two threads must not do so on one counter: increments would be lost.
    terrace_plain_add: "add qword ptr [{counter}], 1"
}

#[cfg(target_arch = "x86_64")]
adding! {
    /// With `lock add`, which does not give the value back.
    terrace_lock_add: "lock add qword ptr [{counter}], 1"
}

#[cfg(target_arch = "x86_64")]
adding! {
    /// With `lock xadd`, which gives the value before.
    terrace_lock_xadd: "mov {value:e}, 1", "lock xadd qword ptr [{counter}], {value}"; value
}

/// Adds 1 so many times with a loop of load and `lock cmpxchg`; how often the exchange failed and was tried again.
///
/// A failed exchange loads again, as Thompson's loop and Java's do, although the instruction has given the new value.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[unsafe(no_mangle)]
pub(super) extern "C" fn terrace_compare_exchange(counter: &Counter, times: u64) -> u64 {
    let mut failures = 0_u64;
    // SAFETY: as in `terrace_plain_add`, and every access is atomic (an aligned load of 8 bytes is).
    unsafe {
        core::arch::asm!(
            "jmp 3f",
            "2:",
            "mov rax, qword ptr [{counter}]",
            "lea {next}, [rax + 1]",
            "lock cmpxchg qword ptr [{counter}], {next}",
            "jne 4f",
            "3:",
            "sub {times}, 1",
            "jnc 2b",
            "jmp 5f",
            "4:",
            "add {failures}, 1",
            "jmp 2b",
            "5:",
            counter = in(reg) counter.as_ptr(),
            times = inout(reg) times => _,
            failures = inout(reg) failures,
            next = out(reg) _,
            out("rax") _,
            options(nostack),
        );
    }
    failures
}

/// Claims `batch` (at least 1) numbers at a time with one `lock xadd`, then stores them one by one to a word of its own, as a
/// thread allocates from its buffer; so many batches.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[unsafe(no_mangle)]
pub(super) extern "C" fn terrace_claimed(counter: &Counter, mine: &Counter, batch: u64, batches: u64) {
    debug_assert!(batch > 0);
    // SAFETY: as in `terrace_plain_add` for both words; the shared one is accessed atomically, and so is the other (aligned
    // stores of 8 bytes).
    unsafe {
        core::arch::asm!(
            "jmp 4f",
            "2:",
            "mov {next}, {batch}",
            "lock xadd qword ptr [{counter}], {next}",
            "lea {end}, [{next} + {batch}]",
            "3:",
            "mov qword ptr [{mine}], {next}",
            "add {next}, 1",
            "cmp {next}, {end}",
            "jne 3b",
            "4:",
            "sub {batches}, 1",
            "jnc 2b",
            counter = in(reg) counter.as_ptr(),
            mine = in(reg) mine.as_ptr(),
            batch = in(reg) batch,
            batches = inout(reg) batches => _,
            next = out(reg) _,
            end = out(reg) _,
            options(nostack),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use portable::*;

/// The same in words that every architecture understands.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[cfg_attr(test, allow(dead_code, reason = "on x86-64 only tests use it"))]
mod portable {
    use crate::primitive::{Counter, Ordering};

    // Relaxed everywhere: the counters publish nothing, and threads are joined before they are read.

    pub fn terrace_plain_add(counter: &Counter, times: u64) {
        for _ in 0..times {
            counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    pub fn terrace_lock_add(counter: &Counter, times: u64) {
        for _ in 0..times {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn terrace_lock_xadd(counter: &Counter, times: u64) {
        for _ in 0..times {
            std::hint::black_box(counter.fetch_add(1, Ordering::Relaxed));
        }
    }

    pub fn terrace_compare_exchange(counter: &Counter, times: u64) -> u64 {
        let mut failures = 0;
        for _ in 0..times {
            loop {
                let seen = counter.load(Ordering::Relaxed);
                match counter.compare_exchange(seen, seen + 1, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => break,
                    Err(_) => failures += 1,
                }
            }
        }
        failures
    }

    pub fn terrace_claimed(counter: &Counter, mine: &Counter, batch: u64, batches: u64) {
        for _ in 0..batches {
            let first = counter.fetch_add(batch, Ordering::Relaxed);
            for next in first..first + batch {
                mine.store(std::hint::black_box(next), Ordering::Relaxed);
            }
        }
    }
}
