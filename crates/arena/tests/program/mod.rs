//! Programs of operations on arenas, and their execution against a model of the ranges that are alive.
//!
//! Shared by the property tests and the fuzz target: both draw [`Numbers`], everything else is here.
//!
//! What holds after each operation: a new range is aligned and over no other that is alive, in no arena; where zeroing was asked for
//! it is zero; what was written into a range stays until it is taken back; the arena's count is at least the ranges' sum and at most
//! its limit; a request is refused only if the rest of the reserve could not serve it; a checkpoint that is no longer one changes
//! nothing.

use allocator_api2::alloc::Allocator;
use arena::{Arena, Checkpoint, Path, Size, Zeroing};
use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::LazyLock;
use topology::Machine;

/// What a program is made of: the arenas' shape, then the operations.
pub type Numbers = ([u8; 6], Vec<(u8, u8, u16, u16)>);

/// Looked at once: it reads many files.
static MACHINE: LazyLock<Machine> = LazyLock::new(Machine::detect);

/// Arenas, more than a thread keeps buffers of, and what happens to them in one thread.
#[derive(Clone, Debug)]
pub struct Program {
    arenas: usize,
    limit: usize,
    /// Of the first arena; the others have the next ones.
    path: usize,
    zeroing: usize,
    buffers: Size,
    processors: bool,
    operations: Vec<(usize, Operation)>,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Layout { size: usize, align: usize },
    Copy { length: usize },
    Values { length: usize },
    Checkpoint,
    ResetTo { which: usize },
    Reset,
    Release,
    Exhaust { size: usize },
    Resize { which: usize, size: usize },
    Free { which: usize },
}

impl Program {
    /// Every row of numbers is a program.
    pub fn new(numbers: &Numbers) -> Program {
        let [arenas, limit, path, zeroing, buffers, processors] = numbers.0.map(usize::from);
        Program {
            arenas: if arenas < 240 { 1 + arenas % 3 } else { 18 },
            limit: (1 + limit) * 1000,
            path,
            zeroing,
            buffers: if buffers < 128 { Size::Auto } else { Size::Bytes((buffers - 128) * 100) },
            processors: processors % 4 == 0,
            operations: numbers.1.iter().map(|&numbers| Operation::new(numbers)).collect(),
        }
    }

    /// Runs the program. Panics where an arena breaks a rule.
    pub fn run(&self) {
        let mut owners: Vec<Owner> = (0..self.arenas).map(|index| self.owner(index)).collect();
        let mut all = Alive::default();
        for &(index, operation) in &self.operations {
            let index = index % self.arenas;
            owners[index].step(operation, &mut all, index as u8 + 1);
            owners[index].check();
        }
        owners.iter_mut().for_each(|owner| owner.forget(0, &mut all));
        assert!(all.0.is_empty());
    }

    fn owner(&self, index: usize) -> Owner {
        let path = [Path::Thread, Path::Core, Path::CoreExchange, Path::Shared][(self.path + index) % 4];
        let zeroing =
            [Zeroing::None, Zeroing::AtRefill, Zeroing::AtAllocation][(self.zeroing + index / 2) % 3];
        let builder = Arena::builder().reserve(self.limit).limit(self.limit).path(path).zeroing(zeroing);
        let builder = builder.thread_buffers(self.buffers).core_buffers(self.buffers);
        let builder = builder.processor_buffers(if self.processors { Size::Auto } else { Size::Off });
        let arena = builder.machine(MACHINE.clone()).build().unwrap();
        Owner { arena, is_zero: zeroing != Zeroing::None, ranges: vec![], valid: vec![], issued: vec![] }
    }
}

