//! Which pages were really obtained, from the kernel's list of mappings.

use crate::error::{Error, Result};
use crate::mappings::Mappings;
use crate::policy::small_page_bytes;
use crate::pool::in_words;
use crate::size::PageSize;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::ops::{AddAssign, Range};

/// Resident bytes on pages of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Obtained {
    /// On small pages.
    pub small: u64,
    /// On transparent huge pages.
    pub transparent: u64,
    /// On explicit huge pages, by the size of a page in bytes.
    pub explicit: BTreeMap<u64, u64>,
}

impl Obtained {
    /// Of one range of this process, which must be made of whole mappings.
    pub fn of_range(range: Range<usize>) -> Result<Obtained> {
        let (total, covered) = within(&read("/proc/self/smaps")?, &range);
        if covered == range.len() {
            return Ok(total);
        }
        Err(Error::new(format!(
            "the kernel lists {covered} of {} bytes as separate mappings; query whole mappings",
            range.len()
        )))
    }

    /// Of another process: all its private anonymous memory, which is where heaps and stacks are, with its explicit huge pages.
    pub fn of_process(pid: u32) -> Result<Obtained> {
        Mappings::of_process(pid).map(|mappings| mappings.anonymous())
    }

    /// Of a range of another process, and how many of its bytes are mapped, as [`Mappings::of_range`] has it.
    pub fn of_range_in_process(pid: u32, range: &Range<usize>) -> Result<(Obtained, usize)> {
        Mappings::of_process(pid).map(|mappings| mappings.of_range(range))
    }

    /// On explicit huge pages of a size.
    pub fn explicit(&self, size: PageSize) -> u64 {
        self.explicit.get(&(size.bytes() as u64)).copied().unwrap_or(0)
    }

    /// On huge pages of any kind.
    pub fn huge(&self) -> u64 {
        self.transparent + self.explicit.values().sum::<u64>()
    }

    /// On pages of any kind.
    pub fn resident(&self) -> u64 {
        self.small + self.huge()
    }

    /// At most so many bytes, of which huge pages are kept first.
    fn at_most(self, mut left: u64) -> Obtained {
        let mut take = |bytes: u64| {
            let taken = bytes.min(left);
            left -= taken;
            taken
        };
        let explicit = self.explicit.into_iter().map(|(size, bytes)| (size, take(bytes))).collect();
        let transparent = take(self.transparent);
        Obtained { explicit, transparent, small: take(self.small) }
    }
}

impl AddAssign for Obtained {
    fn add_assign(&mut self, other: Obtained) {
        self.small += other.small;
        self.transparent += other.transparent;
        for (size, bytes) in other.explicit {
            *self.explicit.entry(size).or_default() += bytes;
        }
    }
}

impl fmt::Display for Obtained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = vec![(self.small, format!("{} KB pages", small_page_bytes() >> 10))];
        parts.push((self.transparent, "transparent huge pages".into()));
        parts.extend(
            self.explicit.iter().map(|(page, bytes)| (*bytes, format!("explicit {} pages", in_words(*page)))),
        );
        parts.retain(|(bytes, _)| *bytes > 0);
        if parts.is_empty() {
            return f.write_str("nothing resident");
        }
        let words: Vec<String> = parts
            .iter()
            .map(|(bytes, name)| format!("{:.1} MB on {name}", *bytes as f64 / 1048576.0))
            .collect();
        f.write_str(&words.join(", "))
    }
}

pub(crate) fn read(path: &str) -> Result<String> {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(|error| {
        Error::new(format!("{path}: {error}; only the owner of a running process (or root) may read it"))
    })
}

/// One mapping of the kernel's list.
#[derive(Debug, Default)]
pub(crate) struct Area {
    range: Range<usize>,
    pub(crate) anonymous: bool,
    pub(crate) obtained: Obtained,
}

