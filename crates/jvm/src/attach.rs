//! HotSpot's attach mechanism (`attachListener_posix.cpp`), spoken directly: no JDK is needed beside the JVM, and none of its version.
//!
//! A JVM that gets SIGQUIT looks for a file `.attach_pidN` in its current folder and in /tmp, where N is its number in its own PID
//! namespace. If the file is there and belongs to the JVM's user or to root, it listens on `/tmp/.java_pidN` of its own mount
//! namespace; otherwise it prints its threads. A request is the protocol's version and four strings that end with 0, a connection
//! each; the answer begins with a line that has the return code.

mod copy;

use crate::{Error, Result, loadable, os};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often the JVM is asked again, and looked at.
const STEP: Duration = Duration::from_millis(20);
/// Steps between two signals: a JVM that is late is not asked to print its threads.
const STEPS_PER_SIGNAL: u32 = 100;

/// The way into one JVM.
#[derive(Debug)]
pub struct Attached {
    pid: u32,
    temporary: Temporary,
    own_pid: u32,
    patience: Duration,
}

/// The /tmp that a JVM sees, held open: where it leads cannot be changed meanwhile.
#[derive(Debug)]
struct Temporary(File);

impl Temporary {
    fn of(directory: &Path) -> std::io::Result<Temporary> {
        // No link: its target would be looked for among our own folders, and root would write where the JVM's user wants.
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW;
        OpenOptions::new().read(true).custom_flags(flags).open(directory.join("root/tmp")).map(Temporary)
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }

    /// Whether it is mounted with one of statvfs's flags.
    fn is(&self, flag: libc::c_ulong) -> bool {
        // SAFETY: a structure of plain numbers, for which zero is valid.
        let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is open, and `found` is a valid place for the result.
        unsafe { libc::fstatvfs(self.0.as_raw_fd(), &raw mut found) == 0 && found.f_flag & flag != 0 }
    }
}

/// What came of loading an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loaded {
    Yes,
    /// It did not want to, and has said why.
    Refused,
    /// The JVM is still starting. Older ones ask the agent all the same, which then has to refuse.
    TooEarly,
}

/// What a JVM is, without asking it.
struct Target {
    /// `/proc/PID`.
    directory: PathBuf,
    owner: u32,
    own_pid: u32,
    /// Whether it handles SIGQUIT: one that does not would be ended by it.
    listens: bool,
}

impl Target {
    fn of(pid: u32) -> Result<Target> {
        let directory = PathBuf::from(format!("/proc/{pid}"));
        let gone = |_| Error::failed(format!("no such process {pid}; 'jps' lists running JVMs"));
        let owner = directory.metadata().map_err(gone)?.uid();
        if os::user() != 0 && owner != os::user() {
            return Err(Error::failed(format!(
                "process {pid} belongs to another user (UID {owner}); run this command as that user, or as root"
            )));
        }
        let maps = fs::read_to_string(directory.join("maps")).unwrap_or_default();
        if !maps.contains("libjvm.so") {
            return Err(Error::failed(format!(
                "process {pid} is not a JVM; specify the JVM's own process ID ('jps' lists them)"
            )));
        }
        let status = fs::read_to_string(directory.join("status")).map_err(gone)?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let own_pid = field("NSpid:").and_then(|numbers| numbers.split_whitespace().last()?.parse().ok());
        let caught = field("SigCgt:").and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
        let listens = caught & 1 << (os::QUIT - 1) != 0;
        Ok(Target { directory, owner, own_pid: own_pid.unwrap_or(pid), listens })
    }

