//! No byte is handed out twice, whatever happens to the threads.

use arena::{Arena, Path, Size};
use std::alloc::Layout;
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Barrier, OnceLock};

#[allow(clippy::disallowed_types, reason = "a flag of the test")]
type AtomicBool = std::sync::atomic::AtomicBool;

const PATHS: [Path; 4] = [Path::Thread, Path::Core, Path::CoreExchange, Path::Shared];

fn layout(bytes: usize, align: usize) -> Layout {
    Layout::from_size_align(bytes, align).unwrap()
}

/// Every range once, none over another, all aligned.
fn check(mut ranges: Vec<(usize, Layout)>) {
    ranges.sort_unstable_by_key(|(start, _)| *start);
    for pair in ranges.windows(2) {
        let [(start, layout), (next, _)] = [pair[0], pair[1]];
        assert!(start + layout.size() <= next, "{start:x} + {} reaches into {next:x}", layout.size());
    }
    for (start, layout) in ranges {
        assert_eq!(start % layout.align(), 0);
    }
}

#[test]
fn threads_never_share_a_byte() {
    for path in PATHS {
        let mut arena =
            Arena::builder().reserve(1 << 30).path(path).core_buffers(Size::Bytes(4096)).build().unwrap();
        for round in 0..3_u64 {
            let barrier = Barrier::new(6);
            let ranges: Vec<(usize, Layout)> = std::thread::scope(|scope| {
                let handles: Vec<_> = (0..6_u64)
                    .map(|thread| {
                        let (arena, barrier) = (&arena, &barrier);
                        scope.spawn(move || {
                            barrier.wait();
                            let mut state = thread * 7919 + round + 1;
                            (0..20_000)
                                .map(|_| {
                                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                                    let bytes = 1 + (state >> 40) as usize % 200;
                                    let align = 1 << ((state >> 33) % 8);
                                    let layout = layout(bytes, align);
                                    let place = arena.try_alloc_layout(layout).unwrap();
                                    // SAFETY: just handed out, `bytes` long.
                                    unsafe { place.write_bytes(thread as u8 + 1, bytes) };
                                    (place.addr().get(), layout)
                                })
                                .collect::<Vec<_>>()
                        })
                    })
                    .collect();
                handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
            });
            assert_eq!(ranges.len(), 120_000);
            check(ranges);
            arena.reset();
            assert_eq!(arena.stats().used_bytes, 0, "{path:?}");
        }
    }
}

/// What the handler below was given on this thread.
const MOST: usize = 100_000;
thread_local! {
    static GIVEN: [Cell<usize>; MOST] = const { [const { Cell::new(0) }; MOST] };
    static COUNT: Cell<usize> = const { Cell::new(0) };
}
static ARENA: OnceLock<Arena> = OnceLock::new();

/// Allocates in the middle of whatever the thread was doing, also of an allocation: a sequence that did not begin again after it
/// would hand the same bytes out.
extern "C" fn allocate_in_between(_: libc::c_int) {
    let Some(arena) = ARENA.get() else { return };
    let count = COUNT.get();
    if count < MOST {
        let start = arena.try_alloc_layout(layout(16, 8)).map_or(0, |place| place.addr().get());
        GIVEN.with(|given| given[count].set(start));
        COUNT.set(count + 1);
    }
}

/// The kernel interferes in the middle of sequences: signals, migrations, more threads than CPUs.
#[test]
fn interrupted_and_migrated_sequences_hand_nothing_out_twice() {
    let handler = allocate_in_between as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler uses constant thread-local memory and an arena without thread buffers, whose every step is lock-free.
    unsafe { libc::signal(libc::SIGUSR1, handler) };
    let arena = ARENA.get_or_init(|| {
        Arena::builder().reserve(8 << 30).path(Path::Core).core_buffers(Size::Bytes(8192)).build().unwrap()
    });
    if !arena.stats().core_buffers.contains("sequences") {
        skips::skip!("no restartable sequences: {}", arena.stats().core_buffers);
        return;
    }
    let cpus = std::thread::available_parallelism().unwrap().get();
    let threads = 4 * cpus;
    let (sender, receiver) = std::sync::mpsc::channel();
    let barrier = Barrier::new(threads + 1);
    let stop = AtomicBool::new(false);
    let (ranges, handled) = std::thread::scope(|scope| {
        let (barrier, stop) = (&barrier, &stop);
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                let sender = sender.clone();
                scope.spawn(move || {
                    // SAFETY: no preconditions.
                    sender.send(unsafe { libc::pthread_self() }).unwrap();
                    let layout = layout(16, 8);
                    let mut ranges = Vec::with_capacity(4_000_000);
                    barrier.wait();
                    while !stop.load(Ordering::Relaxed) && ranges.len() < ranges.capacity() {
                        for _ in 0..1000 {
                            ranges.push((arena.try_alloc_layout(layout).unwrap().addr().get(), layout));
                        }
                    }
                    // Alive until it is disturbed no more.
                    barrier.wait();
                    let handled = COUNT.get();
                    ranges.extend(GIVEN.with(|given| {
                        given[..handled].iter().map(|start| (start.get(), layout)).collect::<Vec<_>>()
                    }));
                    (ranges, handled)
                })
            })
            .collect();
        let workers: Vec<libc::pthread_t> = receiver.iter().take(threads).collect();
        barrier.wait();
        for disturbed in 0..60_000 {
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
        let mut all = Vec::new();
        let mut handled = 0;
        for handle in handles {
            let (ranges, count) = handle.join().unwrap();
            all.extend(ranges);
            handled += count;
        }
        (all, handled)
    });
    assert!(handled > 1000, "{handled} signals came through");
    // reserved = handed out + wasted + remaining, to the byte; what was served past the buffers is used, but not by them.
    let stats = arena.stats();
    let core = stats.core.unwrap();
    let past = stats.used_bytes as u64 - core.reserved_bytes;
    let served = 16 * ranges.len() as u64;
    check(ranges);
    assert_eq!(core.reserved_bytes + past, served + core.wasted_bytes + core.remaining_bytes);
}
