//! One request to a JVM, and how long its answer is waited for.
//!
//! A JVM that is stopped, or stuck, still has its socket: the kernel takes connections in for it until the queue is full, and keeps
//! those that have been given up. So neither connecting nor reading may wait for the JVM without an end.

use super::STEP;
use super::owner::Owner;
use crate::os;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// A process that is seen stopped for so long goes on only when somebody lets it.
const STOPPED: Duration = Duration::from_secs(2);

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Silence {
    /// The process is stopped, as by SIGSTOP.
    Stopped,
    /// It took longer than anybody waits.
    TooLong,
    /// The user stopped us.
    Signal(i32),
    /// The connection could not be made, or broke.
    Broken(io::Error),
}

impl From<io::Error> for Silence {
    fn from(error: io::Error) -> Silence {
        Silence::Broken(error)
    }
}

/// Waits for a process, and knows when that is in vain.
pub(super) struct Waiting<'a> {
    pid: u32,
    patience: Duration,
    /// Whether a signal that asks us to stop ends it.
    heeds_signals: bool,
    /// Who sends one all the same is told why it does not.
    tell: Option<&'a dyn Fn()>,
    since: Instant,
    running: Instant,
}

impl<'a> Waiting<'a> {
    pub(super) fn new(pid: u32, patience: Duration, heeds_signals: bool) -> Waiting<'a> {
        let now = Instant::now();
        Waiting { pid, patience, heeds_signals, tell: None, since: now, running: now }
    }

    /// From now on no signal ends it; `tell` is called at the first.
    pub(super) fn insist(&mut self, tell: &'a dyn Fn()) {
        self.heeds_signals = false;
        self.tell = Some(tell);
    }

    /// Whether the user has stopped us.
    fn heed(&mut self) -> Result<(), Silence> {
        match os::stopped_by() {
            Some(signal) if self.heeds_signals => return Err(Silence::Signal(signal)),
            Some(_) => self.tell.take().into_iter().for_each(|tell| tell()),
            None => {}
        }
        Ok(())
    }

    /// Whether there is any sense in waiting on.
    pub(super) fn look(&mut self) -> Result<(), Silence> {
        self.heed()?;
        let is_stopped = os::is_stopped(self.pid);
        // Read once: who is stopped for too long must not become who takes too long in between.
        let now = Instant::now();
        if !is_stopped {
            self.running = now;
        } else if now - self.running > STOPPED.min(self.patience) {
            return Err(Silence::Stopped);
        }
        if now - self.since > self.patience { Err(Silence::TooLong) } else { Ok(()) }
    }

    /// Something has come: the wait begins again.
    fn heard(&mut self) {
        self.since = Instant::now();
    }
}

/// Connects without waiting. `WouldBlock` from a socket whose queue is full: somebody listens, but takes nobody in.
/// The kernel tells the JVM who connects, whoever writes then.
pub(super) fn connect(socket: &Path, owner: Owner) -> io::Result<UnixStream> {
    owner.act(|| connect_here(socket))
}

