//! Programs that we start: how they end, and their groups.

use super::poll;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

/// How a child ended, and what it used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exit {
    /// Its exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// User and system time of it and of the children that it waited for.
    pub cpu: Duration,
    /// The most bytes that it had resident.
    pub resident: u64,
}

impl Exit {
    fn of(code: Option<i32>, signal: Option<i32>, usage: &libc::rusage) -> Exit {
        let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
        let cpu = time(usage.ru_utime) + time(usage.ru_stime);
        // Linux counts it in KB.
        Exit { code, signal, cpu, resident: usage.ru_maxrss as u64 * 1024 }
    }
}

/// The child dies with us, even if we are killed. Only for a child that this very thread will wait for.
pub fn die_with_us(command: &mut Command) {
    let us = std::process::id() as libc::pid_t;
    // SAFETY: between fork and exec only prctl and getppid are called, which are async-signal-safe; no memory is touched.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            // We may have gone before the line above took effect.
            if libc::getppid() == us { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
        });
    }
}

/// The child leads a process group, and has no terminal: in a group that is not in the foreground it would be stopped where it asks the terminal for something. Its
/// session stays ours: Linux may give each session the same part of the CPUs (`sched_autogroup_enabled`), however many threads want one.
pub fn without_terminal(command: &mut Command) {
    command.process_group(0);
    // SAFETY: between fork and exec only system calls are made, which are async-signal-safe; the path is a constant.
    unsafe {
        command.pre_exec(|| {
            let terminal = libc::open(c"/dev/tty".as_ptr(), libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC);
            if terminal >= 0 {
                // Of a process that does not lead its session it is given up by this process alone.
                libc::ioctl(terminal, libc::TIOCNOTTY);
                libc::close(terminal);
            }
            Ok(())
        });
    }
}

/// Asks all processes of a group that we made to end, those that are stopped with them.
pub fn end_group(leader: u32) {
    signal_group(leader, libc::SIGTERM);
    signal_group(leader, libc::SIGCONT);
}

/// Whether any process of the group lives. One that has ended and was not waited for does not.
pub fn group_lives(leader: u32) -> bool {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.any(|pid| super::group_of_living(pid) == Some(leader))
}

/// Does work that starts programs and waits for them: who ignores SIGCHLD, as some do that start others, never learns how a child ended.
pub fn waiting_for_children<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: only the action of a signal is set, to the system's own and back; no handler of ours is involved.
    let before = unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    let done = work();
    if before == libc::SIG_IGN {
        // SAFETY: as above.
        unsafe { libc::signal(libc::SIGCHLD, before) };
    }
    done
}

/// Sends a signal to a process group that we made.
pub fn signal_group(leader: u32, signal: i32) {
    if leader > 1 {
        // SAFETY: kill has no memory preconditions; a group that has ended gives an error, which is fine.
        unsafe { libc::kill(-(leader as libc::pid_t), signal) };
    }
}

/// How a child has ended, if it has. It stays what it is: its number, and its group's, are nobody else's until it is reaped.
pub fn ended(pid: u32) -> io::Result<Option<Exit>> {
    // SAFETY: both are made of plain numbers and addresses that nobody follows, for which zero is valid.
    let (mut info, mut usage): (libc::siginfo_t, libc::rusage) = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: both places are valid for the call. libc's own function does not give the usage, which Linux's does.
    match unsafe { libc::syscall(libc::SYS_waitid, libc::P_PID, pid, &mut info, options, &mut usage) } {
        0 => {
            // SAFETY: filled in for a child that has ended, and left at zero otherwise.
            let (child, status) = unsafe { (info.si_pid(), info.si_status()) };
            let exited = info.si_code == libc::CLD_EXITED;
            let exit = Exit::of(exited.then_some(status), (!exited).then_some(status), &usage);
            Ok((child != 0).then_some(exit))
        }
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            error => Err(error),
        },
    }
}

