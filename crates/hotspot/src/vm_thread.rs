//! Whether this thread is HotSpot's VM thread, which performs what has to happen at a safepoint.

/// The name that `VMThread::run` gives its thread of the system, in every version.
const NAME: &[u8] = b"VM Thread\0";
/// What the kernel keeps of a thread's name, with its end (`TASK_COMM_LEN`).
const NAME_BYTES: usize = 16;

/// Whether this thread is the VM thread. A thread whose name cannot be read counts as it.
pub fn is_this() -> bool {
    let mut name = [0u8; NAME_BYTES];
    // SAFETY: PR_GET_NAME writes at most sixteen bytes to where its argument points.
    let read = unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) } == 0;
    !read || name.starts_with(NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vm_thread_is_known_by_its_name() {
        let named = |name: &str| {
            let thread = std::thread::Builder::new().name(name.into()).spawn(is_this).unwrap();
            thread.join().unwrap()
        };
        assert!(named("VM Thread"));
        assert!(!named("VM Thread 2"));
        assert!(!named("G1 Conc#0"));
        assert!(!is_this());
    }
}
