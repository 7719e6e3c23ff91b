//! A program that we started, measure, and must not leave behind.

use crate::launch::Launch;
use crate::os::{self, Exit};
use crate::{Error, Result};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often an ending is looked for where it cannot be waited for.
const POLL: Duration = Duration::from_millis(5);
/// The same of a group, for which all processes are looked at.
const GROUP_POLL: Duration = Duration::from_millis(50);
/// How long the user's Ctrl-C may go unseen when another thread of ours got it.
const LOOK: Duration = Duration::from_millis(500);
/// How long a program may take to end when asked to: Spring Boot gives its requests 30 s.
const GRACE: Duration = Duration::from_secs(40);
/// How long it may take for that where the measurement has failed, or the user has stopped it.
const LAST_GRACE: Duration = Duration::from_secs(10);
/// How long a killed program may take.
const KILLED: Duration = Duration::from_secs(60);
/// How long the end of a stream is waited for that another process still holds.
const LEFT_BEHIND: Duration = Duration::from_secs(1);
/// How long what has been written may take to be read.
const LATE: Duration = Duration::from_secs(60);
/// How much of a stream is kept: its end.
const KEPT: usize = 256 * 1024;
/// What a JVM says that has no unified logging (JEP 158).
const NO_UNIFIED_LOGGING: &str = "Unrecognized option: -Xlog";

/// A child in a process group of its own, with all that it starts and that stays there. When this is dropped, whoever still runs is asked to end, as `kill` does, and who
/// does not is killed.
pub struct Running {
    name: String,
    pid: u32,
    ending: Option<OwnedFd>,
    started: Instant,
    exit: Option<(Exit, Duration)>,
    /// When it was asked to end.
    asked: Option<Instant>,
    output: Tail,
    errors: Tail,
}

impl Running {
    /// Starts it, with nothing to read, and its output kept. `show` passes its output on to our standard error.
    pub fn start(launch: &Launch, show: bool) -> Result<Running> {
        let mut command = launch.to_command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        os::without_terminal(&mut command);
        os::die_with_us(&mut command);
        let started = Instant::now();
        let mut child = command.spawn().map_err(|error| launch.cannot_start(&error))?;
        let name = launch.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // From here on it is ended in order, whatever fails.
        let mut running = Running {
            name,
            pid: child.id(),
            ending: os::ending(child.id()).ok(),
            started,
            exit: None,
            asked: None,
            output: Tail::default(),
            errors: Tail::default(),
        };
        let read = running.output.read(child.stdout.take(), show);
        read.and_then(|()| running.errors.read(child.stderr.take(), show)).map_err(|error| {
            Error::failed(format!(
                "{}: no thread can be started to read its output: {error}; raise the limit of processes (ulimit -u, pids.max)",
                running.name
            ))
        })?;
        Ok(running)
    }

