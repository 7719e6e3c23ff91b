//! The core's own clock, for times in cycles.
//!
//! The clock that programs read runs at one rate; the core does not. So a loop is timed whose cycles are known: additions of
//! two registers, each of which needs the result of the one before. Such an addition takes one cycle on every x86-64 and
//! AArch64 core that we know of. (Additions of a constant would not do: some cores, Intel's since Golden Cove among them, do
//! several of those in a cycle by adding up the constants beforehand.)

use std::time::Instant;

/// Additions in a pass of the loop.
const PASS: u64 = 64;
/// Passes that are timed at a time: about 0.1 ms, in which most times nothing else happens on the core.
const PASSES: u64 = 5000;

/// How often they are timed: one that was not disturbed should be among them.
const TIMES: u32 = 8;

/// Nanoseconds that a cycle of this core takes now, measured for about 0.6 ms: the least of what was seen, since whatever
/// disturbs makes it longer. `None` on an architecture for which there is no such loop.
pub fn cycle_nanoseconds() -> Option<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..TIMES {
        let begin = Instant::now();
        if !dependent_additions(PASSES) {
            return None;
        }
        least = least.min(begin.elapsed().as_secs_f64() * 1e9 / (PASS * PASSES) as f64);
    }
    Some(least)
}

/// A loop of additions; what counts its passes down differs. `.rept` repeats its line [`PASS`] times.
macro_rules! dependent_additions {
    ($($line:literal),+) => {
        /// Whether there was a loop to do it.
        #[inline(never)]
        fn dependent_additions(passes: u64) -> bool {
            // SAFETY: only registers are touched.
            unsafe {
                core::arch::asm!(
                    "2:",
                    ".rept 64",
                    $($line),+,
                    sum = inout(reg) 0_u64 => _,
                    one = in(reg) 1_u64,
                    passes = inout(reg) passes.max(1) => _,
                    options(nomem, nostack),
                );
            }
            true
        }
    };
}

#[cfg(target_arch = "x86_64")]
dependent_additions!("add {sum}, {one}", ".endr", "sub {passes}, 1", "jnz 2b");
#[cfg(target_arch = "aarch64")]
dependent_additions!("add {sum}, {sum}, {one}", ".endr", "subs {passes}, {passes}, #1", "b.ne 2b");

/// Whether there was a loop to do it.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn dependent_additions(_passes: u64) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_has_a_length_where_there_is_a_loop() {
        let known = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
        let found = cycle_nanoseconds();
        assert_eq!(found.is_some(), known);
        assert!(found.is_none_or(|nanoseconds| nanoseconds.is_finite() && nanoseconds > 0.0));
    }
}
