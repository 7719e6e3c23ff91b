//! Where the report goes: a new file, an older report, a descriptor, a pipe. Nothing else is ever written to.
//!
//! The JVM is ending, perhaps as root, and the path was chosen by whoever wrote the options: a link is not followed, a file that is not
//! a report of this user stays as it is, and nobody who does not read can keep the JVM from ending.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::time::{Duration, Instant};

/// How a report begins: by this an older one is known.
pub(crate) const MARK: &str = "{\"terrace\":";
/// How long one who reads, or another JVM that writes the same file, may keep us waiting in all.
const PATIENCE: Duration = Duration::from_secs(1);

/// Writes the report, or says why not, with the remedy.
pub(crate) fn write(path: &str, text: &[u8]) -> Result<(), String> {
    write_within(path, text, PATIENCE)
}

fn write_within(path: &str, text: &[u8], patience: Duration) -> Result<(), String> {
    if let Some(number) = descriptor(path) {
        return duplicate(number).and_then(|file| write_patiently(file, text, patience)).map_err(remedy);
    }
    let mut options = OpenOptions::new();
    options.mode(0o644).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY);
    match options.clone().read(true).write(true).create_new(true).open(path) {
        Ok(file) => return replace(&file, text, patience),
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(remedy(error)),
        Err(_) => {}
    }
    let found = std::fs::symlink_metadata(path).map_err(remedy)?;
    let kind = found.file_type();
    if kind.is_symlink() {
        return Err("is a symbolic link, which is not followed: specify the file itself".into());
    }
    if kind.is_fifo() || kind.is_char_device() {
        let file = options.write(true).open(path).map_err(remedy)?;
        return write_patiently(file, text, patience).map_err(remedy);
    }
    if !kind.is_file() {
        return Err("is not a file: specify another path".into());
    }
    let file = options.read(true).write(true).open(path).map_err(remedy)?;
    let found = file.metadata().map_err(remedy)?;
    // SAFETY: geteuid has no preconditions.
    let user = unsafe { libc::geteuid() };
    if !found.is_file() || found.uid() != user || found.nlink() != 1 {
        return Err(FOREIGN.into());
    }
    replace(&file, text, patience)
}

const FOREIGN: &str = "exists and is not one of your reports, so it was not replaced; specify another path";

fn remedy(error: std::io::Error) -> String {
    format!("{error}: specify a writable file")
}

fn replace(file: &File, text: &[u8], patience: Duration) -> Result<(), String> {
    lock(file, patience)?;
    // Only now: another JVM may have been writing.
    let length = file.metadata().map_err(remedy)?.len();
    if !is_report(file, length) {
        return Err(FOREIGN.into());
    }
    file.set_len(0).and_then(|()| file.write_all_at(text, 0)).map_err(remedy)
}

/// The descriptor that a path stands for. It is written to as it is: opened anew by its name, a file would be written from its
/// beginning.
fn descriptor(path: &str) -> Option<RawFd> {
    match path {
        "-" | "/dev/stderr" => Some(2),
        "/dev/stdout" => Some(1),
        _ => ["/dev/fd/", "/proc/self/fd/"].iter().find_map(|folder| path.strip_prefix(folder)?.parse().ok()),
    }
}

fn duplicate(number: RawFd) -> std::io::Result<File> {
    // SAFETY: a number that is no descriptor is an error, and nothing else.
    let file = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if file < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: just made, and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(file) }.into())
}

fn is_report(file: &File, length: u64) -> bool {
    let mut begin = [0; MARK.len()];
    length == 0 || (file.read_exact_at(&mut begin, 0).is_ok() && begin == MARK.as_bytes())
}

