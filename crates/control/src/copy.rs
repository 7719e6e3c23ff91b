//! The file at `control=PATH`: a copy of the agent's memory, which says where the living one is.
//!
//! Written when the state changes, at the JVM's end for the last time. The JVM never reads it: whatever is done to it, the JVM goes
//! on. A lock on it tells a file of a JVM that runs from one that was left behind.

use crate::Error;
use crate::folder::Folder;
use crate::header::{MAGIC, State, other_format};
use crate::kept::Kept;
use crate::memory::{Access, MOST_BYTES, Memory, not_standard};
use crate::process::{self, user};
use crate::view::View;
use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Nothing behind a link, nothing that waits, nothing that becomes our terminal.
const CAREFULLY: i32 = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;

/// A file of ours, locked.
pub(crate) struct Copy {
    file: Kept,
}

/// Where a file of ours is: a name in a folder that is held open, because links on the way may be others by now.
pub(crate) struct Place {
    folder: Folder,
    name: OsString,
}

/// Opens the directory. It must belong to this user and be writable by nobody else: otherwise another user could plant a link or
/// swap the file (HotSpot demands the same of its hsperfdata directory). The way to it may have no link of another user's.
fn open_directory(directory: &Path) -> Result<Folder, Error> {
    let shown = directory.display();
    let absent = |error: io::Error| {
        Error(match error.kind() {
            ErrorKind::NotFound => format!("control directory {shown}: {error}; create it with mkdir -m 700"),
            ErrorKind::NotADirectory => {
                format!("control directory {shown} is not a directory; specify a directory")
            }
            _ => format!("control directory {shown}: {error}; use control=auto, or another directory"),
        })
    };
    let linked = directory.symlink_metadata().map_err(absent)?.is_symlink();
    if linked {
        return Err(Error(format!(
            "control directory {shown} is not a directory (symbolic links are not followed); specify a directory"
        )));
    }
    let folder = Folder::at(directory).map_err(absent)?;
    let found = folder.metadata().map_err(absent)?;
    if found.uid() != user() || found.mode() & 0o022 != 0 {
        return Err(Error(format!(
            "control directory {shown} is writable by other users; use control=auto, or a directory created with mkdir -m 700"
        )));
    }
    Ok(folder)
}

impl Copy {
    /// Makes the file, or takes one over that an earlier process has left. Nothing else is ever written to.
    pub(crate) fn create(path: &Path) -> Result<(Copy, Place), Error> {
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let folder = open_directory(directory)?;
        let shown = path.display();
        let irregular =
            || Error(format!("control file {shown} exists and is not a regular file; specify another path"));
        let name = path.file_name().ok_or_else(irregular)?;
        // Before it is opened, since opening alone can do something.
        if folder.look_at(name).is_ok_and(|found| !found.is_file()) {
            return Err(irregular());
        }
        let flags = libc::O_RDWR | libc::O_CREAT | CAREFULLY;
        let file = folder.open_at(name, flags, 0o600).map_err(|error| match error.raw_os_error() {
            Some(libc::ELOOP | libc::EISDIR | libc::ENXIO) => irregular(),
            _ => Error(format!("control file {shown}: {error}; specify a writable path")),
        })?;
        let failed = |error: io::Error| Error(format!("control file {shown}: {error}; specify another path"));
        let file = File::from(not_standard(file).map_err(failed)?);
        let found = file.metadata().map_err(failed)?;
        if !found.is_file() {
            return Err(irregular());
        }
        if found.uid() != user() || found.nlink() != 1 || !is_ours(&file, &found) {
            return Err(Error(format!(
                "control file {shown} exists and was not created by terrace: it is left unchanged; specify another path"
            )));
        }
        // SAFETY: the descriptor is open.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0
            && io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock
        {
            return Err(Error(format!(
                "control file {shown} belongs to a running JVM; use one file per process (control=DIRECTORY/%p; a folder per container)"
            )));
        }
        file.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        let copy = Copy { file: Kept::new(file.into()).map_err(failed)? };
        Ok((copy, Place { folder, name: name.to_owned() }))
    }

