//! Creating, opening and reading a control file.
#![allow(clippy::disallowed_types, reason = "the file's words are shared with another process")]

use crate::header::{FORMAT, Header, MAGIC, MAX_LEVELS, MAX_MESSAGE, MAX_SETTINGS, Mode, State};
use hab::{Counter, Counters};
use std::ffi::CString;
use std::fmt;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::ptr::{NonNull, addr_of};
use std::sync::atomic::Ordering;

/// Why a control file cannot be made or read; the text names the remedy.
#[derive(Debug, PartialEq, Eq)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// A mapped control file, or the same layout in private memory when there is no file.
pub struct Control {
    base: NonNull<u8>,
    bytes: usize,
    path: Option<PathBuf>,
}

// SAFETY: the mapping is shared memory accessed through atomics; the two text areas are written by the creating process
// before the state that publishes them.
unsafe impl Send for Control {}
// SAFETY: as above.
unsafe impl Sync for Control {}

/// Where the agent puts its control file for `control=auto`, and where `terrace status PID` looks for it:
/// `/dev/shm/terrace_UID/PID`.
pub fn default_path(uid: u32, pid: u32) -> PathBuf {
    PathBuf::from(format!("/dev/shm/terrace_{uid}/{pid}"))
}

/// `%p` in a path becomes the process number, as in HotSpot's own options; `auto` is [`default_path`].
pub fn expand_path(path: &str, uid: u32, pid: u32) -> PathBuf {
    match path {
        "auto" => default_path(uid, pid),
        _ => PathBuf::from(path.replace("%p", &pid.to_string())),
    }
}

fn file_bytes(domains: &[usize]) -> usize {
    size_of::<Header>() + domains.iter().sum::<usize>() * size_of::<Counters>()
}

fn last_os_error() -> std::io::Error {
    std::io::Error::last_os_error()
}

fn c_path(path: &Path) -> Result<CString, Error> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Error(format!("control file {}: the path has a NUL byte", path.display())))
}

/// The directory must belong to this user and be writable by nobody else: otherwise another user could plant a link or
/// swap the file (HotSpot demands the same of its hsperfdata directory).
fn check_directory(directory: &Path, may_create: bool) -> Result<(), Error> {
    // SAFETY: geteuid has no preconditions.
    let user = unsafe { libc::geteuid() };
    let shown = directory.display();
    if may_create && !directory.exists() {
        use std::os::unix::fs::DirBuilderExt;
        // A second JVM that starts at the same time may win: the check below decides.
        let _ = std::fs::DirBuilder::new().mode(0o700).create(directory);
    }
    let found = std::fs::symlink_metadata(directory)
        .map_err(|error| Error(format!("control directory {shown}: {error}; create it with mkdir -m 700")))?;
    if !found.is_dir() {
        return Err(Error(format!(
            "control directory {shown} is not a directory (links are not followed); name a real one"
        )));
    }
    if found.uid() != user || found.mode() & 0o022 != 0 {
        return Err(Error(format!(
            "control directory {shown} can be written by other users; use control=auto, or one made with mkdir -m 700"
        )));
    }
    Ok(())
}

impl Control {
    /// The layout in private memory: what the agent uses when no control file was asked for.
    ///
    /// `domains` has the number of domains of each level, at most [`MAX_LEVELS`] of them.
    pub fn anonymous(domains: &[usize]) -> Result<Control, Error> {
        Control::build(domains, None)
    }

    /// Creates the file at `path` (mode 0600, no links followed, an older file of the same user replaced) and maps it.
    pub fn create(path: &Path, domains: &[usize]) -> Result<Control, Error> {
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        check_directory(directory, directory.parent() == Some(Path::new("/dev/shm")))?;
        let shown = path.display();
        let name = c_path(path)?;
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        for attempt in 0..2 {
            // SAFETY: `name` is a NUL-terminated string that lives across the call.
            let fd = unsafe { libc::open(name.as_ptr(), flags, 0o600) };
            if fd >= 0 {
                // SAFETY: `fd` was just opened and belongs to nobody else.
                let file = unsafe { OwnedFd::from_raw_fd(fd) };
                return Control::build(domains, Some((path, file)));
            }
            let error = last_os_error();
            if attempt == 1 || error.kind() != std::io::ErrorKind::AlreadyExists {
                return Err(Error(format!("control file {shown}: {error}; name a path that can be written")));
            }
            // Left by an earlier process of the same number. Only a regular file is replaced.
            match std::fs::symlink_metadata(path) {
                Ok(found) if found.is_file() => {
                    let _ = std::fs::remove_file(path);
                }
                _ => {
                    return Err(Error(format!(
                        "control file {shown} exists and is no regular file; name another path"
                    )));
                }
            }
        }
        Err(Error(format!("control file {shown} cannot be created; name another path")))
    }

