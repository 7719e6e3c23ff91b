//! The CPUs that the kernel lets threads use.

use crate::error::Error;
use crate::id::{CPU_LIMIT, CpuId};

#[cfg(test)]
#[path = "affinity_test.rs"]
mod test;

const WORD_BITS: usize = usize::BITS as usize;

/// The affinity mask of the calling thread, in ascending order. It is already limited to the CPUs that are online and in
/// the effective cpuset of the control group. Threads started later inherit it.
pub(crate) fn allowed() -> Result<Vec<CpuId>, Error> {
    // 1024 CPUs, the size of glibc's own cpu_set_t.
    allowed_from(1024)
}

/// The CPUs that any thread of this process may use. What a thread may use by itself says nothing of the others where it was pinned.
pub(crate) fn allowed_to_any() -> Result<Vec<CpuId>, Error> {
    let mut all = mask_of(0, 1024)?;
    for entry in std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let thread = entry.file_name().to_str().and_then(|name| name.parse().ok());
        // One that has ended meanwhile adds nothing.
        let Some(mask) = thread.and_then(|thread| mask_of(thread, 1024).ok()) else { continue };
        all.resize(all.len().max(mask.len()), 0);
        all.iter_mut().zip(mask).for_each(|(all, mask)| *all |= mask);
    }
    Ok(set_bits(&all))
}

/// As [`allowed`], beginning with a mask of `bits`.
fn allowed_from(bits: usize) -> Result<Vec<CpuId>, Error> {
    Ok(set_bits(&mask_of(0, bits)?))
}

/// The affinity mask of a thread (0: the calling one). The kernel answers EINVAL while the mask is shorter than its own, and does not tell how
/// long that is.
fn mask_of(thread: libc::pid_t, mut bits: usize) -> Result<Vec<usize>, Error> {
    loop {
        let mut mask = vec![0usize; bits.div_ceil(WORD_BITS)];
        let bytes = size_of_val(mask.as_slice());
        // SAFETY: the kernel writes at most `bytes` bytes, which is how long the mask is; it is made of longs, as the kernel's
        // own masks are, and a cpu_set_t is nothing but such words.
        let failed = unsafe { libc::sched_getaffinity(thread, bytes, mask.as_mut_ptr().cast()) };
        if failed == 0 {
            return Ok(mask);
        }
        let error = std::io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINVAL) || bits >= CPU_LIMIT as usize {
            return Err(Error(format!(
                "sched_getaffinity: {error}; allow this system call in the sandbox's seccomp profile"
            )));
        }
        bits *= 2;
    }
}

fn set_bits(mask: &[usize]) -> Vec<CpuId> {
    let mut cpus = Vec::new();
    for (index, word) in mask.iter().enumerate() {
        let mut rest = *word;
        while rest != 0 {
            cpus.push(CpuId((index * WORD_BITS) as u32 + rest.trailing_zeros()));
            rest &= rest - 1;
        }
    }
    cpus
}