fn connect_here(socket: &Path) -> io::Result<UnixStream> {
    // SAFETY: socket has no memory preconditions.
    let made = unsafe {
        libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0)
    };
    if made < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was opened for us, and nobody else knows it.
    let stream = UnixStream::from(unsafe { OwnedFd::from_raw_fd(made) });
    // SAFETY: a structure of plain numbers, for which zero is valid.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let path = socket.as_os_str().as_bytes();
    // One byte less: the path ends with 0.
    if path.len() >= address.sun_path.len() {
        return Err(io::Error::from(ErrorKind::InvalidInput));
    }
    for (place, byte) in address.sun_path.iter_mut().zip(path) {
        *place = *byte as libc::c_char;
    }
    let length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: the descriptor is open, and `address` is a complete address of that length.
    match unsafe { libc::connect(stream.as_raw_fd(), (&raw const address).cast(), length) } {
        0 => Ok(stream),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sends a request. From then on the JVM has it, also when nobody waits for the answer any more.
///
/// Nothing is given up for its time before it was tried: a machine that is late must not turn what is there, or gone, into what takes too long.
pub(super) fn send(
    connect: &dyn Fn() -> io::Result<UnixStream>,
    request: &[u8],
    waiting: &mut Waiting,
) -> Result<UnixStream, Silence> {
    let mut stream = loop {
        match connect() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                waiting.look()?;
                std::thread::sleep(STEP);
            }
            other => break other?,
        }
    };
    waiting.heed()?;
    let mut left = request;
    while !left.is_empty() {
        match stream.write(left) {
            Ok(count) => left = &left[count..],
            Err(error) if is_to_wait(&error) => {
                waiting.look()?;
                std::thread::sleep(STEP);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(stream)
}

/// Bytes of an answer at most. A thread dump of 10,000 threads has some 20 MB; what is no JVM may send without end.
const LONGEST: usize = 256 << 20;

/// Reads the answer to its end.
pub(super) fn receive(mut stream: UnixStream, waiting: &mut Waiting) -> Result<Vec<u8>, Silence> {
    let (mut answer, mut bytes) = (Vec::new(), [0; 8192]);
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return Ok(answer),
            Ok(count) => {
                if answer.len() + count > LONGEST {
                    let said = format!("it answers with more than {} MB", LONGEST >> 20);
                    return Err(io::Error::other(said).into());
                }
                waiting.heard();
                answer.extend_from_slice(&bytes[..count]);
            }
            Err(error) if is_to_wait(&error) => {
                waiting.look()?;
                os::has_input(&stream, STEP);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_to_wait(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Nobody listens any more, also where another thread has just forked and its child has the descriptor, too.
#[cfg(test)]
pub(super) fn close(listener: std::os::unix::net::UnixListener) {
    // SAFETY: the descriptor is open.
    unsafe { libc::shutdown(listener.as_raw_fd(), libc::SHUT_RDWR) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::idle::Idle;
    use std::os::unix::net::UnixListener;

    const SHORT: Duration = Duration::from_millis(50);

    fn exchange(socket: &Path, waiting: &mut Waiting) -> Result<Vec<u8>, Silence> {
        let stream = send(&|| connect(socket, Owner::us()), b"request", waiting)?;
        receive(stream, waiting)
    }

    fn ask(socket: &Path) -> Result<Vec<u8>, Silence> {
        exchange(socket, &mut Waiting::new(std::process::id(), SHORT, true))
    }

    #[test]
    fn who_does_not_answer_is_given_up_also_when_his_queue_is_full() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _listens = UnixListener::bind(&socket).unwrap();
        assert!(matches!(ask(&socket), Err(Silence::TooLong)));
        // The kernel keeps them until somebody takes them in, up to the listener's own limit.
        let mut queue = Vec::new();
        let full = loop {
            match connect(&socket, Owner::us()) {
                Ok(stream) => queue.push(stream),
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), ErrorKind::WouldBlock, "after {}: {full}", queue.len());
        assert!(matches!(ask(&socket), Err(Silence::TooLong)));
    }

    #[test]
    fn who_is_gone_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        // No patience at all: a machine that is late must not turn "nobody is there" into "too long".
        let ask =
            |socket: &Path| exchange(socket, &mut Waiting::new(std::process::id(), Duration::ZERO, true));
        assert!(matches!(ask(&socket), Err(Silence::Broken(_))), "no socket");
        close(UnixListener::bind(&socket).unwrap());
        assert!(matches!(ask(&socket), Err(Silence::Broken(_))), "nobody listens");
        assert!(matches!(ask(&folder.path().join("x".repeat(200))), Err(Silence::Broken(_))), "no address");
    }

    #[test]
    fn an_answer_in_pieces_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let listens = UnixListener::bind(&socket).unwrap();
        let answers = std::thread::spawn(move || {
            let (mut stream, _) = listens.accept().unwrap();
            let mut request = [0; 7];
            stream.read_exact(&mut request).unwrap();
            for piece in [&request[..], &[b'x'; 100_000]] {
                stream.write_all(piece).unwrap();
            }
        });
        let mut waiting = Waiting::new(std::process::id(), Duration::from_secs(600), true);
        let answer = exchange(&socket, &mut waiting).unwrap();
        assert!(answer.starts_with(b"requestx") && answer.len() == 100_007, "{} bytes", answer.len());
        answers.join().unwrap();
    }

    #[test]
    fn a_stopped_process_is_told_from_a_busy_one() {
        let idle = Idle::start();
        os::signal(idle.pid(), libc::SIGSTOP);
        while !os::is_stopped(idle.pid()) {
            std::thread::sleep(STEP);
        }
        let mut waiting = Waiting::new(idle.pid(), Duration::from_secs(600), true);
        let found = loop {
            match waiting.look() {
                Ok(()) => std::thread::sleep(STEP),
                Err(found) => break found,
            }
        };
        assert!(matches!(found, Silence::Stopped), "{found:?}");
    }
}
