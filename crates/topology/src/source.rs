//! Which CPU runs this thread.

use crate::id::CpuId;
use crate::rseq::Rseq;
use std::fmt;

#[cfg(test)]
#[path = "source_test.rs"]
mod test;

/// Of a thread that has no concurrency id: no domain is known to have this number.
const NO_ID: CpuId = CpuId(u32::MAX);

/// A way to ask for the current CPU. Copy it into whatever asks often.
///
/// | name | how | cost |
/// |---|---|---|
/// | `rseq` | a load from the area that glibc (2.35 and later) registers for each thread | one load |
/// | `concurrency ids` | the same, for the kernel's `mm_cid` (Linux 6.3 and later): not a CPU, but dense | one load |
/// | `getcpu` | `sched_getcpu`, through the vDSO | a call; a system call where a sandbox has no vDSO |
/// | `fixed` | a function given by a test | |
///
/// The answer may be out of date as soon as it is given: the thread can be moved at any time.
#[derive(Clone, Copy)]
pub struct CpuSource {
    way: Way,
    reason: Option<&'static str>,
}

#[derive(Clone, Copy)]
enum Way {
    Rseq(Rseq),
    Concurrency(Rseq),
    Getcpu,
    Fixed(fn() -> CpuId),
}

impl CpuSource {
    /// The best source there is, after a check that it tells the truth.
    pub fn detect() -> CpuSource {
        match Rseq::find().and_then(|rseq| rseq.check().map(|()| rseq)) {
            Ok(rseq) => CpuSource { way: Way::Rseq(rseq), reason: None },
            Err(reason) => CpuSource { way: Way::Getcpu, reason: Some(reason) },
        }
    }

    /// The kernel's concurrency ids in place of CPU numbers, or why there are none: threads that run at the same time have different
    /// ones, below the number of CPUs that the process may use and of its threads.
    pub fn concurrency() -> Result<CpuSource, &'static str> {
        Rseq::concurrency().map(|rseq| CpuSource { way: Way::Concurrency(rseq), reason: None })
    }

    /// `getcpu` even where rseq could be used, to compare the two.
    pub const fn getcpu() -> CpuSource {
        CpuSource { way: Way::Getcpu, reason: Some("getcpu requested") }
    }

    /// Whatever `cpu` says, for tests.
    pub const fn fixed(cpu: fn() -> CpuId) -> CpuSource {
        CpuSource { way: Way::Fixed(cpu), reason: Some("CPU given by the caller") }
    }

    /// The CPU that runs the calling thread. [`CpuId`] 0 if the system will not tell.
    ///
    /// With rseq: a compare for the way, a load from thread-local memory, a compare for its sign; with concurrency ids another load and compare. The other
    /// ways are a call: one match of all would be a jump through a table, whose cache line a thread that has just started does not find.
    #[inline(always)]
    pub fn current(&self) -> CpuId {
        if let Way::Rseq(rseq) = self.way {
            let number = rseq.cpu_id();
            // Negative: this thread's area is not registered, for instance because other code took it over.
            if number >= 0 {
                return CpuId(number as u32);
            }
        } else if let Way::Concurrency(ids) = self.way {
            let number = ids.cpu_id();
            // A CPU's number is nobody's id.
            return if number >= 0 && ids.id_is_registered() { CpuId(number as u32) } else { NO_ID };
        }
        self.ask()
    }

    #[cold]
    #[inline(never)]
    fn ask(&self) -> CpuId {
        match self.way {
            Way::Fixed(cpu) => cpu(),
            _ => ask_getcpu(),
        }
    }

    /// Whether asking takes a few nanoseconds: aarch64 has no `getcpu` that needs no system call.
    #[inline(always)]
    pub const fn is_cheap(&self) -> bool {
        cfg!(target_arch = "x86_64") || !matches!(self.way, Way::Getcpu)
    }

    /// `rseq`, `concurrency ids`, `getcpu` or `fixed`.
    pub const fn name(&self) -> &'static str {
        match self.way {
            Way::Rseq(_) => "rseq",
            Way::Concurrency(_) => "concurrency ids",
            Way::Getcpu => "getcpu",
            Way::Fixed(_) => "fixed",
        }
    }

    /// Why no better source is used; `None` for the best.
    pub const fn reason(&self) -> Option<&'static str> {
        self.reason
    }
}

/// For a status line: `rseq`, or `getcpu (rseq disabled by GLIBC_TUNABLES)`.
impl fmt::Display for CpuSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Some(reason) => write!(f, "{} ({reason})", self.name()),
            None => f.write_str(self.name()),
        }
    }
}

impl fmt::Debug for CpuSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CpuSource({self})")
    }
}

fn ask_getcpu() -> CpuId {
    // SAFETY: sched_getcpu takes nothing and returns a number, or -1.
    let number = unsafe { libc::sched_getcpu() };
    // Refused (a sandbox): any number will do, since every look-up takes any.
    CpuId(u32::try_from(number).unwrap_or(0))
}
