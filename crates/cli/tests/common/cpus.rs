//! Commands on some of the CPUs.

use std::mem::{size_of, zeroed};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Has a command use so many of the CPUs that this process may use, the first ones.
pub fn limit_cpus(command: &mut Command, most: usize) {
    // SAFETY: a set is plain bits. Between fork and exec two system calls are made, which are async-signal-safe; the rest is arithmetic.
    unsafe {
        command.pre_exec(move || {
            let mut all: libc::cpu_set_t = zeroed();
            let mut some: libc::cpu_set_t = zeroed();
            let bytes = size_of::<libc::cpu_set_t>();
            if libc::sched_getaffinity(0, bytes, &raw mut all) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            let allowed = (0..libc::CPU_SETSIZE as usize).filter(|cpu| libc::CPU_ISSET(*cpu, &all));
            allowed.take(most).for_each(|cpu| libc::CPU_SET(cpu, &mut some));
            match libc::sched_setaffinity(0, bytes, &raw const some) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
}