    /// Why it will never listen, if its own words say so.
    fn deaf(&self) -> Option<&'static str> {
        let words =
            ["cmdline", "environ"].map(|file| fs::read(self.directory.join(file)).unwrap_or_default());
        let refuses = words.iter().any(|text| {
            let option = b"-XX:+DisableAttachMechanism";
            text.windows(option.len()).any(|window| window == option)
        });
        if refuses {
            return Some(
                "was started with -XX:+DisableAttachMechanism; start it without that flag, or with 'terrace run'",
            );
        }
        (!self.listens).then_some("does not handle SIGQUIT, so it is still starting; try again")
    }

    /// The file that makes it listen, for as long as this is needed.
    fn ask(&self, temporary: &Temporary) -> Result<Asking> {
        let name = format!(".attach_pid{}", self.own_pid);
        let mut why = None;
        // /tmp first: while it starts, a JVM is in its folder of performance data for a moment, and removes what it finds there.
        for folder in [temporary.path(), self.directory.join("cwd")] {
            let path = folder.join(&name);
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
            match file {
                // It may be another's that asks at this moment: as good as ours.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(Asking(None)),
                Ok(_) => return Ok(Asking(Some(path))),
                Err(error) => why = Some(error),
            }
        }
        let why = why.map(|error| error.to_string()).unwrap_or_default();
        Err(Error::failed(format!(
            "cannot start the JVM's attach listener: {name}: {why}; make its current directory or its /tmp writable"
        )))
    }
}

struct Asking(Option<PathBuf>);

impl Drop for Asking {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

impl Attached {
    /// Opens it, and waits at most so long for the JVM, then and for each answer. Other mount and PID namespaces are seen through
    /// `/proc`; another user's JVM answers root.
    pub fn to(pid: u32, patience: Duration) -> Result<Attached> {
        let target = Target::of(pid)?;
        let temporary = Temporary::of(&target.directory).map_err(|error| {
            Error::failed(format!(
                "the /tmp of process {pid} cannot be used: {error}; it must be a directory"
            ))
        })?;
        let attached = Attached { pid, temporary, own_pid: target.own_pid, patience };
        if attached.is_there(target.owner) {
            return Ok(attached);
        }
        if let Some(why) = target.deaf() {
            return Err(Error::failed(format!("process {pid} {why}")));
        }
        if attached.temporary.is(libc::ST_RDONLY) {
            return Err(Error::failed(format!(
                "process {pid} cannot open its attach socket, because its /tmp is read-only: mount a writable one (tmpfs), or start it \
                 with 'terrace run'"
            )));
        }
        let since = Instant::now();
        let mut asking = None;
        for step in 0.. {
            if attached.is_there(target.owner) {
                break;
            }
            if let Some(signal) = os::stopped_by() {
                return Err(Error::interrupted(signal));
            }
            // Looked at again: the process may have ended, and its number gone to another.
            let again = Target::of(pid)?;
            if step % STEPS_PER_SIGNAL == 0 && again.listens {
                // Anew each time, and the old file first: it may lie in a folder that the JVM has left meanwhile.
                drop(asking.take());
                asking = Some(again.ask(&attached.temporary)?);
                os::signal(pid, os::QUIT);
            }
            if since.elapsed() > patience {
                return Err(Error::failed(format!(
                    "process {pid} has not opened its attach socket in {} s: it is stopped or too busy; try again",
                    patience.as_secs()
                )));
            }
            std::thread::sleep(STEP);
        }
        Ok(attached)
    }

    fn socket(&self) -> PathBuf {
        self.temporary.path().join(format!(".java_pid{}", self.own_pid))
    }

    /// Whether the socket is there, and the JVM's own or root's.
    fn is_there(&self, owner: u32) -> bool {
        let found = fs::symlink_metadata(self.socket());
        found.is_ok_and(|found| !found.is_symlink() && [owner, 0].contains(&found.uid()))
            && UnixStream::connect(self.socket()).is_ok()
    }

    /// A command with its arguments; the JVM's answer behind the return code.
    fn ask(&self, command: &str, arguments: [&str; 3]) -> Result<String> {
        let failed = |error: std::io::Error| {
            Error::failed(format!("process {} does not respond ({command}): {error}; try again", self.pid))
        };
        let mut stream = UnixStream::connect(self.socket()).map_err(failed)?;
        stream.set_read_timeout(Some(self.patience)).map_err(failed)?;
        let mut request = format!("1\0{command}\0").into_bytes();
        for argument in arguments {
            request.extend_from_slice(argument.as_bytes());
            request.push(0);
        }
        stream.write_all(&request).map_err(failed)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).map_err(failed)?;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        match answer.split_once('\n') {
            Some(("0", rest)) => Ok(rest.trim().to_owned()),
            None if answer.is_empty() => {
                Err(Error::failed(format!("process {} sent no response ({command}): it is ending", self.pid)))
            }
            _ => Err(Error::failed(format!("the JVM refused {command}: {}", answer.trim()))),
        }
    }

