//! Blocks at multiples of more than a grain: how much memory they take, and that the last one of a buffer is known as such.

use allocator_api2::alloc::Allocator;
use arena::{Arena, Path, Size, Zeroing};
use std::alloc::Layout;
use std::ptr::NonNull;

/// Runs on one CPU: what one buffer gives.
fn pinned(work: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: plain values, and the thread ends here; where the kernel refuses, the test may be moved, and only then fail.
            unsafe {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                libc::CPU_SET(libc::sched_getcpu() as usize, &mut set);
                libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
            }
            work();
        });
    });
}

/// Paths on which blocks are given back and gaps are as small as they can be: with compare and swap core buffers know of no alignment.
fn exact(paths: &[Path]) -> Vec<Path> {
    let core = Arena::builder().path(Path::Core).build().unwrap().stats().core_buffers;
    let has_sequences = core == "restartable sequences";
    if !has_sequences {
        skips::skip!("core buffers: {core}");
    }
    paths.iter().copied().filter(|path| *path != Path::Core || has_sequences).collect()
}

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

fn allocate(arena: &Arena, layout: Layout) -> NonNull<u8> {
    arena.allocate(layout).unwrap().cast()
}

#[test]
fn the_last_block_is_given_back_whatever_its_alignment() {
    pinned(|| {
        for path in exact(&[Path::Core, Path::Thread]) {
            for align in [8, 16, 32, 64, 128] {
                for before in 1..10 {
                    let arena = Arena::builder().path(path).build().unwrap();
                    // Any top to begin at.
                    (0..before).for_each(|_| _ = allocate(&arena, layout(8, 8)));
                    let layout = layout(48, align);
                    let first = allocate(&arena, layout);
                    // SAFETY: the arena's, of this layout.
                    unsafe { (&arena).deallocate(first, layout) };
                    assert_eq!(allocate(&arena, layout), first, "{path:?} {align} {before}");
                }
            }
        }
    });
}

#[test]
fn the_last_block_grows_where_it_is_whatever_its_alignment() {
    pinned(|| {
        for path in exact(&[Path::Core, Path::Thread]) {
            for before in 1..6 {
                let arena = Arena::builder().path(path).build().unwrap();
                (0..before).for_each(|_| _ = allocate(&arena, layout(8, 8)));
                let block = allocate(&arena, layout(40, 16));
                // SAFETY: as above.
                let grown = unsafe { (&arena).grow(block, layout(40, 16), layout(400, 16)) };
                assert_eq!(grown.unwrap().cast(), block, "{path:?} {before}");
            }
        }
    });
}

/// Neither a gap where there is none, nor bytes behind it.
#[test]
fn blocks_of_16_bytes_at_multiples_of_16_take_16_each() {
    pinned(|| {
        for path in exact(&[Path::Core, Path::Shared, Path::Thread]) {
            let build = |builder: arena::Builder| builder.reserve(16 << 20).path(path).build().unwrap();
            let arena = build(Arena::builder().core_buffers(Size::Bytes(64 << 10)));
            for _ in 0..64 << 10 {
                allocate(&arena, layout(16, 16));
            }
            // For tools that watch accesses there are 16 bytes behind each.
            let each = if cfg!(any(feature = "asan", feature = "memcheck")) { 32 } else { 16 };
            let most = (each << 16) + (256 << 10);
            assert!(arena.stats().used_bytes <= most, "{path:?} {:?}", arena.stats());
        }
    });
}

#[test]
fn every_alignment_is_kept_and_nothing_is_handed_out_twice() {
    for path in [Path::Core, Path::CoreExchange, Path::Shared, Path::Thread] {
        for zeroing in [Zeroing::None, Zeroing::AtRefill, Zeroing::AtAllocation] {
            for buffers in [256, 4096, 64 << 10] {
                let builder = Arena::builder().reserve(8 << 20).path(path).zeroing(zeroing);
                let arena = builder.core_buffers(Size::Bytes(buffers)).build().unwrap();
                let mut blocks = Vec::new();
                let mut number = 0_usize;
                loop {
                    number += 1;
                    let align = 1 << (number * 7 % 14);
                    let size = 1 + number * 31 % 300;
                    let Ok(block) = arena.try_alloc_layout(layout(size, align)) else { break };
                    assert!(block.addr().get().is_multiple_of(align), "{path:?} {align}");
                    blocks.push((block.addr().get(), size));
                }
                assert!(number > 2000, "{path:?} {buffers} {number}");
                blocks.sort_unstable();
                assert!(blocks.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{path:?}");
            }
        }
    }
}
