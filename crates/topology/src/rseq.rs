//! The area of restartable sequences (rseq) that glibc registers for each thread: the kernel keeps the number of the
//! current CPU there, so that reading it is one load.
//!
//! Here the number is only read. Who makes sequences restartable gets the area's place from [`RseqArea`].

use std::ffi::{CStr, c_int, c_long, c_uint};

#[cfg(test)]
#[path = "rseq_test.rs"]
pub(crate) mod test;

/// `struct rseq` of the kernel: `cpu_id_start` at 0, `cpu_id` at 4. The first is 0 in an area that is not registered, the
/// second negative (-1 never registered, -2 refused), which is why we read the second.
const CPU_ID_OFFSET: isize = RseqArea::CPU_ID;
/// The two fields.
const LEAST_SIZE: c_uint = 8;
/// `mm_cid`, the concurrency id (Linux 6.3 and later): threads of a process that run at the same time have different ones, and they
/// are as small as the number of those threads allows.
const CONCURRENCY_OFFSET: isize = RseqArea::CONCURRENCY_ID;
/// The fields up to and with `mm_cid`.
const CONCURRENCY_SIZE: c_uint = 28;
/// How much of the area the kernel fills (`AT_RSEQ_FEATURE_SIZE` of <linux/auxvec.h>). glibc before 2.40 tells the area's size only.
const AT_RSEQ_FEATURE_SIZE: std::ffi::c_ulong = 27;

/// Where the calling thread's `cpu_id` (or its `mm_cid`) is: the same distance from the thread pointer in every thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rseq {
    cpu_id: isize,
}

/// Where the calling thread's rseq area is, for code that makes sequences restartable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RseqArea {
    offset: isize,
    id: isize,
}

impl RseqArea {
    /// Where `cpu_id` lies in `struct rseq`, in bytes.
    pub const CPU_ID: isize = 4;
    /// Where `mm_cid` does.
    pub const CONCURRENCY_ID: isize = 24;

    /// Finds the area and checks that it tells the truth, or says why there is none to be used.
    pub fn find() -> Result<RseqArea, &'static str> {
        let rseq = Rseq::find()?;
        rseq.check()?;
        Ok(RseqArea { offset: rseq.cpu_id.wrapping_sub(CPU_ID_OFFSET), id: CPU_ID_OFFSET })
    }

    /// The same, for sequences that go by the concurrency id in place of the CPU: as long as a sequence is not interrupted, no other
    /// thread of the process has its id.
    pub fn find_concurrency() -> Result<RseqArea, &'static str> {
        let ids = Rseq::concurrency()?;
        Ok(RseqArea { offset: ids.cpu_id.wrapping_sub(CONCURRENCY_OFFSET), id: CONCURRENCY_OFFSET })
    }

    /// The area at this distance from the thread pointer, of whatever is not the kernel's: to run sequences where none are restarted.
    ///
    /// # Safety
    /// In every thread that uses it there is a `struct rseq` at that place, for as long as it is used.
    #[doc(hidden)]
    pub const unsafe fn at(offset: isize, by_ids: bool) -> RseqArea {
        RseqArea { offset, id: if by_ids { CONCURRENCY_OFFSET } else { CPU_ID_OFFSET } }
    }

    /// The distance of `struct rseq` from the thread pointer, in bytes: the same in every thread that glibc has made.
    pub const fn offset(self) -> isize {
        self.offset
    }

    /// Whether sequences go by concurrency ids; otherwise by CPUs.
    pub const fn is_by_ids(self) -> bool {
        self.id == CONCURRENCY_OFFSET
    }
}

