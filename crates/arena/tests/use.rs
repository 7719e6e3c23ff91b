//! As a user would.

use allocator_api2::vec::Vec as ArenaVec;
use arena::{Arena, Path, Policy, Size, Zeroing};
use std::alloc::Layout;

const PATHS: [Path; 4] = [Path::Thread, Path::Core, Path::CoreExchange, Path::Shared];

fn small(path: Path) -> Arena {
    Arena::builder().reserve(64 << 20).path(path).build().unwrap()
}

#[test]
fn values_slices_and_texts() {
    for path in PATHS {
        let arena = small(path);
        let number = arena.alloc(7_u64);
        let slice = arena.alloc_slice_with(100, |index| index as u32);
        let text = arena.alloc_str("größer");
        let copy = arena.alloc_slice_copy(&[1.5_f64, 2.5]);
        *number += 1;
        slice[99] += 1;
        assert_eq!((*number, slice[99], &*text, &*copy), (8, 100, "größer", &[1.5, 2.5][..]));
        let nothing: &mut [u64] = arena.alloc_slice_copy(&[]);
        assert!(nothing.is_empty());
        let unit = arena.alloc(());
        assert_eq!(*unit, ());
    }
}

#[test]
fn collections_live_in_it() {
    let arena = small(Path::Auto);
    let mut list = ArenaVec::new_in(&arena);
    let mut map = hashbrown::HashMap::new_in(&arena);
    for number in 0..10_000_u64 {
        list.push(number);
        map.insert(number, number * 2);
    }
    list.shrink_to_fit();
    assert_eq!(list.iter().sum::<u64>(), 49_995_000);
    assert_eq!(map[&9_999], 19_998);
    let boxed = allocator_api2::boxed::Box::new_in(std::sync::Arc::new(5), &arena);
    let weak = std::sync::Arc::downgrade(&boxed);
    drop(boxed);
    assert!(weak.upgrade().is_none(), "a box drops what it holds");
}

#[test]
fn odd_layouts() {
    for path in PATHS {
        let arena = small(path);
        for align in (0..=22).map(|shift| 1_usize << shift) {
            for size in [0, 1, 7, 8, 9, 4095, 100_000] {
                let place = arena.try_alloc_layout(Layout::from_size_align(size, align).unwrap()).unwrap();
                assert_eq!(place.addr().get() % align, 0, "{path:?} {size} {align}");
                // SAFETY: just handed out.
                unsafe { place.write_bytes(1, size) };
            }
        }
    }
}

#[test]
fn exhaustion_and_limits_are_errors_and_a_reset_begins_again() {
    for path in PATHS {
        let mut arena = Arena::builder().reserve(64 << 20).limit(1 << 20).path(path).build().unwrap();
        for round in 0..3 {
            let mut bytes = 0;
            while let Ok(place) = arena.try_alloc([round as u8; 64]) {
                assert_eq!(place[63], round as u8);
                bytes += 64;
            }
            assert!(bytes > (1 << 20) / 2 && bytes <= 1 << 20, "{path:?}: {bytes}");
            assert!(arena.try_alloc_layout(Layout::from_size_align(2 << 20, 8).unwrap()).is_err());
            assert!(
                arena.try_alloc_layout(Layout::from_size_align(isize::MAX as usize - 7, 8).unwrap()).is_err()
            );
            assert!(arena.try_alloc_layout(Layout::from_size_align(8, 1 << 62).unwrap()).is_err());
            assert!(arena.try_alloc_slice_uninit::<u64>(usize::MAX).is_err());
            let stats = arena.stats();
            assert!(stats.used_bytes <= stats.limit_bytes && stats.limit_bytes == 1 << 20);
            arena.reset();
        }
    }
    assert!(Arena::builder().reserve(1 << 60).build().unwrap_err().to_string().contains("ask for fewer"));
}

#[test]
fn what_was_before_a_checkpoint_stays() {
    for path in PATHS {
        let mut arena = small(path);
        let kept: *const u64 = arena.alloc(42_u64);
        let checkpoint = arena.checkpoint();
        let used = arena.stats().used_bytes;
        for _ in 0..10 {
            for number in 0..10_000_u64 {
                arena.alloc(number);
            }
            arena.reset_to(checkpoint);
            assert_eq!(arena.stats().used_bytes, used, "{path:?}");
        }
        // SAFETY: handed out before the checkpoint; nothing has taken it back.
        assert_eq!(unsafe { *kept }, 42);
    }
}

