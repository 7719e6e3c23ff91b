//! Memory that two processes share and neither can take away from the other.
//!
//! A file that a process has mapped can be truncated by whoever may write it, and the next access ends the process (SIGBUS). So the
//! agent's counters lie in a memory file (memfd) that is sealed against shrinking and growing, and a reader maps nothing that is not
//! sealed like that.

use crate::header::Header;
use crate::limits::{MAX_DOMAINS, MAX_LEVELS};
use crate::new_threads::NewThreads;
use crate::thread_waste::ThreadWaste;
use crate::times::Times;
use hab::Counters;
use std::ffi::CString;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

/// What the kernel shows for the memory's descriptor in `/proc/PID/fd`.
pub(crate) const LINK: &str = "/memfd:terrace (deleted)";
/// More than any agent writes.
pub(crate) const MOST_BYTES: usize = size_of::<Header>()
    + MAX_LEVELS * MAX_DOMAINS * size_of::<Counters>()
    + MAX_DOMAINS * size_of::<Times>()
    + size_of::<NewThreads>()
    + size_of::<ThreadWaste>();

/// Seals without which a mapping could lose its pages.
const SEALS: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
/// From Linux's `memfd.h`; since 6.3. Where `vm.memfd_noexec` is 2, a memory file needs it.
const MFD_NOEXEC_SEAL: libc::c_uint = 8;

/// What somebody wants to do with the memory of another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A mapping.
pub(crate) struct Memory {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is memory whose words are accessed through atomics only.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

pub(crate) fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

impl Memory {
    /// Zeroed memory of this process alone.
    pub(crate) fn private(bytes: usize) -> io::Result<Memory> {
        map(-1, bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS)
    }

    /// A mapping of a descriptor that [`sealed`] or [`take`] gave, which has at least `bytes` for ever.
    pub(crate) fn shared(file: &OwnedFd, bytes: usize, access: Access) -> io::Result<Memory> {
        let writable = if access == Access::Write { libc::PROT_WRITE } else { 0 };
        map(file.as_raw_fd(), bytes, libc::PROT_READ | writable, libc::MAP_SHARED)
    }

    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Gives whole pages from `from` bytes on back to the kernel, for all processes that have mapped them. They can be read and written as before, and
    /// are zero then. Where the kernel may not have a page for who writes there once more, which would end that process, they stay as they are.
    pub(crate) fn release(&self, from: usize) {
        if commits_strictly() {
            return;
        }
        self.release_now(from);
    }

    fn release_now(&self, from: usize) {
        let from = from.next_multiple_of(page_bytes());
        let Some(bytes) = self.bytes.checked_sub(from).filter(|bytes| *bytes > 0) else { return };
        // The first is for memory that is shared, the second for memory that is not, where the kernel refuses the first.
        for advice in [libc::MADV_REMOVE, libc::MADV_DONTNEED] {
            // SAFETY: pages of this mapping, which consists of atomics only: for them zero is valid at any time.
            unsafe { libc::madvise(self.base.as_ptr().add(from).cast(), bytes, advice) };
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this length, and nothing borrowed from `self` outlives it.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// Whether the kernel refuses memory beyond a limit (`vm.overcommit_memory=2`). Of a memory file it then refuses single pages, by SIGBUS (`shmem_inode_acct_blocks`); those that were
/// allocated when it was made are there.
pub(crate) fn commits_strictly() -> bool {
    std::fs::read("/proc/sys/vm/overcommit_memory").map_or(true, |mode| mode.first() == Some(&b'2'))
}

fn page_bytes() -> usize {
    // SAFETY: sysconf has no preconditions.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(1 << 16)
}

fn map(file: i32, bytes: usize, protection: i32, flags: i32) -> io::Result<Memory> {
    // SAFETY: a new mapping at an address of the kernel's choice disturbs no other memory.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, file, 0) };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let base = NonNull::new(base.cast()).ok_or_else(io::Error::last_os_error)?;
    Ok(Memory { base, bytes })
}

/// A new memory file of so many bytes, all of them there, sealed. It goes when the last process that has it has gone.
pub(crate) fn sealed(bytes: usize) -> io::Result<OwnedFd> {
    // Beyond the limit the kernel would send a signal, not an error.
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the result.
    checked(unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) })?;
    if limit.rlim_cur < bytes as u64 {
        return Err(io::Error::other(format!("the file size limit is below {bytes} bytes (ulimit -f)")));
    }
    let usual = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is a C string; a new descriptor disturbs nobody.
    let create =
        |flags: libc::c_uint| unsafe { libc::syscall(libc::SYS_memfd_create, c"terrace".as_ptr(), flags) };
    let mut found = create(usual | MFD_NOEXEC_SEAL);
    if found < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL) {
        found = create(usual);
    }
    let found = checked(found as libc::c_int)?;
    // SAFETY: just opened, and belongs to nobody else.
    let file = not_standard(unsafe { OwnedFd::from_raw_fd(found) })?;
    // SAFETY: the descriptor is open.
    checked(unsafe { libc::fchmod(file.as_raw_fd(), 0o600) })?;
    // SAFETY: the descriptor is open.
    reserve(bytes, |from, bytes| unsafe {
        libc::posix_fallocate(file.as_raw_fd(), from as libc::off_t, bytes as libc::off_t)
    })?;
    // SAFETY: the descriptor is open.
    checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, SEALS) })?;
    Ok(file)
}

