//! The kernel interferes in the middle of restartable sequences: signals, migrations, more threads than CPUs. What makes it begin
//! a sequence again is its descriptor; a process that breaks the descriptors is the control.
#![cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(no_sequences)))]

mod descriptors;
mod ranges;

use arena::{Arena, Path, Size};
use descriptors::descriptors;
use ranges::{check, layout};
use std::alloc::Layout;
use std::cell::Cell;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::sync::{Barrier, OnceLock};

#[allow(clippy::disallowed_types, reason = "a flag of the test")]
type AtomicBool = std::sync::atomic::AtomicBool;
#[allow(clippy::disallowed_types, reason = "a counter of the test")]
type AtomicU64 = std::sync::atomic::AtomicU64;

/// What the handler below was given on this thread.
const MOST: usize = 20_000;
thread_local! {
    static GIVEN: [Cell<usize>; MOST] = const { [const { Cell::new(0) }; MOST] };
    static COUNT: Cell<usize> = const { Cell::new(0) };
}
static ARENA: OnceLock<Arena> = OnceLock::new();
/// Sequences that the kernel left for a signal.
static ABORTED: AtomicU64 = AtomicU64::new(0);

/// Allocates in the middle of whatever the thread was doing, also of an allocation: a sequence that did not begin again after it
/// would hand the same bytes out.
///
/// Before the kernel calls a handler it takes the thread out of its sequence: where the thread goes on is then the place that the
/// descriptor names.
extern "C" fn allocate_in_between(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel gives a handler with SA_SIGINFO its context.
    let machine = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    #[cfg(target_arch = "x86_64")]
    let next = machine.gregs[libc::REG_RIP as usize];
    #[cfg(target_arch = "aarch64")]
    let next = machine.pc;
    // SAFETY: descriptors are changed before the first sequence only.
    let all = unsafe { &*descriptors() };
    if all.iter().any(|descriptor| descriptor.abort == next as u64) {
        ABORTED.fetch_add(1, Ordering::Relaxed);
    }
    let Some(arena) = ARENA.get() else { return };
    let count = COUNT.get();
    if count < MOST {
        let start = arena.try_alloc_layout(layout(16, 8)).map_or(0, |place| place.addr().get());
        GIVEN.with(|given| given[count].set(start));
        COUNT.set(count + 1);
    }
}

fn handle_signals() {
    // SAFETY: the action is made of plain values; the handler uses constant thread-local memory and an arena without thread buffers,
    // whose every step is lock-free.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = allocate_in_between as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()), 0);
    }
}

/// An arena with core buffers in sequences; `None` if there are none here.
fn arena() -> Option<&'static Arena> {
    let build =
        || Arena::builder().reserve(16 << 30).path(Path::Core).core_buffers(Size::Bytes(8192)).build();
    let arena = ARENA.get_or_init(|| build().unwrap());
    let is_possible = arena.stats().core_buffers.contains("sequences");
    if !is_possible {
        skips::skip!("no restartable sequences: {}", arena.stats().core_buffers);
    }
    is_possible.then_some(arena)
}

/// At most so many threads at a time: with more the memory of all rounds, of which nothing is released, would not fit in the arena.
const THREADS: usize = 8;
/// Each thread's objects of 16 bytes in one round, and how often it is disturbed in one.
const OBJECTS: usize = 500_000;
const DISTURBANCES: usize = 2000;

