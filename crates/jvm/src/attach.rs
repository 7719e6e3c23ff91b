//! HotSpot's attach mechanism (`attachListener_posix.cpp`), spoken directly: no JDK is needed beside the JVM, and none of its version.
//!
//! A JVM that gets SIGQUIT looks for a file `.attach_pidN` in its current folder and in /tmp, where N is its number in its own PID
//! namespace. If the file is there and belongs to the JVM's user or to root, as they are seen from its user namespace, it listens on
//! `/tmp/.java_pidN` of its own mount namespace, to the same two; otherwise it prints its threads. A request is the protocol's version and
//! four strings that end with 0, a connection each; the answer begins with a line that has the return code.

mod answers;
mod connection;
mod copy;
mod folder;
mod owner;
mod socket;
mod target;
mod temporary;
mod trigger;

use crate::{Error, Result, loadable, os, printable, process};
use connection::{Silence, Waiting};
pub use copy::Copied;
use owner::Owner;
use socket::Socket;
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;
use target::Target;
use temporary::Temporary;
use trigger::Asking;

/// How often the JVM is looked at.
const STEP: Duration = Duration::from_millis(20);

/// HotSpot's own words, with the loader's behind them.
const NOT_LOADED: &str = "was not loaded.";

/// The way into one JVM.
#[derive(Debug)]
pub struct Attached {
    pid: u32,
    temporary: Temporary,
    socket: Socket,
    owner: Owner,
    patience: Duration,
    /// Whether a signal that asks us to stop ends a request.
    heeds_signals: bool,
    /// How it is asked for diagnostic commands, once that is known.
    diagnoses_by: OnceLock<&'static str>,
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

impl Attached {
    /// Opens it, and waits at most so long for the JVM, then and for each answer. Other mount and PID namespaces are seen through
    /// `/proc`; another user's JVM answers root.
    pub fn to(pid: u32, patience: Duration) -> Result<Attached> {
        Attached::open(pid, patience, true)
    }

    /// The same for who puts things in order, also after a signal that asked us to stop.
    pub(crate) fn despite_signals(pid: u32, patience: Duration) -> Result<Attached> {
        Attached::open(pid, patience, false)
    }

    fn open(pid: u32, patience: Duration, heeds_signals: bool) -> Result<Attached> {
        let target = Target::of(pid)?;
        let temporary = Temporary::of(&target.directory).map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => process::unreadable(pid, &error),
            _ => Error::failed(format!(
                "the /tmp of process {pid} cannot be used: {error}; it must be a directory"
            )),
        })?;
        let Target { own_pid, owner, .. } = target;
        let attached = Attached::at(pid, own_pid, temporary, owner, patience, heeds_signals);
        if attached.socket.is_there()? {
            trigger::tidy(&attached.temporary, own_pid, owner);
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
        attached.have_it_listen()?;
        trigger::tidy(&attached.temporary, own_pid, owner);
        Ok(attached)
    }

    fn at(
        pid: u32,
        own_pid: u32,
        temporary: Temporary,
        owner: Owner,
        patience: Duration,
        heeds_signals: bool,
    ) -> Attached {
        let path = temporary.path().join(format!(".java_pid{own_pid}"));
        let socket = Socket { pid, own_pid, owner, path };
        Attached { pid, temporary, socket, owner, patience, heeds_signals, diagnoses_by: OnceLock::new() }
    }

    /// Asks for the socket, and waits for it.
    fn have_it_listen(&self) -> Result<()> {
        let mut waiting = Waiting::new(self.pid, self.patience, self.heeds_signals);
        let mut asking = Asking::default();
        while !self.socket.is_there()? {
            if let Err(silence) = waiting.look() {
                // It has the signal, and looks for the file when it can.
                asking.leave(self.pid);
                return Err(self.unanswered(silence, "attach"));
            }
            // Looked at again: the process may have ended, and its number gone to another.
            let again = Target::of(self.pid)?;
            // One that is stopped would take the signal when it goes on, find nobody asking, and print its threads.
            if again.listens && !os::is_stopped(self.pid) {
                asking.ask(self.pid, &again, &self.temporary)?;
            }
            std::thread::sleep(STEP);
        }
        Ok(())
    }

    /// Why there is no answer, and what can be done about it.
    fn unanswered(&self, silence: Silence, command: &str) -> Error {
        let pid = self.pid;
        match silence {
            Silence::Stopped => Error::unanswered(format!(
                "process {pid} is stopped (as by SIGSTOP, or by Ctrl-Z in its terminal); 'kill -CONT {pid}' resumes it, unless a debugger holds it"
            )),
            Silence::TooLong => Error::unanswered(format!(
                "process {pid} has not answered in {} s ({command}): it is stuck, frozen or too busy; try again when it runs",
                self.patience.as_secs()
            )),
            Silence::Signal(signal) => Error::interrupted(signal),
            // It says all.
            Silence::Broken(error) if error.kind() == ErrorKind::AddrInUse => {
                Error::failed(error.to_string())
            }
            Silence::Broken(error) => {
                Error::failed(format!("process {pid} does not respond ({command}): {error}; try again"))
            }
        }
    }