/// Has a file get so many bytes, by what gives it some from a place on, or says why not. Many kernels give up when a signal comes, take back what
/// they have given, and may not be asked for as much again: where a profiler's signals come more often than all of it takes, it would never be there.
/// So it is asked for in smaller parts then, down to a page, and each is kept.
fn reserve(bytes: usize, mut give: impl FnMut(usize, usize) -> libc::c_int) -> io::Result<()> {
    let page = page_bytes();
    let (mut done, mut part) = (0, bytes);
    while done < bytes {
        match give(done, part.min(bytes - done)) {
            0 => done += part,
            libc::EINTR => part = (part / 2).next_multiple_of(page),
            error => return Err(io::Error::from_raw_os_error(error)),
        }
    }
    Ok(())
}

/// In a process that was started without standard error, the next file that is opened would become it: what the process prints would be
/// written into ours.
pub(crate) fn not_standard(file: OwnedFd) -> io::Result<OwnedFd> {
    if file.as_raw_fd() > libc::STDERR_FILENO {
        return Ok(file);
    }
    // SAFETY: the descriptor is open.
    let moved =
        checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, libc::STDERR_FILENO + 1) })?;
    // SAFETY: just made, and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(moved) })
}

/// What a memory file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) inode: u64,
    pub(crate) owner: u32,
    pub(crate) bytes: usize,
}

/// What `file` is, if it is a nameless regular file in memory. It may be opened for its path alone.
pub(crate) fn identity(file: &OwnedFd) -> Option<Identity> {
    // SAFETY: both structures are made of plain numbers, for which zero is valid.
    let (mut found, mut system): (libc::stat, libc::statfs) = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, and both places are valid for the results.
    let asked = unsafe {
        libc::fstat(file.as_raw_fd(), &mut found) == 0 && libc::fstatfs(file.as_raw_fd(), &mut system) == 0
    };
    let is_memory = asked
        && found.st_mode & libc::S_IFMT == libc::S_IFREG
        && found.st_nlink == 0
        && system.f_type == libc::TMPFS_MAGIC;
    let bytes = usize::try_from(found.st_size).ok().filter(|_| is_memory)?;
    Some(Identity { inode: found.st_ino, owner: found.st_uid, bytes })
}

/// Opens the memory file behind a link of `/proc/PID/fd`, if it is one and sealed, and `right` for the caller. Whatever else is
/// behind the link is left unopened: opening a device or a pipe can do something.
pub(crate) fn take(
    link: &Path,
    access: Access,
    right: impl Fn(Identity) -> bool,
) -> Option<(OwnedFd, Identity)> {
    let place = open(link, libc::O_PATH | libc::O_CLOEXEC).ok()?;
    identity(&place).filter(|found| right(*found))?;
    let flags = if access == Access::Write { libc::O_RDWR } else { libc::O_RDONLY };
    let again = format!("/proc/self/fd/{}", place.as_raw_fd());
    let file = open(Path::new(&again), flags | libc::O_NONBLOCK | libc::O_CLOEXEC).ok()?;
    // SAFETY: the descriptor is open.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    if seals < 0 || seals & SEALS != SEALS {
        return None;
    }
    // Only now that it is sealed its length cannot change any more.
    let found = identity(&file).filter(|found| right(*found))?;
    Some((file, found))
}

