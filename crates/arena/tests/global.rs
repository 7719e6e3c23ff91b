//! An arena below the process's own allocator: whatever the arena does must not allocate in its middle.
#![allow(clippy::disallowed_types, reason = "a table that needs no allocation")]

use arena::{Arena, Path};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

struct OverArena;

static ARENA: OnceLock<Arena> = OnceLock::new();
const MOST: usize = 1 << 16;
static GIVEN: [[AtomicUsize; 2]; MOST] = [const { [const { AtomicUsize::new(0) }; 2] }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: an arena hands out memory of the layout that lives as long as the process, this arena being a static; `System` is one.
unsafe impl GlobalAlloc for OverArena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(arena) = ARENA.get() else {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc(layout) };
        };
        let place = arena.try_alloc_layout(layout).map_or(std::ptr::null_mut(), |place| place.as_ptr());
        let row = &GIVEN[COUNT.fetch_add(1, Ordering::Relaxed)];
        row[0].store(place.addr(), Ordering::Relaxed);
        row[1].store(layout.size(), Ordering::Relaxed);
        place
    }

    /// Nothing: some is the arena's, and the rest is little.
    unsafe fn dealloc(&self, _place: *mut u8, _layout: Layout) {}
}

#[global_allocator]
static GLOBAL: OverArena = OverArena;

#[test]
fn changing_arenas_allocates_nothing_in_its_middle() {
    let others: Vec<Arena> =
        (0..20).map(|_| Arena::builder().reserve(1 << 20).path(Path::Thread).build().unwrap()).collect();
    ARENA.get_or_init(|| Arena::builder().reserve(1 << 28).path(Path::Thread).build().unwrap());
    for round in 0..50_usize {
        for other in &others {
            other.alloc(round);
            assert_eq!(*std::hint::black_box(Box::new(round)), round);
        }
    }
    let count = COUNT.load(Ordering::Relaxed).min(MOST);
    let mut given: Vec<[usize; 2]> =
        GIVEN[..count].iter().map(|row| [0, 1].map(|at| row[at].load(Ordering::Relaxed))).collect();
    given.sort_unstable();
    for pair in given.windows(2) {
        assert!(pair[0][0] + pair[0][1] <= pair[1][0], "{:x?} reaches into {:x?}", pair[0], pair[1]);
    }
}
