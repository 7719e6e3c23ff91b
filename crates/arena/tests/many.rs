//! Many arenas, one after the other and at the same time: an arena for each request.

use arena::{Arena, Path, Policy, Size, Zeroing};
use std::alloc::Layout;
use topology::{Fake, Machine};

const PATHS: [Path; 4] = [Path::Thread, Path::Core, Path::CoreExchange, Path::Shared];

#[test]
fn an_arena_begins_small_and_grows() {
    for path in PATHS {
        let arena = Arena::builder().path(path).build().unwrap();
        assert!(arena.stats().reserved_bytes <= 64 << 10, "{:?}", arena.stats());
        let mut places = Vec::new();
        for size in [1000, 100_000, 3 << 20, 1 << 10, 20 << 20, 70_000] {
            let place = arena.try_alloc_layout(Layout::from_size_align(size, 8).unwrap()).unwrap();
            // SAFETY: just handed out.
            unsafe { place.write_bytes(size as u8, size) };
            places.push((place.addr().get(), size));
        }
        let stats = arena.stats();
        assert!(stats.reserved_bytes > 23 << 20 && stats.used_bytes <= stats.reserved_bytes, "{stats:?}");
        places.sort_unstable();
        assert!(places.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{path:?} {places:?}");
        assert!(arena.try_alloc_layout(Layout::from_size_align(1 << 46, 8).unwrap()).is_err());
    }
}

#[test]
fn what_a_kept_segment_held_is_not_taken_for_zero() {
    for path in PATHS {
        for zeroing in [Zeroing::AtRefill, Zeroing::AtAllocation] {
            let build = || Arena::builder().path(path).zeroing(zeroing).build().unwrap();
            for round in 0..20 {
                let mut arena = build();
                for released in [false, true] {
                    for size in [8, 5000, 100_000, 300_000] {
                        let place =
                            arena.try_alloc_layout(Layout::from_size_align(size, 8).unwrap()).unwrap();
                        // SAFETY: just handed out.
                        let bytes = unsafe { std::slice::from_raw_parts_mut(place.as_ptr(), size) };
                        assert!(
                            bytes.iter().all(|byte| *byte == 0),
                            "{path:?} {zeroing:?} {round} {released}"
                        );
                        bytes.fill(0xff);
                    }
                    arena.reset_and_release().unwrap();
                }
            }
        }
    }
}

#[test]
fn a_thousand_at_a_time_and_threads_that_make_and_drop_them() {
    let arenas: Vec<Arena> = (0..1000).map(|_| Arena::new()).collect();
    let values: Vec<&mut usize> =
        arenas.iter().enumerate().map(|(number, arena)| arena.alloc(number)).collect();
    assert!(values.iter().enumerate().all(|(number, value)| **value == number));
    drop(arenas);
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            scope.spawn(move || {
                for request in 0..2000_u64 {
                    let arena = Arena::new();
                    let tag = thread << 32 | request;
                    let words = arena.alloc_slice_with(1 + request as usize * 37 % 5000, |_| tag);
                    std::thread::yield_now();
                    assert!(words.iter().all(|word| *word == tag));
                }
            });
        }
    });
}

/// What an arena takes in which each of many rounds, with other arenas in between, puts 8 bytes.
fn taken_by_small_objects(rounds: u64, mut between: impl FnMut(u64)) -> usize {
    let long = Arena::builder().core_buffers(Size::Bytes(64 << 10)).build().unwrap();
    for number in 0..rounds {
        assert_eq!(*long.alloc(number), number);
        between(number);
    }
    long.stats().used_bytes
}

#[test]
fn an_arena_that_lives_on_keeps_its_buffer_beside_those_that_come_and_go() {
    // Not as many each time: a buffer that seems to rest leaves its place to the other one.
    let some = |arena: &Arena, round: u64| {
        for number in 0..2 + round % 7 {
            arena.alloc([number; 10]);
        }
    };
    let mut scratch = Arena::new();
    let reset = taken_by_small_objects(10_000, |round| {
        some(&scratch, round);
        scratch.reset();
    });
    let made = taken_by_small_objects(10_000, |round| some(&Arena::new(), round));
    // Reset by others: this thread is not told.
    let elsewhere = taken_by_small_objects(2_000, |round| {
        some(&scratch, round);
        std::thread::scope(|scope| scope.spawn(|| scratch.reset()).join().unwrap());
    });
    assert!(reset < 500 << 10 && made < 500 << 10 && elsewhere < 200 << 10, "{reset} {made} {elsewhere}");
}