    pub fn started(&self) -> Instant {
        self.started
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// How it ended and how long it took, if it has. Also the place where the user's Ctrl-C is seen.
    pub fn poll(&mut self) -> Result<Option<(Exit, Duration)>> {
        if let Some(signal) = os::stopped_by() {
            return Err(Error::interrupted(signal));
        }
        if self.exit.is_none() {
            let found = os::ended(self.pid)
                .map_err(|error| Error::failed(format!("waiting for {}: {error}", self.name)))?;
            self.exit = found.map(|exit| (exit, self.started.elapsed()));
        }
        Ok(self.exit)
    }

    /// Waits for its end, at most so long. It sleeps meanwhile: what it would take from the program, it would take from what is
    /// measured.
    pub fn wait(&mut self, limit: Duration) -> Result<Option<(Exit, Duration)>> {
        let deadline = Instant::now() + limit;
        loop {
            let exit = self.poll()?;
            let left = deadline.saturating_duration_since(Instant::now());
            if exit.is_some() || left.is_zero() {
                return Ok(exit);
            }
            match &self.ending {
                Some(ending) => os::sleep_until(ending, left.min(LOOK)),
                None => std::thread::sleep(left.min(POLL)),
            }
        }
    }

    /// Asks it to end, as `kill` does, and waits for that and for those that it has started: a shell ends before its JVM. An end for another reason is an error.
    pub fn end(&mut self) -> Result<()> {
        if self.poll()?.is_none() {
            let asked = self.ask();
            let ended = self.wait(GRACE)?.is_some();
            while ended && os::group_lives(self.pid) && asked.elapsed() < GRACE {
                std::thread::sleep(GROUP_POLL);
                self.poll()?;
            }
            if !ended {
                return Err(Error::failed(format!(
                    "{} did not end within {} s of SIGTERM, and was killed; make it handle that signal, or exit by itself",
                    self.name,
                    GRACE.as_secs()
                )));
            }
        }
        self.check()
    }

    fn ask(&mut self) -> Instant {
        os::end_group(self.pid);
        *self.asked.insert(Instant::now())
    }

    /// An error unless the program ended well: with 0, or by our request.
    pub fn check(&mut self) -> Result<()> {
        let Some((exit, time)) = self.exit else { return Ok(()) };
        let asked = self.asked.is_some()
            && (exit.signal == Some(os::TERMINATE) || exit.code == Some(128 + os::TERMINATE));
        if exit.code == Some(0) || asked {
            return Ok(());
        }
        let how = match (exit.code, exit.signal) {
            (Some(code), _) => format!("exited with status {code}"),
            (None, signal) => format!("was terminated by signal {}", signal.unwrap_or_default()),
        };
        let said = self.last_words();
        let said = if said.is_empty() {
            "it printed nothing; run the command by itself to see why".into()
        } else {
            said
        };
        Err(Error::failed(format!("{} {how} after {:.1} s: {said}", self.name, time.as_secs_f64())))
    }

    /// What it last wrote on standard error: the agent's own words if there are any, otherwise the last three lines. A JVM
    /// that cannot start says why on standard output.
    pub fn last_words(&mut self) -> String {
        let (errors, output) = (self.errors.text(), self.output.text());
        if let Some(ours) = errors.lines().rev().find(|line| line.starts_with("terrace")) {
            return ours.trim().to_owned();
        }
        if errors.contains(NO_UNIFIED_LOGGING) {
            return "this JVM has no unified logging (-Xlog): JDK 8 is not supported; use JDK 11 or later"
                .into();
        }
        let last = |text: &str| {
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            let said: Vec<&str> = lines
                .into_iter()
                .filter(|line| !line.is_empty() && !line.starts_with("Picked up "))
                .collect();
            said[said.len().saturating_sub(3)..].join(" | ")
        };
        Some(last(&errors)).filter(|said| !said.is_empty()).unwrap_or_else(|| last(&output))
    }

    /// The end of its standard output.
    pub fn output(&mut self) -> String {
        self.output.text()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A server saves what it has, and gives its locks back. The group may outlive its leader: a script's JVMs.
        // What `/proc` does not show is a child all the same.
        let lives = |pid| matches!(os::ended(pid), Ok(None)) || os::group_lives(pid);
        if lives(self.pid) {
            let (asked, signals) = (self.asked.unwrap_or_else(|| self.ask()), os::signals());
            let left = GRACE.saturating_sub(asked.elapsed()).min(LAST_GRACE);
            await_while(left, GROUP_POLL, || lives(self.pid) && os::signals() == signals);
        }
        // Its number is nobody else's as long as the leader is not reaped.
        os::signal_group(self.pid, os::KILL);
        // Killed, it ends as soon as it gets a CPU; only a thread that the kernel cannot let go of would take longer.
        await_while(KILLED, POLL, || matches!(os::reap(self.pid), Ok(None)));
    }
}

/// Waits while that is so, and at most so long; it is looked at so often.
fn await_while(limit: Duration, pause: Duration, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + limit;
    while is_so() && Instant::now() < deadline {
        std::thread::sleep(pause);
    }
}

/// The end of a stream, read by a thread of its own so that the program never waits for us.
#[derive(Default)]
struct Tail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    reader: Option<JoinHandle<()>>,
    /// The same stream, to see whether the reader has something to read yet.
    stream: Option<OwnedFd>,
}

