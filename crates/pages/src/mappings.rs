//! What the kernel lists of all mappings of a process, for whoever has several questions.

use crate::error::Result;
use crate::obtained::{Obtained, areas, overlapping, read};
use std::ops::Range;

/// The kernel's list as it was read once. Each reading costs the process: while the kernel walks the page tables of a mapping, none can be added or removed.
#[derive(Clone, Debug)]
pub struct Mappings(String);

impl Mappings {
    /// Of another process.
    pub fn of_process(pid: u32) -> Result<Mappings> {
        Ok(Mappings(read(&format!("/proc/{pid}/smaps"))?))
    }

    /// All private anonymous memory, which is where heaps and stacks are, with the explicit huge pages.
    pub fn anonymous(&self) -> Obtained {
        let mut total = Obtained::default();
        let areas = areas(&self.0);
        areas.filter(|area| area.anonymous || !area.obtained.explicit.is_empty()).for_each(|area| {
            total += area.obtained;
        });
        total
    }

    /// Of a range, and how many of its bytes are mapped. The kernel merges mappings: of one that reaches beyond the range all that is resident counts, up to
    /// the bytes that they share, because the list does not say where it lies.
    pub fn of_range(&self, range: &Range<usize>) -> (Obtained, usize) {
        overlapping(&self.0, range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_reading_answers_several_questions() {
        let mappings = Mappings(
            "1000-3000 rw-p 00000000 00:00 0\nRss: 8 kB\n\
             5000-6000 r-xp 00000000 fe:00 7 /usr/lib/a.so\nRss: 4 kB\n"
                .into(),
        );
        assert_eq!(mappings.anonymous().resident(), 8 << 10);
        let (obtained, mapped) = mappings.of_range(&(0x2000..0x6000));
        assert_eq!((obtained.resident(), mapped), (8 << 10, 8 << 10));
    }
}
