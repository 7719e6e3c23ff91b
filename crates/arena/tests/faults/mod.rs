//! Programs that use memory that is not theirs, and one that does not.

use allocator_api2::alloc::Allocator;
use arena::{Arena, Builder, Path, Zeroing};
use std::alloc::Layout;
use std::hint::black_box;
use std::ptr::NonNull;

/// A fault by its name.
pub type Fault = (&'static str, fn(Builder));

/// What both tools report, with any builder.
pub const FAULTS: [Fault; 11] = [
    ("use after a reset", after_reset),
    ("use after a drop", after_drop),
    ("use after a return to a checkpoint", after_return),
    ("use after a scope's end", after_scope),
    ("use of a block that was given back", after_free),
    ("use of a block that was freed before the last one", after_free_of_an_earlier_one),
    ("use of what a block had before it shrank", after_shrinking),
    ("a write past the end", past_the_end),
    ("a read past an odd end", past_an_odd_end),
    ("a write before an aligned block", before_an_aligned_block),
    ("a write past the end of a hold's block", past_a_holds_block),
];

/// What memcheck alone reports.
pub const OF_VALUES: [Fault; 2] =
    [("a decision on what was never written", undefined), ("a block that nobody can find any more", lost)];

/// How arenas are made.
pub const PATHS: [Path; 4] = [Path::Thread, Path::Core, Path::CoreExchange, Path::Shared];

fn block(arena: &Arena, size: usize, align: usize) -> NonNull<u8> {
    arena.try_alloc_layout(layout(size, align)).unwrap()
}

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

fn read(place: NonNull<u8>, offset: isize) {
    // SAFETY: not given: the fault.
    black_box(unsafe { place.offset(offset).read_volatile() });
}

fn write(place: NonNull<u8>, offset: isize) {
    // SAFETY: not given: the fault.
    unsafe { place.offset(offset).write_volatile(1) };
}

fn after_reset(builder: Builder) {
    let mut arena = builder.build().unwrap();
    let place = block(&arena, 64, 8);
    arena.reset();
    read(place, 0);
}

fn after_drop(builder: Builder) {
    // One whose memory is kept for the next.
    let arena = builder.reserve(64 << 10).build().unwrap();
    let place = block(&arena, 64, 8);
    drop(arena);
    write(place, 63);
}

fn after_return(builder: Builder) {
    let mut arena = builder.build().unwrap();
    let kept = block(&arena, 64, 8);
    let checkpoint = arena.checkpoint();
    let place = block(&arena, 64, 8);
    arena.reset_to(checkpoint);
    write(kept, 0);
    eprintln!("so far right");
    write(place, 0);
}

fn after_scope(builder: Builder) {
    let mut arena = builder.build().unwrap();
    let place = arena.scope(|scope| NonNull::from(scope.alloc([7_u8; 24])).cast());
    read(place, 8);
}

fn after_free(builder: Builder) {
    let arena = builder.build().unwrap();
    let place = block(&arena, 64, 8);
    // SAFETY: the arena's, with this layout.
    unsafe { (&arena).deallocate(place, layout(64, 8)) };
    read(place, 0);
}

fn after_free_of_an_earlier_one(builder: Builder) {
    let arena = builder.build().unwrap();
    let (place, last) = (block(&arena, 64, 8), block(&arena, 64, 8));
    // SAFETY: as above.
    unsafe { (&arena).deallocate(place, layout(64, 8)) };
    write(last, 63);
    eprintln!("so far right");
    write(place, 0);
}

fn after_shrinking(builder: Builder) {
    let arena = builder.build().unwrap();
    let place = block(&arena, 100, 1);
    // SAFETY: as above.
    unsafe { (&arena).shrink(place, layout(100, 1), layout(50, 1)) }.unwrap();
    write(place, 49);
    eprintln!("so far right");
    write(place, 50);
}

fn past_the_end(builder: Builder) {
    let arena = builder.build().unwrap();
    let (place, next) = (block(&arena, 64, 8), block(&arena, 64, 8));
    write(place, 63);
    write(next, 0);
    eprintln!("so far right");
    write(place, 64);
}

fn past_an_odd_end(builder: Builder) {
    let arena = builder.build().unwrap();
    let text = NonNull::from(arena.alloc_str("thirteen char")).cast();
    block(&arena, 64, 8);
    read(text, 12);
    eprintln!("so far right");
    read(text, 13);
}

fn before_an_aligned_block(builder: Builder) {
    let arena = builder.build().unwrap();
    block(&arena, 8, 8);
    let place = block(&arena, 100, 256);
    write(place, 0);
    eprintln!("so far right");
    write(place, -1);
}

fn past_a_holds_block(builder: Builder) {
    let arena = builder.build().unwrap();
    let local = arena.local();
    let (place, next) = (NonNull::from(local.alloc([1_u8; 40])).cast(), local.alloc(1_u64));
    *next += 1;
    write(place, 39);
    eprintln!("so far right");
    write(place, 40);
}

fn undefined(builder: Builder) {
    let arena = builder.build().unwrap();
    let place = block(&arena, 64, 8);
    // SAFETY: not given: nothing was written there.
    if unsafe { place.read_volatile() } == 1 {
        eprintln!("one");
    }
}

fn lost(builder: Builder) {
    let arena = Box::leak(Box::new(builder.build().unwrap()));
    // The arena lives to the end, and its address does not help anybody who looks for the block.
    for number in 0..100_u64 {
        black_box(arena.alloc([number; 20]));
    }
}

/// Uses everything that is handed out, to the last byte, and nothing else.
pub fn right() {
    for path in PATHS {
        for zeroing in [Zeroing::None, Zeroing::AtRefill, Zeroing::AtAllocation] {
            let builder = Arena::builder().path(path).zeroing(zeroing);
            let mut arena = builder.build().unwrap();
            for round in 0..3 {
                threads(&arena, zeroing != Zeroing::None);
                scopes(&mut arena);
                match round {
                    0 => arena.reset(),
                    _ => arena.reset_and_release().unwrap(),
                }
            }
        }
    }
    // Memory that the arena gave to the kernel is whoever's.
    arena::trim();
    for _ in 0..2 {
        block(&Arena::new(), 1 << 20, 8);
        drop(vec![1_u8; 100 << 10]);
        drop(std::thread::spawn(|| vec![1_u8; 5 << 20]).join().unwrap());
    }
}

fn threads(arena: &Arena, is_zero: bool) {
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for size in (1..3000).step_by(61) {
                    let place = block(arena, size, 1 << (size % 9));
                    // SAFETY: handed out just now.
                    let bytes = unsafe { std::slice::from_raw_parts_mut(place.as_ptr(), size) };
                    assert!(!is_zero || bytes.iter().all(|byte| *byte == 0));
                    bytes.fill(7);
                }
                arena.alloc_box([1_u64; 9])[8] = 5;
                collections(arena);
                let local = arena.local();
                let mut list = allocator_api2::vec::Vec::new_in(&local);
                list.extend(0..1000_u32);
                list.truncate(9);
                list.shrink_to_fit();
                list.push(7);
                assert_eq!(list.iter().sum::<u32>(), 43);
            });
        }
    });
}

fn collections(arena: &Arena) {
    let mut lists = [(); 2].map(|()| allocator_api2::vec::Vec::new_in(arena));
    for number in 0..2000_u16 {
        for list in &mut lists {
            list.push(number);
        }
    }
    let [mut first, second] = lists;
    drop(second);
    first.truncate(10);
    first.shrink_to_fit();
    first.extend(0..100);
    assert_eq!(first.iter().map(|number| u64::from(*number)).sum::<u64>(), 4995);
    assert_eq!(arena.alloc_fmt(format_args!("{}-{}", "a text", 12345)), "a text-12345");
    assert_eq!(arena.alloc_slice_from_iter((0..77_u8).filter(|byte| byte % 2 == 0)).len(), 39);
}

fn scopes(arena: &mut Arena) {
    arena.scope(|outer| {
        let kept = outer.alloc_str("kept");
        for _ in 0..3 {
            outer.scope(|inner| inner.alloc_slice_copy(&[1_u8; 5000])[4999] = 2);
        }
        assert_eq!(kept, "kept");
    });
}