    /// A diagnostic command, such as `GC.class_histogram`, and what it says.
    pub fn diagnose(&self, command: &str) -> Result<String> {
        self.ask("jcmd", [command, "", ""])
    }

    /// Loads a native agent. An error if it did not get as far as the agent's own decision.
    pub fn load(&self, library: &Path, options: &str) -> Result<Loaded> {
        // Where the loader does not take it, its words stand behind HotSpot's own.
        let answer = self.ask("load", [&library.to_string_lossy(), "true", options]).map_err(|error| {
            match error.to_string().split_once("was not loaded.") {
                Some((_, said)) => loadable::refusal(library, said.trim_start_matches([' ', '|'])),
                None => error,
            }
        })?;
        // "return code: N" since 9, the number alone before; anything else is the loader's own complaint.
        let code = answer.strip_prefix("return code: ").unwrap_or(&answer).parse::<i32>();
        match code {
            Ok(0) => Ok(Loaded::Yes),
            Ok(_) => Ok(Loaded::Refused),
            Err(_) if answer.contains("live phase") => Ok(Loaded::TooEarly),
            Err(_) => Err(loadable::refusal(library, &answer)),
        }
    }

    /// Whether the process is there.
    pub fn is_running(&self) -> bool {
        os::is_running(self.pid)
    }

    /// Since the JVM began to start. (Its answer is `1.234 s`.)
    pub fn uptime(&self) -> Option<Duration> {
        let said = self.diagnose("VM.uptime").ok()?;
        Duration::try_from_secs_f64(said.split_whitespace().next()?.parse().ok()?).ok()
    }

    pub fn feature(&self) -> Result<u32> {
        let said = self.diagnose("VM.version")?;
        let number = said.lines().find_map(|line| line.strip_prefix("JDK ")?.split(['.', '+', '-']).next());
        number
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| Error::failed(format!("process {} does not report its JDK: {said}", self.pid)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(pid: u32) -> String {
        Attached::to(pid, Duration::from_secs(1)).unwrap_err().to_string()
    }

    #[test]
    fn a_jvms_tmp_that_leads_elsewhere_is_not_followed() {
        let process = tempfile::tempdir().unwrap();
        fs::create_dir_all(process.path().join("root")).unwrap();
        std::os::unix::fs::symlink("/etc", process.path().join("root/tmp")).unwrap();
        assert!(Temporary::of(process.path()).is_err());
        fs::remove_file(process.path().join("root/tmp")).unwrap();
        fs::create_dir(process.path().join("root/tmp")).unwrap();
        let temporary = Temporary::of(process.path()).unwrap();
        fs::write(temporary.path().join("x"), "").unwrap();
        assert!(process.path().join("root/tmp/x").is_file());
    }

    #[test]
    fn one_that_has_ended_is_not_waited_for() {
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("root/tmp")).unwrap();
        let temporary = Temporary::of(folder.path()).unwrap();
        let attached =
            Attached { pid: ended.id(), temporary, own_pid: ended.id(), patience: Duration::from_secs(1) };
        // Listed until somebody waits for it, which is nobody while this waits.
        while attached.is_running() {
            std::thread::sleep(STEP);
        }
        assert!(Path::new(&format!("/proc/{}", ended.id())).exists());
        ended.wait().unwrap();
    }

    #[test]
    fn what_is_no_jvm_is_not_sent_a_signal() {
        let mut sleep = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(refused(sleep.id()).contains("is not a JVM"), "{}", refused(sleep.id()));
        assert!(sleep.try_wait().unwrap().is_none(), "SIGQUIT would have ended it");
        sleep.kill().unwrap();
        sleep.wait().unwrap();
        assert!(refused(0x3fff_fff0).starts_with("no such process"));
    }
}
