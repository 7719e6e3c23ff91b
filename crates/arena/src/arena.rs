//! The arena itself.

mod reset;
mod resize;

pub use reset::Checkpoint;

use crate::blocks;
use crate::error::{AllocError, exhausted};
use crate::front::{First, Front};
use crate::grain::{GRAIN, MOST_ALIGNED, most_skipped};
use crate::levels::Levels;
use crate::prefetch::prefetch;
use crate::primitive::{Count64, Ordering};
use crate::segments::Segments;
use crate::thread::{self, Sizes, Slow};
use crate::watched;
use crate::zero::{self, Zeroing};
use hab::Extent;
use pages::Fallback;
use std::alloc::Layout;
use std::ptr::{self, NonNull};
use topology::CpuSource;

/// A bump allocator that many threads share: what it hands out lives until the arena is reset or dropped.
///
/// Values are never dropped, as with every bump arena: [`Arena::alloc_box`] is for those that must be.
///
/// ```
/// let arena = arena::Arena::new();
/// std::thread::scope(|scope| {
///     for number in 0..4_u64 {
///         let arena = &arena;
///         scope.spawn(move || {
///             let value: &mut u64 = arena.alloc(number);
///             *value += 1;
///         });
///     }
/// });
/// assert!(arena.stats().used_bytes > 0);
/// ```
///
/// It can be sent and shared:
///
/// ```
/// fn for_threads<T: Send + Sync>() {}
/// for_threads::<arena::Arena>();
/// for_threads::<&arena::Arena>();
/// ```
///
/// What it handed out does not outlive it:
///
/// ```compile_fail,E0597
/// let kept: &u64 = {
///     let arena = arena::Arena::new();
///     arena.alloc(1)
/// };
/// assert_eq!(*kept, 1);
/// ```
#[derive(Debug)]
pub struct Arena {
    front: Front,
    threads: Option<Sizes>,
    holds: Sizes,
    /// The first offset that was not handed out before the last reset: beyond it everything is as the kernel gave it, but for memory that an
    /// earlier arena had.
    dirty: usize,
    zeroing: Zeroing,
    levels: Levels,
    /// The checkpoints that can be gone back to, the first one first.
    checkpoints: Vec<reset::Kept>,
    fallback: Option<Fallback>,
    /// Why there are no restartable sequences.
    why: Option<&'static str>,
    source: CpuSource,
}

/// A cache line in bytes.
const LINE: usize = 64;

/// The next arena's number. 0 is no arena.
static NEXT: Count64 = Count64::new(1);