/// The areas of a `smaps` file.
pub(crate) fn areas(text: &str) -> impl Iterator<Item = Area> {
    let mut lines = text.lines().peekable();
    std::iter::from_fn(move || {
        let mut area = loop {
            if let Some(area) = header(lines.next()?) {
                break area;
            }
        };
        let (mut page, mut resident, mut huge) = (0, 0, 0);
        while let Some(line) = lines.next_if(|line| header(line).is_none()) {
            let Some((name, bytes)) = field(line) else { continue };
            match name {
                "KernelPageSize" => page = bytes,
                "Rss" => resident = bytes,
                "AnonHugePages" => area.obtained.transparent = bytes,
                "Private_Hugetlb" | "Shared_Hugetlb" => huge += bytes,
                _ => {}
            }
        }
        // Rss counts transparent huge pages and does not count explicit ones.
        area.obtained.small = u64::saturating_sub(resident, area.obtained.transparent);
        if huge > 0 {
            area.obtained.explicit.insert(page, huge);
        }
        Some(area)
    })
}

/// What the mappings that lie in a range obtained, and how many of its bytes they are.
fn within(text: &str, range: &Range<usize>) -> (Obtained, usize) {
    let mut total = Obtained::default();
    let mut covered = 0;
    for area in areas(text).filter(|area| area.range.start >= range.start && area.range.end <= range.end) {
        covered += area.range.len();
        total += area.obtained;
    }
    (total, covered)
}

/// What the mappings that share bytes with a range obtained there at most, and how many bytes they share.
pub(crate) fn overlapping(text: &str, range: &Range<usize>) -> (Obtained, usize) {
    let mut total = Obtained::default();
    let mut covered = 0;
    for area in areas(text) {
        let shared = area.range.end.min(range.end).saturating_sub(area.range.start.max(range.start));
        if shared > 0 {
            covered += shared;
            total += area.obtained.at_most(shared as u64);
        }
    }
    (total, covered)
}

/// `7f00-7f10 rw-p 00000000 00:00 0    [heap]`. An area without a file has inode 0.
fn header(line: &str) -> Option<Area> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    let range = address(start)?..address(end)?;
    let inode = words.nth(3)?;
    Some(Area { range, anonymous: inode == "0", obtained: Obtained::default() })
}

