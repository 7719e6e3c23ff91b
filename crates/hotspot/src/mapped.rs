//! A file mapped for reading.

use crate::Error;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::NonNull;

/// The mapped bytes of a file. Unmapped when dropped, so that a large library costs no memory after it was searched.
#[derive(Debug)]
pub(crate) struct Mapped {
    base: NonNull<u8>,
    bytes: usize,
}

impl Mapped {
    pub(crate) fn open(path: &Path) -> Result<Mapped, Error> {
        let wrong = |reason: String| Error::File { path: path.display().to_string(), reason };
        let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
        let bytes = file.metadata().map_err(|error| wrong(error.to_string()))?.len() as usize;
        if bytes == 0 {
            return Err(wrong("is empty".into()));
        }
        // SAFETY: a new private mapping at an address of the kernel's choice disturbs no other memory.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0)
        };
        match NonNull::new(base.cast::<u8>()) {
            Some(base) if base.as_ptr().cast() != libc::MAP_FAILED => Ok(Mapped { base, bytes }),
            _ => Err(wrong(format!("mmap: {}", std::io::Error::last_os_error()))),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is readable, `bytes` long and lives as long as `self`. A JDK's library is replaced by renaming,
        // not written in place, while a JVM runs from it.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.bytes) }
    }

    /// Takes the pages out of this process's memory; whoever reads on gets them from the file again. Without effect where the
    /// kernel refuses.
    pub(crate) fn release(&self) {
        // SAFETY: a mapping of a file that nobody writes to has the same bytes when its pages come back.
        unsafe { libc::madvise(self.base.as_ptr().cast(), self.bytes, libc::MADV_DONTNEED) };
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: made by `open` with this length; nothing borrowed from `self` outlives it.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}