#[test]
fn zeroing_is_as_asked_for() {
    for path in PATHS {
        for zeroing in [Zeroing::AtRefill, Zeroing::AtAllocation] {
            let mut arena = Arena::builder().reserve(64 << 20).path(path).zeroing(zeroing).build().unwrap();
            for _ in 0..3 {
                for size in [8, 24, 1000, 70_000] {
                    let place = arena.try_alloc_layout(Layout::from_size_align(size, 64).unwrap()).unwrap();
                    // SAFETY: just handed out.
                    let bytes = unsafe { std::slice::from_raw_parts_mut(place.as_ptr(), size) };
                    assert!(bytes.iter().all(|byte| *byte == 0), "{path:?} {zeroing:?} {size}");
                    bytes.fill(0xff);
                }
                arena.reset();
            }
            arena.reset_and_release().unwrap();
            // What was soiled above, and given back to the kernel.
            let place = arena.try_alloc_layout(Layout::from_size_align(70_000, 8).unwrap()).unwrap();
            // SAFETY: just handed out, and zeroed by the kernel or by the arena.
            let bytes = unsafe { std::slice::from_raw_parts(place.as_ptr(), 70_000) };
            assert!(bytes.iter().all(|byte| *byte == 0), "{path:?} {zeroing:?} after a release");
        }
    }
}

/// Core buffers of 4 MB: those that serve thread buffers, on whatever machine this is.
#[test]
fn buffers_that_are_zeroed_around_the_caches_are_zero() {
    const BYTES: usize = 8 << 20;
    for path in [Path::Thread, Path::Core, Path::CoreExchange] {
        let builder = Arena::builder().reserve(1 << 30).path(path).zeroing(Zeroing::AtRefill);
        let mut arena = builder.core_buffers(Size::Bytes(4 << 20)).build().unwrap();
        for round in 0..3 {
            for _ in 0..BYTES / 1000 {
                let place = arena.try_alloc_layout(Layout::from_size_align(1000, 8).unwrap()).unwrap();
                // SAFETY: just handed out.
                let bytes = unsafe { std::slice::from_raw_parts_mut(place.as_ptr(), 1000) };
                assert!(bytes.iter().all(|byte| *byte == 0), "{path:?} {round}");
                bytes.fill(0xff);
            }
            arena.reset();
        }
    }
}

#[test]
fn a_thread_that_uses_many_arenas_keeps_their_buffers_apart() {
    let arenas: Vec<Arena> = (0..20).map(|_| small(Path::Thread)).collect();
    let mut places: Vec<(usize, usize)> = Vec::new();
    for round in 0..200_usize {
        for (index, arena) in arenas.iter().enumerate() {
            let place = arena.alloc([index; 4]);
            places.push((place.as_ptr() as usize, index));
            assert_eq!(place[3], index, "{round}");
        }
    }
    places.sort_unstable();
    assert!(places.windows(2).all(|pair| pair[0].0 + 32 <= pair[1].0));
    // Sixteen are kept; with twenty in turn each change refills, which is wasteful and right.
    drop(arenas);
    let again = small(Path::Thread);
    assert_eq!(*again.alloc(1_u8), 1);
}

#[test]
fn threads_come_and_go_and_destructors_allocate() {
    struct Last<'a>(&'a Arena);
    impl Drop for Last<'_> {
        fn drop(&mut self) {
            assert_eq!(*self.0.alloc(3_u16), 3);
        }
    }
    static ARENA: std::sync::OnceLock<Arena> = std::sync::OnceLock::new();
    let arena: &'static Arena = ARENA.get_or_init(|| small(Path::Thread));
    thread_local!(static LAST: std::cell::RefCell<Option<Last<'static>>> = const { std::cell::RefCell::new(None) });
    for _ in 0..200 {
        std::thread::spawn(move || {
            LAST.set(Some(Last(arena)));
            arena.alloc([1_u8; 100]);
        })
        .join()
        .unwrap();
    }
    assert!(arena.stats().used_bytes >= 200 * 100);
}

#[test]
fn a_forked_child_has_an_arena_of_its_own() {
    for path in PATHS {
        let arena = small(path);
        let before = arena.alloc(1_u64);
        // SAFETY: the child only allocates, compares and leaves.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let mut right = *before == 1;
            *before = 2;
            for number in 0..10_000_u64 {
                right &= *arena.alloc(number) == number;
            }
            // SAFETY: no destructors, no exit handlers.
            unsafe { libc::_exit(i32::from(!right)) };
        }
        let mut status = 0;
        // SAFETY: our child, a valid place.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{path:?}");
        assert_eq!((*before, *arena.alloc(5_u8)), (1, 5));
    }
}

#[test]
fn it_tells_what_is_really_used() {
    let arena = Arena::builder()
        .reserve(1 << 30)
        .pages(Policy::Explicit(arena::PageSize::OneGigabyte))
        .processor_buffers(Size::Auto)
        .path(Path::CoreExchange)
        .build()
        .unwrap();
    let stats = arena.stats();
    assert!(stats.core_buffers.contains("compare and swap (asked for)"), "{stats:?}");
    if let Some(fallback) = &stats.fallback {
        assert!(fallback.contains("1 GB"), "{fallback}");
    }
    arena.alloc(1_u8);
    let stats = arena.stats();
    assert_eq!((stats.core.unwrap().refills, stats.processor.unwrap().refills), (1, 1));
}