/// `Rss:    12 kB`, in bytes.
fn field(line: &str) -> Option<(&str, u64)> {
    let (name, rest) = line.split_once(':')?;
    let kilobytes: u64 = rest.trim().strip_suffix(" kB")?.parse().ok()?;
    Some((name, kilobytes << 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
5581c4a00000-5581c4a2a000 r-xp 00002000 fe:00 1054                       /usr/bin/program
Size:                168 kB
KernelPageSize:        4 kB
MMUPageSize:           4 kB
Rss:                 152 kB
AnonHugePages:         0 kB
Shared_Hugetlb:        0 kB
Private_Hugetlb:       0 kB
VmFlags: rd ex mr mw me
7f3f40000000-7f3f40e00000 rw-p 00000000 00:00 0 
Size:              14336 kB
KernelPageSize:        4 kB
MMUPageSize:           4 kB
Rss:               12292 kB
Pss:               12292 kB
AnonHugePages:     12288 kB
Shared_Hugetlb:        0 kB
Private_Hugetlb:       0 kB
THPeligible:           1
VmFlags: rd wr mr mw me ac hg
7f3f80000000-7f3fc0000000 rw-p 00000000 00:10 20497                      /anon_hugepage (deleted)
Size:            1048576 kB
KernelPageSize:  1048576 kB
MMUPageSize:     1048576 kB
Rss:                   0 kB
AnonHugePages:         0 kB
Shared_Hugetlb:        0 kB
Private_Hugetlb: 1048576 kB
VmFlags: rd wr mr mw me de ht
7f3fd0000000-7f3fd0400000 rw-p 00000000 00:10 20498                      /anon_hugepage (deleted)
KernelPageSize:     2048 kB
Rss:                   0 kB
Private_Hugetlb:    2048 kB
";

    #[test]
    fn every_area_is_counted_by_its_pages() {
        let areas: Vec<Area> = areas(SMAPS).collect();
        assert_eq!(areas.len(), 4);
        assert_eq!(areas[1].range, 0x7f3f_4000_0000..0x7f3f_40e0_0000);
        assert_eq!((areas[0].anonymous, areas[0].obtained.small), (false, 152 << 10));
        assert_eq!((areas[1].obtained.small, areas[1].obtained.transparent), (4 << 10, 12 << 20));
        assert_eq!(areas[2].obtained.explicit(PageSize::OneGigabyte), 1 << 30);
        assert_eq!(areas[3].obtained.explicit(PageSize::TwoMegabytes), 2 << 20);
        assert_eq!(areas[3].obtained.resident(), 2 << 20);
    }

    #[test]
    fn a_range_is_what_lies_in_it() {
        let (obtained, covered) = within(SMAPS, &(0x7f3f_4000_0000..0x7f3f_c000_0000));
        assert_eq!((obtained.transparent, obtained.explicit(PageSize::OneGigabyte)), (12 << 20, 1 << 30));
        assert_eq!((obtained.explicit(PageSize::TwoMegabytes), covered), (0, (14 << 20) + (1 << 30)));
        // A mapping that reaches beyond is not in it.
        assert_eq!(within(SMAPS, &(0x7f3f_4000_0000..0x7f3f_4000_1000)), (Obtained::default(), 0));
    }

    /// A heap behind which the kernel has merged 128 KB of class metadata, as JDK 21 has it without an archive of classes.
    #[test]
    fn a_mapping_that_reaches_beyond_a_range_counts_with_what_they_share() {
        let merged = |resident: u64, huge: u64| {
            let text = format!(
                "f0000000-100020000 rw-p 00000000 00:00 0\nRss: {resident} kB\nAnonHugePages: {huge} kB\n\
                 7f3f40000000-7f3f40e00000 rw-p 00000000 00:00 0\nRss: 12292 kB\n"
            );
            overlapping(&text, &(0xf000_0000..0x1_0000_0000))
        };
        let (seen, covered) = merged(200 << 10, 100 << 10);
        assert_eq!((seen.small, seen.transparent, covered), (100 << 20, 100 << 20, 256 << 20));
        // All of it is in memory: no more than the heap can be the heap's.
        let (seen, covered) = merged((256 << 10) + 128, 256 << 10);
        assert_eq!((seen.small, seen.transparent, covered), (0, 256 << 20, 256 << 20));
        let whole = 0x7f3f_4000_0000..0x7f3f_c000_0000;
        assert_eq!(overlapping(SMAPS, &whole), within(SMAPS, &whole), "nothing reaches beyond");
        assert_eq!(overlapping(SMAPS, &(0..4096)), (Obtained::default(), 0));
    }

    #[test]
    fn sums_are_told_by_kind() {
        let mut total = Obtained::default();
        assert_eq!(total.to_string(), "nothing resident");
        areas(SMAPS).for_each(|area| total += area.obtained);
        assert_eq!(total.huge(), (12 << 20) + (1 << 30) + (2 << 20));
        assert_eq!(
            total.to_string(),
            "0.2 MB on 4 KB pages, 12.0 MB on transparent huge pages, 2.0 MB on explicit 2 MB pages, \
             1024.0 MB on explicit 1 GB pages"
        );
    }

    #[test]
    fn a_range_that_is_no_mapping_is_an_error() {
        let error = Obtained::of_range(0..4096).unwrap_err().to_string();
        assert!(error.contains("0 of 4096"), "{error}");
    }

    #[test]
    fn our_own_process_has_memory() {
        assert!(Obtained::of_process(std::process::id()).unwrap().resident() > 0);
        assert!(Obtained::of_process(u32::MAX).is_err());
    }
}
