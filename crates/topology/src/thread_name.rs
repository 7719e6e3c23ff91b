//! What the kernel calls a thread.

/// Bytes of a name, with the zero behind it (`TASK_COMM_LEN`).
const THREAD_NAME: usize = 16;

/// The calling thread's name as the kernel has it, of up to 15 bytes, filled up with zeros; none where the kernel does not tell. A new thread has that of the thread that has
/// started it, until somebody gives it another.
pub fn own_thread_name() -> [u8; THREAD_NAME] {
    let mut name = [0; THREAD_NAME];
    // SAFETY: the kernel writes as many bytes at most.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_the_name_that_it_was_given_as_far_as_it_fits() {
        let named = |name: &str| {
            std::thread::Builder::new().name(name.into()).spawn(own_thread_name).unwrap().join().unwrap()
        };
        assert_eq!(named("worker-12"), *b"worker-12\0\0\0\0\0\0\0");
        assert_eq!(named("a name that is too long"), *b"a name that is \0");
    }
}
