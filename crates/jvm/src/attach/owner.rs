//! The user whose JVM it is, and acting as him.
//!
//! HotSpot listens to its own user, and to root of its own user namespace. Root of the host is nobody there: a rootless container's JVM would
//! take root's file for a stranger's and print its threads, refuse root's connection, and its file systems have no place for root's files. So
//! what root does in the file systems of another user's JVM, and at its socket, is done with that user's rights. A link to a file that he
//! cannot write is then of no use to him, either.

use crate::process::effective;
use rustix::process::{Gid, Uid, getegid, geteuid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use std::io;

/// A process's effective user and group, as they are seen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Owner {
    /// From `/proc/PID/status`.
    pub(super) fn of(status: &str) -> Option<Owner> {
        Some(Owner { uid: effective(status, "Uid:")?, gid: effective(status, "Gid:")? })
    }

    pub(super) fn us() -> Owner {
        Owner { uid: geteuid().as_raw(), gid: getegid().as_raw() }
    }

    /// Does something with this user's rights, if we are root, and with our own otherwise.
    pub(super) fn act<T: Send>(self, what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let us = Owner::us();
        if us == self || us.uid != 0 {
            return what();
        }
        // The kernel has the rights of each thread. This one begins with ours and ends with the user's: nothing has to give them back, and
        // no other thread ever has them.
        std::thread::scope(|scope| {
            let body = || self.become_on_this_thread().and_then(|()| what());
            // Where no thread can be had (a limit of the control group), that is an error like any other.
            let thread = std::thread::Builder::new().spawn_scoped(scope, body)?;
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// The effective rights only: by the others the thread remains root's, and the user can neither send it signals nor trace it.
    fn become_on_this_thread(self) -> io::Result<()> {
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        // Groups first: the user may not change them.
        set_thread_groups(&[gid])
            .and_then(|()| set_thread_res_gid(None, gid, None))
            .and_then(|()| set_thread_res_uid(None, uid, None))
            .map_err(|error| {
                let error = io::Error::from(error);
                io::Error::new(
                    error.kind(),
                    format!("root has not the capability to act as UID {}: {error}", self.uid),
                )
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    const OTHER: Owner = Owner { uid: 4711, gid: 4712 };

    #[test]
    fn the_effective_ids_count() {
        let status = "Name:\tjava\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t9\n";
        assert_eq!(Owner::of(status), Some(Owner { uid: 2, gid: 6 }));
        assert_eq!(Owner::of("Name:\tjava\n"), None);
        let own = fs::read_to_string("/proc/self/status").unwrap();
        assert_eq!(Owner::of(&own), Some(Owner::us()));
    }

    #[test]
    fn root_acts_as_the_user_and_stays_root() {
        if Owner::us().uid != 0 {
            skips::skip!("acting as another user: only root does");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let (made, secret) = (folder.path().join("made"), folder.path().join("secret"));
        fs::write(&secret, "root's").unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
        let read = OTHER.act(|| {
            fs::write(&made, "")?;
            assert_eq!(Owner::us(), OTHER);
            Ok(fs::read(&secret).map_err(|error| error.kind()))
        });
        assert_eq!(read.unwrap(), Err(io::ErrorKind::PermissionDenied));
        let made = fs::metadata(made).unwrap();
        assert_eq!((made.uid(), made.gid()), (OTHER.uid, OTHER.gid));
        // Threads that are started later, too.
        assert_eq!(std::thread::spawn(Owner::us).join().unwrap().uid, 0);
        assert_eq!((Owner::us().uid, fs::read_to_string(secret).unwrap().as_str()), (0, "root's"));
    }

    #[test]
    fn what_fails_says_why() {
        let failed = OTHER.act(|| Err::<(), _>(io::Error::other("why")));
        assert_eq!(failed.unwrap_err().to_string(), "why");
    }
}