    /// Removes the file, if it is still at its place.
    pub(crate) fn remove(&self, Place { folder, name }: &Place) {
        if folder.look_at(name).is_ok_and(|found| self.file.is(&found)) {
            // What cannot be removed stays, and can be taken over.
            let _ = folder.remove(name);
        }
    }

    /// Whether it is the file at this path.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok_and(|found| self.file.is(&found))
    }

    /// Writes the memory's present content.
    pub(crate) fn write(&self, memory: &Memory) -> io::Result<()> {
        let number = self.file.number().ok_or(io::ErrorKind::NotFound)?;
        let mut done = 0;
        while done < memory.bytes() {
            // The kernel reads the memory, while other threads count on. A slice of it would claim that nobody writes.
            // SAFETY: inside the mapping, which lives across the call; the descriptor is open.
            let written = unsafe {
                let from = memory.base().as_ptr().add(done).cast();
                libc::pwrite(number, from, memory.bytes() - done, done as libc::off_t)
            };
            match written {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                1.. => done += written as usize,
                _ => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
        // SAFETY: the descriptor is open.
        match unsafe { libc::ftruncate(number, memory.bytes() as libc::off_t) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // Closing would do, but for a child that is just being forked and has the descriptor, too.
        if let Some(number) = self.file.number() {
            // SAFETY: the descriptor is open.
            unsafe { libc::flock(number, libc::LOCK_UN) };
        }
    }
}

/// A file without content has nothing to lose; any other has our mark, or is not ours.
fn is_ours(file: &File, found: &Metadata) -> bool {
    let mut mark = [0; MAGIC.len()];
    found.len() == 0 || (file.read_exact_at(&mut mark, 0).is_ok() && mark == MAGIC)
}

impl View {
    /// Opens what stands at a path: the memory of the JVM that wrote there, while it lives, and otherwise what it left behind.
    pub fn open(path: &Path) -> Result<View, Error> {
        open(path, Access::Read)
    }
}

/// The living memory behind a copy, or what the copy says.
pub(crate) fn open(path: &Path, access: Access) -> Result<View, Error> {
    let (copy, owner) = read(path)?;
    if copy.state() == Some(State::Ended) {
        return Ok(copy);
    }
    match process::of_copy(&copy, owner, access) {
        Some(living) => Ok(living),
        // It may have ended between the two looks: what it wrote last is in place by now.
        None => read(path).map(|(copy, _)| copy),
    }
}

fn read(path: &Path) -> Result<(View, u32), Error> {
    let shown = path.display();
    let failed = |error: io::Error| Error(format!("control file {shown}: {error}"));
    let foreign = || Error(format!("{shown} is not a control file of this version of terrace"));
    if !path.symlink_metadata().map_err(failed)?.is_file() {
        return Err(foreign());
    }
    let file = OpenOptions::new().read(true).custom_flags(CAREFULLY).open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if !found.is_file() {
        return Err(foreign());
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if let Some(error) = other_version(path, &bytes) {
        return Err(error);
    }
    Ok((View::of_bytes(&bytes).ok_or_else(foreign)?, found.uid()))
}

/// That a file's beginning is of an agent of another version, if it is.
fn other_version(path: &Path, bytes: &[u8]) -> Option<Error> {
    let format = other_format(*bytes.first_chunk()?)?;
    Some(Error::other_version(&format_args!("that made {}", path.display()), format))
}

impl Error {
    /// Why a control file cannot be opened, if it is there and of an agent of another version: it will not become another.
    pub fn of_other_version(path: &Path) -> Option<Error> {
        let mut beginning = [0; 12];
        let file = OpenOptions::new().read(true).custom_flags(CAREFULLY).open(path).ok()?;
        file.read_exact_at(&mut beginning, 0).ok()?;
        other_version(path, &beginning)
    }
}

#[cfg(test)]
#[path = "copy_test.rs"]
mod tests;
