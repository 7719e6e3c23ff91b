//! What we need from Linux and the standard library does not have. Outside of the native kernels the only module with `unsafe`.

use crate::primitive::{AtomicI32, Ordering, SharedWord};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::time::Duration;

mod child;

pub use child::{
    Exit, die_with_us, end_group, ended, ending, group_lives, reap, signal_group, sleep_until,
    waiting_for_children, without_terminal,
};

pub const TERMINATE: i32 = libc::SIGTERM;
pub const KILL: i32 = libc::SIGKILL;
/// Stops a process until [`CONTINUE`].
pub const STOP: i32 = libc::SIGSTOP;
pub const CONTINUE: i32 = libc::SIGCONT;

pub fn user() -> u32 {
    // SAFETY: geteuid has no preconditions.
    unsafe { libc::geteuid() }
}

/// CPU time that all threads of a process have used. `None` when it has ended.
pub fn process_cpu(pid: u32) -> Option<Duration> {
    let mut clock = 0;
    // SAFETY: `clock` is written only on success.
    if unsafe { libc::clock_getcpuclockid(pid as libc::pid_t, &mut clock) } != 0 {
        return None;
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result.
    if unsafe { libc::clock_gettime(clock, &mut time) } != 0 {
        return None;
    }
    Some(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// The clock that only goes forward: `CLOCK_MONOTONIC`, which is also Java's `System.nanoTime` and that of the JVM's log (`tn`).
pub fn monotonic() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result; this clock exists on every Linux, so that the call cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// CPU time, in seconds, of this process and of the children that it has waited for.
pub fn own_cpu_seconds() -> f64 {
    let of = |who: libc::c_int| {
        // SAFETY: rusage is made of plain numbers, for which zero is valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is a valid place for the result.
        if unsafe { libc::getrusage(who, &mut usage) } != 0 {
            return 0.0;
        }
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        seconds(usage.ru_utime) + seconds(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

/// Reads a 64-bit word from each address in another process's memory. An error unless all can be read.
pub fn read_memory(pid: u32, addresses: &[usize], words: &mut [u64]) -> io::Result<()> {
    /// Linux takes 1024 pieces at a time.
    const AT_A_TIME: usize = 1024;
    if addresses.len() != words.len() {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    for (addresses, words) in addresses.chunks(AT_A_TIME).zip(words.chunks_mut(AT_A_TIME)) {
        let pieces: Vec<libc::iovec> = addresses.iter().map(|address| piece(*address, 8)).collect();
        read_pieces(pid, &pieces, words)?;
    }
    Ok(())
}

/// Reads 64-bit words that follow each other in another process's memory. An error unless all can be read.
pub fn read_array(pid: u32, address: usize, words: &mut [u64]) -> io::Result<()> {
    read_pieces(pid, &[piece(address, std::mem::size_of_val(words))], words)
}

fn piece(address: usize, bytes: usize) -> libc::iovec {
    libc::iovec { iov_base: std::ptr::without_provenance_mut(address), iov_len: bytes }
}

/// Fills `words` with what is in the pieces of another process's memory.
fn read_pieces(pid: u32, pieces: &[libc::iovec], words: &mut [u64]) -> io::Result<()> {
    let bytes = std::mem::size_of_val(words);
    let local = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: bytes };
    // SAFETY: `local` is the memory of `words`, exclusively borrowed, any bytes of which are valid numbers; addresses in the
    // other process are checked by the kernel, which only reads there.
    let read = unsafe {
        libc::process_vm_readv(
            pid as libc::pid_t,
            &local,
            1,
            pieces.as_ptr(),
            pieces.len() as libc::c_ulong,
            0,
        )
    };
    if read < 0 {
        return Err(io::Error::last_os_error());
    }
    if read as usize != bytes {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
    }
    Ok(())
}

/// A file of `/proc` as text. Names of programs and of mapped files are in it as they are: they may be in another encoding, or cut within a letter.
pub fn read_text(path: impl AsRef<std::path::Path>) -> io::Result<String> {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// A field of a process's or thread's `stat` line, by its number in proc(5), from the third on. The second, the name, may hold anything, so
/// its end is the last parenthesis.
pub fn stat_field<T: std::str::FromStr>(line: &str, number: usize) -> Option<T> {
    line.rsplit_once(')')?.1.split_ascii_whitespace().nth(number.checked_sub(3)?)?.parse().ok()
}

/// The same of a process now.
pub fn stat<T: std::str::FromStr>(pid: u32, number: usize) -> Option<T> {
    stat_field(&read_text(format!("/proc/{pid}/stat")).ok()?, number)
}

/// Whether a process is there and has not ended: one that nobody has waited for is still listed.
pub fn is_running(pid: u32) -> bool {
    stat(pid, 3).is_some_and(|state: char| !matches!(state, 'Z' | 'X'))
}

/// The process group of a process that has not ended.
fn group_of_living(pid: u32) -> Option<u32> {
    let line = read_text(format!("/proc/{pid}/stat")).ok()?;
    let lives = stat_field(&line, 3).is_some_and(|state: char| !matches!(state, 'Z' | 'X'));
    stat_field(&line, 5).filter(|_| lives)
}

/// Whether a process is stopped, as by SIGSTOP or by a debugger: it does nothing until it is resumed.
pub fn is_stopped(pid: u32) -> bool {
    matches!(stat(pid, 3), Some('T' | 't'))
}

/// Whether a process has a handler for a signal.
pub fn catches(pid: u32, signal: i32) -> bool {
    let status = read_text(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 1 << (signal - 1) != 0)
}

/// Asks a JVM to listen, and any other program to end.
pub const QUIT: i32 = libc::SIGQUIT;

/// To one process, which in a container may be the first; 0 would be our own group.
pub fn signal(pid: u32, signal: i32) {
    if pid > 0 {
        // SAFETY: kill has no memory preconditions; a process that has ended gives an error, which is fine.
        unsafe { libc::kill(pid as libc::pid_t, signal) };
    }
}

/// What poll(2) tells of one descriptor; 0 if a signal came, or the time is over.
fn poll(descriptor: &impl AsRawFd, limit: Duration) -> i16 {
    let mut wanted = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // Rounded up: a caller that waits for a moment is not to come back just before it.
    let milliseconds = limit.as_micros().div_ceil(1000).min(i32::MAX as u128) as i32;
    // SAFETY: one valid pollfd.
    if unsafe { libc::poll(&mut wanted, 1, milliseconds) } > 0 { wanted.revents } else { 0 }
}

/// Waits until a terminal has input, a signal comes, or the time is over. Whether somebody is still at its other side.
pub fn wait_for_input(terminal: &impl AsRawFd, limit: Duration) -> bool {
    poll(terminal, limit) & (libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) == 0
}

/// Waits until there is something to read, if only the end, a signal comes, or the time is over. Whether there is.
pub fn has_input(from: &impl AsRawFd, limit: Duration) -> bool {
    poll(from, limit) != 0
}

static STOPPED_BY: AtomicI32 = AtomicI32::new(0);
static SIGNALS: AtomicI32 = AtomicI32::new(0);

extern "C" fn note_signal(signal: libc::c_int) {
    // Relaxed, both: the numbers are all there is to see.
    STOPPED_BY.store(signal, Ordering::Relaxed);
    SIGNALS.fetch_add(1, Ordering::Relaxed);
}

/// How many signals have asked us to stop: who asks again does not want to wait.
pub fn signals() -> i32 {
    // Relaxed: as in `note_signal`.
    SIGNALS.load(Ordering::Relaxed)
}

/// From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT are noted instead of ending us, so that children can be ended first. One that we were started to
/// ignore (`nohup`, `&` in a script) stays ignored. How children end is told us, whoever has started us.
pub fn note_signals() {
    // SAFETY: restores the system's default action.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
        // SAFETY: the handler only stores into an atomic, which is async-signal-safe; the cast is how libc takes handlers.
        unsafe {
            let before =
                libc::signal(signal, note_signal as extern "C" fn(libc::c_int) as libc::sighandler_t);
            if before == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
    }
}

/// SIGHUP ends us at once again: for who has nothing to put in order when his terminal has gone.
pub fn end_on_hangup() {
    // SAFETY: restores the system's default action.
    unsafe { libc::signal(libc::SIGHUP, libc::SIG_DFL) };
}

/// The signal that asked us to stop, if any.
pub fn stopped_by() -> Option<i32> {
    // Relaxed: as in `note_signal`.
    Some(STOPPED_BY.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// A closed pipe ends us silently, as it does every other filter.
pub fn end_on_closed_pipe() {
    // SAFETY: restores the system's default action.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// A closed pipe does not end us: for who has something in another process that has to go first. Whoever cannot write learns it then.
pub fn outlive_closed_pipes() {
    // SAFETY: the signal is ignored; programs that we start get the default action back from the standard library.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

/// Ends us as a closed pipe does.
pub fn end_as_by_closed_pipe() -> ! {
    end_on_closed_pipe();
    // SAFETY: raise has no preconditions.
    unsafe { libc::raise(libc::SIGPIPE) };
    // The signal may be blocked.
    std::process::exit(128 + libc::SIGPIPE)
}

/// The 64-bit words of a file that another process is writing.
pub struct SharedWords {
    base: NonNull<SharedWord>,
    words: usize,
}

// SAFETY: shared memory that is read through atomics only.
unsafe impl Send for SharedWords {}
// SAFETY: as above.
unsafe impl Sync for SharedWords {}

impl SharedWords {
    /// Maps the first `bytes` (at least 8) of a file that is at least as long and stays so.
    pub fn map(file: &File, bytes: usize) -> io::Result<SharedWords> {
        if (file.metadata()?.len() as usize) < bytes {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is too short"));
        }
        let (protection, flags) = (libc::PROT_READ, libc::MAP_SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice disturbs no other memory.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, file.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or_else(|| io::Error::other("mapped at address 0"))?;
        Ok(SharedWords { base, words: bytes / 8 })
    }

    /// The word at `index`, 0 beyond the end.
    pub fn get(&self, index: usize) -> u64 {
        if index >= self.words {
            return 0;
        }
        // SAFETY: inside the mapping, page-aligned base, alive as long as `self`; the other process's stores are whole words.
        let word = unsafe { self.base.add(index).as_ref() };
        // Acquire: whoever sees the phase sees the numbers that were written before it.
        word.load(Ordering::Acquire)
    }
}

impl Drop for SharedWords {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map`; nothing borrowed from `self` outlives it. (munmap rounds up to whole pages.)
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.words * 8) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_ended_does_not_run_until_somebody_waits_for_it() {
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        assert!(is_running(child.id()) && is_running(std::process::id()) && !is_running(0x3fff_fff0));
        // It ends, and stays in the list.
        drop(child.stdin.take());
        while is_running(child.id()) {
            std::thread::yield_now();
        }
        assert!(child.try_wait().unwrap().is_some());
    }

    #[test]
    fn our_own_cpu_time_grows() {
        let before = process_cpu(std::process::id()).unwrap();
        let mut sum = 0_u64;
        while process_cpu(std::process::id()).unwrap() <= before {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert_eq!(process_cpu(0x3fff_fff0), None);
    }

    #[test]
    fn shared_words_show_what_is_written_later() {
        use std::os::unix::fs::FileExt;
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&[0; 64], 0).unwrap();
        let words = SharedWords::map(&file, 64).unwrap();
        file.write_all_at(&7_u64.to_ne_bytes(), 16).unwrap();
        assert_eq!((words.get(2), words.get(8), words.get(usize::MAX)), (7, 0, 0));
        assert!(SharedWords::map(&file, 65).is_err());
    }
}
