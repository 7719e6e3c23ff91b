//! A helper agent: from now on the kernel refuses to change the protection of `libjvm.so`'s pages (`mprotect`), in all threads that
//! start later; the JVM's own use of it goes on.

use std::ffi::{c_char, c_int, c_long, c_ulong, c_void};

unsafe extern "C" {
    fn prctl(option: c_int, second: c_ulong, third: c_ulong, fourth: c_ulong, fifth: c_ulong) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
}

/// `struct sock_filter`.
#[repr(C)]
struct Instruction(u16, u8, u8, u32);

/// `struct sock_fprog`.
#[repr(C)]
struct Program {
    length: u16,
    instructions: *const Instruction,
}

const PR_SET_NO_NEW_PRIVS: c_int = 38;
#[cfg(target_arch = "x86_64")]
const SYS_SECCOMP: c_long = 317;
#[cfg(target_arch = "x86_64")]
const SYS_MPROTECT: u32 = 10;
#[cfg(target_arch = "aarch64")]
const SYS_SECCOMP: c_long = 277;
#[cfg(target_arch = "aarch64")]
const SYS_MPROTECT: u32 = 226;
const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;
const ALLOW: u32 = 0x7fff_0000;
const REFUSE: u32 = 0x0005_0001;

/// The addresses between which `libjvm.so` is mapped.
fn range() -> Option<(u64, u64)> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let mut range = None;
    for line in maps.lines().filter(|line| line.ends_with("/libjvm.so")) {
        let (start, rest) = line.split_once('-')?;
        let (end, _) = rest.split_once(' ')?;
        let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
        range = Some(range.map_or((start, end), |(first, last): (u64, u64)| (first.min(start), last.max(end))));
    }
    range
}

/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnLoad(_vm: *mut c_void, _options: *const c_char, _reserved: *mut c_void) -> c_int {
    let Some((start, end)) = range() else { return -1 };
    // The library is smaller than 4 GB: its addresses have the same upper half, or the boundary between two is within it.
    let above_start = if start >> 32 == end >> 32 { 1 } else { 3 };
    let filter = [
        Instruction(LOAD, 0, 0, 0),
        Instruction(EQUAL, 0, 8, SYS_MPROTECT),
        // The first argument: upper half, lower half.
        Instruction(LOAD, 0, 0, 20),
        Instruction(EQUAL, 0, 2, (start >> 32) as u32),
        Instruction(LOAD, 0, 0, 16),
        Instruction(AT_LEAST, above_start, 4, start as u32),
        Instruction(EQUAL, 0, 3, (end >> 32) as u32),
        Instruction(LOAD, 0, 0, 16),
        Instruction(AT_LEAST, 1, 0, end as u32),
        Instruction(RETURN, 0, 0, REFUSE),
        Instruction(RETURN, 0, 0, ALLOW),
    ];
    let program = Program { length: filter.len() as u16, instructions: filter.as_ptr() };
    // SAFETY: prctl and seccomp with arguments as their manual pages describe; the kernel copies the program. 1 is
    // SECCOMP_SET_MODE_FILTER, the flag 1 is SECCOMP_FILTER_FLAG_TSYNC.
    unsafe {
        if prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            return -1;
        }
        if syscall(SYS_SECCOMP, 1 as c_long, 1 as c_long, &raw const program) == 0 { 0 } else { -1 }
    }
}