impl Rseq {
    /// The concurrency ids of the area that [`Rseq::find`] found and checked, or why there are none.
    pub(crate) fn concurrency() -> Result<Rseq, &'static str> {
        let (area, size) = Rseq::area()?;
        let found = Rseq { cpu_id: area.wrapping_add(CPU_ID_OFFSET) };
        found.check()?;
        // SAFETY: getauxval has no preconditions; 0 for what the kernel does not tell.
        let filled = unsafe { libc::getauxval(AT_RSEQ_FEATURE_SIZE) };
        if size < CONCURRENCY_SIZE || filled < std::ffi::c_ulong::from(CONCURRENCY_SIZE) {
            return Err("no concurrency ids: Linux older than 6.3");
        }
        let ids = Rseq { cpu_id: area.wrapping_add(CONCURRENCY_OFFSET) };
        if (0..crate::id::CPU_LIMIT as i32).contains(&ids.cpu_id()) {
            Ok(ids)
        } else {
            Err("no concurrency ids: the kernel does not provide them")
        }
    }

    /// Finds the area, or says why there is none.
    pub(crate) fn find() -> Result<Rseq, &'static str> {
        Rseq::area().map(|(area, _)| Rseq { cpu_id: area.wrapping_add(CPU_ID_OFFSET) })
    }

    /// The area's distance from the thread pointer and its size, in bytes.
    fn area() -> Result<(isize, c_uint), &'static str> {
        if !READABLE {
            return Err("no rseq for this architecture");
        }
        // By name at run time, not linked: the library must load with an older glibc, and with musl, which lack them.
        let offset = symbol(c"__rseq_offset").cast::<isize>();
        let size = symbol(c"__rseq_size").cast::<c_uint>();
        if offset.is_null() || size.is_null() {
            return Err("glibc older than 2.35, or another C library");
        }
        // SAFETY: glibc exports both as constants of these types (`const ptrdiff_t`, `const unsigned int`, <sys/rseq.h>) and
        // has set them before any code of ours runs.
        let (offset, size) = unsafe { (offset.read(), size.read()) };
        if size == 0 {
            return Err(if disabled_by_user() {
                "rseq disabled by GLIBC_TUNABLES"
            } else {
                "rseq refused by the kernel (older than 4.18, or a sandbox)"
            });
        }
        if size < LEAST_SIZE {
            return Err("glibc's rseq area has an unknown layout");
        }
        Ok((offset, size))
    }

    /// The calling thread's CPU; negative when its area is not registered. One load.
    ///
    /// Each call loads again: the kernel changes the number behind the compiler's back.
    #[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
    #[inline(always)]
    pub(crate) fn cpu_id(self) -> i32 {
        let number: i32;
        // SAFETY: FS is the base of the thread's control block in every thread of a glibc process; `find` got the offset from
        // glibc, whose area lives as long as its thread. An aligned load of four bytes is not torn.
        unsafe {
            std::arch::asm!(
                "mov {number:e}, dword ptr fs:[{at}]",
                number = lateout(reg) number,
                at = in(reg) self.cpu_id,
                options(nostack, preserves_flags, readonly),
            );
        }
        number
    }

    /// The calling thread's CPU; negative when its area is not registered. One load.
    ///
    /// Each call loads again: the kernel changes the number behind the compiler's back.
    #[cfg(all(target_arch = "aarch64", target_pointer_width = "64"))]
    #[inline(always)]
    pub(crate) fn cpu_id(self) -> i32 {
        let number: i32;
        // SAFETY: TPIDR_EL0 is the thread pointer; `find` got the offset from glibc, whose area lives as long as its thread.
        // An aligned load of four bytes is not torn.
        unsafe {
            std::arch::asm!(
                "mrs {pointer}, tpidr_el0",
                "ldr {number:w}, [{pointer}, {at}]",
                pointer = out(reg) _,
                number = lateout(reg) number,
                at = in(reg) self.cpu_id,
                options(nostack, preserves_flags, readonly),
            );
        }
        number
    }

    /// Of a concurrency id: whether the area is registered. In one that is not the id is 0.
    #[inline(always)]
    pub(crate) fn id_is_registered(self) -> bool {
        let number = Rseq { cpu_id: self.cpu_id.wrapping_sub(CONCURRENCY_OFFSET - CPU_ID_OFFSET) };
        number.cpu_id() >= 0
    }

    /// Not readable here; `find` has said so.
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_pointer_width = "64")))]
    #[inline(always)]
    pub(crate) fn cpu_id(self) -> i32 {
        -1
    }

    /// Compares with the kernel's answer. Not with `sched_getcpu`: since glibc 2.35 that reads the same area.
    pub(crate) fn check(self) -> Result<(), &'static str> {
        // The thread may migrate between two readings, but hardly so many times in a row.
        const TRIES: u32 = 16;
        for _ in 0..TRIES {
            let before = self.cpu_id();
            let asked = ask_kernel();
            if before < 0 {
                return Err("rseq not registered for this thread");
            }
            if before != self.cpu_id() {
                continue;
            }
            match asked {
                Some(asked) if asked != before => continue,
                // No second witness: a number the kernel wrote in a registered area is good enough.
                _ if before < crate::id::CPU_LIMIT as i32 => return Ok(()),
                _ => break,
            }
        }
        Err("rseq disagrees with getcpu")
    }
}

const READABLE: bool =
    cfg!(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_pointer_width = "64"));

fn symbol(name: &CStr) -> *const u8 {
    // SAFETY: `name` is NUL-terminated; RTLD_DEFAULT needs no handle.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.cast_const().cast()
}

fn disabled_by_user() -> bool {
    std::env::var_os("GLIBC_TUNABLES")
        .is_some_and(|value| value.to_string_lossy().contains("glibc.pthread.rseq=0"))
}

/// The system call itself: slow, and independent of the C library.
fn ask_kernel() -> Option<c_int> {
    let mut cpu: c_uint = 0;
    let nothing = std::ptr::null_mut::<c_uint>();
    // SAFETY: getcpu writes one unsigned int through its first argument; the other two may be null.
    let result: c_long = unsafe { libc::syscall(libc::SYS_getcpu, &raw mut cpu, nothing, nothing) };
    if result == 0 { c_int::try_from(cpu).ok() } else { None }
}
