//! An arena beside what else a process does: forks in the middle of refills, and other owners of restartable sequences.
#![cfg(target_arch = "x86_64")]

mod ranges;

use arena::{Arena, Path, Size};
use ranges::{check, layout};
use std::alloc::Layout;
use std::process::Command;
use std::sync::Barrier;
use std::sync::atomic::Ordering;

#[allow(clippy::disallowed_types, reason = "a flag of the test")]
type AtomicBool = std::sync::atomic::AtomicBool;

const CASE: &str = "TERRACE_TEST_BESIDE";
const PATHS: [Path; 4] = [Path::Thread, Path::Core, Path::CoreExchange, Path::Shared];

/// A child whose parent's threads were refilling: words that they own are nobody's there. It is served past them, and what its own thread had
/// stays as it is.
fn child(arena: &Arena, before: &[&mut [u64; 4]]) -> bool {
    let mut ranges: Vec<(usize, Layout)> =
        before.iter().map(|place| (place.as_ptr().addr(), layout(32, 8))).collect();
    for number in 0..20_000_u64 {
        let Ok(place) = arena.try_alloc([number; 4]) else { return false };
        if *place != [number; 4] {
            return false;
        }
        ranges.push((place.as_ptr().addr(), layout(32, 8)));
    }
    check(ranges);
    before.iter().zip(0..).all(|(place, number)| **place == [number; 4])
}

fn forks_while_threads_refill() {
    for path in PATHS {
        let builder = Arena::builder().path(path).core_buffers(Size::Bytes(4096));
        let arena = builder.thread_buffers(Size::Bytes(256)).build().unwrap();
        let before: Vec<&mut [u64; 4]> = (0..1000).map(|number| arena.alloc([number; 4])).collect();
        let stop = AtomicBool::new(false);
        let barrier = Barrier::new(5);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    barrier.wait();
                    while !stop.load(Ordering::Relaxed) {
                        // Small: they go on for as long as the other threads wait for a CPU.
                        arena.alloc(7_u64);
                    }
                });
            }
            barrier.wait();
            for _ in 0..8 {
                // SAFETY: the child allocates, compares and leaves; glibc keeps its malloc usable after a fork.
                let process = unsafe { libc::fork() };
                if process == 0 {
                    let right =
                        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| child(&arena, &before)));
                    // SAFETY: no destructors, no exit handlers.
                    unsafe { libc::_exit(i32::from(!right.unwrap_or(false))) };
                }
                let mut status = 0;
                // SAFETY: our child, a valid place.
                unsafe { libc::waitpid(process, &raw mut status, 0) };
                assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{path:?} {status:x}");
            }
            stop.store(true, Ordering::Relaxed);
        });
        println!("{path:?}: {}", arena.stats().core_buffers);
    }
}

#[cfg(not(no_sequences))]
/// `struct rseq` of an owner of its own, as tcmalloc has it where glibc registers none.
#[repr(C, align(32))]
struct Own([u64; 4]);

#[cfg(not(no_sequences))]
const SIGNATURE: u32 = 0x5305_3053;

/// Without glibc's areas (that is how tcmalloc wants it), and with each thread's area registered by somebody else: the arena does not touch it.
#[cfg(not(no_sequences))]
fn another_owner_registers_its_own_areas() {
    let arena = Arena::builder().path(Path::Core).build().unwrap();
    let text = arena.stats().core_buffers;
    assert!(text.contains("compare and swap (rseq disabled by GLIBC_TUNABLES)"), "{text}");
    let ranges: Vec<(usize, Layout)> = std::thread::scope(|scope| {
        let work = || {
            let mut own = Own([0; 4]);
            let at = &raw mut own;
            // SAFETY: the structure stays where it is until it is given up below.
            let registered = unsafe { libc::syscall(libc::SYS_rseq, at, 32, 0, SIGNATURE) } == 0;
            let ranges: Vec<_> = (0..50_000_u64)
                .map(|number| (arena.alloc([number; 2]).as_ptr().addr(), layout(16, 8)))
                .collect();
            // SAFETY: the kernel writes to it until then; the third word is where a sequence would be named.
            let left_alone = unsafe { (*at).0[1] } == 0;
            assert!(left_alone, "somebody used this thread's area");
            if registered {
                // SAFETY: as it was registered.
                assert_eq!(unsafe { libc::syscall(libc::SYS_rseq, at, 32, 1, SIGNATURE) }, 0);
            }
            println!("registered: {registered}");
            ranges
        };
        let handles: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
    });
    check(ranges);
}

/// What a test does in a process of its own, with this tunable of glibc; what it said.
fn alone(test: &str, tunables: &str, work: fn()) -> Option<String> {
    if std::env::var_os(CASE).is_some() {
        work();
        return None;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--test-threads=1", "--nocapture", "--exact", test])
        .env(CASE, "1")
        .env("GLIBC_TUNABLES", tunables)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {text}", output.status);
    Some(text.into_owned())
}

#[test]
fn a_fork_in_the_middle_of_refills_leaves_the_child_an_arena() {
    let name = "a_fork_in_the_middle_of_refills_leaves_the_child_an_arena";
    let Some(text) = alone(name, "", forks_while_threads_refill) else { return };
    assert_eq!(PATHS.iter().filter(|path| text.contains(&format!("{path:?}: "))).count(), 4, "{text}");
}

#[cfg(not(no_sequences))]
#[test]
fn beside_another_owner_of_sequences_core_buffers_are_compare_and_swap() {
    if std::env::var_os(CASE).is_none() && topology::RseqArea::find().is_err() {
        return skips::skip!("no restartable sequences here");
    }
    let name = "beside_another_owner_of_sequences_core_buffers_are_compare_and_swap";
    let tunables = "glibc.pthread.rseq=0";
    let Some(text) = alone(name, tunables, another_owner_registers_its_own_areas) else { return };
    assert_eq!(text.matches("registered: true").count(), 4, "{text}");
}
