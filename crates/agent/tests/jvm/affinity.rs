//! Which CPUs a thread may use.

use std::mem::{size_of, zeroed};

/// The CPUs that this process may use.
pub fn allowed() -> Vec<usize> {
    // SAFETY: a set is plain bits; the kernel fills it.
    unsafe {
        let mut set: libc::cpu_set_t = zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set);
        (0..libc::CPU_SETSIZE as usize).filter(|cpu| libc::CPU_ISSET(*cpu, &set)).collect()
    }
}

pub fn tasks(pid: u32) -> Vec<i32> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Says whether it was done; a thread may have ended.
pub fn set(task: i32, cpus: &[usize]) -> bool {
    // SAFETY: as above.
    unsafe {
        let mut set: libc::cpu_set_t = zeroed();
        cpus.iter().for_each(|cpu| libc::CPU_SET(*cpu, &mut set));
        libc::sched_setaffinity(task, size_of::<libc::cpu_set_t>(), &raw const set) == 0
    }
}

/// All threads; new ones inherit it, but one that was being started meanwhile may not have.
pub fn set_all(pid: u32, cpus: &[usize]) -> Result<(), String> {
    for _ in 0..2 {
        let all = tasks(pid);
        if all.iter().filter(|task| set(**task, cpus)).count() == 0 {
            return Err(format!("process {pid}: {}", std::io::Error::last_os_error()));
        }
    }
    Ok(())
}