    /// Why it is not known whether an agent was loaded. The JVM has the request, and reads it when it can.
    fn may_still_load(&self, silence: Silence) -> Error {
        let pid = self.pid;
        let text = match silence {
            Silence::Stopped => format!("process {pid} is stopped; 'kill -CONT {pid}' resumes it"),
            Silence::TooLong => format!(
                "process {pid} has not answered in {} s (load): it is stuck, frozen or too busy",
                self.patience.as_secs()
            ),
            silence => return self.unanswered(silence, "load"),
        };
        let text = format!("{text}; it may still load the agent when it runs: 'terrace off {pid}' ends that");
        match os::stopped_by() {
            Some(signal) => Error::interrupted_late(signal, text),
            None => Error::unanswered(text),
        }
    }

    /// A command with its arguments; the JVM's answer behind the return code.
    fn ask(&self, command: &str, arguments: [&str; 3]) -> Result<String> {
        self.understood(command, &self.answered(command, arguments)?)
    }

    /// The answer as it came.
    fn answered(&self, command: &str, arguments: [&str; 3]) -> Result<Vec<u8>> {
        let mut waiting = Waiting::new(self.pid, self.patience, self.heeds_signals);
        let failed = |silence| self.unanswered(silence, command);
        let stream = self.send(command, arguments, &mut waiting)?;
        connection::receive(stream, &mut waiting).map_err(failed)
    }

    fn send(&self, command: &str, arguments: [&str; 3], waiting: &mut Waiting) -> Result<UnixStream> {
        let mut request = format!("1\0{command}\0").into_bytes();
        for argument in arguments {
            request.extend_from_slice(argument.as_bytes());
            request.push(0);
        }
        connection::send(&|| self.socket.connect(), &request, waiting)
            .map_err(|silence| self.unanswered(silence, command))
    }

    fn understood(&self, command: &str, answer: &[u8]) -> Result<String> {
        let answer = printable::lines(&String::from_utf8_lossy(answer));
        match answer.split_once('\n') {
            Some(("0", rest)) => Ok(rest.trim().to_owned()),
            None if answer.is_empty() => Err(Error::failed(format!(
                "process {} sent no response ({command}): it is ending; specify one that runs ('terrace top' lists them)",
                self.pid
            ))),
            // What the loader did not take has a remedy of its own.
            _ if command == "load" && !answer.contains(NOT_LOADED) => Err(Error::failed(format!(
                "the JVM refused load: {}; start the program with 'terrace run -- java ...'",
                answer.trim().trim_end_matches('.')
            ))),
            _ => Err(Error::failed(format!("the JVM refused {command}: {}", answer.trim()))),
        }
    }

    /// Loads a native agent, or tells one that is there something. An error if it did not get as far as the agent's own decision.
    pub fn load(&self, library: &Path, options: &str) -> Result<Loaded> {
        loaded(library, self.ask("load", [&library.to_string_lossy(), "true", options]))
    }

    /// Loads an agent that is not there. Once the JVM has been asked, a signal that asks us to stop waits for the answer, so that the agent can be withdrawn: who
    /// sends one is told so. Where no answer comes, the JVM may look for the library at any later time: a copy stays, because whoever put something else under its
    /// name would have that loaded.
    pub fn load_new(
        &self,
        library: &Path,
        copy: Option<&mut Copied>,
        options: &str,
        tell: &dyn Fn(&str),
    ) -> Result<Loaded> {
        let mut waiting = Waiting::new(self.pid, self.patience, self.heeds_signals);
        let stream = self.send("load", [&library.to_string_lossy(), "true", options], &mut waiting)?;
        let waits = || tell("waiting for the JVM, which has been asked to load the agent already");
        waiting.insist(&waits);
        let answer = connection::receive(stream, &mut waiting).map_err(|silence| {
            copy.into_iter().filter(|_| self.is_running()).for_each(Copied::keep);
            self.may_still_load(silence)
        })?;
        loaded(library, self.understood("load", &answer))
    }

    /// Whether the process is there.
    pub fn is_running(&self) -> bool {
        os::is_running(self.pid)
    }