fn next_number() -> u64 {
    // Relaxed: only that no two are the same matters.
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Arena {
    pub(crate) fn made_of(made: Made) -> Arena {
        let Made { levels, threads, holds, zeroing, prefetch, fallback, why, source } = made;
        let fast = if threads.is_none() { levels.fast() } else { None };
        let first = match (threads, fast, zeroing) {
            (_, _, Zeroing::AtAllocation) | (None, None, _) => First::Call,
            (Some(_), ..) => First::Thread,
            (None, Some(_), _) => First::Sequence,
        };
        let front = Front { number: next_number(), fast, prefetch, first };
        Arena {
            front,
            threads,
            holds,
            dirty: 0,
            zeroing,
            levels,
            checkpoints: Vec::new(),
            fallback,
            why,
            source,
        }
    }

    /// Memory for a layout, or an error when the arena has not so much left. Never aborts.
    ///
    /// Cost with thread buffers when it fits: a compare of the arena's number, an add, a bounds check, a store. With core buffers: a
    /// restartable sequence of ten instructions, of sixteen for an alignment of 16 to 256.
    #[inline(always)]
    pub fn try_alloc_layout(&self, layout: Layout) -> Result<NonNull<u8>, AllocError> {
        let (size, align) = (layout.size(), layout.align());
        if size == 0 {
            return Ok(NonNull::without_provenance(layout.align().try_into().map_err(|_| AllocError)?));
        }
        // No overflow: a layout's size, rounded up to its alignment, is at most `isize::MAX`.
        let bytes = watched::with_gap((size + GRAIN - 1) & !(GRAIN - 1));
        let start = match self.front.first {
            First::Thread => match thread::take(self.front.number, bytes, align) {
                Some(start) => start,
                None => self.past_the_buffer_at_hand(bytes, align)?,
            },
            // SAFETY: the levels that it is of are alive as long as `self`.
            First::Sequence => match self.front.fast.and_then(|fast| unsafe { fast.take(bytes, align) }) {
                Some(start) => start,
                None => self.past_the_first_word(bytes, align)?,
            },
            First::Call => self.by_call(bytes, align)?,
        };
        self.prefetch_behind(start, bytes);
        Ok(self.hand_out(start, size))
    }

    #[inline(always)]
    pub(crate) fn prefetch_behind(&self, start: usize, bytes: usize) {
        // Smaller objects write to each line more than once, which gives it time to come; there it would be an instruction for nothing.
        let ahead = self.front.prefetch;
        if bytes >= LINE && ahead > 0 {
            // Any address will do.
            prefetch(start.wrapping_add(ahead));
        }
    }

    #[inline(never)]
    fn by_call(&self, bytes: usize, align: usize) -> Result<usize, AllocError> {
        let start = match self.threads {
            Some(_) => match thread::take(self.front.number, bytes, align) {
                Some(start) => start,
                None => self.past_the_buffer_at_hand(bytes, align)?,
            },
            None => self.past_the_first_word(bytes, align)?,
        };
        if self.zeroing == Zeroing::AtAllocation {
            self.zero(Extent { start, bytes }, zero::used_now);
        }
        Ok(start)
    }

    /// The last step of each allocation: `start` is the caller's.
    #[inline(always)]
    pub(crate) fn hand_out(&self, start: usize, size: usize) -> NonNull<u8> {
        blocks::handed_out(self.segments(), start, size, self.zeroing != Zeroing::None);
        self.pointer(start)
    }

    #[inline(always)]
    pub(crate) fn segments(&self) -> &Segments {
        self.levels.reserve().segments()
    }

    #[inline(always)]
    fn pointer(&self, start: usize) -> NonNull<u8> {
        let pointer = ptr::with_exposed_provenance_mut(start);
        // SAFETY: an address inside the mapping, which is not at 0.
        unsafe { NonNull::new_unchecked(pointer) }
    }

    #[inline(never)]
    fn past_the_first_word(&self, bytes: usize, align: usize) -> Result<usize, AllocError> {
        if align <= MOST_ALIGNED
            && let Some(start) = self.levels.allocate(bytes, align, |extent| self.fresh(extent))
        {
            return Ok(start);
        }
        if align > GRAIN { self.over_aligned(bytes, align) } else { Err(AllocError) }
    }

    /// Not the refill itself, whose larger frame would cost threads that use arenas by turns.
    #[cold]
    #[inline(never)]
    fn past_the_buffer_at_hand(&self, bytes: usize, align: usize) -> Result<usize, AllocError> {
        match thread::take_aside(self.front.number, bytes, align) {
            Some(start) => Ok(start),
            None => self.refill(bytes, align),
        }
    }

    #[cold]
    #[inline(never)]
    fn refill(&self, bytes: usize, align: usize) -> Result<usize, AllocError> {
        let Some(sizes) = self.threads else { return Err(AllocError) };
        // Room for the gap before an aligned start.
        let room = bytes.checked_add(most_skipped(align)).ok_or(AllocError)?;
        loop {
            match thread::miss(self.front.number, room, sizes) {
                Slow::Again => {}
                Slow::Refill(size) => match self.levels.allocate(size, GRAIN, |extent| self.fresh(extent)) {
                    Some(start) => thread::install(self.front.number, start, size),
                    // Less than a buffer is left: perhaps still enough for this one.
                    None => return self.over_aligned(bytes, align),
                },
                Slow::Past => return self.over_aligned(bytes, align),
            }
            if let Some(start) = thread::take(self.front.number, bytes, align) {
                return Ok(start);
            }
        }
    }

    /// Past the thread's buffer, at any alignment.
    #[cold]
    #[inline(never)]
    fn over_aligned(&self, bytes: usize, align: usize) -> Result<usize, AllocError> {
        // A large gap is not worth a buffer's bytes.
        if most_skipped(align) <= bytes.max(MOST_ALIGNED)
            && let Some(start) = self.levels.allocate(bytes, align, |extent| self.fresh(extent))
        {
            return Ok(start);
        }
        if let Some(start) = self.levels.reserve().aligned(bytes, align) {
            self.fresh(Extent { start, bytes });
            return Ok(start);
        }
        // Perhaps a buffer still holds so much.
        self.levels.allocate(bytes, align, |extent| self.fresh(extent)).ok_or(AllocError)
    }

    /// A range that nobody has seen since the last reset.
    #[inline]
    fn fresh(&self, extent: Extent) {
        if self.zeroing == Zeroing::AtRefill {
            self.zero(extent, zero::used_later);
        }
    }

    fn zero(&self, extent: Extent, by: unsafe fn(*mut u8, usize)) {
        let bytes = self.segments().dirty_bytes(extent, self.dirty);
        if bytes > 0 {
            let written = Extent { bytes, ..extent };
            watched::free_to_use(written);
            // SAFETY: inside the mapping, and handed to this thread alone just now.
            unsafe { by(self.pointer(extent.start).as_ptr(), bytes) };
            watched::held(written);
        }
    }

    /// As [`Arena::try_alloc_layout`].
    ///
    /// # Panics
    /// If the arena has too few bytes left.
    #[inline(always)]
    pub fn alloc_layout(&self, layout: Layout) -> NonNull<u8> {
        match self.try_alloc_layout(layout) {
            Ok(place) => place,
            Err(error) => exhausted(error),
        }
    }

    pub(crate) fn parts(&self) -> Parts<'_> {
        Parts {
            levels: &self.levels,
            threads: self.threads,
            fallback: self.fallback.as_ref(),
            why: self.why,
            source: &self.source,
        }
    }
}

/// What a builder made for an arena.
pub(crate) struct Made {
    pub(crate) levels: Levels,
    pub(crate) threads: Option<Sizes>,
    pub(crate) holds: Sizes,
    pub(crate) zeroing: Zeroing,
    pub(crate) prefetch: usize,
    pub(crate) fallback: Option<Fallback>,
    pub(crate) why: Option<&'static str>,
    pub(crate) source: CpuSource,
}

/// What statistics look at.
pub(crate) struct Parts<'a> {
    pub(crate) levels: &'a Levels,
    pub(crate) threads: Option<Sizes>,
    pub(crate) fallback: Option<&'a Fallback>,
    pub(crate) why: Option<&'static str>,
    pub(crate) source: &'a CpuSource,
}
