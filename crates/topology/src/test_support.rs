//! For tests: running on one CPU.

use crate::affinity;
use crate::id::CpuId;

/// Runs `work` on each CPU this thread may use, in a thread of its own so that the caller's affinity stays.
pub(crate) fn on_each_cpu(work: fn(CpuId)) {
    for cpu in affinity::allowed().unwrap() {
        let pinned = std::thread::spawn(move || {
            let mut mask = vec![0usize; cpu.0 as usize / usize::BITS as usize + 1];
            *mask.last_mut().unwrap() = 1 << (cpu.0 % usize::BITS);
            let bytes = size_of_val(mask.as_slice());
            // SAFETY: the kernel reads `bytes` bytes, the length of the mask.
            let failed = unsafe { libc::sched_setaffinity(0, bytes, mask.as_ptr().cast()) };
            assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
            work(cpu);
        });
        pinned.join().unwrap();
    }
}