    /// Since the JVM began to start; `None` from one that is not far enough to say. (Its answer is `1.234 s`.)
    pub fn uptime(&self) -> Result<Option<Duration>> {
        let seconds = |said: String| {
            let seconds = said.split_whitespace().next()?.parse().ok()?;
            Duration::try_from_secs_f64(seconds).ok()
        };
        match self.diagnose("VM.uptime") {
            Err(error) if error.ends_asking() => Err(error),
            answer => Ok(answer.ok().and_then(seconds)),
        }
    }

    pub fn feature(&self) -> Result<u32> {
        let said = self.diagnose("VM.version")?;
        let number = said.lines().find_map(|line| line.strip_prefix("JDK ")?.split(['.', '+', '-']).next());
        number
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| Error::failed(format!("process {} does not report its JDK: {said}", self.pid)))
    }
}

/// What a JVM's answer to `load` means.
fn loaded(library: &Path, answer: Result<String>) -> Result<Loaded> {
    // Where the loader does not take it, its words stand behind HotSpot's own.
    let answer = answer.map_err(|error| match error.to_string().split_once(NOT_LOADED) {
        Some((_, said)) => loadable::refusal(library, said.trim_start_matches([' ', '|'])),
        None => error,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::idle::Idle;
    use std::fs;

    fn refused(pid: u32) -> String {
        Attached::to(pid, Duration::from_secs(1)).unwrap_err().to_string()
    }

    fn attached(temporary: Temporary, pid: u32, owner: Owner, patience: Duration) -> Attached {
        Attached::at(pid, pid, temporary, owner, patience, true)
    }

    #[test]
    fn one_that_has_ended_is_not_waited_for() {
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("root/tmp")).unwrap();
        let temporary = Temporary::of(folder.path()).unwrap();
        let (pid, patience) = (ended.id(), Duration::from_secs(1));
        let owner = Owner::us();
        let attached = attached(temporary, pid, owner, patience);
        // Listed until somebody waits for it, which is nobody while this waits.
        while attached.is_running() {
            std::thread::sleep(STEP);
        }
        assert!(Path::new(&format!("/proc/{}", ended.id())).exists());
        ended.wait().unwrap();
    }

    #[test]
    fn who_does_not_say_whether_he_loaded_may_still_do_so() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("root/tmp")).unwrap();
        let (idle, temporary) = (Idle::start(), Temporary::of(folder.path()).unwrap());
        let (pid, patience) = (idle.pid(), Duration::from_millis(50));
        let owner = Owner::us();
        let attached = attached(temporary, pid, owner, patience);
        let library = Path::new("/libterrace.so");
        let load = || attached.load_new(library, None, "levels=none", &|_| ()).unwrap_err();
        assert!(!load().ends_asking(), "nobody listens");
        let listens = std::os::unix::net::UnixListener::bind(&attached.socket.path).unwrap();
        let remedy = format!("it may still load the agent when it runs: 'terrace off {pid}' ends that");
        for stopped in [false, true] {
            if stopped {
                os::signal(pid, libc::SIGSTOP);
                while !os::is_stopped(pid) {
                    std::thread::sleep(STEP);
                }
            }
            let error = load();
            let said = error.to_string();
            assert!(error.ends_asking() && said.contains(&remedy), "{said}");
            assert_eq!(said.contains("is stopped"), stopped, "{said}");
        }
        // An agent that is there is told something: nothing comes of that later.
        assert!(!attached.load(library, "withdraw=true").unwrap_err().to_string().contains(&remedy));
        drop(listens);
    }

    #[test]
    fn an_answer_that_is_none_has_a_remedy() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("root/tmp")).unwrap();
        let temporary = Temporary::of(folder.path()).unwrap();
        let attached = attached(temporary, 4711, Owner::us(), STEP);
        let said = |command: &str, answer: &str| {
            attached.understood(command, answer.as_bytes()).unwrap_err().to_string()
        };
        assert!(said("jcmd", "").ends_with("specify one that runs ('terrace top' lists them)"));
        let refusal = said("load", "1\nno such operation");
        assert!(refusal.contains("refused load: 1 | no such operation; "), "{refusal}");
        assert!(refusal.ends_with("start the program with 'terrace run -- java ...'"), "{refusal}");
        let not_found = said("load", "1\nx.so was not loaded. | cannot open");
        assert!(not_found.ends_with("| cannot open"), "{not_found}");
        assert!(said("jcmd", "1\nunknown").ends_with("unknown"), "whoever asked knows what that means");
    }

    #[test]
    fn what_is_no_jvm_is_not_sent_a_signal() {
        let mut idle = Idle::start();
        assert!(refused(idle.pid()).contains("is not a JVM"), "{}", refused(idle.pid()));
        assert!(idle.0.try_wait().unwrap().is_none(), "SIGQUIT would have ended it");
        assert!(refused(0x3fff_fff0).starts_with("no such process"));
    }
}
