//! How much of a range of another process is in memory, from a sample of its pages.
//!
//! The kernel's list of mappings is exact, and its reading holds the process up for 10 ms for each GB. A page is looked up in `/proc/PID/pagemap` in a microsecond, whatever the
//! range's size.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Pages that are looked at, at equal distances. Of memory that is in one piece the result is off by one of them at most for each end.
const LOOKS: usize = 4096;
/// Bytes of an entry, and its bit for a page that is in memory (Linux: `Documentation/admin-guide/mm/pagemap.rst`).
const ENTRY: usize = 8;
const PRESENT: u64 = 1 << 63;

/// Bytes of this range that are resident: to about a thousandth of it where they are in one piece, to 1.6 % where they are scattered (two standard deviations). `None` where nobody may look.
pub fn resident_of_sample(pid: u32, range: &Range<usize>) -> Option<u64> {
    let entries = File::open(format!("/proc/{pid}/pagemap")).ok()?;
    let page = crate::policy::small_page_bytes();
    let pages = range.len() / page;
    let looks = pages.min(LOOKS);
    let mut present = 0;
    for look in 0..looks {
        // In the middle of its part of the range.
        let at = range.start / page + (2 * look + 1) * pages / (2 * looks);
        let mut entry = [0; ENTRY];
        entries.read_exact_at(&mut entry, (at * ENTRY) as u64).ok()?;
        present += u64::from(u64::from_ne_bytes(entry) & PRESENT != 0);
    }
    Some(if looks == 0 { 0 } else { (range.len() as u128 * u128::from(present) / looks as u128) as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mapping, Policy};

    #[test]
    fn what_was_touched_of_a_range_is_resident() {
        let us = std::process::id();
        let bytes: usize = 64 << 20;
        let mut mapping = Mapping::new(bytes, Policy::Small).unwrap();
        let start = mapping.as_ptr() as usize;
        let range = start..start + bytes;
        assert_eq!(resident_of_sample(us, &range), Some(0));
        mapping.touch().unwrap();
        assert_eq!(resident_of_sample(us, &range), Some(bytes as u64));
        assert_eq!(resident_of_sample(us, &(start..start)), Some(0));
        assert_eq!(resident_of_sample(0x3fff_fff0, &range), None);
    }
}
