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

/// As of the arena itself.
#[test]
fn values_slices_and_texts_of_a_hold_and_of_a_scope() {
    for path in PATHS {
        let mut arena = small(path);
        let local = arena.local();
        let slice = local.alloc_slice_with(100, |index| index as u32);
        let (text, copy) = (local.alloc_str("größer"), local.alloc_slice_copy(&[1.5_f64, 2.5]));
        let made = local.try_alloc_with(|| [7_u64; 1000]).unwrap();
        drop(local);
        assert_eq!((slice[99], &*text, &*copy, made[999]), (99, "größer", &[1.5, 2.5][..], 7), "{path:?}");
        let sum = arena.scope(|scope| {
            let slice = scope.alloc_slice_with(100, |index| index as u32);
            let made = scope.try_alloc_with(|| [7_u64; 1000]).unwrap();
            assert_eq!(scope.alloc_str("größer"), "größer", "{path:?}");
            u64::from(slice[99]) + made[999]
        });
        assert_eq!(sum, 106, "{path:?}");
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
    assert!(Arena::builder().reserve(1 << 60).build().unwrap_err().to_string().contains("request fewer"));
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
    assert!(stats.core_buffers.contains("compare and swap (requested)"), "{stats:?}");
    if let Some(fallback) = &stats.fallback {
        assert!(fallback.contains("1 GB"), "{fallback}");
    }
    arena.alloc(1_u8);
    let stats = arena.stats();
    assert_eq!((stats.core.unwrap().refills, stats.processor.unwrap().refills), (1, 1));
}

#[test]
fn the_last_block_grows_shrinks_and_is_given_back_where_it_is() {
    use allocator_api2::alloc::Allocator;
    // A migration between two calls would find another CPU's word.
    // SAFETY: plain values; this thread ends with the test.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu() as usize, &mut set);
        assert_eq!(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set), 0);
    }
    for path in [Path::Thread, Path::Core, Path::Shared] {
        let arena = small(path);
        let local = arena.local();
        let layout = |bytes| Layout::from_size_align(bytes, 8).unwrap();
        let exercise = |allocator: &dyn Allocator| {
            // A buffer is there.
            allocator.allocate(layout(8)).unwrap();
            let first = allocator.allocate(layout(64)).unwrap().cast::<u8>();
            // SAFETY: blocks of this allocator with their own layouts, and not used after they are given back.
            unsafe {
                first.write_bytes(7, 64);
                let grown = allocator.grow(first, layout(64), layout(100)).unwrap().cast::<u8>();
                let in_place = grown == first;
                let shrunk = allocator.shrink(grown, layout(100), layout(40)).unwrap().cast::<u8>();
                assert_eq!(shrunk, grown);
                assert!((0..40).all(|at| *shrunk.add(at).as_ptr() == 7), "{path:?}");
                allocator.deallocate(shrunk, layout(40));
                let again = allocator.allocate(layout(16)).unwrap().cast::<u8>();
                assert_eq!(again, shrunk, "{path:?}: given back, and handed out again");
                let behind = allocator.allocate(layout(16)).unwrap().cast::<u8>();
                assert_eq!(behind.addr().get(), again.addr().get() + 16);
                // Not the last one: it moves, with what it holds.
                again.write_bytes(3, 16);
                let moved = allocator.grow_zeroed(again, layout(16), layout(32)).unwrap().cast::<u8>();
                assert_ne!(moved, again);
                let bytes = std::slice::from_raw_parts(moved.as_ptr(), 32);
                assert!(
                    bytes[..16].iter().all(|byte| *byte == 3) && bytes[16..].iter().all(|byte| *byte == 0)
                );
                in_place
            }
        };
        // Buffers that are changed by compare and swap take nothing back.
        if path != Path::Core || arena.stats().core_buffers == "restartable sequences" {
            assert_eq!(exercise(&&arena), path != Path::Shared, "{path:?}");
        }
        assert!(exercise(&&local), "a hold of one's own is nobody else's");
    }
}

