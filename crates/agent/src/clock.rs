//! The clocks that requests are timed by.

use control::times::Pace;

/// What a hook reads before and after.
pub(crate) trait Clock: 'static {
    /// Its name in the settings; `None`: nothing is timed.
    const NAME: Option<&'static str>;
    /// How often it is read.
    const PACE: Pace;

    fn now() -> u64;

    /// About now, where it need not be exact: what comes before may still be under way.
    #[inline(always)]
    fn about_now() -> u64 {
        Self::now()
    }
}

/// None: nothing is timed.
pub(crate) enum Untimed {}

impl Clock for Untimed {
    const NAME: Option<&'static str> = None;
    const PACE: Pace = Pace { ticks_apart: 0, begins_up_to: 0 };

    #[inline(always)]
    fn now() -> u64 {
        0
    }
}

/// The processor's time stamp counter, where it ticks at one rate whatever the processor does. On aarch64
/// `CLOCK_MONOTONIC` does as well: it is the processor's counter, read without a system call.
#[cfg(target_arch = "x86_64")]
pub(crate) enum Ticks {}

#[cfg(target_arch = "x86_64")]
impl Ticks {
    /// Whether it does.
    pub(crate) fn are_steady() -> bool {
        use std::arch::x86_64::__cpuid;
        const POWER: u32 = 0x8000_0007;
        const INVARIANT: u32 = 1 << 8;
        __cpuid(0x8000_0000).eax >= POWER && __cpuid(POWER).edx & INVARIANT != 0
    }
}

#[cfg(target_arch = "x86_64")]
impl Clock for Ticks {
    const NAME: Option<&'static str> = Some("tsc");
    // 0.1 to 0.3 ms at 2 to 5 GHz. A reading takes some 10 ns: of 32 requests that are 0.3 us, in a tenth of a millisecond.
    const PACE: Pace = Pace { ticks_apart: 1 << 19, begins_up_to: 32 };

    #[inline(always)]
    fn now() -> u64 {
        use std::arch::x86_64::{_mm_lfence, _rdtsc};
        // SAFETY: every x86-64 processor has both. Linux can forbid the second to a process (PR_SET_TSC), which no JVM survives
        // either. The counter is read ahead of what comes before, an atomic exchange that waits for its cache line among that,
        // unless a fence holds it back.
        unsafe {
            _mm_lfence();
            _rdtsc()
        }
    }

    #[inline(always)]
    fn about_now() -> u64 {
        // SAFETY: as in `now`.
        unsafe { std::arch::x86_64::_rdtsc() }
    }
}

/// `CLOCK_MONOTONIC`, in nanoseconds.
pub(crate) enum Monotonic {}

impl Clock for Monotonic {
    const NAME: Option<&'static str> = Some("monotonic");
    // 0.26 ms. A reading may be a system call.
    const PACE: Pace = Pace { ticks_apart: 1 << 18, begins_up_to: 2 };

    #[inline(always)]
    fn now() -> u64 {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: a valid place for the result.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }
}

/// `CLOCK_MONOTONIC` to some milliseconds, without a reading of the processor's counter.
pub(crate) fn about_now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid place for the result.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// CPU time of all threads of this process, in nanoseconds.
pub(crate) fn process_cpu_ns() -> Option<u64> {
    let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid place for the result.
    let code = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut used) };
    (code == 0).then_some(used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64)
}

/// How long the collector has had the threads stand still, and how often.
#[derive(Default)]
pub(crate) struct Standstill {
    pub(crate) collections: u64,
    pub(crate) ns: u64,
    pub(crate) began: Option<u64>,
}

impl Standstill {
    pub(crate) fn begins(&mut self) {
        self.began = Some(Monotonic::now());
    }

    pub(crate) fn ends(&mut self) {
        let began = self.began.take();
        self.ns += began.map_or(0, |began| Monotonic::now().saturating_sub(began));
        self.collections += 1;
    }
}
