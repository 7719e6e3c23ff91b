//! For tests: running on one CPU, and starting the test binary anew.

use crate::affinity;
use crate::id::CpuId;
use std::process::Command;

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

/// Runs an ignored test of this binary in a process of its own, with one environment variable set, and returns what it
/// printed. Such settings act when a process starts.
pub(crate) fn in_child(test: &str, name: &str, value: &str) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(name, value)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}
