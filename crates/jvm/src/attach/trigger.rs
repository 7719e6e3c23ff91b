//! The file that makes a JVM listen, and the signal that makes it look for it.
//!
//! A JVM that gets the signal and finds no file prints its threads where its operator reads something else. So there is no second signal
//! while the file is where the JVM looks, however late it is.

use super::{Owner, Target, Temporary};
use crate::{Error, Result, os};
use rustix::fs::{Mode, OFlags};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// So many signals at most: each of them may print all threads.
const SIGNALS: u32 = 2;
/// What a JVM is given before it is asked once more, if the file has gone.
const GRACE: Duration = Duration::from_secs(2);

/// A JVM that is being asked to listen.
#[derive(Default)]
pub(super) struct Asking {
    trigger: Option<Trigger>,
    signals: u32,
    last: Option<Instant>,
}

impl Asking {
    /// Asks it, unless it has been asked and will see that.
    pub(super) fn ask(&mut self, pid: u32, target: &Target, temporary: &Temporary) -> Result<()> {
        let waits = self.last.is_some_and(|last| last.elapsed() < GRACE);
        if waits || self.signals == SIGNALS || self.trigger.as_ref().is_some_and(Trigger::is_seen) {
            return Ok(());
        }
        // The old one first: it may lie in a folder that the JVM has left meanwhile.
        drop(self.trigger.take());
        self.trigger = Some(Trigger::make(target, temporary)?);
        os::signal(pid, os::QUIT);
        self.signals += 1;
        self.last = Some(Instant::now());
        Ok(())
    }
}

impl Asking {
    /// Nobody waits for it any more, and it may still have the signal: without the file it would print its threads when it goes on. So the file stays. Only a
    /// process that has ended needs none.
    pub(super) fn leave(self, pid: u32) {
        if let Some(made) = self.trigger.and_then(|trigger| trigger.made).filter(|_| os::is_running(pid)) {
            made.keep();
        }
    }
}

/// Removes a file that was left for a JVM that listens by now: it would swallow the next signal that asks a JVM with this number for its threads.
pub(super) fn tidy(temporary: &Temporary, own_pid: u32, owner: Owner) {
    let path = temporary.path().join(name(own_pid));
    if fs::symlink_metadata(&path).is_ok_and(|found| found.is_file() && found.uid() == owner.uid) {
        // Whoever else asks at this moment has what he wants.
        let _ = owner.act(|| fs::remove_file(&path));
    }
}

fn name(own_pid: u32) -> String {
    format!(".attach_pid{own_pid}")
}

/// The file, for as long as it is needed.
struct Trigger {
    /// Where the JVM looks for it.
    path: PathBuf,
    /// Of a file of ours: it goes with this.
    made: Option<Made>,
}

struct Made {
    folder: File,
    name: String,
    file: File,
    owner: Owner,
    is_kept: bool,
}

impl Made {
    fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Trigger {
    fn make(target: &Target, temporary: &Temporary) -> Result<Trigger> {
        let name = name(target.own_pid);
        let current = target.directory.join("cwd");
        let failed = |why: &str| {
            Error::failed(format!(
                "cannot start the JVM's attach listener: {name}: {why}; make its current directory or its /tmp writable, or run this command as its user"
            ))
        };
        // This is where it looks first.
        if let Ok(found) = fs::symlink_metadata(current.join(&name))
            && !accepts(target, &found)
        {
            return Err(failed(&format!(
                "one of UID {} is in its current directory; remove that",
                found.uid()
            )));
        }
        let mut why: Option<io::Error> = None;
        // /tmp first: while it starts, a JVM is in its folder of performance data for a moment, and removes what it finds there.
        for folder in [temporary.path(), current] {
            match Trigger::make_in(&folder, &name, target) {
                Ok(trigger) => return Ok(trigger),
                // The first one's: the current directory is often a read-only one, which is no trouble.
                Err(error) => why = why.or(Some(error)),
            }
        }
        Err(failed(&why.map(|error| error.to_string()).unwrap_or_default()))
    }

    fn make_in(folder: &Path, name: &str, target: &Target) -> io::Result<Trigger> {
        let path = folder.join(name);
        let folder =
            OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY).open(folder)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made =
            target.owner.act(|| Ok(rustix::fs::openat(&folder, name, flags, Mode::RUSR | Mode::WUSR)?));
        match made {
            // Another's that asks at this moment is as good as ours.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let found = fs::symlink_metadata(&path)?;
                if accepts(target, &found) { Ok(Trigger { path, made: None }) } else { Err(error) }
            }
            made => {
                let (file, name, owner) = (File::from(made?), name.to_owned(), target.owner);
                Ok(Trigger { path, made: Some(Made { folder, name, file, owner, is_kept: false }) })
            }
        }
    }

    /// Whether the JVM finds it there.
    fn is_seen(&self) -> bool {
        let Ok(found) = fs::symlink_metadata(&self.path) else { return false };
        let Some(made) = &self.made else { return true };
        let is_ours = |ours: Metadata| (ours.dev(), ours.ino()) == (found.dev(), found.ino());
        made.file.metadata().is_ok_and(is_ours)
    }
}

/// Whether the JVM listens because of such a file: root's only where it sees the same root.
fn accepts(target: &Target, found: &Metadata) -> bool {
    let users = |process: &Path| fs::read_link(process.join("ns/user")).ok();
    let is_ours = || users(&target.directory) == users(Path::new("/proc/self"));
    found.uid() == target.owner.uid || (found.uid() == 0 && is_ours())
}