/// Waits for a child if it has ended, and for nothing otherwise.
pub fn reap(pid: u32) -> io::Result<Option<Exit>> {
    let mut status = 0;
    // SAFETY: rusage is made of plain numbers, for which zero is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both places are valid for the call.
    match unsafe { libc::wait4(pid as libc::pid_t, &mut status, libc::WNOHANG, &mut usage) } {
        0 => Ok(None),
        -1 => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            error => Err(error),
        },
        _ => {
            let exited = libc::WIFEXITED(status);
            let code = exited.then(|| libc::WEXITSTATUS(status));
            Ok(Some(Exit::of(code, (!exited).then(|| libc::WTERMSIG(status)), &usage)))
        }
    }
}

/// Where the end of a process can be waited for. An error on a kernel older than 5.3.
pub fn ending(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: pidfd_open has no memory preconditions.
    let found = unsafe { libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0) };
    if found < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor that was opened for us, and that nobody else knows.
    Ok(unsafe { OwnedFd::from_raw_fd(found as i32) })
}

/// Sleeps until the process has ended, a signal comes, or the time is over.
pub fn sleep_until(ending: &OwnedFd, limit: Duration) {
    // Whatever the answer, the caller looks for himself.
    poll(ending, limit);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::zombie_processes, reason = "`reap` is what waits for it")]
    fn a_childs_exit_and_cpu_time_are_reaped_once() {
        let child = Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
        let exit = loop {
            if let Some(exit) = reap(child.id()).unwrap() {
                break exit;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        assert_eq!((exit.code, exit.signal), (Some(7), None));
        assert!(reap(child.id()).is_err());
    }

    #[test]
    #[allow(clippy::zombie_processes, reason = "`reap` is what waits for it")]
    fn an_end_is_seen_before_the_child_is_reaped() {
        for (script, code, signal) in [("exit 7", Some(7), None), ("kill -KILL $$", None, Some(9))] {
            let child = Command::new("sh").args(["-c", script]).spawn().unwrap();
            sleep_until(&ending(child.id()).unwrap(), Duration::from_secs(60));
            let seen = ended(child.id()).unwrap().unwrap();
            assert_eq!((seen.code, seen.signal), (code, signal));
            assert!(seen.resident > 0);
            let again = ended(child.id()).unwrap().unwrap();
            let reaped = reap(child.id()).unwrap().unwrap();
            // The last of its CPU time is counted when it has left the CPU.
            assert!(seen.cpu <= again.cpu && again.cpu <= reaped.cpu);
            assert_eq!(again, Exit { cpu: again.cpu, ..seen }, "it stays");
            assert_eq!(reaped, Exit { cpu: reaped.cpu, ..seen });
            assert!(ended(child.id()).is_err());
        }
        let mut child = Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        assert_eq!(ended(child.id()).unwrap(), None);
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    #[allow(clippy::zombie_processes, reason = "`reap` is what waits for it")]
    fn an_end_is_waited_for_and_not_looked_for() {
        let mut child = Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let end = ending(child.id()).unwrap();
        sleep_until(&end, Duration::from_millis(1));
        assert_eq!(reap(child.id()).unwrap(), None);
        drop(child.stdin.take());
        sleep_until(&end, Duration::from_secs(60));
        assert_eq!(reap(child.id()).unwrap().unwrap().code, Some(0));
        assert!(ending(0x3fff_fff0).is_err());
    }

    /// The action of a signal is the whole process's: tests beside this one would not see how their children end.
    #[test]
    fn who_ignores_how_children_end_learns_it_all_the_same() {
        let own = std::env::current_exe().unwrap();
        let mut helper = Command::new("env");
        helper.arg("--ignore-signal=CHLD").arg(own);
        helper.args(["--exact", "os::child::tests::helper_that_ignores_how_children_end", "--ignored"]);
        let output = helper.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }

    #[test]
    #[ignore = "a helper process of the test above"]
    fn helper_that_ignores_how_children_end() {
        let end = || Command::new("sh").args(["-c", "exit 7"]).status();
        assert!(end().is_err(), "started with SIGCHLD ignored");
        assert_eq!(waiting_for_children(end).unwrap().code(), Some(7));
        assert!(end().is_err(), "as it was");
    }
}
