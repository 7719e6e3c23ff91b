//! A file mapped for reading, and whether the page cache holds it.

use crate::error::{Error, Result};
use crate::policy::small_page_bytes;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// A file whose pages can be put out of the page cache and read through a mapping.
///
/// The file must keep its length as long as it is mapped, as with every mapping of a file.
#[derive(Debug)]
pub struct CachedFile {
    path: PathBuf,
    file: File,
    bytes: usize,
}

impl CachedFile {
    /// Opens a file that is not empty.
    pub fn open(path: &Path) -> Result<CachedFile> {
        let failed = |error| Error::new(format!("{}: {error}; specify a readable file", path.display()));
        let file = File::open(path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len() as usize;
        if bytes == 0 {
            return Err(Error::new(format!("{} is empty; specify a file with data", path.display())));
        }
        Ok(CachedFile { path: path.to_owned(), file, bytes })
    }

    /// Its length in bytes.
    #[allow(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Asks the kernel to forget the cached pages, after writing those back that are not on the disk yet. Pages that somebody has
    /// mapped stay. Whether they went tells [`CachedFile::cached`]: a file system without a disk keeps them.
    pub fn evict(&self) -> Result<()> {
        self.file.sync_all().map_err(|error| {
            Error::new(format!("{}: {error}; check for free disk space", self.path.display()))
        })?;
        // SAFETY: the descriptor is open; the advice touches none of our memory.
        match unsafe { libc::posix_fadvise(self.file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) } {
            0 => Ok(()),
            code => Err(Error::new(format!(
                "{}: {}; put the file on a disk",
                self.path.display(),
                std::io::Error::from_raw_os_error(code)
            ))),
        }
    }

    /// How many of its bytes the page cache holds, in whole pages.
    pub fn cached(&self) -> Result<u64> {
        let view = self.view()?;
        let page = small_page_bytes();
        let mut states = vec![0_u8; self.bytes.div_ceil(page)];
        // SAFETY: the range is the view; there is a byte for each of its pages.
        if unsafe { libc::mincore(view.base.as_ptr().cast(), view.bytes, states.as_mut_ptr()) } != 0 {
            return Err(Error::last(
                &format!("checking which pages of {} are cached", self.path.display()),
                "use a file of your own",
            ));
        }
        Ok(states.iter().filter(|state| **state & 1 != 0).count() as u64 * page as u64)
    }

    /// Reads a byte of every small page through a new mapping, in order, so that every page has its fault unless the kernel maps
    /// some in advance. Returns the bytes' sum.
    pub fn walk(&self) -> Result<u64> {
        let view = self.view()?;
        let mut sum = 0;
        for offset in (0..view.bytes).step_by(small_page_bytes()) {
            // SAFETY: inside the mapping. Volatile: the page must be read, and another process may write to the file.
            sum += u64::from(unsafe { view.base.add(offset).read_volatile() });
        }
        Ok(sum)
    }

    fn view(&self) -> Result<View> {
        let (protection, flags) = (libc::PROT_READ, libc::MAP_SHARED);
        let descriptor = self.file.as_raw_fd();
        // SAFETY: a new mapping at an address of the kernel's choice disturbs no other memory.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), self.bytes, protection, flags, descriptor, 0) };
        let base = NonNull::new(base.cast()).filter(|_| base != libc::MAP_FAILED);
        let base = base.ok_or_else(|| {
            Error::last(&format!("mapping {}", self.path.display()), "use a file on a local disk")
        })?;
        Ok(View { base, bytes: self.bytes })
    }
}

struct View {
    base: NonNull<u8>,
    bytes: usize,
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: mapped by `CachedFile::view`, and nothing keeps a pointer into it.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn an_evicted_file_is_read_again() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![1; 1 << 20]).unwrap();
        let cached = CachedFile::open(file.path()).unwrap();
        let pages = (1 << 20) / small_page_bytes() as u64;
        assert_eq!((cached.walk().unwrap(), cached.cached().unwrap()), (pages, 1 << 20));
        cached.evict().unwrap();
        let left = cached.cached().unwrap();
        assert_eq!(cached.walk().unwrap(), pages);
        if left > 0 {
            skips::skip!("the file system of the temporary folder keeps its pages in memory");
        }
    }

    #[test]
    fn an_empty_file_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(CachedFile::open(file.path()).unwrap_err().to_string().contains("is empty"));
    }
}
