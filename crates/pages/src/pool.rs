//! The pools of explicit huge pages.

use crate::error::{Error, Result};
use crate::size::PageSize;
use std::fs;
use std::path::{Path, PathBuf};

const FOLDER: &str = "/sys/kernel/mm/hugepages";

/// A pool of explicit huge pages, as it was when looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// The size of a page in bytes.
    pub page_bytes: u64,
    /// Pages in the pool.
    pub pages: u64,
    /// Pages that hold no data.
    pub free: u64,
    /// Free pages that are promised to mappings that have not touched them.
    pub reserved: u64,
    /// Pages beyond the pool's size that the kernel may try to find when the pool is empty.
    pub overcommit: u64,
    folder: PathBuf,
}

/// All pools, smallest pages first.
pub fn pools() -> Vec<Pool> {
    pools_in(Path::new(FOLDER))
}

fn pools_in(folder: &Path) -> Vec<Pool> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut pools: Vec<Pool> = entries.filter_map(|entry| Pool::at(&entry.path())).collect();
    pools.sort_by_key(|pool| pool.page_bytes);
    pools
}

impl Pool {
    /// The pool of pages of a size.
    pub fn find(size: PageSize) -> Result<Pool> {
        Pool::at(&folder(Path::new(FOLDER), size))
            .ok_or_else(|| Error::new(format!("this machine has no explicit {size} pages; use smaller ones")))
    }

    pub(crate) fn at(folder: &Path) -> Option<Pool> {
        let name = folder.file_name()?.to_str()?;
        let kilobytes: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
        Some(Pool {
            page_bytes: kilobytes << 10,
            pages: number("nr_hugepages")?,
            free: number("free_hugepages")?,
            reserved: number("resv_hugepages").unwrap_or(0),
            overcommit: number("nr_overcommit_hugepages").unwrap_or(0),
            folder: folder.to_owned(),
        })
    }

    /// Pages that a new mapping can be promised.
    pub fn available(&self) -> u64 {
        self.free.saturating_sub(self.reserved)
    }

    /// The file that sets the number of pages.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.join("nr_hugepages")
    }

    /// The command that makes so many pages available.
    pub fn command(&self, pages: u64) -> String {
        let wanted = self.pages + pages.saturating_sub(self.available());
        format!("echo {wanted} > {}", self.file().display())
    }

    /// Whether so many pages are available, and if not what to do.
    pub fn holds(&self, pages: u64) -> Result<()> {
        if self.available() >= pages {
            return Ok(());
        }
        Err(Error::new(format!(
            "{} of {pages} explicit {} pages are available; as root: {}",
            self.available(),
            in_words(self.page_bytes),
            self.command(pages)
        )))
    }
}

/// A page's size as people say it.
pub(crate) fn in_words(page_bytes: u64) -> String {
    match page_bytes {
        bytes if bytes >= 1 << 30 => format!("{} GB", bytes >> 30),
        bytes if bytes >= 1 << 20 => format!("{} MB", bytes >> 20),
        bytes => format!("{} KB", bytes >> 10),
    }
}

pub(crate) fn folder(root: &Path, size: PageSize) -> PathBuf {
    root.join(format!("hugepages-{}kB", size.bytes() >> 10))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::pool_folder;

    #[test]
    fn pools_come_with_the_smallest_pages_first() {
        let root = tempfile::tempdir().unwrap();
        pool_folder(root.path(), PageSize::OneGigabyte, [1, 1, 0, 0]);
        pool_folder(root.path(), PageSize::TwoMegabytes, [10, 8, 3, 2]);
        fs::create_dir(root.path().join("hugepages-64kB")).unwrap();
        let pools = pools_in(root.path());
        assert_eq!(pools.iter().map(|pool| pool.page_bytes).collect::<Vec<_>>(), [2 << 20, 1 << 30]);
        assert_eq!((pools[0].available(), pools[0].overcommit), (5, 2));
    }

    #[test]
    fn sizes_are_told_in_the_largest_unit() {
        assert_eq!([64 << 10, 2 << 20, 1 << 30].map(in_words), ["64 KB", "2 MB", "1 GB"]);
    }

    #[test]
    fn an_empty_pool_tells_the_command_that_fills_it() {
        let root = tempfile::tempdir().unwrap();
        let folder = pool_folder(root.path(), PageSize::TwoMegabytes, [10, 8, 3, 0]);
        let pool = Pool::at(&folder).unwrap();
        assert_eq!(pool.holds(5), Ok(()));
        let text = pool.holds(7).unwrap_err().to_string();
        assert!(text.starts_with("5 of 7 explicit 2 MB pages"), "{text}");
        assert!(text.ends_with(&format!("echo 12 > {}/nr_hugepages", folder.display())), "{text}");
    }
}
