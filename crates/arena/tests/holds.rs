//! Holds: a thread's own buffer of an arena for as long as it allocates much, or for a single object.

use arena::{Arena, Path, Size, Zeroing};
use topology::{Fake, Machine};

const PATHS: [Path; 4] = [Path::Thread, Path::Core, Path::CoreExchange, Path::Shared];

fn small(path: Path) -> Arena {
    Arena::builder().reserve(64 << 20).path(path).build().unwrap()
}

#[test]
fn holds_share_an_arena_and_hand_nothing_out_twice() {
    for path in PATHS {
        let arena = small(path);
        let places: Vec<&mut [u64; 3]> = std::thread::scope(|scope| {
            let work = |thread: u64| {
                let arena = &arena;
                scope.spawn(move || {
                    let local = arena.local();
                    let of = |number: u64| local.alloc([thread, number, thread ^ number]);
                    let places: Vec<_> = (0..20_000).map(of).collect();
                    // What is left in the hold is the thread's, or given up; either way nobody's twice.
                    drop(local);
                    places
                        .into_iter()
                        .chain((0..100).map(|number| arena.alloc([thread, number, thread ^ number])))
                        .collect::<Vec<_>>()
                })
            };
            let handles: Vec<_> = (0..6).map(work).collect();
            handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
        });
        assert!(places.iter().all(|place| place[0] ^ place[1] == place[2]), "{path:?}");
        let mut starts: Vec<usize> = places.iter().map(|place| place.as_ptr().addr()).collect();
        starts.sort_unstable();
        assert!(starts.windows(2).all(|pair| pair[0] + 24 <= pair[1]), "{path:?}");
    }
}

#[test]
fn ten_thousand_holds_of_one_object_take_what_one_hold_takes() {
    for path in PATHS {
        for zeroing in [Zeroing::None, Zeroing::AtRefill, Zeroing::AtAllocation] {
            let builder = Arena::builder().reserve(64 << 20).path(path).zeroing(zeroing);
            let arena = builder.core_buffers(Size::Bytes(64 << 10)).build().unwrap();
            let other = small(Path::Thread);
            for number in 0..10_000_u64 {
                let local = arena.local();
                assert_eq!(*local.alloc(number), number);
                // The buffer at hand is another arena's half of the time.
                if number % 4 < 2 {
                    other.alloc(number);
                }
            }
            let used = arena.stats().used_bytes;
            assert!(used < 1 << 20, "{path:?} {zeroing:?}: {used} bytes for 80,000");
        }
    }
}

/// As those of threads: what all hold at once is a part of the limit.
#[test]
fn holds_at_the_arenas_choice_are_small_where_the_limit_is() {
    const LIMIT: usize = 1 << 20;
    let machine = || Machine::fake(Fake { packages: 1, cores: 4, threads: 1, holes: vec![] });
    for path in [Path::Core, Path::CoreExchange, Path::Shared] {
        let arena = Arena::builder().limit(LIMIT).path(path).machine(machine()).build().unwrap();
        let take =
            |local: &arena::Local, bytes: usize| (0..bytes / 64).all(|_| local.try_alloc([0_u8; 64]).is_ok());
        let holds: Vec<_> = (0..4).map(|_| arena.local()).collect();
        assert!(holds.iter().all(|local| take(local, 125 << 10)), "{path:?}");
        assert!(take(&arena.local(), 125 << 10), "{path:?} {:?}", arena.stats());
    }
}

#[test]
fn holds_are_as_large_as_was_asked_of_thread_buffers() {
    const SIZE: usize = 8 << 10;
    for path in PATHS {
        let builder = Arena::builder().reserve(64 << 20).path(path).thread_buffers(Size::Bytes(SIZE));
        let arena = builder.core_buffers(Size::Off).build().unwrap();
        let locals: Vec<_> = (0..20).map(|_| arena.local()).collect();
        for local in &locals {
            (0..1000).for_each(|_| _ = local.alloc([0_u8; 64]));
        }
        let most = 20 * (64_000 + SIZE);
        assert!(arena.stats().used_bytes <= most, "{path:?} {} of {most}", arena.stats().used_bytes);
    }
}