    fn build(domains: &[usize], file: Option<(&Path, OwnedFd)>) -> Result<Control, Error> {
        if domains.len() > MAX_LEVELS {
            return Err(Error(format!("{} levels asked for, {MAX_LEVELS} are possible", domains.len())));
        }
        let bytes = file_bytes(domains);
        let (fd, flags) = match &file {
            Some((path, file)) => {
                // posix_fallocate rather than ftruncate: a full file system is an error here, not a SIGBUS in the application.
                // SAFETY: the descriptor is open.
                let failed = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) };
                if failed != 0 {
                    let error = std::io::Error::from_raw_os_error(failed);
                    let _ = std::fs::remove_file(path);
                    return Err(Error(format!(
                        "control file {}: {error}; name a path with room",
                        path.display()
                    )));
                }
                (file.as_raw_fd(), libc::MAP_SHARED)
            }
            None => (-1, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS),
        };
        let base = map(fd, bytes, libc::PROT_READ | libc::PROT_WRITE, flags)
            .map_err(|error| Error(format!("control file: mmap: {error}")))?;
        let control = Control { base, bytes, path: file.map(|(path, _)| path.to_owned()) };
        let header = base.cast::<Header>().as_ptr();
        // SAFETY: the mapping is at least a header long, page-aligned, zeroed and not yet seen by anybody: an all-zero
        // header is a valid one, and these fields are plain numbers.
        unsafe {
            (*header).format = FORMAT;
            (*header).pid = std::process::id();
            (*header).file_bytes = bytes as u64;
            for (slot, count) in (*header).domains.iter().zip(domains) {
                slot.store(*count as u32, Ordering::Relaxed);
            }
            (*header).levels.store(domains.len() as u32, Ordering::Relaxed);
            // Last: a reader takes a file without it for one that is still being made.
            (*header).magic = MAGIC;
        }
        Ok(control)
    }

    /// Opens the control file of a running JVM (or what one left behind) for reading and switching.
    pub fn open(path: &Path) -> Result<Control, Error> {
        let shown = path.display();
        let name = c_path(path)?;
        // SAFETY: `name` is a NUL-terminated string that lives across the call.
        let fd = unsafe { libc::open(name.as_ptr(), libc::O_RDWR | libc::O_NOFOLLOW | libc::O_CLOEXEC) };
        if fd < 0 {
            return Err(Error(format!("control file {shown}: {}", last_os_error())));
        }
        // SAFETY: `fd` was just opened and belongs to nobody else.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        let length = std::fs::File::from(
            file.try_clone().map_err(|error| Error(format!("control file {shown}: {error}")))?,
        )
        .metadata()
        .map_err(|error| Error(format!("control file {shown}: {error}")))?
        .len() as usize;
        let foreign = || Error(format!("{shown} is not a control file of this version of terrace"));
        if length < size_of::<Header>() {
            return Err(foreign());
        }
        let base = map(file.as_raw_fd(), length, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED)
            .map_err(|error| Error(format!("control file {shown}: mmap: {error}")))?;
        let control = Control { base, bytes: length, path: Some(path.to_owned()) };
        let header = control.header();
        let domains: Vec<usize> = (0..control.levels())
            .map(|level| header.domains[level].load(Ordering::Relaxed) as usize)
            .collect();
        if header.magic != MAGIC || header.format != FORMAT || file_bytes(&domains) > length {
            return Err(foreign());
        }
        Ok(control)
    }

    fn header(&self) -> &Header {
        // SAFETY: the mapping is page-aligned and at least a header long (checked by `build` and `open`), lives as long as
        // `self`, and what changes in it is atomic or, for the texts, read only by `text`.
        unsafe { self.base.cast::<Header>().as_ref() }
    }

    /// The file's path, if there is a file.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The JVM's process number.
    pub fn pid(&self) -> u32 {
        self.header().pid
    }

    /// Number of levels that have counters.
    pub fn levels(&self) -> usize {
        (self.header().levels.load(Ordering::Relaxed) as usize).min(MAX_LEVELS)
    }

    /// The counters of a level, one for each domain; empty for a level that is not there.
    pub fn counters(&self, level: usize) -> &[Counters] {
        if level >= self.levels() {
            return &[];
        }
        let count = |level: usize| self.header().domains[level].load(Ordering::Relaxed) as usize;
        let before: usize = (0..level).map(count).sum();
        let start = size_of::<Header>() + before * size_of::<Counters>();
        if start + count(level) * size_of::<Counters>() > self.bytes {
            return &[];
        }
        // SAFETY: inside the mapping (just checked), aligned to 128 because header and counters are multiples of 128 on a page
        // boundary, made of atomics only, and alive as long as `self`.
        unsafe {
            std::slice::from_raw_parts(
                self.base.as_ptr().add(start).cast::<Counters>().cast_const(),
                count(level),
            )
        }
    }

    /// The sum of one counter over all levels and domains.
    pub fn total(&self, counter: Counter) -> u64 {
        (0..self.levels()).flat_map(|level| self.counters(level)).map(|domain| domain.get(counter)).sum()
    }

    /// What the agent is doing; `None` for a number that this version does not know.
    pub fn state(&self) -> Option<State> {
        // Acquire: the texts written before the state was stored are seen.
        State::from_number(self.header().state.load(Ordering::Acquire))
    }

    /// Publishes a state, and with it the texts written before.
    pub fn set_state(&self, state: State) {
        // Release: whoever sees the state sees the texts.
        self.header().state.store(state as u32, Ordering::Release);
    }

    /// Which way requests go.
    #[inline(always)]
    pub fn mode(&self) -> Mode {
        // Relaxed: a request near the switch may go either way, both are right.
        match self.header().mode.load(Ordering::Relaxed) {
            1 => Mode::On,
            2 => Mode::Bound,
            _ => Mode::Off,
        }
    }

    /// Switches. Requests under way finish as they began.
    pub fn set_mode(&self, mode: Mode) {
        // Relaxed: as in `mode`.
        self.header().mode.store(mode as u32, Ordering::Relaxed);
    }

    /// Counts a pause of the collector.
    pub fn count_pause(&self) {
        // Relaxed: a statistic publishes nothing.
        self.header().pauses.fetch_add(1, Ordering::Relaxed);
    }

    /// Pauses of the collector that JVMTI has announced (GarbageCollectionStart). A collection may have several (Shenandoah), and
    /// some pauses belong to none (G1's Remark and Cleanup).
    pub fn pauses(&self) -> u64 {
        self.header().pauses.load(Ordering::Relaxed)
    }

    /// Counts a request to make the heap parsable.
    pub fn count_parsability(&self) {
        // Relaxed: a statistic publishes nothing.
        self.header().parsability.fetch_add(1, Ordering::Relaxed);
    }

    /// Times that HotSpot has made the heap parsable (`ensure_parsability`): for collections, heap walks and verification alike.
    pub fn parsability(&self) -> u64 {
        self.header().parsability.load(Ordering::Relaxed)
    }

    /// Writes the settings in force (JSON). Only before [`Control::set_state`]; longer text is cut.
    pub fn set_settings(&self, settings: &str) {
        let header = self.base.cast::<Header>().as_ptr();
        // SAFETY: the area lies in the mapping, and no reader looks before the length is stored below.
        let area = unsafe { NonNull::new_unchecked((&raw mut (*header).settings).cast::<u8>()) };
        let length = write(area, MAX_SETTINGS, settings);
        // Release: whoever sees the length sees the text.
        self.header().settings_bytes.store(length as u32, Ordering::Release);
    }

    /// Writes the message (one line). Only before [`Control::set_state`]; longer text is cut.
    pub fn set_message(&self, message: &str) {
        let header = self.base.cast::<Header>().as_ptr();
        // SAFETY: as in `set_settings`.
        let area = unsafe { NonNull::new_unchecked((&raw mut (*header).message).cast::<u8>()) };
        let length = write(area, MAX_MESSAGE, message);
        // Release: whoever sees the length sees the text.
        self.header().message_bytes.store(length as u32, Ordering::Release);
    }

    /// The settings in force, as JSON text; empty while the agent is starting.
    pub fn settings(&self) -> String {
        let header = self.header();
        // Acquire: pairs with the release in `set_settings`.
        let length = header.settings_bytes.load(Ordering::Acquire) as usize;
        read(addr_of!(header.settings).cast(), length.min(MAX_SETTINGS))
    }

    /// The message; empty if there is none.
    pub fn message(&self) -> String {
        let header = self.header();
        // Acquire: pairs with the release in `set_message`.
        let length = header.message_bytes.load(Ordering::Acquire) as usize;
        read(addr_of!(header.message).cast(), length.min(MAX_MESSAGE))
    }

    /// Removes the file's name; the mapping stays.
    pub fn remove(&self) {
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn map(fd: i32, bytes: usize, protection: i32, flags: i32) -> Result<NonNull<u8>, std::io::Error> {
    // SAFETY: a new mapping at an address of the kernel's choice disturbs no other memory.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, fd, 0) };
    if base == libc::MAP_FAILED {
        return Err(last_os_error());
    }
    NonNull::new(base.cast()).ok_or_else(last_os_error)
}

fn write(area: NonNull<u8>, capacity: usize, text: &str) -> usize {
    let mut length = text.len().min(capacity);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    // SAFETY: the area has `capacity` bytes and does not overlap `text`.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), area.as_ptr(), length) };
    length
}

fn read(area: *const u8, length: usize) -> String {
    let mut bytes = vec![0; length];
    // SAFETY: the area has at least `length` bytes; it was written before the length was published.
    unsafe { std::ptr::copy_nonoverlapping(area, bytes.as_mut_ptr(), length) };
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Drop for Control {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this length, and nothing borrowed from `self` outlives it.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
#[path = "file_test.rs"]
mod tests;
