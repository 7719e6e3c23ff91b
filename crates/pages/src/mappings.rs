//! What the kernel lists of all mappings of a process, for whoever has several questions.

use crate::areas::{areas, overlapping, within};
use crate::error::{Error, Result};
use crate::obtained::Obtained;
use std::fs;
use std::ops::Range;

/// The kernel's list as it was read once. Each reading costs the process: while the kernel walks the page tables of a mapping, none can be added or removed.
#[derive(Clone, Debug)]
pub struct Mappings(String);

impl Mappings {
    /// Of another process.
    pub fn of_process(pid: u32) -> Result<Mappings> {
        Mappings::read(&format!("/proc/{pid}/smaps"))
    }

    /// Of this process.
    pub fn of_this_process() -> Result<Mappings> {
        Mappings::read("/proc/self/smaps")
    }

    fn read(path: &str) -> Result<Mappings> {
        let text = fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        text.map(Mappings).map_err(|error| {
            Error::new(format!("{path}: {error}; only the owner of a running process (or root) may read it"))
        })
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

    /// Of a range that is made of whole mappings.
    ///
    /// # Errors
    ///
    /// Where it is not: the kernel has merged mappings, or some of it is not mapped.
    pub fn of_whole_mappings(&self, range: &Range<usize>) -> Result<Obtained> {
        let (total, covered) = within(&self.0, range);
        if covered == range.len() {
            return Ok(total);
        }
        Err(Error::new(format!(
            "the kernel lists {covered} of {} bytes as separate mappings; query whole mappings",
            range.len()
        )))
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

    #[test]
    fn a_range_that_is_no_mapping_is_an_error() {
        let ours = Mappings::of_this_process().unwrap();
        let error = ours.of_whole_mappings(&(0..4096)).unwrap_err().to_string();
        assert!(error.contains("0 of 4096"), "{error}");
    }

    #[test]
    fn our_own_process_has_memory() {
        assert!(Mappings::of_process(std::process::id()).unwrap().anonymous().resident() > 0);
        assert!(Mappings::of_process(u32::MAX).is_err());
    }
}