#[test]
fn seventeen_arenas_by_turns_keep_their_buffers() {
    let arenas: Vec<Arena> =
        (0..17).map(|_| Arena::builder().core_buffers(Size::Bytes(64 << 10)).build().unwrap()).collect();
    for number in 0..1000_u64 {
        assert!(arenas.iter().all(|arena| *arena.alloc(number) == number));
    }
    let used: Vec<usize> = arenas.iter().map(|arena| arena.stats().used_bytes).collect();
    assert!(used.iter().all(|used| *used <= 128 << 10), "{used:?}");
}

#[test]
fn checkpoints_hold_across_segments() {
    for path in PATHS {
        let mut arena = Arena::builder().path(path).build().unwrap();
        let kept: *const u64 = arena.alloc(42_u64);
        let checkpoint = arena.checkpoint();
        let used = arena.stats().used_bytes;
        for _ in 0..3 {
            for size in [70_000, 1 << 20, 100, 5 << 20] {
                let place = arena.try_alloc_layout(Layout::from_size_align(size, 8).unwrap()).unwrap();
                // SAFETY: just handed out.
                unsafe { place.write_bytes(0xee, size) };
            }
            assert!(arena.stats().used_bytes > 6 << 20);
            arena.reset_to(checkpoint);
            assert_eq!(arena.stats().used_bytes, used, "{path:?}");
        }
        // SAFETY: handed out before the checkpoint.
        assert_eq!(unsafe { *kept }, 42);
    }
}

#[test]
fn larger_pages_grow_in_larger_segments_and_say_what_they_are() {
    for policy in [Policy::Transparent, Policy::Explicit(arena::PageSize::TwoMegabytes)] {
        let arena = Arena::builder().pages(policy).build().unwrap();
        arena.alloc([1_u8; 100]);
        let layout = Layout::from_size_align(9 << 20, 8).unwrap();
        arena.try_alloc_layout(layout).unwrap();
        let stats = arena.stats();
        assert!(stats.reserved_bytes >= 11 << 20, "{stats:?}");
        assert!(stats.pages == policy.to_string() || stats.fallback.is_some(), "{stats:?}");
    }
}

/// What a container may use decides how many core buffers there are, not the machine that it is on.
#[test]
fn a_container_of_two_cpus_on_a_machine_of_192_keeps_two_full_buffers() {
    const SIZE: u64 = 256 << 10;
    let fake = || Machine::fake(Fake { packages: 2, cores: 96, threads: 1, holes: vec![] });
    let own: Vec<u32> = Machine::detect().cpus().iter().map(|cpu| cpu.id.0).take(2).collect();
    for path in [Path::Core, Path::CoreExchange] {
        for machine in [fake().with_quota(2.0), fake().allowing(&[own[0], 191])] {
            let arena = Arena::builder()
                .path(path)
                .core_buffers(Size::Bytes(SIZE as usize))
                .machine(machine)
                .build()
                .unwrap();
            // More threads than may run at a time, and small objects, so that each has a buffer of whichever it is on.
            std::thread::scope(|scope| {
                for _ in 0..64 {
                    scope.spawn(|| {
                        (0..500_u64).for_each(|number| {
                            arena.alloc([number; 8]);
                        })
                    });
                }
            });
            let stats = arena.stats();
            let objects = 64 * 500 * 64_u64;
            let core = stats.core.unwrap();
            assert!(core.refills > 0, "{path:?} {stats:?}");
            // Two full ones, 4 KB each of the others, and the spare words of all.
            let most = 4 * (2 * SIZE + 190 * 4096);
            assert!(core.remaining_bytes <= most, "{path:?} {stats:?}");
            assert!(stats.used_bytes as u64 <= objects + most + core.wasted_bytes, "{path:?} {stats:?}");
        }
    }
}
