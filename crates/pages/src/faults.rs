//! Page faults.

use std::ops::Sub;

/// Page faults since a thread or process began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Faults that were served from memory.
    pub minor: u64,
    /// Faults that waited for a disk.
    pub major: u64,
}

impl Faults {
    /// Of the calling thread.
    pub fn of_thread() -> Faults {
        Faults::of(libc::RUSAGE_THREAD)
    }

    /// Of this process, all its threads.
    pub fn of_process() -> Faults {
        Faults::of(libc::RUSAGE_SELF)
    }

    fn of(who: libc::c_int) -> Faults {
        // SAFETY: rusage is made of plain numbers, for which zero is valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is a valid place for the result. The call fails for an unknown `who` only, and ours are known.
        unsafe { libc::getrusage(who, &mut usage) };
        Faults { minor: usage.ru_minflt as u64, major: usage.ru_majflt as u64 }
    }
}

impl Sub for Faults {
    type Output = Faults;

    /// The faults between two moments: the later one minus the earlier one.
    fn sub(self, earlier: Faults) -> Faults {
        Faults {
            minor: self.minor.saturating_sub(earlier.minor),
            major: self.major.saturating_sub(earlier.major),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mapping, Policy};

    #[test]
    fn touching_small_pages_costs_a_minor_fault_each() {
        let mut mapping = Mapping::new(64 * crate::small_page_bytes(), Policy::Small).unwrap();
        let before = Faults::of_thread();
        mapping.as_mut_slice().fill(1);
        assert!((Faults::of_thread() - before).minor >= 64);
    }
}
