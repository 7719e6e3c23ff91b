//! Random returns to checkpoints and ends of scopes, while threads on all CPUs allocate between them: no byte has two owners, none that is
//! owned changes, and what is promised to be zero is.

use allocator_api2::alloc::Allocator;
use arena::{Arena, Checkpoint, Path, Scope, Size, Zeroing};
use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ptr::NonNull;

/// Numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// A block, and what was written into it.
#[derive(Clone, Copy)]
struct Block {
    start: usize,
    size: usize,
    tag: u8,
}

impl Block {
    fn bytes(&mut self) -> &mut [u8] {
        let start = std::ptr::with_exposed_provenance_mut(self.start);
        // SAFETY: alive, and the test's alone.
        unsafe { std::slice::from_raw_parts_mut(start, self.size) }
    }
}

/// What is alive, the oldest first.
struct Model {
    numbers: Numbers,
    is_zero: bool,
    alive: Vec<Block>,
    by_start: BTreeMap<usize, usize>,
}

/// On a CPU that this process may use.
fn on_cpu(number: usize, work: impl FnOnce() -> usize + Send) -> usize {
    std::thread::scope(|scope| {
        let work = move || {
            // SAFETY: plain values; a CPU that is refused leaves the thread where it is, and the thread ends here.
            unsafe {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                libc::CPU_SET(number, &mut set);
                libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
            }
            work()
        };
        scope.spawn(work).join().unwrap()
    })
}

impl Model {
    fn allocate(&mut self, arena: &Arena) {
        let size = [1 + self.numbers.below(200), 3000, 70_000]
            [usize::from(self.numbers.below(8) == 0) + usize::from(self.numbers.below(40) == 0)];
        let layout = Layout::from_size_align(size, 8 << (4 * self.numbers.below(2))).unwrap();
        let of = |place: Result<NonNull<u8>, _>| place.map_or(0, |place| place.as_ptr().expose_provenance());
        let start = match self.numbers.below(8) {
            0..3 => on_cpu(self.numbers.below(2), || of(arena.try_alloc_layout(layout))),
            3 => of(arena.local().try_alloc_layout(layout)),
            4 => on_cpu(self.numbers.below(2), || of(arena.local().try_alloc_layout(layout))),
            _ => of(arena.try_alloc_layout(layout)),
        };
        if start == 0 {
            return;
        }
        let before = self.by_start.range(..start + size).next_back();
        assert!(before.is_none_or(|(from, size)| from + size <= start), "{start:x} has two owners");
        let mut block = Block { start, size, tag: self.numbers.below(255) as u8 + 1 };
        assert!(!self.is_zero || block.bytes().iter().all(|byte| *byte == 0), "{start:x} is not zero");
        let tag = block.tag;
        block.bytes().fill(tag);
        self.by_start.insert(start, size);
        self.alive.push(block);
    }

    fn free_youngest(&mut self, arena: &Arena, oldest: usize) {
        if self.alive.len() > oldest {
            let Block { start, size, .. } = self.alive[self.alive.len() - 1];
            self.forget(self.alive.len() - 1);
            let place = NonNull::new(std::ptr::with_exposed_provenance_mut(start)).unwrap();
            // SAFETY: the arena's, and not used any more.
            unsafe { (&arena).deallocate(place, Layout::from_size_align(size, 8).unwrap()) };
        }
    }

    /// All but the oldest are no more.
    fn forget(&mut self, oldest: usize) {
        for mut block in self.alive.drain(oldest..) {
            let tag = block.tag;
            assert!(block.bytes().iter().all(|byte| *byte == tag), "{:x} was overwritten", block.start);
            self.by_start.remove(&block.start);
        }
    }

    fn in_scope(&mut self, scope: &mut Scope<'_>, depth: usize) {
        let before = self.alive.len();
        for _ in 0..self.numbers.below(6) {
            match self.numbers.below(4) {
                0 if depth < 4 => scope.scope(|inner| self.in_scope(inner, depth + 1)),
                1 => self.free_youngest(scope.arena(), before),
                _ => self.allocate(scope.arena()),
            }
        }
        self.forget(before);
    }

    fn run(&mut self, arena: &mut Arena, steps: usize) {
        let mut checkpoints: Vec<(Checkpoint, usize)> = Vec::new();
        for _ in 0..steps {
            match self.numbers.below(16) {
                0..3 => {
                    let checkpoint = arena.checkpoint();
                    if checkpoints.last().is_none_or(|(last, _)| *last != checkpoint) {
                        checkpoints.push((checkpoint, self.alive.len()));
                    }
                }
                3..6 if !checkpoints.is_empty() => {
                    let at = checkpoints.len() - 1 - self.numbers.below(checkpoints.len().min(3));
                    checkpoints.truncate(at + 1);
                    let (checkpoint, count) = checkpoints[at];
                    self.forget(count.min(self.alive.len()));
                    arena.reset_to(checkpoint);
                }
                6..9 => arena.scope(|scope| self.in_scope(scope, 0)),
                9 => {
                    self.free_youngest(arena, 0);
                    let left = self.alive.len();
                    checkpoints.iter_mut().for_each(|(_, count)| *count = left.min(*count));
                }
                10 if self.numbers.below(30) == 0 => {
                    self.forget(0);
                    checkpoints.clear();
                    arena.reset();
                }
                _ => self.allocate(arena),
            }
        }
        self.forget(0);
    }
}

#[test]
fn no_byte_has_two_owners_whatever_is_returned_to() {
    let mut seed = 0;
    for path in [Path::Thread, Path::Core, Path::CoreExchange, Path::Shared] {
        for zeroing in [Zeroing::None, Zeroing::AtRefill, Zeroing::AtAllocation] {
            for (processors, limit) in
                [(Size::Off, None), (Size::Off, Some(2 << 20)), (Size::Auto, Some(8 << 20))]
            {
                seed += 1;
                let builder = Arena::builder().path(path).zeroing(zeroing).processor_buffers(processors);
                let builder = if let Some(limit) = limit { builder.limit(limit) } else { builder };
                let mut arena = builder.build().unwrap();
                let is_zero = zeroing != Zeroing::None;
                let (alive, by_start) = (Vec::new(), BTreeMap::new());
                Model { numbers: Numbers(seed), is_zero, alive, by_start }.run(&mut arena, 600);
            }
        }
    }
}
