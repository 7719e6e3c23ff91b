//! A process by its number, before anything is asked of it.

use crate::{Error, Result, os};
use std::io::{self, ErrorKind};

/// What `/proc/PID/status` says of a process that may be asked: one that is there, is no thread of another, and is this user's.
pub(crate) fn status_of(pid: u32) -> Result<String> {
    let status = os::read_text(format!("/proc/{pid}/status")).map_err(|error| unreadable(pid, &error))?;
    check(pid, &status, os::user())?;
    Ok(status)
}

pub(crate) fn gone(pid: u32) -> Error {
    Error::failed(format!("no such process {pid}; 'terrace top' lists running JVMs"))
}

/// Of one whose files in `/proc` cannot be read: it has ended, or the kernel does not let us look into it, as root without rights in a container, or
/// at a program with capabilities of its file.
pub(crate) fn unreadable(pid: u32, error: &io::Error) -> Error {
    // A process that ends between opening and reading leaves a file that says ESRCH.
    if error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH) {
        return gone(pid);
    }
    Error::failed(format!(
        "process {pid} cannot be inspected: {}; run this command as its user, or as root with CAP_SYS_PTRACE",
        error.kind()
    ))
}

/// The value of a line of that file.
pub(crate) fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// The effective user or group: the second number of `Uid:` or `Gid:`.
pub(crate) fn effective(status: &str, name: &str) -> Option<u32> {
    field(status, name)?.split_whitespace().nth(1)?.parse().ok()
}

fn check(pid: u32, status: &str, user: u32) -> Result<()> {
    // /proc has threads as well, under numbers that it does not list. A signal to one goes to its process, which would print its threads.
    let process = field(status, "Tgid:").and_then(|number| number.parse().ok());
    if let Some(process) = process.filter(|process: &u32| *process != pid) {
        return Err(Error::failed(format!("{pid} is a thread of process {process}; specify {process}")));
    }
    // Not the owner of /proc/PID: that is root where the program has capabilities.
    match effective(status, "Uid:").filter(|owner| user != 0 && *owner != user) {
        None => Ok(()),
        Some(owner) => Err(Error::failed(format!(
            "process {pid} belongs to another user (UID {owner}); run this command as that user, or as root"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::idle::Idle;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    use std::sync::mpsc;

    fn refusal(pid: u32, status: &str, user: u32) -> String {
        check(pid, status, user).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn threads_and_other_users_processes_are_refused() {
        let status = "Name:\tjava\nTgid:\t70\nNgid:\t0\nPid:\t70\nUid:\t1000\t1001\t1001\t1001\n";
        assert_eq!(refusal(70, status, 1001), "");
        assert_eq!(refusal(70, status, 0), "");
        assert!(refusal(70, status, 1000).contains("belongs to another user (UID 1001)"));
        assert_eq!(refusal(71, status, 1001), "71 is a thread of process 70; specify 70");
    }

    /// A program in Cyrillic, whose name in `/proc` ends after 15 bytes, within a letter; and what it has mapped has a name in another encoding.
    #[test]
    fn a_name_that_is_no_text_hides_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let latin = folder.path().join(OsStr::from_bytes(b"caf\xe9"));
        std::fs::create_dir(&latin).unwrap();
        let program = latin.join("приложение");
        // A copy of ours may be open in a child that another test has just forked, and could not be executed then.
        let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status();
        assert!(copied.unwrap().success());
        // The harness takes arguments in UTF-8 only.
        let run = |test: &str| {
            let mut command = Command::new(&program);
            command.arg0("test").args(["--ignored", "--exact", test]).stdout(Stdio::null());
            command
        };
        let mut command = run("process::tests::somebody");
        let somebody = Idle(command.stdin(Stdio::piped()).spawn().unwrap());
        let pid = somebody.pid();
        assert!(os::is_running(pid) && status_of(pid).is_ok());
        // It has begun, and has nothing mapped for a moment.
        while !crate::loaded::maps(pid).unwrap().contains("caf\u{fffd}") {
            std::thread::yield_now();
        }
        assert_eq!(
            crate::status::of(pid).unwrap_err().to_string().split(';').next(),
            Some(&*format!("process {pid} is not a JVM"))
        );
        // Somebody's child, which is no JVM either, but is called like one.
        let java = folder.path().join("java");
        assert!(Command::new("cp").arg(&program).arg(&java).status().unwrap().success());
        let mut parent = run("process::tests::parent_of_java");
        let parent = Idle(parent.env(JAVA, &java).stdin(Stdio::piped()).spawn().unwrap());
        let is_its_child = |pid: &u32| os::stat(*pid, 4) == Some(parent.pid());
        while !crate::resident::java_below(std::process::id()).iter().any(is_its_child) {
            assert!(os::is_running(parent.pid()));
            std::thread::yield_now();
        }
    }

    const JAVA: &str = "TERRACE_TEST_JAVA";

    #[test]
    #[ignore = "a process for another test"]
    fn parent_of_java() {
        let Some(java) = std::env::var_os(JAVA) else { return };
        let mut child = Command::new(java);
        child.args(["--ignored", "--exact", "process::tests::somebody"]).stdout(Stdio::null());
        os::die_with_us(&mut child);
        let _child = Idle(child.stdin(Stdio::piped()).spawn().unwrap());
        somebody();
    }

    #[test]
    #[ignore = "a process for another test"]
    fn somebody() {
        let _ = std::io::read_to_string(std::io::stdin());
    }

    #[test]
    fn a_thread_of_ours_is_found_by_its_number_and_refused() {
        let (tell, told) = mpsc::channel();
        let (end, ending) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            // SAFETY: gettid has no preconditions.
            tell.send(unsafe { libc::gettid() } as u32).unwrap();
            let _ = ending.recv();
        });
        let error = status_of(told.recv().unwrap()).unwrap_err().to_string();
        assert!(error.contains(&format!("specify {}", std::process::id())), "{error}");
        assert!(status_of(std::process::id()).is_ok());
        drop(end);
        thread.join().unwrap();
    }
}
