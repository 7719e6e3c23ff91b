//! Filling a pool for a while.

use crate::error::{Error, Result};
use crate::pool::{Pool, folder};
use crate::size::PageSize;
use std::fs;
use std::path::{Path, PathBuf};

/// Pages that were added to a pool; they are taken out of it again when this is dropped.
///
/// This changes a setting of the whole machine: only for a user who allowed it. The pages that are taken out are as many as were
/// put in, so that what others changed meanwhile stays. A process that is killed leaves them in the pool.
#[derive(Debug)]
pub struct Reservation {
    folder: PathBuf,
    added: u64,
}

impl Reservation {
    /// Makes at least so many pages available to new mappings. The kernel must find them in one piece each, which it cannot
    /// always; then the pool is left as it was.
    pub fn fill(size: PageSize, pages: u64) -> Result<Reservation> {
        Reservation::fill_in(&folder(Path::new("/sys/kernel/mm/hugepages"), size), size, pages)
    }

    fn fill_in(folder: &Path, size: PageSize, pages: u64) -> Result<Reservation> {
        let look = || {
            Pool::at(folder).ok_or_else(|| {
                Error::new(format!("this machine has no explicit {size} pages; use smaller ones"))
            })
        };
        let before = look()?;
        let missing = pages.saturating_sub(before.available());
        let mut reservation = Reservation { folder: folder.to_owned(), added: 0 };
        if missing == 0 {
            return Ok(reservation);
        }
        let file = before.file();
        fs::write(&file, (before.pages + missing).to_string()).map_err(|error| {
            Error::new(format!("{}: {error}; as root: {}", file.display(), before.command(pages)))
        })?;
        let after = look()?;
        reservation.added = after.pages.saturating_sub(before.pages);
        if after.available() < pages {
            return Err(Error::new(format!(
                "the kernel found contiguous memory for {} of {missing} {size} pages; free memory, then as root: echo 1 > \
                 /proc/sys/vm/compact_memory; or boot with hugepagesz={}M hugepages={}",
                reservation.added,
                size.bytes() >> 20,
                before.pages + missing
            )));
        }
        Ok(reservation)
    }

    /// Pages that were added to the pool; 0 when it held enough.
    pub fn added(&self) -> u64 {
        self.added
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.added == 0 {
            return;
        }
        if let Some(pool) = Pool::at(&self.folder) {
            // A pool that can no longer be written has nobody to tell; its page in the report shows what it holds.
            let _ = fs::write(pool.file(), pool.pages.saturating_sub(self.added).to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::pool_folder;
    use crate::{Mapping, Policy};

    fn pages(folder: &Path) -> u64 {
        Pool::at(folder).unwrap().pages
    }

    #[test]
    fn a_pool_that_holds_enough_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let size = PageSize::TwoMegabytes;
        let folder = pool_folder(root.path(), size, [10, 8, 3, 0]);
        let reservation = Reservation::fill_in(&folder, size, 5).unwrap();
        assert_eq!((reservation.added(), pages(&folder)), (0, 10));
    }

    #[test]
    fn pages_that_the_kernel_did_not_find_are_an_error_and_the_pool_is_as_before() {
        let root = tempfile::tempdir().unwrap();
        let size = PageSize::OneGigabyte;
        // A plain file takes the number of pages, but no page becomes free.
        let folder = pool_folder(root.path(), size, [1, 0, 0, 0]);
        let error = Reservation::fill_in(&folder, size, 2).unwrap_err().to_string();
        assert!(error.contains("hugepagesz=1024M hugepages=3"), "{error}");
        assert_eq!(pages(&folder), 1);
    }

    #[test]
    fn a_real_pool_is_filled_used_and_put_back() {
        let size = PageSize::TwoMegabytes;
        if std::env::var_os("TERRACE_ALLOW_SYSCTL").is_none() {
            return skips::skip!(
                "it changes a setting of the machine; as root: TERRACE_ALLOW_SYSCTL=1 cargo test -p terrace-pages",
            );
        }
        let Ok(before) = Pool::find(size) else {
            return skips::skip!("this machine has no pool of 2 MB pages");
        };
        let wanted = before.available() + 2;
        let reservation = match Reservation::fill(size, wanted) {
            Ok(reservation) => reservation,
            Err(error) => return skips::skip!("{error}"),
        };
        assert_eq!(reservation.added(), 2);
        let mut mapping = Mapping::new(3 << 20, Policy::Explicit(size)).unwrap();
        assert_eq!(mapping.len(), 4 << 20);
        mapping.touch().unwrap();
        assert_eq!(mapping.obtained().unwrap().explicit(size), 4 << 20);
        drop(mapping);
        drop(reservation);
        assert_eq!(Pool::find(size).unwrap().pages, before.pages);
    }
}
