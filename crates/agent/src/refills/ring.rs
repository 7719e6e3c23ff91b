//! Records on their way from the threads that write them to the one that reads them: a queue of fixed length, in which nobody waits.
//!
//! Vyukov's bounded queue: each slot has a turn, which says whether it is free for the record with a number, or has it. A record that finds no free slot is
//! lost, and counted. A writer that has lost its CPU holds the reader back at its slot, and no other writer as long as there are free ones.

use hab::atomics::{Atomics, Ordering, Processor, Word};

/// Records of so many words.
#[derive(Debug)]
pub struct Ring<const WORDS: usize, M: Atomics = Processor> {
    slots: Box<[Slot<WORDS, M>]>,
    /// Records that have got a slot.
    written: M::Word,
    /// Of these, how many were read.
    read: M::Word,
    lost: M::Relaxed,
}

/// Alone on its cache line, if it has seven words.
#[derive(Debug)]
#[repr(align(64))]
struct Slot<const WORDS: usize, M: Atomics> {
    /// `n`: free for the record with the number `n`. `n + 1`: has it. Behind the reader it is free for the next round's.
    turn: M::Word,
    words: [M::Word; WORDS],
}

impl<const WORDS: usize, M: Atomics> Ring<WORDS, M> {
    /// A queue for so many records: at least two, because with one a slot that has a record would look free for the next.
    pub fn new(records: usize) -> Self {
        let slot = |number| Slot {
            turn: M::Word::new(number as u64),
            words: std::array::from_fn(|_| M::Word::new(0)),
        };
        Ring {
            slots: (0..records.max(2)).map(slot).collect(),
            written: M::Word::new(0),
            read: M::Word::new(0),
            lost: M::Relaxed::new(0),
        }
    }

    fn slot(&self, number: u64) -> &Slot<WORDS, M> {
        &self.slots[(number % self.slots.len() as u64) as usize]
    }

    /// Writes a record, or counts it as lost. From any thread. Tries again only when another thread's record went ahead.
    pub fn write(&self, record: [u64; WORDS]) {
        loop {
            // Relaxed: the exchange checks the value; what a slot holds is told by its turn.
            let number = self.written.load(Ordering::Relaxed);
            let slot = self.slot(number);
            // Acquire: pairs with the Release in `read`. The reader has taken the old words before these are stored over them.
            let turn = slot.turn.load(Ordering::Acquire);
            if turn < number {
                self.lost.add(1, Ordering::Relaxed);
                return;
            }
            // Relaxed: it claims the slot among writers and publishes nothing; the turn does.
            if turn == number
                && self.written.exchange(number, number + 1, Ordering::Relaxed, Ordering::Relaxed)
            {
                for (word, value) in slot.words.iter().zip(record) {
                    word.store(value, Ordering::Relaxed);
                }
                // Release: who finds the turn finds the words.
                slot.turn.store(number + 1, Ordering::Release);
                return;
            }
        }
    }

    /// The oldest record that was not read. From one thread at a time, which the caller sees to.
    pub fn read(&self) -> Option<[u64; WORDS]> {
        // Relaxed: only the reader writes it.
        let number = self.read.load(Ordering::Relaxed);
        let slot = self.slot(number);
        // Acquire: pairs with the Release in `write`.
        if slot.turn.load(Ordering::Acquire) != number + 1 {
            return None;
        }
        let record = std::array::from_fn(|word| slot.words[word].load(Ordering::Relaxed));
        self.read.store(number + 1, Ordering::Relaxed);
        // Release: whoever writes there next does so after these loads.
        slot.turn.store(number + self.slots.len() as u64, Ordering::Release);
        Some(record)
    }

    /// Records that found no free slot.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
#[path = "ring_test.rs"]
mod tests;
