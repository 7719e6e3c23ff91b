//! A command that a signal ends, wherever the tests run.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// A shell has its background jobs ignore SIGINT, and `nohup` SIGHUP; the command would go on ignoring them.
pub fn interruptible(mut command: Command) -> Command {
    // SAFETY: between fork and exec only this system call is made, which is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGINT, libc::SIGHUP] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
    command
}
