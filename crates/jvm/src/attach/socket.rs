//! The socket on which a JVM listens, in the /tmp that it sees.
//!
//! It has the JVM's process ID in its own PID namespace. Where containers share a /tmp, another JVM may have the same one, and the socket: the kernel tells who
//! listens, and nobody else is asked anything.

use super::connection;
use super::owner::Owner;
use crate::{Error, Result};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// Where a JVM is asked.
#[derive(Debug)]
pub(super) struct Socket {
    /// Of the JVM, as it is seen from here, and in its own namespace.
    pub(super) pid: u32,
    pub(super) own_pid: u32,
    pub(super) owner: Owner,
    pub(super) path: PathBuf,
}

impl Socket {
    /// Whether it is there, the JVM's own or root's, and the JVM's. An error if it is another process's, or must not be used.
    pub(super) fn is_there(&self) -> Result<bool> {
        let found = fs::symlink_metadata(&self.path).ok().filter(|found| !found.is_symlink());
        let Some(found) = found.filter(|found| [self.owner.uid, 0].contains(&found.uid())) else {
            return Ok(false);
        };
        match self.connect() {
            // Where each removes only his own files, the JVM cannot put its socket there.
            Err(error)
                if error.kind() == ErrorKind::ConnectionRefused
                    && found.uid() != self.owner.uid
                    && self.is_kept_for_owners() =>
            {
                Err(Error::failed(format!(
                    "process {} cannot open its attach socket: an ended JVM of another user left /tmp/.java_pid{}; remove that file",
                    self.pid, self.own_pid
                )))
            }
            Err(error) if error.kind() == ErrorKind::AddrInUse => Err(Error::failed(error.to_string())),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(Error::failed(format!(
                "cannot connect to process {}: /tmp/.java_pid{}: {error}; run this command as that process's user, or remove the file if \
                 an ended JVM left it",
                self.pid, self.own_pid
            ))),
            // So many wait already.
            Err(error) => Ok(error.kind() == ErrorKind::WouldBlock),
            Ok(_) => Ok(true),
        }
    }

    /// Whether the folder is sticky, and another user's: only a file's owner and the folder's may remove it there.
    fn is_kept_for_owners(&self) -> bool {
        let folder = self.path.parent().and_then(|folder| fs::metadata(folder).ok());
        folder.is_some_and(|folder| folder.mode() & libc::S_ISVTX != 0 && folder.uid() != self.owner.uid)
    }

    /// Connects without waiting: `WouldBlock` from a socket whose queue is full, and `AddrInUse` where another process listens.
    pub(super) fn connect(&self) -> io::Result<UnixStream> {
        let stream = connection::connect(&self.path, self.caller())?;
        let listener = listener(&stream)?;
        if self.is_listener(listener) {
            return Ok(stream);
        }
        let who = match listener {
            0 => "a process that is not visible from here".to_owned(),
            other => format!("process {other}"),
        };
        Err(io::Error::new(
            ErrorKind::AddrInUse,
            format!(
                "process {} cannot be asked: /tmp/.java_pid{} is the socket of {who}, which has the same process ID in its container and shares \
                 this /tmp; give each container a /tmp of its own, or start the program with 'terrace run'",
                self.pid, self.own_pid
            ),
        ))
    }

    /// Our own number is what a kernel says that does not know (gVisor's `getSockOptSocket`).
    fn is_listener(&self, listener: u32) -> bool {
        [self.pid, std::process::id()].contains(&listener)
    }

    /// Who connects: the JVM's user, but for a socket that only root may use. A JVM that began as root has one, or an ended one left it.
    pub(super) fn caller(&self) -> Owner {
        let is_roots = fs::symlink_metadata(&self.path).is_ok_and(|found| found.uid() == 0);
        if is_roots { Owner::us() } else { self.owner }
    }
}

/// The process that listens at the other end, as it was when it began to (`listen`, unix(7)); 0 for one that is not visible from our PID namespace.
fn listener(stream: &UnixStream) -> io::Result<u32> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the descriptor is open, and `peer` is a place of that length.
    let found = unsafe {
        let place = (&raw mut peer).cast();
        libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, place, &raw mut length)
    };
    if found == 0 { Ok(u32::try_from(peer.pid).unwrap_or(0)) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attach::connection::close;
    use crate::idle::Idle;
    use crate::os;
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    fn socket(folder: &tempfile::TempDir, pid: u32, owner: Owner) -> Socket {
        Socket { pid, own_pid: 7, owner, path: folder.path().join(".java_pid7") }
    }

    #[test]
    fn a_socket_of_roots_is_roots_to_use() {
        if os::user() != 0 {
            skips::skip!("sockets of another user: only root makes them");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let owner = Owner { uid: 4711, gid: 4711 };
        let socket = socket(&folder, std::process::id(), owner);
        let listens = UnixListener::bind(&socket.path).unwrap();
        assert_eq!((socket.caller(), socket.is_there()), (Owner::us(), Ok(true)));
        chown(&socket.path, Some(4711), Some(4711)).unwrap();
        assert_eq!(socket.caller(), owner);
        // An ended JVM's, whose number this one has got.
        close(listens);
        chown(&socket.path, Some(0), Some(0)).unwrap();
        assert_eq!(socket.is_there(), Ok(false));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        let error = socket.is_there().unwrap_err().to_string();
        assert!(error.ends_with("left /tmp/.java_pid7; remove that file"), "{error}");
        chown(&socket.path, Some(4711), Some(4711)).unwrap();
        assert_eq!(socket.is_there(), Ok(false), "its own user's");
    }

    /// Two containers that share a /tmp, each with a JVM that is number 7 there.
    #[test]
    fn another_process_that_listens_is_not_asked() {
        let folder = tempfile::tempdir().unwrap();
        let idle = Idle::start();
        let socket = socket(&folder, idle.pid(), Owner::us());
        // A process of its own that listens: our own number would be no evidence.
        let script = "import socket, sys, time\ns = socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[1])\ns.listen()\nprint(flush=True)\ntime.sleep(600)";
        let mut command = Command::new("python3");
        command.args(["-c", script]).arg(&socket.path).stdout(std::process::Stdio::piped());
        let other = match command.spawn() {
            Ok(other) => other,
            Err(error) => {
                skips::skip!("a process that listens: python3: {error}");
                return;
            }
        };
        let mut other = Idle(other);
        let mut line = [0; 1];
        std::io::Read::read_exact(other.0.stdout.as_mut().unwrap(), &mut line).unwrap();
        let error = socket.is_there().unwrap_err().to_string();
        assert!(error.contains(&format!("is the socket of process {}, which", other.pid())), "{error}");
        assert_eq!(socket.connect().unwrap_err().kind(), ErrorKind::AddrInUse);
        let own = Socket { pid: other.pid(), ..socket };
        assert_eq!(own.is_there(), Ok(true));
    }

    #[test]
    fn one_that_cannot_be_seen_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let socket = socket(&folder, 71, Owner::us());
        assert_eq!(
            [71, std::process::id(), 0, 72].map(|pid| socket.is_listener(pid)),
            [true, true, false, false]
        );
    }
}
