//! JVMs that do not answer: every command that asks them ends, with the reason, and can be stopped meanwhile.

#[path = "common/real.rs"]
mod installed;
#[path = "common/jvm.rs"]
mod running;

use control::{Control, State};
use installed::{Busy, output, stderr, stdout, terrace};
use running::Jvm;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

fn stop(jvm: &Jvm) {
    jvm::os::signal(jvm.pid, libc::SIGSTOP);
    while !jvm::os::is_stopped(jvm.pid) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// One line that names the remedy, and nothing else.
fn assert_tells_that_it_is_stopped(jvm: &Jvm, command: &str) {
    let answer = output(&[command, &jvm.pid.to_string()]);
    let said = stderr(&answer);
    assert_eq!(answer.status.code(), Some(1), "{command}: {said}");
    assert!(stdout(&answer).is_empty() && said.lines().count() == 1, "{command}: {said}");
    let line = format!(
        "terrace: process {} is stopped (as by SIGSTOP, or by Ctrl-Z in its terminal); 'kill -CONT",
        jvm.pid
    );
    assert!(said.starts_with(&line), "{command}: {said}");
}

/// Until it has begun to listen for signals, nobody can be told that it does not.
fn started() -> Option<Jvm> {
    let jvm = Jvm::start(&[], &[])?;
    let has_dispatcher = || {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", jvm.pid)).unwrap().flatten();
        let mut names = tasks.flat_map(|task| std::fs::read_to_string(task.path().join("comm")));
        names.any(|name| name.starts_with("Signal "))
    };
    while !jvm::os::catches(jvm.pid, jvm::os::QUIT) || !has_dispatcher() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Some(jvm)
}

#[test]
fn a_jvm_that_was_stopped_before_anybody_attached() {
    let Some(jvm) = started() else { return };
    stop(&jvm);
    for command in ["attach", "doctor"] {
        assert_tells_that_it_is_stopped(&jvm, command);
    }
    jvm::os::signal(jvm.pid, libc::SIGCONT);
    let (code, said) = jvm.ask("attach", &[]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_jvm_that_was_stopped_after_somebody_attached() {
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
    assert_eq!(jvm.ask("attach", &["levels=none"]).0, Some(0));
    stop(&jvm);
    // With an observer of somebody else's.
    assert_tells_that_it_is_stopped(&jvm, "doctor");
    jvm::os::signal(jvm.pid, libc::SIGCONT);
    assert_eq!(jvm.ask("off", &[]).0, Some(0));
    stop(&jvm);
    // More often than its socket's queue is long.
    for command in ["attach", "doctor", "attach", "doctor"] {
        assert_tells_that_it_is_stopped(&jvm, command);
    }
    jvm::os::signal(jvm.pid, libc::SIGCONT);
    let (code, said) = jvm.ask("attach", &[]);
    assert_eq!(code, Some(0), "{said}");
}

/// This process, as it looks to others: a JVM with an open attach socket. It answers nothing of its own accord.
struct Mute {
    listens: UnixListener,
    socket: String,
    /// There is one process, so one socket.
    _alone: MutexGuard<'static, ()>,
    _folder: tempfile::TempDir,
}

impl Mute {
    fn new() -> Option<Mute> {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libjvm.so");
        std::fs::write(&path, [0; 4096]).unwrap();
        let library = File::open(path).unwrap();
        let code = libc::PROT_READ | libc::PROT_EXEC;
        // SAFETY: a new mapping of a file of ours, at a place that the kernel chooses; nobody uses the memory.
        let mapped = unsafe {
            libc::mmap(std::ptr::null_mut(), 4096, code, libc::MAP_PRIVATE, library.as_raw_fd(), 0)
        };
        if mapped == libc::MAP_FAILED {
            skips::skip!("a file that may be executed: /tmp is mounted noexec");
            return None;
        }
        let socket = format!("/tmp/.java_pid{}", std::process::id());
        let _ = std::fs::remove_file(&socket);
        Some(Mute { listens: UnixListener::bind(&socket).unwrap(), socket, _alone: alone, _folder: folder })
    }

    /// Who asks for something, and for what.
    fn asked(&self) -> (UnixStream, String) {
        loop {
            let (mut stream, _) = self.listens.accept().unwrap();
            let (mut request, mut bytes) = (Vec::new(), [0; 256]);
            // Looks whether somebody listens come without a request.
            while request.iter().filter(|byte| **byte == 0).count() < 5 {
                match stream.read(&mut bytes).unwrap() {
                    0 => break,
                    count => request.extend_from_slice(&bytes[..count]),
                }
            }
            if !request.is_empty() {
                return (stream, String::from_utf8(request).unwrap().replace('\0', " "));
            }
        }
    }
}

impl Mute {
    /// Answers what is asked before, and leaves open who asks it to load the agent.
    fn asked_to_load(&self) -> UnixStream {
        loop {
            let (mut stream, request) = self.asked();
            let answer = match request.split(' ').collect::<Vec<_>>()[..] {
                [_, "load", ..] => return stream,
                [_, "jcmd", "VM.version", ..] => "JDK 17.0.1",
                [_, "jcmd", "VM.uptime", ..] => "100.000 s",
                _ => "",
            };
            stream.write_all(format!("0\n{answer}\n").as_bytes()).unwrap();
        }
    }
}

impl Drop for Mute {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
    }
}

#[test]
fn who_waits_for_an_answer_can_be_stopped() {
    if installed::installed().is_none() {
        return;
    }
    let Some(mute) = Mute::new() else { return };
    let us = std::process::id().to_string();
    for command in ["attach", "doctor"] {
        let asking = terrace(&[command, &us]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut asking = Busy(asking);
        let (_open, request) = mute.asked();
        assert!(request.starts_with("1 getversion "), "{request}");
        jvm::os::signal(asking.0.id(), libc::SIGINT);
        let status = asking.0.wait().unwrap();
        let mut read = (String::new(), String::new());
        asking.0.stdout.take().unwrap().read_to_string(&mut read.0).unwrap();
        asking.0.stderr.take().unwrap().read_to_string(&mut read.1).unwrap();
        let answer = Output { status, stdout: read.0.into(), stderr: read.1.into() };
        let said = stderr(&answer);
        assert_eq!(status.code(), Some(130), "{command}: {said}");
        assert!(said.starts_with("terrace: stopped by a signal") && stdout(&answer).is_empty(), "{said}");
    }
}

#[test]
fn an_observer_that_comes_when_the_doctor_has_been_stopped_is_withdrawn() {
    if installed::installed().is_none() {
        return;
    }
    let Some(mute) = Mute::new() else { return };
    let us = std::process::id().to_string();
    let doctor = terrace(&["doctor", &us]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut doctor = Busy(doctor);
    let mut errors = BufReader::new(doctor.0.stderr.take().unwrap());
    let mut load = mute.asked_to_load();
    jvm::os::signal(doctor.0.id(), libc::SIGINT);
    let mut said = String::new();
    while !said.contains("waiting for the JVM, which has been asked to load the agent already") {
        assert!(errors.read_line(&mut said).unwrap() > 0, "it did not wait: {said}");
    }
    // The agent comes, late.
    let control = Control::shared(&[1]).unwrap();
    control.set_settings(r#"{"levels":"none"}"#);
    control.set_state(State::Observing);
    load.write_all(b"0\nreturn code: 0\n").unwrap();
    drop(load);
    while !control.is_to_withdraw() {
        let ended = doctor.0.try_wait().unwrap();
        assert!(ended.is_none(), "the observer is left: {ended:?} {said}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    control.set_state(State::Withdrawn);
    let status = doctor.0.wait().unwrap();
    errors.read_to_string(&mut said).unwrap();
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(said.contains("terrace: stopped by a signal"), "{said}");
}