/// JVMs that end at the same time and have the same path come one after the other.
fn lock(file: &File, patience: Duration) -> Result<(), String> {
    for _ in 0..patience.as_millis() / 10 {
        // SAFETY: the descriptor is open.
        let failed = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0;
        // A file system without locks has to do without.
        if !failed || std::io::Error::last_os_error().kind() != ErrorKind::WouldBlock {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err("is locked by another process: use one file per process (%p)".into())
}

/// Writes all of it, or as much as there is room for in this time. Never more at once than a pipe takes that has room at all: whose descriptor it is may have left it blocking, and it is shared, so that it stays so.
pub(crate) fn write_patiently(
    file: impl AsRawFd,
    mut text: &[u8],
    patience: Duration,
) -> std::io::Result<()> {
    let (file, since) = (Unblocked::of(&file), Instant::now());
    while !text.is_empty() {
        // The whole report has one limit: a reader that takes little, but never stops, would keep the JVM, too. Behind it there has to be room at
        // once, which keeps nobody: it may be this thread that was late.
        let left = patience.saturating_sub(since.elapsed());
        if !has_room(&file, left)? {
            continue;
        }
        match file.write(text.get(..libc::PIPE_BUF).unwrap_or(text)) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => text = text.get(written..).unwrap_or_default(),
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A descriptor that somebody else writes to as well, who may have taken the room that there was a moment ago: without another way a blocking one keeps us then.
enum Unblocked<'f, F> {
    /// Which kernel call has a word for that.
    Socket(&'f F),
    /// Opened once more: what is set of it is ours alone.
    Pipe(File),
    /// What has always room, or had it a moment ago.
    AsIs(&'f F),
}

impl<'f, F: AsRawFd> Unblocked<'f, F> {
    fn of(file: &'f F) -> Unblocked<'f, F> {
        let number = file.as_raw_fd();
        // SAFETY: made of plain numbers, for which zero is valid.
        let mut found: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the place is valid for the result; a number that is no descriptor is an error.
        let asked = unsafe { libc::fstat(number, &mut found) } == 0;
        match found.st_mode & libc::S_IFMT {
            libc::S_IFSOCK if asked => Unblocked::Socket(file),
            libc::S_IFIFO if asked => {
                let again = OpenOptions::new()
                    .write(true)
                    .custom_flags(libc::O_NONBLOCK)
                    .open(format!("/proc/self/fd/{number}"));
                again.map_or(Unblocked::AsIs(file), Unblocked::Pipe)
            }
            _ => Unblocked::AsIs(file),
        }
    }

    fn write(&self, bytes: &[u8]) -> std::io::Result<usize> {
        let number = self.as_raw_fd();
        let written = match self {
            // SAFETY: the bytes are there; a number that is no descriptor is an error.
            Unblocked::Socket(_) => unsafe {
                libc::send(
                    number,
                    bytes.as_ptr().cast(),
                    bytes.len(),
                    libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
                )
            },
            // SAFETY: as above.
            _ => unsafe { libc::write(number, bytes.as_ptr().cast(), bytes.len()) },
        };
        usize::try_from(written).map_err(|_| std::io::Error::last_os_error())
    }
}

impl<F: AsRawFd> AsRawFd for Unblocked<'_, F> {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Unblocked::Socket(file) | Unblocked::AsIs(file) => file.as_raw_fd(),
            Unblocked::Pipe(file) => file.as_raw_fd(),
        }
    }
}

/// Whether the descriptor takes something now; not where a signal came before anyone knew.
fn has_room(file: &impl AsRawFd, left: Duration) -> std::io::Result<bool> {
    let mut wait = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    // SAFETY: one descriptor, which is open.
    match unsafe { libc::poll(&mut wait, 1, left.as_millis() as i32) } {
        0 => Err(ErrorKind::TimedOut.into()),
        1.. => Ok(true),
        _ => match std::io::Error::last_os_error() {
            error if error.kind() == ErrorKind::Interrupted => Ok(false),
            error => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::fs::symlink;
    use std::process::Command;
    use std::sync::mpsc::{self, RecvTimeoutError};

    const REPORT: &[u8] = b"{\"terrace\":\"0\"}\n";

    #[test]
    fn a_report_replaces_only_a_report() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        let name = path.to_str().unwrap();
        for old in ["", "{\"terrace\":\"an older and longer one\"}\n"] {
            std::fs::write(&path, old).unwrap();
            assert_eq!(write(name, REPORT), Ok(()));
            assert_eq!(std::fs::read(&path).unwrap(), REPORT);
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(write(name, REPORT), Ok(()));
        std::fs::write(&path, "PK an application").unwrap();
        assert!(write(name, REPORT).unwrap_err().contains("was not replaced; specify another path"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "PK an application");
        assert!(write(folder.path().to_str().unwrap(), REPORT).unwrap_err().contains("is not a file"));
    }

    #[test]
    fn many_that_end_at_once_leave_one_whole_report() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        let texts = [1, 70_000, 300].map(|length| format!("{MARK}\"{}\"}}\n", "x".repeat(length)));
        for _ in 0..20 {
            let _ = std::fs::remove_file(&path);
            std::thread::scope(|scope| {
                for text in &texts {
                    let path = path.to_str().unwrap();
                    // However long a busy machine has one of them hold the lock.
                    let patience = Duration::from_secs(600);
                    scope.spawn(move || assert_eq!(write_within(path, text.as_bytes(), patience), Ok(())));
                }
            });
            let written = std::fs::read_to_string(&path).unwrap();
            assert!(texts.contains(&written), "{} bytes", written.len());
        }
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        symlink(&target, &link).unwrap();
        assert!(write(link.to_str().unwrap(), REPORT).unwrap_err().contains("is a symbolic link"));
        assert!(!target.exists());
        std::fs::write(&target, REPORT).unwrap();
        assert!(write(link.to_str().unwrap(), b"new").is_err());
        std::fs::remove_file(&link).unwrap();
        std::fs::hard_link(&target, &link).unwrap();
        assert!(write(link.to_str().unwrap(), b"new").unwrap_err().contains("was not replaced"));
        assert_eq!(std::fs::read(&target).unwrap(), REPORT);
    }

    #[test]
    fn a_pipe_gets_it_and_cannot_keep_us() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let name = path.to_str().unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(write(name, REPORT).is_err(), "nobody reads");
        let reader = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(&path).unwrap();
        assert_eq!(write(name, REPORT), Ok(()));
        assert!(write(name, &vec![b'x'; 1 << 20]).unwrap_err().contains("timed out"), "nobody reads on");
        let text = std::io::read_to_string(reader.take(REPORT.len() as u64)).unwrap();
        assert_eq!(text.as_bytes(), REPORT);
        assert_eq!(write("/dev/null", REPORT), Ok(()));
    }

    #[test]
    fn a_blocking_pipe_that_nobody_reads_cannot_keep_us() {
        let (reader, writer) = std::io::pipe().unwrap();
        let name = format!("/dev/fd/{}", writer.as_raw_fd());
        assert_eq!(write(&name, REPORT), Ok(()));
        assert!(write(&name, &vec![b'x'; 1 << 20]).unwrap_err().contains("timed out"), "nobody reads on");
        drop(writer);
        assert!(std::io::read_to_string(reader).unwrap().as_bytes().starts_with(REPORT));
    }

    #[test]
    fn a_reader_that_takes_little_at_a_time_cannot_keep_us() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let (given_up, until) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let (mut piece, pause) = ([0; libc::PIPE_BUF], Duration::from_millis(100));
                // Slow until the writer has given up: all of it would take it half a minute.
                while until.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                    let _ = reader.read(&mut piece);
                }
            });
            let outcome = write(&format!("/dev/fd/{}", writer.as_raw_fd()), &vec![b'x'; 1 << 20]);
            drop(given_up);
            assert!(outcome.unwrap_err().contains("timed out"));
        });
    }

    /// A thread's call that it waits in: a number, or "running".
    fn waits_in(thread: libc::pid_t) -> String {
        let read = std::fs::read_to_string(format!("/proc/self/task/{thread}/syscall")).unwrap_or_default();
        read.split(' ').next().unwrap_or_default().trim().to_owned()
    }

    fn is_asleep(thread: libc::pid_t) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|fields| fields.trim_start().starts_with('S'))
    }

    /// Others write to the same pipe, and take what room there was.
    #[test]
    fn another_writer_takes_the_room_and_does_not_keep_us() {
        for socket in [false, true] {
            let (mut reader, writer): (File, File) = if socket {
                let (reader, writer) = std::os::unix::net::UnixStream::pair().unwrap();
                (OwnedFd::from(reader).into(), OwnedFd::from(writer).into())
            } else {
                let (reader, writer) = std::io::pipe().unwrap();
                (OwnedFd::from(reader).into(), OwnedFd::from(writer).into())
            };
            let rival = Unblocked::of(&writer);
            let (sender, receiver) = mpsc::channel();
            std::thread::scope(|scope| {
                let number = writer.as_raw_fd();
                let writing = scope.spawn(move || {
                    // SAFETY: gettid has no preconditions.
                    sender.send(unsafe { libc::gettid() }).unwrap();
                    write(&format!("/dev/fd/{number}"), &vec![b'x'; 1 << 24])
                });
                let thread = receiver.recv().unwrap();
                let mut piece = [0; libc::PIPE_BUF];
                while !writing.is_finished() {
                    // Room for one, and at once taken; what nobody waits for is not read.
                    let _ = reader.read(&mut piece);
                    let _ = rival.write(&piece);
                    let calls = [libc::SYS_write, libc::SYS_sendto].map(|call| call.to_string());
                    // For a lock of the kernel's it waits uninterruptibly, and for a moment.
                    let waits = || is_asleep(thread) && calls.contains(&waits_in(thread));
                    if (0..5).all(|_| waits()) {
                        // It would wait for ever: let it go, and fail.
                        drop(reader);
                        panic!("it waits for a reader");
                    }
                }
                // A machine that has others wait for long may have left it all the room.
                let outcome = writing.join().unwrap();
                assert!(outcome.is_ok() || outcome.unwrap_err().contains("timed out"));
            });
        }
    }

    #[test]
    fn a_signal_while_it_waits_is_no_room() {
        extern "C" fn nothing(_: libc::c_int) {}
        // SAFETY: all zeros are a valid value: no flags, so that the signal interrupts, and no other signal is held back.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
        // SAFETY: the handler does nothing, which any thread may do at any time; by default the signal is ignored.
        assert_eq!(unsafe { libc::sigaction(libc::SIGURG, &action, std::ptr::null_mut()) }, 0);
        let (reader, writer) = std::io::pipe().unwrap();
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            let writing = scope.spawn(move || {
                // SAFETY: gettid has no preconditions.
                sender.send(unsafe { libc::gettid() }).unwrap();
                write(&format!("/dev/fd/{}", writer.as_raw_fd()), &vec![b'x'; 1 << 20])
            });
            let thread = receiver.recv().unwrap();
            while !writing.is_finished() {
                if waits_in(thread) == libc::SYS_write.to_string() {
                    drop(reader);
                    panic!("it waits for a reader");
                }
                // SAFETY: a thread that is gone is an error, and nothing else.
                unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGURG) };
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(writing.join().unwrap().unwrap_err().contains("timed out"));
        });
    }

    #[test]
    fn a_descriptor_is_written_to_where_it_stands() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"before ").unwrap();
        for folder in ["/dev/fd", "/proc/self/fd"] {
            assert_eq!(write(&format!("{folder}/{}", file.as_raw_fd()), b"x"), Ok(()));
        }
        file.write_all(b" after").unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        assert_eq!(std::io::read_to_string(&mut file).unwrap(), "before xx after");
        assert!(write("/dev/fd/98765", REPORT).unwrap_err().contains("specify a writable file"));
        assert_eq!(
            (descriptor("-"), descriptor("/dev/stdout"), descriptor("/dev/fd/x")),
            (Some(2), Some(1), None)
        );
    }
}
