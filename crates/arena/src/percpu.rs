//! Core buffers without a locked instruction: one for each CPU, changed in restartable sequences.
//!
//! A buffer is one word, as in `crates/hab`: the top in the upper 40 bits, the rest in the lower 24, in grains. A word whose rest
//! is 0 serves nobody: it is empty, or being refilled. While the rest is not 0 only sequences on the word's own CPU change it; a word
//! that is being refilled belongs to the one thread that made it so, on whatever CPU that thread is by then, and only that thread
//! publishes. So no thread waits for another.
//!
//! Each CPU has spare words for while the first one is being refilled: a thread that lost its CPU in the middle of that would send
//! all others of this CPU past the buffers.

use crate::grain::{GRAIN, GRAIN_SHIFT, MOST_ALIGNED, aligned, most_skipped};
use crate::owned::Owned;
use crate::primitive::{Count64, Ordering};
use crate::sequence::{self, Area, replace, take, take_aligned, take_by_any};
use crate::slot::{EMPTY, REFILLING, REST_BITS, REST_MASK, Slot, Taken, WORDS, cut, pack, skipped};
use hab::{CpuIndex, Extent, Source};
use std::ptr::NonNull;
use topology::CpuSource;

#[cfg(all(test, loom))]
mod model;
mod sizes;

pub(crate) use sizes::Sizes;

/// A request of more than this part of a buffer goes past it: a tail that is given up for another one is smaller.
const REQUESTS_PER_BUFFER: usize = if cfg!(loom) { 1 } else { 16 };

/// What happened in all of them, in bytes but for `refills`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Happened {
    pub(crate) refills: u64,
    pub(crate) reserved: u64,
    pub(crate) wasted: u64,
    pub(crate) remaining: u64,
}

/// What the fast path needs of [`PerCpu`], without a way through several structures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fast {
    area: Area,
    slots: NonNull<[Slot]>,
    base: usize,
}

// SAFETY: the slots are made of atomics; who holds this sees to it that they live.
unsafe impl Send for Fast {}
// SAFETY: as above.
unsafe impl Sync for Fast {}

impl Fast {
    /// Takes so many bytes (whole grains, not 0) at a multiple of `align` from this CPU's first word, or nothing; nothing too if that is more than
    /// [`MOST_ALIGNED`].
    ///
    /// # Safety
    /// The [`PerCpu`] that this is of is alive, and has an area that is inlined.
    #[inline(always)]
    pub(crate) unsafe fn take(&self, bytes: usize, align: usize) -> Option<usize> {
        let grains = (bytes >> GRAIN_SHIFT) as u64;
        if grains > REST_MASK || align > MOST_ALIGNED {
            return None;
        }
        // SAFETY: alive by the caller's promise.
        let slots = unsafe { self.slots.as_ref() };
        // The alignment is a constant as a rule, and one of both sequences remains.
        let taken = if align <= GRAIN {
            // SAFETY: the module's protocol keeps everybody else away from words with a rest. The number of grains was looked at.
            unsafe { take(self.area, slots, grains) }
        } else {
            // SAFETY: as above.
            unsafe { take_aligned(self.area, slots, grains, gap(align)) }
        };
        match taken {
            Taken::Done(word) => Some(aligned(start(self.base, word), align)),
            Taken::Short => None,
        }
    }
}

/// One less than an alignment in grains.
#[inline(always)]
fn gap(align: usize) -> u64 {
    (most_skipped(align) >> GRAIN_SHIFT) as u64
}

/// The address that a word's top stands for.
#[inline(always)]
fn start(base: usize, word: u64) -> usize {
    base + (((word >> REST_BITS) as usize) << GRAIN_SHIFT)
}

/// A buffer for each CPU.
#[derive(Debug)]
pub(crate) struct PerCpu {
    area: Area,
    source: CpuSource,
    base: usize,
    sizes: Sizes,
    /// [`Fast`] refers to them, also when this has been moved.
    slots: Owned<[Slot]>,
}

impl PerCpu {
    /// Buffers of these sizes over extents behind `base`, a multiple of [`MOST_ALIGNED`].
    pub(crate) fn new(area: Area, source: CpuSource, base: usize, sizes: Sizes) -> PerCpu {
        debug_assert!(base.is_multiple_of(MOST_ALIGNED));
        let largest = (REST_MASK as usize) << GRAIN_SHIFT;
        let sizes = Sizes { first: sizes.first.min(largest), others: sizes.others.min(largest), ..sizes };
        let slots = (0..sizes.count).map(|_| Slot::new()).collect();
        PerCpu { area, source, base, sizes, slots: Owned::of(slots) }
    }

    #[inline(always)]
    fn slots(&self) -> &[Slot] {
        self.slots.get()
    }

    fn start(&self, word: u64) -> usize {
        start(self.base, word)
    }

    /// The fast path alone, if it is worth its place in the caller's code. It is of use for as long as `self` lives; moving `self` does no harm.
    pub(crate) fn fast(&self) -> Option<Fast> {
        let fast = Fast { area: self.area, slots: NonNull::from(self.slots()), base: self.base };
        sequence::is_inlined(self.area).then_some(fast)
    }