impl Operation {
    fn new((kind, arena, first, second): (u8, u8, u16, u16)) -> (usize, Operation) {
        let (first, second) = (usize::from(first), usize::from(second));
        let size = match first % 8 {
            0 => first / 8,
            1 => first * 4,
            _ => first % 256,
        };
        let align = 1 << if second.is_multiple_of(4) { second / 4 % 17 } else { second % 4 };
        let operation = match kind % 72 {
            0..40 => Operation::Layout { size, align },
            40..46 => Operation::Copy { length: size },
            46..52 => Operation::Values { length: size },
            52..56 => Operation::Checkpoint,
            56..60 => Operation::ResetTo { which: first },
            60 => Operation::Reset,
            61 => Operation::Release,
            63..67 => Operation::Free { which: first },
            67..71 => Operation::Resize { which: first, size },
            62 => Operation::Exhaust { size: 1 + size },
            // More than there is anywhere.
            _ => Operation::Layout { size: (first + 1) << 46, align },
        };
        (arena.into(), operation)
    }
}

/// Every range that is alive, of all arenas: its length by its start.
#[derive(Default)]
struct Alive(BTreeMap<usize, usize>);

impl Alive {
    fn insert(&mut self, start: usize, size: usize) {
        let before = self.0.range(..start + size).next_back();
        assert!(before.is_none_or(|(from, size)| from + size <= start), "{start:x} is handed out twice");
        self.0.insert(start, size);
    }
}

/// A range that is alive, and what was written into it.
struct Range {
    place: NonNull<u8>,
    size: usize,
    tag: u8,
}

impl Range {
    fn check(&self) {
        // SAFETY: alive, written by us, and nobody else has a reference.
        let bytes = unsafe { std::slice::from_raw_parts(self.place.as_ptr(), self.size) };
        assert!(bytes.iter().all(|byte| *byte == self.tag), "{:?} was overwritten", self.place);
    }
}

/// An arena with its ranges, the oldest first.
struct Owner {
    arena: Arena,
    is_zero: bool,
    ranges: Vec<Range>,
    /// The checkpoints that can be gone back to, and how many ranges there were.
    valid: Vec<(Checkpoint, usize)>,
    /// All that ever were.
    issued: Vec<Checkpoint>,
}

impl Owner {
    fn step(&mut self, operation: Operation, all: &mut Alive, tag: u8) {
        match operation {
            Operation::Layout { size, align } => {
                let Ok(layout) = Layout::from_size_align(size, align) else { return };
                self.layout(layout, all, tag);
            }
            Operation::Copy { length } => {
                let from = vec![tag; length];
                if let Ok(slice) = self.arena.try_alloc_slice_copy(&from) {
                    let (place, size) = (NonNull::from(&mut *slice).cast(), slice.len());
                    self.own(place, Layout::for_value(&*from), size, all, tag);
                }
            }
            Operation::Values { length } => {
                let value = u32::from_ne_bytes([tag; 4]);
                if let Ok(slice) = self.arena.try_alloc_slice_with(length, |_| value) {
                    let (place, layout) = (NonNull::from(&mut *slice).cast(), Layout::for_value(slice));
                    self.own(place, layout, layout.size(), all, tag);
                }
            }
            Operation::Checkpoint => {
                let checkpoint = self.arena.checkpoint();
                self.issued.push(checkpoint);
                if self.valid.last().is_none_or(|(last, _)| *last != checkpoint) {
                    self.valid.push((checkpoint, self.ranges.len()));
                }
            }
            Operation::ResetTo { which } => self.reset_to(which, all),
            Operation::Resize { which, size } => self.resize(which, size, all),
            Operation::Free { which } => self.free(which, all),
            Operation::Reset | Operation::Release => {
                self.forget(0, all);
                self.valid.clear();
                match operation {
                    Operation::Reset => self.arena.reset(),
                    _ => self.arena.reset_and_release().unwrap(),
                }
                assert_eq!(self.arena.stats().used_bytes, 0);
            }
            Operation::Exhaust { size } => {
                let layout = Layout::from_size_align(size.max(64), 8).unwrap();
                while self.layout(layout, all, tag) {}
            }
        }
    }

