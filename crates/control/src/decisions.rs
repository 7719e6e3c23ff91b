//! Why buffers have the sizes that they have (`core=auto`): the last evaluation of each level, and the last changes.
//!
//! Written at collections by one thread at a time, read at any time. A reader that meets a writer leaves that entry out.
#![allow(clippy::disallowed_types, reason = "the words are shared with another process")]

use crate::limits::MAX_LEVELS;
use hab::adaptive::{Observed, Why};
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// So many changes are kept.
pub const MAX_CHANGES: usize = 16;

/// What came of looking at what was seen of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Of which level, the threads' level first.
    pub level: usize,
    /// At which pause of the collector ([`crate::View::pauses`]).
    pub pause: u64,
    /// Bytes of a buffer until then.
    pub from: u64,
    /// Bytes of a buffer since.
    pub to: u64,
    /// The most that it could have been.
    pub most: u64,
    /// What it came to.
    pub why: Why,
    /// Of a change because the bound moved: nothing but eden.
    pub seen: Observed,
}

/// Numbers of a decision.
const NUMBERS: usize = 16;
/// Words of a decision: level, reason, and its numbers.
const WORDS: usize = 2 + NUMBERS;

impl Decision {
    /// Its numbers in the order of the shared memory, with the names that reports use.
    fn numbers(&mut self) -> [(&'static str, &mut u64); NUMBERS] {
        let Decision { level: _, pause, from, to, most, why: _, seen } = self;
        let [served, served_bytes] = &mut seen.served;
        let [past, past_bytes] = &mut seen.past;
        [
            ("pause", pause),
            ("from_bytes", from),
            ("to_bytes", to),
            ("most_bytes", most),
            ("collections", &mut seen.collections),
            ("domains", &mut seen.domains),
            ("refills", &mut seen.refills),
            ("served", served),
            ("served_bytes", served_bytes),
            ("past", past),
            ("past_bytes", past_bytes),
            ("refill_ns", &mut seen.refill_ns),
            ("waste_bytes", &mut seen.waste),
            ("eden_bytes", &mut seen.eden),
            ("pause_ns", &mut seen.pause_ns),
            ("elapsed_ns", &mut seen.elapsed_ns),
        ]
    }

    /// Its numbers, by the names that reports use.
    pub fn fields(mut self) -> [(&'static str, u64); NUMBERS] {
        self.numbers().map(|(name, number)| (name, *number))
    }

    fn words(self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        let (known, numbers) = words.split_at_mut(WORDS - NUMBERS);
        known.copy_from_slice(&[self.level as u64, self.why as u64]);
        numbers.copy_from_slice(&self.fields().map(|(_, number)| number));
        words
    }

    /// What the words say; `None` for what no agent of this version writes.
    fn of([level, why, words @ ..]: [u64; WORDS]) -> Option<Decision> {
        let level = usize::try_from(level).ok().filter(|level| *level < MAX_LEVELS)?;
        let why = Why::ALL.into_iter().find(|known| *known as u64 == why)?;
        let mut decision =
            Decision { level, pause: 0, from: 0, to: 0, most: 0, why, seen: Observed::default() };
        for ((_, number), word) in decision.numbers().into_iter().zip(words) {
            *number = word;
        }
        Some(decision)
    }
}

/// Room for a decision.
#[repr(C)]
struct Slot {
    /// Which one it is, from 1; 0 while it is being written. Never the same twice.
    number: AtomicU64,
    words: [AtomicU64; WORDS],
}

impl Slot {
    /// The number that the next one has, if nobody counts them elsewhere. A reader would take two of the same number for one.
    fn next(&self) -> u64 {
        // Relaxed: one writer at a time.
        self.number.load(Ordering::Relaxed).wrapping_add(1).max(1)
    }

    /// `number` is another one than what is there has.
    fn write(&self, number: u64, decision: &Decision) {
        self.number.store(0, Ordering::Relaxed);
        // Release: who sees a word of this decision sees 0 above, or the number below.
        fence(Ordering::Release);
        for (slot, word) in self.words.iter().zip(decision.words()) {
            slot.store(word, Ordering::Relaxed);
        }
        // Release: who sees the number sees the words.
        self.number.store(number, Ordering::Release);
    }

    /// The decision and its number.
    fn read(&self) -> Option<(u64, Decision)> {
        // Acquire: pairs with the release that ends `write`.
        let number = self.number.load(Ordering::Acquire);
        let words = self.words.each_ref().map(|word| word.load(Ordering::Relaxed));
        // Acquire: pairs with the fence in `write`: if a word was of the next decision, the number has changed.
        fence(Ordering::Acquire);
        let unchanged = self.number.load(Ordering::Relaxed) == number && number != 0;
        Some((number, Decision::of(words).filter(|_| unchanged)?))
    }
}

/// All of them.
#[repr(C)]
pub(crate) struct Decisions {
    /// Changes so far.
    changed: AtomicU64,
    /// The last changes, each where its number leads.
    changes: [Slot; MAX_CHANGES],
    /// The last evaluation of each level.
    latest: [Slot; MAX_LEVELS],
}

impl Decisions {
    /// An evaluation, whatever came of it.
    pub(crate) fn note(&self, decision: &Decision) {
        if let Some(slot) = self.latest.get(decision.level) {
            slot.write(slot.next(), decision);
        }
    }

    /// A change.
    pub(crate) fn change(&self, decision: &Decision) {
        // Relaxed: one writer at a time; readers go by the slots' numbers.
        let number = self.changed.load(Ordering::Relaxed).wrapping_add(1);
        self.changes[number as usize % MAX_CHANGES].write(number, decision);
        self.changed.store(number, Ordering::Relaxed);
    }

    /// How many changes there were.
    pub(crate) fn changed(&self) -> u64 {
        self.changed.load(Ordering::Relaxed)
    }

    /// The last changes, the oldest first.
    pub(crate) fn changes(&self) -> Vec<Decision> {
        let mut found: Vec<(u64, Decision)> = self.changes.iter().filter_map(Slot::read).collect();
        found.sort_by_key(|(number, _)| *number);
        found.into_iter().map(|(_, decision)| decision).collect()
    }

    /// The last evaluation of a level.
    pub(crate) fn latest(&self, level: usize) -> Option<Decision> {
        self.latest.get(level)?.read().map(|(_, decision)| decision)
    }
}

#[cfg(test)]
#[path = "decisions_test.rs"]
mod tests;
