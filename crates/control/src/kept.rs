//! Descriptors that stay open in a process that is not ours. A program may close all those that it does not know (`closefrom`), and get their numbers for
//! files of its own: those are neither written to nor closed.

use std::fs::Metadata;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;

/// A descriptor, and the file that it was.
#[derive(Debug)]
pub(crate) struct Kept {
    file: ManuallyDrop<OwnedFd>,
    identity: (u64, u64),
}

impl Kept {
    pub(crate) fn new(file: OwnedFd) -> io::Result<Kept> {
        let identity = identity(file.as_raw_fd()).ok_or_else(io::Error::last_os_error)?;
        Ok(Kept { file: ManuallyDrop::new(file), identity })
    }

    /// Whether it is this file.
    pub(crate) fn is(&self, found: &Metadata) -> bool {
        (found.dev(), found.ino()) == self.identity
    }

    /// The descriptor, if it is still of the same file.
    pub(crate) fn number(&self) -> Option<RawFd> {
        let number = self.file.as_raw_fd();
        (identity(number)? == self.identity).then_some(number)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.number().is_some() {
            // SAFETY: dropped here only, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

/// Device and number of an open file.
fn identity(number: RawFd) -> Option<(u64, u64)> {
    // SAFETY: made of plain numbers, for which zero is valid.
    let mut found: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the place is valid for the result; a number that is no descriptor is an error.
    let asked = unsafe { libc::fstat(number, &mut found) };
    (asked == 0).then_some((found.st_dev, found.st_ino))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::FromRawFd;

    #[test]
    fn another_file_of_the_same_number_is_left_alone() {
        let [ours, theirs] = [(); 2].map(|()| tempfile::tempfile().unwrap());
        let kept = Kept::new(ours.into()).unwrap();
        let number = kept.number().unwrap();
        // SAFETY: both are open; the first is the kept one's from now on another file.
        assert_eq!(unsafe { libc::dup2(theirs.as_raw_fd(), number) }, number);
        assert_eq!(kept.number(), None);
        drop(kept);
        // SAFETY: nobody else closes it.
        let theirs = unsafe { File::from_raw_fd(number) };
        assert!(theirs.metadata().is_ok(), "it is still open");
    }
}