impl Drop for Made {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        let remove = || Ok(rustix::fs::unlinkat(&self.folder, &self.name, rustix::fs::AtFlags::empty())?);
        let _ = self.owner.act(remove);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::idle::Idle;
    use std::os::unix::fs::chown;

    /// A process that may be asked, and the folders in which it would look.
    struct Asked {
        idle: Idle,
        place: tempfile::TempDir,
    }

    impl Asked {
        fn new() -> Asked {
            let place = tempfile::tempdir().unwrap();
            for folder in ["root/tmp", "cwd", "ns"] {
                fs::create_dir_all(place.path().join(folder)).unwrap();
            }
            // One that the signal does not end.
            let mut command = std::process::Command::new("sh");
            let idle = Idle(command.args(["-c", "trap '' QUIT; exec sleep 600"]).spawn().unwrap());
            let name = format!("/proc/{}/comm", idle.pid());
            while fs::read_to_string(&name).unwrap() != "sleep\n" {
                std::thread::sleep(super::super::STEP);
            }
            Asked { idle, place }
        }

        fn target(&self) -> Target {
            let (pid, directory) = (self.idle.pid(), self.place.path().into());
            Target { pid, directory, owner: Owner::us(), own_pid: 7, listens: true }
        }

        fn trigger(&self, folder: &str) -> PathBuf {
            self.place.path().join(folder).join(".attach_pid7")
        }

        fn ask(&self, asking: &mut Asking) -> Result<u32> {
            // As if it had been given its time.
            asking.last = None;
            asking.ask(self.idle.pid(), &self.target(), &Temporary::of(self.place.path()).unwrap())?;
            Ok(asking.signals)
        }
    }

    #[test]
    fn one_that_will_see_the_file_is_asked_once() {
        let (asked, mut asking) = (Asked::new(), Asking::default());
        assert_eq!([asked.ask(&mut asking), asked.ask(&mut asking)], [Ok(1), Ok(1)]);
        assert!(asked.trigger("root/tmp").is_file());
        // Somebody tidies up.
        fs::remove_file(asked.trigger("root/tmp")).unwrap();
        assert_eq!([asked.ask(&mut asking), asked.ask(&mut asking)], [Ok(2), Ok(2)]);
        assert!(asked.trigger("root/tmp").is_file());
        fs::remove_file(asked.trigger("root/tmp")).unwrap();
        assert_eq!(asked.ask(&mut asking), Ok(2), "it may have printed its threads twice");
        drop(asking);
        assert!(!asked.trigger("root/tmp").exists());
    }

    /// Frozen, or in the middle of a pause that takes longer than anybody waits.
    #[test]
    fn one_that_has_not_yet_taken_the_signal_finds_the_file_later() {
        let (mut asked, mut asking) = (Asked::new(), Asking::default());
        assert_eq!(asked.ask(&mut asking), Ok(1));
        asking.leave(asked.idle.pid());
        assert!(asked.trigger("root/tmp").is_file());
        // The next one to ask uses it, and leaves it there as well.
        let mut asking = Asking::default();
        assert_eq!(asked.ask(&mut asking), Ok(1));
        drop(asking);
        assert!(asked.trigger("root/tmp").is_file());
        tidy(&Temporary::of(asked.place.path()).unwrap(), 7, Owner::us());
        assert!(!asked.trigger("root/tmp").exists(), "it listens");
        let mut asking = Asking::default();
        assert_eq!(asked.ask(&mut asking), Ok(1));
        let _ = asked.idle.0.kill();
        while os::is_running(asked.idle.pid()) {
            std::thread::sleep(super::super::STEP);
        }
        asking.leave(asked.idle.pid());
        assert!(!asked.trigger("root/tmp").exists(), "nobody will look for it");
    }

    #[test]
    fn the_file_of_another_that_asks_is_as_good_and_stays() {
        let (asked, mut asking) = (Asked::new(), Asking::default());
        fs::write(asked.trigger("root/tmp"), "").unwrap();
        assert_eq!([asked.ask(&mut asking), asked.ask(&mut asking)], [Ok(1), Ok(1)]);
        drop(asking);
        assert!(asked.trigger("root/tmp").is_file() && !asked.trigger("cwd").exists());
    }

    #[test]
    fn a_file_that_the_jvm_does_not_accept_makes_it_print_its_threads() {
        if os::user() != 0 {
            skips::skip!("files of other users: only root makes them");
            return;
        }
        let (asked, mut asking) = (Asked::new(), Asking::default());
        fs::write(asked.trigger("root/tmp"), "").unwrap();
        chown(asked.trigger("root/tmp"), Some(4712), None).unwrap();
        assert_eq!(asked.ask(&mut asking), Ok(1));
        assert!(asked.trigger("cwd").is_file(), "where it looks first");
        drop(asking);
        fs::write(asked.trigger("cwd"), "").unwrap();
        chown(asked.trigger("cwd"), Some(4712), None).unwrap();
        let mut asking = Asking::default();
        let error = asked.ask(&mut asking).unwrap_err().to_string();
        assert!(error.contains("one of UID 4712 is in its current directory; remove that"), "{error}");
        assert_eq!(asking.signals, 0);
    }
}
