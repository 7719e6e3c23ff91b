//! Scopes and checkpoints one in another, many times: what buffers hold is not lost to them.

use arena::{Arena, Path, Zeroing};

const PATHS: [Path; 4] = [Path::Thread, Path::Core, Path::CoreExchange, Path::Shared];

fn of(limit: usize, path: Path) -> Arena {
    Arena::builder().limit(limit).path(path).build().unwrap()
}

#[test]
fn a_hundred_thousand_scopes_in_one_that_allocates_between_them() {
    const ROUNDS: usize = 100_000;
    for path in PATHS {
        for growing in [false, true] {
            let mut arena =
                if growing { Arena::builder().path(path).build().unwrap() } else { of(4 << 20, path) };
            arena.scope(|outer| {
                let first = outer.alloc(7_u64);
                for round in 0..ROUNDS {
                    let own = outer.alloc(round);
                    outer.scope(|inner| {
                        inner.alloc([1_u8; 100]);
                    });
                    assert_eq!(*own, round, "{path:?}");
                }
                let used = outer.arena().stats().used_bytes;
                assert!(used < 32 << 20, "{path:?}: {used} bytes for {}", ROUNDS * 8);
                assert_eq!(*first, 7);
            });
            assert_eq!(arena.stats().used_bytes, 0, "{path:?}");
        }
    }
}

#[test]
fn checkpoints_that_are_only_taken_lose_nothing() {
    for path in PATHS {
        let mut arena = of(4 << 20, path);
        for round in 0..100_000_usize {
            assert_eq!(*arena.try_alloc(round).unwrap(), round, "{path:?}");
            arena.checkpoint();
        }
    }
}

#[test]
fn what_other_cores_hold_comes_back_at_the_end_of_a_scope() {
    const ROUNDS: usize = 2000;
    const THREADS: usize = 4;
    for path in [Path::Core, Path::CoreExchange] {
        let mut arena = of(4 << 20, path);
        arena.scope(|outer| {
            for round in 0..ROUNDS {
                let kept: Vec<&mut [usize; 2]> = std::thread::scope(|threads| {
                    let work = |thread| {
                        let outer = &*outer;
                        threads.spawn(move || outer.alloc([round, thread]))
                    };
                    let handles: Vec<_> = (0..THREADS).map(work).collect();
                    handles.into_iter().map(|handle| handle.join().unwrap()).collect()
                });
                outer.scope(|inner| {
                    inner.scope(|innermost| innermost.alloc([usize::MAX; 100])[7]);
                    inner.alloc([usize::MAX; 100]);
                });
                for (thread, own) in kept.into_iter().enumerate() {
                    assert_eq!(*own, [round, thread], "{path:?}");
                }
            }
        });
    }
}

#[test]
fn what_is_given_back_and_taken_again_is_zero() {
    for path in PATHS {
        for zeroing in [Zeroing::AtRefill, Zeroing::AtAllocation] {
            let mut arena = Arena::builder().limit(1 << 20).path(path).zeroing(zeroing).build().unwrap();
            let soil = |arena: &Arena, bytes: usize| {
                let slice = arena.try_alloc_slice_uninit::<u8>(bytes).unwrap();
                // SAFETY: zero by the arena's promise.
                assert!(slice.iter().all(|byte| unsafe { byte.assume_init() } == 0), "{path:?} {zeroing:?}");
                slice.fill(std::mem::MaybeUninit::new(0xff));
            };
            for round in 0..30 {
                soil(&arena, 100 + round);
                std::thread::scope(|threads| {
                    threads.spawn(|| soil(&arena, 100));
                });
                let checkpoint = arena.checkpoint();
                for _ in 0..3 {
                    soil(&arena, 1000);
                    arena.scope(|scope| {
                        soil(scope.arena(), 500);
                        scope.scope(|inner| soil(inner.arena(), 3000));
                        soil(scope.arena(), 500);
                    });
                    soil(&arena, 100);
                    arena.reset_to(checkpoint);
                }
            }
        }
    }
}

#[test]
fn a_checkpoint_is_returned_to_again_and_again() {
    for path in [Path::Core, Path::CoreExchange] {
        for zeroing in [Zeroing::None, Zeroing::AtRefill] {
            let mut arena = Arena::builder().limit(1 << 20).path(path).zeroing(zeroing).build().unwrap();
            let on_threads = |arena: &Arena| {
                std::thread::scope(|threads| {
                    for _ in 0..4 {
                        threads.spawn(|| {
                            let value = arena.alloc([0_u64; 4]);
                            assert_eq!(*value, [0; 4]);
                        });
                    }
                });
            };
            for _ in 0..500 {
                on_threads(&arena);
                let checkpoint = arena.checkpoint();
                for _ in 0..3 {
                    on_threads(&arena);
                    arena.reset_to(checkpoint);
                }
            }
        }
    }
}

#[test]
fn a_checkpoint_without_anything_since_is_the_last_one() {
    for path in PATHS {
        let mut arena = of(1 << 20, path);
        arena.alloc(1_u64);
        let checkpoint = arena.checkpoint();
        assert_eq!(arena.checkpoint(), checkpoint, "{path:?}");
        arena.alloc(2_u64);
        arena.reset_to(checkpoint);
        assert_eq!(arena.checkpoint(), checkpoint, "{path:?}");
    }
}
