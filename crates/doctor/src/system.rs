//! What the operating system says of a process's memory.

use crate::evidence::Memory;
use jvm::os;
use memory::{Obtained, transparent_setting};
use std::path::Path;
use topology::cgroup::Process;

/// Page faults of a process so far that read nothing from a disk.
pub fn first_touches(pid: u32) -> Option<u64> {
    os::stat(pid, 10)
}

pub fn memory(pid: u32) -> Memory {
    let obtained = Obtained::of_process(pid).ok();
    let of_group = topology::cgroup::memory_left(Path::new("/"), Process::Id(pid));
    let available = compare::machine::available_bytes().map(|bytes| bytes.min(of_group.unwrap_or(u64::MAX)));
    Memory {
        resident: obtained.as_ref().map(Obtained::resident),
        huge: obtained.as_ref().map(Obtained::huge),
        transparent: transparent_setting(),
        first_touches: None,
        available,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_process_is_seen() {
        let us = std::process::id();
        let before = first_touches(us).unwrap();
        std::hint::black_box(vec![1u8; 16 << 20]);
        assert!(first_touches(us).unwrap() > before);
        let seen = memory(us);
        assert!(
            seen.resident.is_some_and(|bytes| bytes > 0) && seen.available.is_some_and(|bytes| bytes > 0)
        );
        assert!(first_touches(0x3fff_fff0).is_none());
    }
}