/// Threads that allocate blocks of 16 bytes and this alignment, disturbed; all that they were given.
fn round(arena: &'static Arena, align: usize) -> Vec<(usize, Layout)> {
    let cpus = std::thread::available_parallelism().unwrap().get().min(THREADS);
    let threads = (4 * cpus).min(THREADS);
    let (sender, receiver) = std::sync::mpsc::channel();
    let barrier = Barrier::new(threads + 1);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (barrier, stop) = (&barrier, &stop);
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                let sender = sender.clone();
                scope.spawn(move || {
                    // SAFETY: no preconditions.
                    sender.send(unsafe { libc::pthread_self() }).unwrap();
                    let wanted = layout(16, align);
                    let mut ranges = Vec::with_capacity(OBJECTS);
                    barrier.wait();
                    while !stop.load(Ordering::Relaxed) && ranges.len() < ranges.capacity() {
                        for _ in 0..1000 {
                            ranges.push((arena.try_alloc_layout(wanted).unwrap().addr().get(), wanted));
                        }
                    }
                    // Alive until it is disturbed no more.
                    barrier.wait();
                    let in_between = layout(16, 8);
                    GIVEN.with(|given| {
                        ranges.extend(given[..COUNT.get()].iter().map(|start| (start.get(), in_between)));
                    });
                    ranges
                })
            })
            .collect();
        let workers: Vec<libc::pthread_t> = receiver.iter().take(threads).collect();
        barrier.wait();
        for disturbed in 0..threads * DISTURBANCES {
            let worker = workers[disturbed % threads];
            // SAFETY: all workers are alive until the second barrier; the set is a plain value.
            unsafe {
                libc::pthread_kill(worker, libc::SIGUSR1);
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                libc::CPU_SET(disturbed / threads % cpus, &mut set);
                libc::pthread_setaffinity_np(worker, size_of::<libc::cpu_set_t>(), &raw const set);
            }
        }
        stop.store(true, Ordering::Relaxed);
        barrier.wait();
        handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
    })
}

/// Rounds until so many sequences were aborted; on whatever machine this is, a few are enough. What was handed out is counted.
fn disturb(arena: &'static Arena, enough: u64) -> u64 {
    handle_signals();
    let mut served = 0;
    for number in 0..100 {
        let ranges = round(arena, 8);
        served += 16 * ranges.len() as u64;
        check(ranges);
        if number >= 3 && ABORTED.load(Ordering::Relaxed) >= enough {
            break;
        }
    }
    served
}

#[test]
fn interrupted_and_migrated_sequences_hand_nothing_out_twice() {
    let Some(arena) = arena() else { return };
    let served = disturb(arena, 20);
    let aborted = ABORTED.load(Ordering::Relaxed);
    println!("{aborted} aborted sequences");
    assert!(aborted > 0, "the kernel never left a sequence: nothing was shown");
    // reserved = handed out + wasted + remaining, to the byte; what was served past the buffers is used, but not by them.
    let stats = arena.stats();
    let core = stats.core.unwrap();
    let past = stats.used_bytes as u64 - core.reserved_bytes;
    assert_eq!(core.reserved_bytes + past, served + core.wasted_bytes + core.remaining_bytes);

    // The same where each sequence takes a gap as well; how many bytes those are nobody counts.
    for number in 0..50 {
        check(round(arena, 32));
        if number >= 3 && ABORTED.load(Ordering::Relaxed) >= aborted + 10 {
            break;
        }
    }
    assert!(ABORTED.load(Ordering::Relaxed) > aborted);
}

/// Run by the test below in a process of its own.
#[test]
#[ignore = "not a test: fails, because its descriptors are broken"]
fn with_broken_descriptors() {
    let Some(arena) = arena() else { return };
    // SAFETY: no sequence has run in this process; the section is writable.
    for descriptor in unsafe { &mut *descriptors() } {
        // No instruction is inside: the kernel interferes and lets the sequence go on.
        descriptor.length = 0;
    }
    disturb(arena, u64::MAX);
}

/// What the first test looks for does happen where the kernel does not know of the sequences.
#[test]
fn sequences_with_broken_descriptors_hand_bytes_out_twice() {
    if arena().is_none() {
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "with_broken_descriptors", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout) + String::from_utf8_lossy(&child.stderr);
    assert!(!child.status.success() && text.contains("reaches into"), "{}: {text}", child.status);
}
