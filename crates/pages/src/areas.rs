//! The kernel's list of a process's mappings (`smaps`), area by area.

use crate::obtained::Obtained;
use std::ops::Range;

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
pub(crate) fn within(text: &str, range: &Range<usize>) -> (Obtained, usize) {
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
    use crate::size::PageSize;

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
}