    /// Whether it was served.
    fn layout(&mut self, layout: Layout, all: &mut Alive, tag: u8) -> bool {
        let before = self.arena.stats();
        let Ok(place) = self.arena.try_alloc_layout(layout) else {
            let left = before.limit_bytes - before.used_bytes;
            let room = layout.size().next_multiple_of(8) + layout.align();
            assert!(left < room, "{layout:?} is refused with {left} bytes left");
            return false;
        };
        if self.is_zero {
            // SAFETY: just handed out; either written before or zero from the kernel.
            let bytes = unsafe { std::slice::from_raw_parts(place.as_ptr(), layout.size()) };
            assert!(bytes.iter().all(|byte| *byte == 0), "{layout:?} is not zero");
        }
        // SAFETY: just handed out.
        unsafe { place.write_bytes(tag, layout.size()) };
        self.own(place, layout, layout.size(), all, tag);
        true
    }

    fn own(&mut self, place: NonNull<u8>, layout: Layout, size: usize, all: &mut Alive, tag: u8) {
        assert_eq!(place.addr().get() % layout.align(), 0, "{layout:?}");
        if size > 0 {
            all.insert(place.addr().get(), size);
            self.ranges.push(Range { place, size, tag });
        }
    }

    /// One of the youngest ranges, which may be the last of its buffer.
    fn young(&self, which: usize) -> Option<usize> {
        let count = self.ranges.len();
        (count > 0).then(|| count - 1 - which % count.min(3))
    }

    /// What was resized belongs to this moment: a return to an earlier one takes it back.
    fn resize(&mut self, which: usize, size: usize, all: &mut Alive) {
        let Some(at) = self.young(which).filter(|_| size > 0) else { return };
        let Range { place, size: before, tag } = self.remove(at, all);
        let [old, new] = [before, size].map(|size| Layout::from_size_align(size, 1).unwrap());
        let arena = &self.arena;
        // SAFETY: a range of this arena with this size, which is used no more under its old one.
        let resized = unsafe {
            if size > before { arena.grow(place, old, new) } else { arena.shrink(place, old, new) }
        };
        let (place, size) = resized.map_or((place, before), |moved| (moved.cast(), size));
        Range { place, size: size.min(before), tag }.check();
        // SAFETY: the range's.
        unsafe { place.write_bytes(tag, size) };
        self.own(place, new, size, all, tag);
    }

    fn free(&mut self, which: usize, all: &mut Alive) {
        let Some(at) = self.young(which) else { return };
        let range = self.remove(at, all);
        // SAFETY: a range of this arena, which is used no more.
        unsafe { (&self.arena).deallocate(range.place, Layout::from_size_align(range.size, 1).unwrap()) };
    }

    fn remove(&mut self, at: usize, all: &mut Alive) -> Range {
        let range = self.ranges.remove(at);
        range.check();
        all.0.remove(&range.place.addr().get());
        // Those that were there at a checkpoint are one fewer.
        self.valid.iter_mut().filter(|(_, count)| *count > at).for_each(|(_, count)| *count -= 1);
        range
    }

    fn reset_to(&mut self, which: usize, all: &mut Alive) {
        let Some(&checkpoint) = self.issued.get(which % self.issued.len().max(1)) else { return };
        let before = self.arena.stats().used_bytes;
        let found = self.valid.iter().position(|(valid, _)| *valid == checkpoint);
        if let Some(at) = found {
            let count = self.valid[at].1;
            self.forget(count, all);
            self.valid.truncate(at + 1);
        }
        self.arena.reset_to(checkpoint);
        let after = self.arena.stats().used_bytes;
        assert!(if found.is_some() { after <= before } else { after == before });
    }

    /// All but the oldest `count` ranges are no more.
    fn forget(&mut self, count: usize, all: &mut Alive) {
        for range in self.ranges.drain(count..) {
            range.check();
            all.0.remove(&range.place.addr().get());
        }
    }

    fn check(&self) {
        let stats = self.arena.stats();
        let alive: usize = self.ranges.iter().map(|range| range.size).sum();
        assert!(alive <= stats.used_bytes && stats.used_bytes <= stats.limit_bytes);
        for level in stats.core.iter().chain(&stats.processor) {
            assert!(level.wasted_bytes + level.remaining_bytes <= level.reserved_bytes, "{level:?}");
        }
    }
}