    /// Serves a request of so many bytes (whole grains, not 0) at a multiple of `align` (at most [`MOST_ALIGNED`]) from this CPU's buffer. `fresh`
    /// hears of each extent before anything of it is handed out.
    pub(crate) fn allocate(
        &self,
        bytes: usize,
        align: usize,
        upper: &impl Source,
        fresh: impl Fn(Extent),
    ) -> Option<usize> {
        let grains = (bytes >> GRAIN_SHIFT) as u64;
        if grains <= REST_MASK
            // SAFETY: as in `Fast::take`.
            && let Taken::Done(word) = unsafe { take_by_any(self.area, self.slots(), grains, gap(align)) }
        {
            return Some(aligned(self.start(word), align));
        }
        let start = self.allocate_slowly(Wanted { bytes, gap: gap(align) }, upper, fresh)?;
        Some(aligned(start, align))
    }

    /// The same after the own CPU's first word was too short; what is skipped is the first of it.
    #[cold]
    #[inline(never)]
    fn allocate_slowly(&self, wanted: Wanted, upper: &impl Source, fresh: impl Fn(Extent)) -> Option<usize> {
        let most = wanted.most_bytes()?;
        'moved: while let Some((cpu, slot)) = self.here() {
            if most > self.sizes.of(cpu) / REQUESTS_PER_BUFFER {
                break;
            }
            for number in 0..WORDS {
                match self.serve(slot, number, cpu, wanted, upper, &fresh) {
                    Served::At(start) => return Some(start),
                    Served::Moved => continue 'moved,
                    Served::Busy => {}
                    Served::Refused => break 'moved,
                }
            }
            break;
        }
        match upper.acquire(CpuIndex(self.source.current().0), most, most) {
            Some(extent) => {
                fresh(extent);
                Some(extent.start)
            }
            None => self.last_resort(wanted),
        }
    }

    /// The CPU that this thread is on, and its slot; `None` if there are no sequences here: the CPU is none of the machine's, or
    /// this thread has no area.
    fn here(&self) -> Option<(u32, &Slot)> {
        let cpu = sequence::cpu(self.area)?;
        Some((cpu, self.slots().get(cpu as usize)?))
    }

    /// The upper source has nothing left: whatever any word of this CPU holds, however large the request is.
    fn last_resort(&self, wanted: Wanted) -> Option<usize> {
        'moved: loop {
            let (cpu, slot) = self.here()?;
            for word in &slot.words {
                loop {
                    // Acquire: as in `serve`.
                    let old = word.load(Ordering::Acquire);
                    let Some(new) = cut(old, wanted.grains(), wanted.gap) else { break };
                    // SAFETY: a word of CPU `cpu`.
                    if unsafe { replace(self.area, word, cpu, old, new) } {
                        return Some(self.start(old));
                    }
                    if sequence::cpu(self.area) != Some(cpu) {
                        continue 'moved;
                    }
                }
            }
            return None;
        }
    }

    fn serve(
        &self,
        slot: &Slot,
        number: usize,
        cpu: u32,
        wanted: Wanted,
        upper: &impl Source,
        fresh: &impl Fn(Extent),
    ) -> Served {
        let word = &slot.words[number];
        loop {
            // Acquire: with the publisher's Release; what the publisher did to the bytes (zeroing) is seen by whoever takes them.
            let old = word.load(Ordering::Acquire);
            if old == REFILLING {
                return Served::Busy;
            }
            let rest = old & REST_MASK;
            let (new, serves) = match cut(old, wanted.grains(), wanted.gap) {
                Some(new) => (new, true),
                None => (REFILLING, false),
            };
            // SAFETY: a word of CPU `cpu`.
            if !unsafe { replace(self.area, word, cpu, old, new) } {
                if sequence::cpu(self.area) != Some(cpu) {
                    return Served::Moved;
                }
                continue;
            }
            if serves {
                return Served::At(self.start(old));
            }
            // Relaxed: a statistic.
            slot.wasted.fetch_add(rest << GRAIN_SHIFT, Ordering::Relaxed);
            return self.refill(slot, number, cpu, wanted, upper, fresh);
        }
    }

    /// This thread owns the word until it publishes.
    fn refill(
        &self,
        slot: &Slot,
        number: usize,
        cpu: u32,
        wanted: Wanted,
        upper: &impl Source,
        fresh: &impl Fn(Extent),
    ) -> Served {
        let least = wanted.most_bytes().unwrap_or(usize::MAX);
        let extent = upper.acquire(CpuIndex(self.source.current().0), least, self.sizes.of(cpu));
        let (mine, rest) = match extent {
            Some(extent) => {
                fresh(extent);
                slot.refills.fetch_add(1, Ordering::Relaxed);
                slot.reserved.fetch_add(extent.bytes as u64, Ordering::Relaxed);
                extent.split(wanted.bytes_from(pack(self.base, extent)))
            }
            None => (Extent { start: 0, bytes: 0 }, Extent { start: self.base, bytes: 0 }),
        };
        // Release: pairs with the Acquire in `serve`; the fast path's load is one, too (on x86-64 every load is).
        slot.words[number].store(pack(self.base, rest), Ordering::Release);
        if mine.bytes == 0 { Served::Refused } else { Served::At(mine.start) }
    }

    /// Makes the last block of one of this CPU's words one of so many bytes (whole grains), where it is; whether it did.
    pub(crate) fn resize(&self, block: Extent, bytes: usize) -> bool {
        let Some((cpu, slot)) = self.here() else { return false };
        let top = |address: usize| ((address - self.base) >> GRAIN_SHIFT) as u64;
        let size = self.sizes.of(cpu);
        // What is so large was served past the buffers, and is not theirs.
        if block.bytes.max(bytes) > size / REQUESTS_PER_BUFFER {
            return false;
        }
        slot.words.iter().any(|word| {
            // Acquire: as in `serve`.
            let old = word.load(Ordering::Acquire);
            let rest = ((old & REST_MASK) as usize) << GRAIN_SHIFT;
            let after = (rest + block.bytes).saturating_sub(bytes);
            // A word without a rest is another thread's to refill; a whole buffer is one that nothing of was handed out.
            if rest == 0 || after == 0 || rest + block.bytes < bytes || after >= size {
                return false;
            }
            let new = pack(self.base, Extent { start: block.start + bytes, bytes: after });
            // SAFETY: a word of CPU `cpu`; the block is the caller's.
            old >> REST_BITS == top(block.end()) && unsafe { replace(self.area, word, cpu, old, new) }
        })
    }

    /// Empties all buffers; what they hold is wasted. The caller is alone.
    pub(crate) fn reset(&self) {
        for slot in self.slots() {
            for word in &slot.words {
                // Relaxed: nobody else looks; whoever does later is ordered by what handed the arena over.
                let rest = word.load(Ordering::Relaxed) & REST_MASK;
                slot.wasted.fetch_add(rest << GRAIN_SHIFT, Ordering::Relaxed);
                word.store(EMPTY, Ordering::Relaxed);
            }
        }
    }

    /// What each buffer holds that holds something, with the buffer's number. The caller is alone.
    pub(crate) fn rests(&self) -> impl Iterator<Item = (usize, Extent)> + '_ {
        let words = self.slots().iter().flat_map(|slot| &slot.words).enumerate();
        words.filter_map(|(number, word)| {
            // Relaxed: nobody else changes it; what handed the arena over ordered whoever did.
            let word = word.load(Ordering::Relaxed);
            let bytes = ((word & REST_MASK) as usize) << GRAIN_SHIFT;
            (bytes > 0).then(|| (number, Extent { start: self.start(word), bytes }))
        })
    }

    /// Empties a buffer, which holds so many bytes. The caller is alone.
    pub(crate) fn take_out(&self, number: usize, bytes: usize) {
        let slot = &self.slots()[number / WORDS];
        slot.wasted.fetch_add(bytes as u64, Ordering::Relaxed);
        // Relaxed: as in `reset`.
        slot.words[number % WORDS].store(EMPTY, Ordering::Relaxed);
    }

    /// Makes an empty buffer hold an extent. The caller is alone.
    pub(crate) fn put_in(&self, number: usize, extent: Extent) {
        let slot = &self.slots()[number / WORDS];
        slot.reserved.fetch_add(extent.bytes as u64, Ordering::Relaxed);
        // Relaxed: as in `reset`, also for what was done to the bytes.
        slot.words[number % WORDS].store(pack(self.base, extent), Ordering::Relaxed);
    }

    /// What happened so far; other threads may be at work.
    pub(crate) fn happened(&self) -> Happened {
        let mut sum = Happened::default();
        for slot in self.slots() {
            let of = |counter: &Count64| counter.load(Ordering::Relaxed);
            sum.refills += of(&slot.refills);
            sum.reserved += of(&slot.reserved);
            sum.wasted += of(&slot.wasted);
            sum.remaining += slot
                .words
                .iter()
                .map(|word| (word.load(Ordering::Relaxed) & REST_MASK) << GRAIN_SHIFT)
                .sum::<u64>();
        }
        sum
    }
}

/// A request.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    /// Whole grains, not 0.
    bytes: usize,
    /// As in [`cut`].
    gap: u64,
}

impl Wanted {
    fn grains(self) -> u64 {
        (self.bytes >> GRAIN_SHIFT) as u64
    }

    /// With all that may have to be skipped.
    fn most_bytes(self) -> Option<usize> {
        self.bytes.checked_add((self.gap as usize) << GRAIN_SHIFT)
    }

    /// With what has to be skipped from a word's top on.
    fn bytes_from(self, word: u64) -> usize {
        self.bytes + ((skipped(word, self.gap) as usize) << GRAIN_SHIFT)
    }
}

enum Served {
    At(usize),
    /// Another thread is refilling this word.
    Busy,
    /// The upper source has not enough.
    Refused,
    /// This thread is on another CPU by now.
    Moved,
}
