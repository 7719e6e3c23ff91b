//! An arena that is first made by a thread which may use one CPU only: what the process can use later is what counts. In a process of its own,
//! because the machine is looked at once. It shows most where the kernel and glibc (2.40 and later) have concurrency ids.

use arena::{Arena, Path};
use std::process::Command;
use std::sync::Barrier;

const CASE: &str = "TERRACE_TEST_PINNED";

fn mask() -> libc::cpu_set_t {
    // SAFETY: plain values.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        assert_eq!(libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set), 0);
        set
    }
}

fn allow(set: &libc::cpu_set_t) {
    // SAFETY: a valid set.
    assert_eq!(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set) }, 0);
}

/// The calling thread on one CPU, for so long.
fn on_one_cpu<T>(work: impl FnOnce() -> T) -> T {
    let all = mask();
    // SAFETY: plain values.
    unsafe {
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu() as usize, &mut one);
        allow(&one);
    }
    let outcome = work();
    allow(&all);
    outcome
}

/// Busy threads on all CPUs: what they got past the core buffers, in bytes.
fn past_the_buffers(arena: &Arena) -> usize {
    let barrier = Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                barrier.wait();
                (0..500_000_u64).for_each(|number| _ = arena.alloc([number; 2]));
            });
        }
    });
    let stats = arena.stats();
    stats.used_bytes - stats.core.unwrap().reserved_bytes as usize
}

fn alone(name: &str, work: fn()) {
    if std::env::var_os(CASE).is_some() {
        return work();
    }
    // SAFETY: a valid set.
    if unsafe { libc::CPU_COUNT(&mask()) } < 2 {
        return skips::skip!("one CPU");
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--test-threads=1", "--nocapture", "--exact", name])
        .env(CASE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {text}", output.status);
}

/// Of 32 MB a round; threads that meet a refill may get some past it.
const FEW: usize = 64 << 10;

#[test]
fn a_thread_that_was_pinned_meanwhile_leaves_the_others_their_buffers() {
    alone("a_thread_that_was_pinned_meanwhile_leaves_the_others_their_buffers", || {
        let arena = on_one_cpu(|| Arena::builder().path(Path::Core).build().unwrap());
        // Where this process has more than one CPU only now and then, too.
        for _ in 0..8 {
            let past = past_the_buffers(&arena);
            assert!(past < FEW, "{past} {:?}", arena.stats());
        }
    });
}