fn open(path: &Path, flags: libc::c_int) -> io::Result<OwnedFd> {
    let path = CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)?;
    // SAFETY: `path` is a C string that lives across the call.
    let file = checked(unsafe { libc::open(path.as_ptr(), flags) })?;
    // SAFETY: just opened, and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::MetadataExt;

    /// Of the kernels of both processors, unless somebody has built another.
    const PAGE: usize = 4096;

    fn link(file: &OwnedFd) -> std::path::PathBuf {
        format!("/proc/self/fd/{}", file.as_raw_fd()).into()
    }

    #[test]
    fn nobody_can_shrink_it() {
        let file = sealed(10_000).unwrap();
        let (other, found) = take(&link(&file), Access::Write, |_| true).unwrap();
        assert_eq!((found.bytes, Some(found)), (10_000, identity(&file)));
        assert_eq!(std::fs::read_link(link(&file)).unwrap(), Path::new(LINK));
        let other = File::from(other);
        for length in [0, 4096, 20_000] {
            assert_eq!(other.set_len(length).unwrap_err().raw_os_error(), Some(libc::EPERM));
        }
    }

    #[test]
    fn what_is_released_is_zero_and_takes_no_memory() {
        let file = sealed(10 * PAGE).unwrap();
        let shared = Memory::shared(&file, 10 * PAGE, Access::Write).unwrap();
        for memory in [shared, Memory::private(10 * PAGE).unwrap()] {
            // SAFETY: inside the mapping, which nobody else uses.
            let at = |byte: usize| unsafe { memory.base().add(byte) };
            for page in 0..10 {
                // SAFETY: as above.
                unsafe { at(page * PAGE).write_volatile(7) };
            }
            memory.release_now(PAGE + 1);
            // SAFETY: as above.
            let left = [0, 1, 2, 9].map(|page| unsafe { at(page * PAGE).read_volatile() });
            assert_eq!(left, [7, 7, 0, 0]);
            // SAFETY: as above.
            unsafe { at(9 * PAGE).write_volatile(8) };
            memory.release_now(10 * PAGE);
            memory.release_now(11 * PAGE);
            // SAFETY: as above.
            assert_eq!(unsafe { at(9 * PAGE).read_volatile() }, 8);
        }
        // Two pages that were never given back, and two that came again when they were read and written.
        assert_eq!(File::from(file).metadata().unwrap().blocks() * 512, 4 * PAGE as u64);
    }

    #[test]
    fn what_is_not_sealed_is_not_taken() {
        let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
            skips::skip!("a file in memory: /dev/shm is not there, or read-only");
            return;
        };
        let path = directory.path().join("file");
        std::fs::write(&path, [0; 8192]).unwrap();
        let file = OwnedFd::from(File::open(&path).unwrap());
        assert!(take(&link(&file), Access::Read, |_| true).is_none(), "it has a name");
        std::fs::remove_file(&path).unwrap();
        assert!(identity(&file).is_some());
        assert!(take(&link(&file), Access::Read, |_| true).is_none(), "it can be truncated");
        let null = OwnedFd::from(File::open("/dev/null").unwrap());
        assert!(take(&link(&null), Access::Read, |_| true).is_none());
        let sealed = sealed(4096).unwrap();
        assert!(take(&link(&sealed), Access::Read, |found| found.owner == u32::MAX).is_none());
    }

    /// A kernel into whose work a signal comes with every third page, and every seventh signal before any.
    #[test]
    fn memory_grows_between_signals() {
        for pages in [0, 1, 2, 7, 100, 1025] {
            let (mut has, mut asked) = (0, 0);
            let give = |from: usize, bytes: usize| {
                assert_eq!((from, from % PAGE), (has, 0), "one behind the other");
                asked += 1;
                if bytes > 3 * PAGE || asked % 7 == 0 {
                    return libc::EINTR;
                }
                has += bytes;
                0
            };
            let all = pages * PAGE + 5;
            assert!(reserve(all, give).is_ok());
            assert_eq!(has, all);
        }
        let mut full = [libc::EINTR, libc::ENOSPC].into_iter();
        let refused = reserve(9 * PAGE, |_, _| full.next().unwrap());
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    }

    /// As a profiler does that looks at threads by signals. Kernels that go on whatever comes pass this in any case.
    #[test]
    fn signals_keep_nobody_from_memory() {
        extern "C" fn nothing(_: libc::c_int) {}
        // SAFETY: all zeros are valid values of these structures.
        let (mut action, mut event): (libc::sigaction, libc::sigevent) = unsafe { std::mem::zeroed() };
        action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        // To this thread: others have the process's signals as well.
        (event.sigev_notify, event.sigev_signo) = (libc::SIGEV_THREAD_ID, libc::SIGURG);
        // SAFETY: gettid has no preconditions.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };
        let often = libc::timespec { tv_sec: 0, tv_nsec: 50_000 };
        let times = libc::itimerspec { it_interval: often, it_value: often };
        let mut timer = std::ptr::null_mut();
        // SAFETY: the handler does nothing, which any thread may do at any time; all places are valid for their values.
        let set = unsafe {
            libc::sigaction(libc::SIGURG, &action, std::ptr::null_mut())
                | libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer)
                | libc::timer_settime(timer, 0, &times, std::ptr::null_mut())
        };
        let made: Vec<_> = (0..20).map(|_| sealed(4 << 20)).collect();
        // SAFETY: the timer was created above, if any was.
        unsafe { libc::timer_delete(timer) };
        assert_eq!(set, 0);
        for file in made {
            assert_eq!(File::from(file.unwrap()).metadata().unwrap().blocks() * 512, 4 << 20);
        }
    }

    #[test]
    fn a_limit_on_files_is_an_error_and_no_signal() {
        let us = std::env::current_exe().unwrap();
        let child = std::process::Command::new("sh")
            .args(["-c", "ulimit -f 4 && exec \"$0\" --exact memory::tests::beyond_the_limit --ignored"])
            .arg(us)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && said.contains("1 passed"), "{:?} {said}", child.status);
    }

    #[test]
    #[ignore = "the process with a limit of the test above"]
    fn beyond_the_limit() {
        assert!(sealed(64 << 10).unwrap_err().to_string().contains("ulimit -f"));
    }
}
