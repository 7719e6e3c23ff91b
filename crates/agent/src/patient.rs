//! Writing to a descriptor that others write to and read from, without being kept by them.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

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
    use std::os::fd::OwnedFd;
    use std::sync::mpsc;

    const PATIENCE: Duration = Duration::from_secs(1);

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
            // By ways of its own, or it would be kept itself; a socket cannot be opened anew.
            let number = writer.as_raw_fd();
            let mut again = OpenOptions::new();
            let again =
                again.write(true).custom_flags(libc::O_NONBLOCK).open(format!("/proc/self/fd/{number}"));
            let take = |bytes: &[u8]| match &again {
                Ok(pipe) => (&*pipe).write(bytes).is_ok(),
                // SAFETY: the bytes are there, and the descriptor is open.
                Err(_) => unsafe {
                    libc::send(number, bytes.as_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT) > 0
                },
            };
            let (sender, receiver) = mpsc::channel();
            std::thread::scope(|scope| {
                let writing = scope.spawn(move || {
                    // SAFETY: gettid has no preconditions.
                    sender.send(unsafe { libc::gettid() }).unwrap();
                    write_patiently(number, &vec![b'x'; 1 << 24], PATIENCE)
                });
                let thread = receiver.recv().unwrap();
                let mut piece = [0; libc::PIPE_BUF];
                while !writing.is_finished() {
                    // Room for one, and at once taken; what nobody waits for is not read.
                    let _ = reader.read(&mut piece);
                    take(&piece);
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
                assert!(outcome.is_ok() || outcome.unwrap_err().kind() == ErrorKind::TimedOut);
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
                write_patiently(writer.as_raw_fd(), &vec![b'x'; 1 << 20], PATIENCE)
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
            assert_eq!(writing.join().unwrap().unwrap_err().kind(), ErrorKind::TimedOut);
        });
    }
}