impl Tail {
    /// Begins to read it, unless no thread can be had for that.
    fn read(&mut self, stream: Option<impl Read + AsFd + Send + 'static>, show: bool) -> io::Result<()> {
        let Some(mut stream) = stream else { return Ok(()) };
        self.stream = stream.as_fd().try_clone_to_owned().ok();
        let kept = Arc::clone(&self.kept);
        let body = move || {
            let mut buffer = [0; 8192];
            while let Ok(length @ 1..) = stream.read(&mut buffer) {
                if show {
                    let _ = io::stderr().write_all(&buffer[..length]);
                }
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&buffer[..length]);
                let excess = kept.len().saturating_sub(KEPT);
                kept.drain(..excess);
            }
        };
        self.reader = Some(std::thread::Builder::new().spawn(body)?);
        Ok(())
    }

    /// After the program's end: all that it wrote, unless a process that it left behind still holds the stream.
    fn text(&mut self) -> String {
        let since = Instant::now();
        // A reader that is late still has something to read, if only the end. Whoever writes on and on behind the program's end is not heard out.
        let is_late = || self.stream.as_ref().is_some_and(|stream| os::has_input(stream, Duration::ZERO));
        while self.reader.as_ref().is_some_and(|reader| !reader.is_finished())
            && (since.elapsed() < LEFT_BEHIND || since.elapsed() < LATE && is_late())
        {
            std::thread::sleep(POLL);
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, second) = kept.as_slices();
        String::from_utf8_lossy(&[first, second].concat()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Running {
        Running::start(&Launch::new("/bin/sh".into(), vec!["-c".into(), script.into()]), false).unwrap()
    }

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn a_failure_is_told_in_the_programs_own_words() {
        let mut running = shell("echo one >&2; echo two >&2; exit 3");
        assert_eq!(running.wait(LONG).unwrap().unwrap().0.code, Some(3));
        let error = running.check().unwrap_err().to_string();
        assert!(error.contains("sh exited with status 3") && error.ends_with("one | two"), "{error}");
    }

    #[test]
    fn a_failure_without_words_has_a_remedy() {
        let mut running = shell("exit 3");
        running.wait(LONG).unwrap();
        let error = running.check().unwrap_err().to_string();
        assert!(error.ends_with("it printed nothing; run the command by itself to see why"), "{error}");
    }

    #[test]
    fn the_agents_words_come_before_the_jvms() {
        let mut running =
            shell("echo 'terrace: ZGC is not supported' >&2; echo 'Error: agent library failed' >&2; exit 1");
        running.wait(LONG).unwrap();
        assert!(running.check().unwrap_err().to_string().ends_with("terrace: ZGC is not supported"));
    }

    #[test]
    fn jdk_8_is_called_by_its_name() {
        let mut running =
            shell("echo 'Unrecognized option: -Xlog:gc=info' >&2; echo Error: no JVM >&2; exit 1");
        running.wait(LONG).unwrap();
        assert!(
            running.check().unwrap_err().to_string().ends_with("JDK 8 is not supported; use JDK 11 or later")
        );
    }

    #[test]
    fn an_end_by_our_request_is_well() {
        let mut running = shell("echo ready; exec sleep 100");
        running.end().unwrap();
        assert_eq!(running.poll().unwrap().unwrap().0.signal, Some(os::TERMINATE));
    }

    #[test]
    fn another_end_after_our_request_is_not() {
        let mut running = shell("trap 'kill -ABRT $$' TERM; echo ready; while :; do sleep 0.05; done");
        while running.kept_output() != "ready\n" {
            std::thread::sleep(POLL);
        }
        assert!(running.end().unwrap_err().to_string().contains("signal 6"));
    }

    #[test]
    fn nothing_is_left_behind() {
        let running = shell("sleep 100 & echo $!; wait");
        let child = loop {
            if let Ok(pid) = running.kept_output().trim().parse::<u32>() {
                break pid;
            }
            std::thread::sleep(POLL);
        };
        drop(running);
        let deadline = Instant::now() + LONG;
        let runs = || crate::os::is_running(child);
        while runs() && Instant::now() < deadline {
            std::thread::sleep(POLL);
        }
        assert!(!runs(), "the script's child outlived it");
    }

    #[test]
    fn what_is_given_up_may_put_its_things_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let saved = directory.path().join("saved");
        let script = format!(
            "trap 'echo saved > {}; exit 0' TERM; echo ready; while :; do sleep 0.05; done",
            saved.display()
        );
        let running = shell(&script);
        while running.kept_output() != "ready\n" {
            std::thread::sleep(POLL);
        }
        drop(running);
        assert_eq!(std::fs::read_to_string(saved).unwrap(), "saved\n");
    }

    /// A JVM that takes its time to end, as a script's: the shell is gone at once.
    const SLOW: &str =
        "(trap 'sleep 0.3; echo saved > \"$FILE\"; exit 0' TERM; echo ready; while :; do sleep 0.05; done)";

    fn slow(file: &std::path::Path, rest: &str) -> Running {
        let running = shell(&format!("FILE='{}'; {SLOW} & {rest}", file.display()));
        while running.kept_output() != "ready\n" {
            std::thread::sleep(POLL);
        }
        running
    }

    #[test]
    fn who_outlives_a_script_is_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let saved = directory.path().join("saved");
        let mut running = slow(&saved, "wait");
        running.end().unwrap();
        assert_eq!(std::fs::read_to_string(saved).unwrap(), "saved\n");
    }

    #[test]
    fn who_is_left_by_a_script_that_has_ended_is_asked_as_well() {
        let directory = tempfile::tempdir().unwrap();
        let saved = directory.path().join("saved");
        let mut running = slow(&saved, "exit 0");
        assert_eq!(running.wait(LONG).unwrap().unwrap().0.code, Some(0));
        drop(running);
        assert_eq!(std::fs::read_to_string(saved).unwrap(), "saved\n");
    }

    #[test]
    fn the_end_of_long_output_is_kept() {
        let mut running = shell("head -c 600000 /dev/zero | tr '\\0' x; echo; echo last");
        running.wait(LONG).unwrap();
        let text = running.output();
        assert!(text.ends_with("\nlast\n") && text.len() <= KEPT);
    }

    impl Running {
        fn kept_output(&self) -> String {
            let kept: Vec<u8> = self.output.kept.lock().unwrap().iter().copied().collect();
            String::from_utf8(kept).unwrap()
        }
    }
}