#[test]
fn zeroed_blocks_stay_zero_whatever_was_given_back() {
    for path in PATHS {
        for zeroing in [Zeroing::AtRefill, Zeroing::AtAllocation] {
            let arena = Arena::builder().reserve(64 << 20).path(path).zeroing(zeroing).build().unwrap();
            let local = arena.local();
            for round in 0..200 {
                let mut list = ArenaVec::new_in(&arena);
                list.extend(std::iter::repeat_n(0xff_u8, 100 + round));
                drop(list);
                let mut list = ArenaVec::new_in(&local);
                list.extend(std::iter::repeat_n(0xff_u8, 100 + round));
                drop(list);
                let layout = Layout::from_size_align(300, 8).unwrap();
                for place in
                    [arena.try_alloc_layout(layout).unwrap(), local.try_alloc_layout(layout).unwrap()]
                {
                    // SAFETY: just handed out, and zero by the arena's promise.
                    let bytes = unsafe { std::slice::from_raw_parts(place.as_ptr(), 300) };
                    assert!(bytes.iter().all(|byte| *byte == 0), "{path:?} {zeroing:?} {round}");
                }
            }
        }
    }
}

#[test]
fn texts_lists_and_boxes_are_made_in_it() {
    let arena = small(Path::Auto);
    let text = arena.alloc_fmt(format_args!("{}-{:04}", "id", 42));
    assert_eq!(text, "id-0042");
    let odd = arena.alloc_slice_from_iter((0..1000_u32).filter(|number| number % 2 == 1));
    assert_eq!((odd.len(), odd[499]), (500, 999));
    assert_eq!(arena.try_alloc_with(|| 7).unwrap(), &7);
    let value = std::sync::Arc::new(());
    drop(arena.alloc_box(value.clone()));
    assert_eq!(std::sync::Arc::strong_count(&value), 1);
    let mut list = arena::String::new_in(&arena);
    list.push_str("a list");
    let copy = list.clone();
    list.push_str(" that grows");
    assert_eq!((&*copy, &*list), ("a list", "a list that grows"));
    assert_eq!(arena.used_bytes(), arena.stats().used_bytes);
    let full = Arena::builder().limit(4096).build().unwrap();
    assert!(full.try_alloc_slice_from_iter(0..10_000_u64).is_err());
    assert!(full.try_alloc_str(&"x".repeat(10_000)).is_err());
    assert!(full.try_alloc_fmt(format_args!("{:>10000}", 1)).is_err());
    assert!(full.try_alloc_box([0_u8; 10_000]).is_err());
    let mut half = arena::String::new_in(&full);
    half.push_str(&"x".repeat(3000));
    let copied = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| half.clone().len()));
    assert!(copied.is_err(), "a clone panics as everything else does, and does not abort");
    assert!(full.try_alloc_with(|| [0_u8; 10_000]).is_err());
}

#[test]
fn a_scope_takes_back_what_it_handed_out_and_nothing_else() {
    for path in PATHS {
        let mut arena = small(path);
        let before = arena.stats().used_bytes;
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            arena.scope(|outer| {
                let kept = outer.alloc([1_u64; 100]);
                let text = outer.alloc_str("outer");
                for _ in 0..3 {
                    let used = outer.arena().stats().used_bytes;
                    outer.scope(|inner| {
                        for _ in 0..1000 {
                            inner.alloc([2_u64; 100]);
                        }
                        inner.alloc_slice_copy(&[1, 2, 3]);
                        assert!(inner.arena().stats().used_bytes > used);
                    });
                    assert_eq!((*kept, &*text), ([1; 100], "outer"), "{path:?}");
                }
                panic!("in the middle");
            })
        }));
        let message = failed.unwrap_err();
        assert_eq!(message.downcast_ref::<&str>(), Some(&"in the middle"), "{path:?}");
        assert_eq!(arena.stats().used_bytes, before, "{path:?}");
    }
}
