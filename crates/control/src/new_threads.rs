//! How many threads have asked for their first TLAB, by name: those that live for microseconds, too, whom nobody meets.
//!
//! Threads of a kind differ in numbers, so that names without them are few. What cannot be kept is counted all the same. Where threads are many, some stand for all.
#![allow(clippy::disallowed_types, reason = "the words are shared with another process")]

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a thread's name as the kernel has it, with the zero behind it.
const BYTES: usize = 16;
const WHOLE: u8 = 1;
const FULL: u8 = 2;
/// Names that are kept.
const KINDS: usize = 128;
/// So many threads are all asked for their names. Of those that follow it is one in [`APART`], which stands for as many: the question is a system call, and a thread that ends at once
/// costs some microseconds in all.
const ALL_UP_TO: u64 = 4096;
const APART: u64 = 16;

/// Bytes of a name without what tells threads of a kind apart: an `N` for each number.
pub fn without_numbers(name: &[u8]) -> impl Iterator<Item = u8> {
    let mut was_digit = false;
    name.iter().filter_map(move |byte| match (byte.is_ascii_digit(), was_digit) {
        (false, _) => {
            was_digit = false;
            Some(*byte)
        }
        (true, false) => {
            was_digit = true;
            Some(b'N')
        }
        (true, true) => None,
    })
}

/// The name of threads of a kind, as far as the kernel keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThreadKind {
    text: [u8; BYTES - 1],
    is_full: bool,
}

impl ThreadKind {
    /// Of a thread with this name, which a zero ends.
    pub fn of(name: [u8; BYTES]) -> ThreadKind {
        let length = name.iter().position(|byte| *byte == 0).unwrap_or(BYTES - 1).min(BYTES - 1);
        let mut text = [0; BYTES - 1];
        text.iter_mut().zip(without_numbers(&name[..length])).for_each(|(to, byte)| *to = byte);
        ThreadKind { text, is_full: length == BYTES - 1 }
    }

    /// The name, without the zeros behind it.
    pub fn text(&self) -> &[u8] {
        self.text.split(|byte| *byte == 0).next().unwrap_or_default()
    }

    /// Whether the kernel has no room for more: the name may have been longer.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The last byte says that the name is whole, and whether it is full.
    fn words(self) -> [u64; 2] {
        let mut bytes = [if self.is_full { FULL } else { WHOLE }; BYTES];
        bytes[..BYTES - 1].copy_from_slice(&self.text);
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_ne_bytes(word)
        };
        [word(0), word(8)]
    }

    /// `None` where nobody has written the whole of it.
    fn from_words(words: [u64; 2]) -> Option<ThreadKind> {
        let mut bytes = [0; BYTES];
        for (part, word) in bytes.chunks_exact_mut(8).zip(words) {
            part.copy_from_slice(&word.to_ne_bytes());
        }
        let [text @ .., mark] = bytes;
        (mark != 0).then_some(ThreadKind { text, is_full: mark == FULL })
    }

    /// What stands for a kind: never 0, and hardly ever the same for two.
    fn key(words: [u64; 2]) -> u64 {
        // Odd numbers without a pattern, from the fractions of the square roots of 2 and 3.
        let mixed =
            (u128::from(words[0]) ^ 0x6a09_e667_f3bc_c909) * (u128::from(words[1]) ^ 0xbb67_ae85_84ca_a73b);
        (mixed as u64 ^ (mixed >> 64) as u64) | 1
    }
}

#[derive(Debug)]
#[repr(C)]
struct NameCount {
    /// Claimed by who comes first with a name of this key; 0 is free.
    key: AtomicU64,
    /// Written by the same afterwards: for a moment it is not whole.
    name: [AtomicU64; 2],
    threads: AtomicU64,
}

/// The counts. All zero is none.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct NewThreads {
    /// Not written any more where threads are many: all of them read it.
    asked: AtomicU64,
    _apart: [AtomicU64; 15],
    kinds: [NameCount; KINDS],
    others: AtomicU64,
}

/// Whether a thread of this moment stands for the others, as one in [`APART`] does.
#[inline(always)]
fn is_chosen(moment: u64) -> bool {
    // Numbers times the golden ratio, modulo 1, are spread evenly, whatever repeats in their order: clocks have steps.
    moment.wrapping_mul(0x9e37_79b9_7f4a_7c15) < u64::MAX / APART
}

impl NewThreads {
    /// Counts a thread by its name, which is asked for if it is this one's turn. `moment` chooses where they are many: any number that has nothing to do with the thread.
    #[inline(always)]
    pub fn count(&self, moment: impl FnOnce() -> u64, name: impl FnOnce() -> [u8; BYTES]) {
        // Relaxed: statistics publish nothing. A few more than so many may be asked at the same time.
        let are_many = self.asked.load(Ordering::Relaxed) >= ALL_UP_TO;
        if !are_many {
            self.asked.fetch_add(1, Ordering::Relaxed);
            self.record(name(), 1);
        } else if is_chosen(moment()) {
            self.record(name(), APART);
        }
    }

    #[cold]
    #[inline(never)]
    fn record(&self, name: [u8; BYTES], weight: u64) {
        let words = ThreadKind::of(name).words();
        let key = ThreadKind::key(words);
        for step in 0..KINDS {
            let counted = &self.kinds[(key as usize / 2 + step) % KINDS];
            // Relaxed: the key alone decides whose count it is.
            let was = counted.key.load(Ordering::Relaxed);
            let claimed = || counted.key.compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed);
            let was = if was == 0 { claimed().unwrap_or_else(|other| other) } else { was };
            if was == 0 {
                let [first, second] = &counted.name;
                first.store(words[0], Ordering::Relaxed);
                // Release: who sees the mark in the second half sees the first.
                second.store(words[1], Ordering::Release);
            }
            if was == 0 || was == key {
                counted.threads.fetch_add(weight, Ordering::Relaxed);
                return;
            }
        }
        self.others.fetch_add(weight, Ordering::Relaxed);
    }

    /// Threads of each kind so far.
    pub fn kinds(&self) -> impl Iterator<Item = (ThreadKind, u64)> {
        let of = |counted: &NameCount| {
            let [first, second] = &counted.name;
            // Acquire: pairs with the release in `record`. The second half first.
            let second = second.load(Ordering::Acquire);
            let kind = ThreadKind::from_words([first.load(Ordering::Relaxed), second])?;
            Some((kind, counted.threads.load(Ordering::Relaxed)))
        };
        self.kinds.iter().filter_map(of).filter(|(kind, threads)| *threads > 0 && !kind.text().is_empty())
    }

    /// Threads with names for which there was no room.
    pub fn others(&self) -> u64 {
        self.others.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn name(text: &str) -> [u8; BYTES] {
        let mut name = [0; BYTES];
        name[..text.len()].copy_from_slice(text.as_bytes());
        name
    }

    fn none() -> Box<NewThreads> {
        // SAFETY: atomics, for which zero is valid.
        unsafe { Box::new_zeroed().assume_init() }
    }

    fn found(threads: &NewThreads) -> BTreeMap<String, u64> {
        let text = |kind: ThreadKind| String::from_utf8_lossy(kind.text()).into_owned();
        threads.kinds().map(|(kind, count)| (text(kind), count)).collect()
    }

    #[test]
    fn threads_of_a_kind_are_counted_together() {
        let threads = none();
        for text in ["http-1-exec-7", "task", "http-20-exec-13", "http-1-exec-8", ""] {
            threads.count(|| 0, || name(text));
        }
        let kinds: Vec<_> =
            threads.kinds().map(|(kind, count)| (kind.text().to_vec(), kind.is_full(), count)).collect();
        for (name, is_full, count) in
            [("http-N-exec-N", false, 2), ("http-N-exec-N", true, 1), ("task", false, 1)]
        {
            assert!(kinds.contains(&(name.as_bytes().to_vec(), is_full, count)), "{kinds:?}");
        }
        assert_eq!(kinds.len(), 3);
        assert_eq!(threads.others(), 0, "who has no name has no kind");
        assert!(ThreadKind::of(name("fifteen-letters")).is_full());
        assert!(ThreadKind::of(name("Thread-12345678")).is_full(), "what is left is shorter");
        assert!(!ThreadKind::of(name("fourteen-lette")).is_full());
    }

    #[test]
    fn more_names_than_there_is_room_for_are_counted_together() {
        let threads = none();
        let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
        for number in 0..KINDS + 20 {
            for _ in 0..2 {
                let text: String = [letter(number), letter(number / 26)].iter().collect();
                threads.count(|| 0, || name(&text));
            }
        }
        assert_eq!((found(&threads).len(), threads.others()), (KINDS, 40));
        assert!(found(&threads).values().all(|count| *count == 2));
    }

    #[test]
    fn nobody_is_lost_where_all_come_at_once() {
        let threads = none();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for number in 0..1000 {
                        threads.count(|| 0, || name(["a-1", "b-2", "c-3"][number % 3]));
                    }
                });
            }
        });
        let expected = [("a-N", 4 * 334), ("b-N", 4 * 333), ("c-N", 4 * 333)];
        assert_eq!(found(&threads), expected.map(|(name, count)| (name.into(), count)).into());
    }

    /// Every fourth thread is of another kind.
    #[test]
    fn where_threads_are_many_some_stand_for_all() {
        let (threads, mut asked) = (none(), 0);
        for number in 0..100_000 {
            threads.count(
                || number,
                || {
                    asked += 1;
                    name(if number % 4 == 0 { "a" } else { "b" })
                },
            );
        }
        assert!((9_000..11_000).contains(&asked), "{asked}");
        let found = found(&threads);
        let share = found["a"] as f64 / 100_000.0;
        assert!((share - 0.25).abs() < 0.005 && found["a"] + found["b"] > 98_000, "{found:?}");
    }

    proptest! {
        #[test]
        fn any_name_comes_back(bytes: [u8; BYTES]) {
            let kind = ThreadKind::of(bytes);
            prop_assert_eq!(ThreadKind::from_words(kind.words()), Some(kind));
        }

        #[test]
        fn numbers_are_all_that_is_left_out(text in "[a-c0-9-]{0,15}") {
            let kind: Vec<u8> = without_numbers(text.as_bytes()).collect();
            let letters = |bytes: &[u8]| -> Vec<u8> { bytes.iter().copied().filter(u8::is_ascii_lowercase).collect() };
            prop_assert_eq!(letters(&kind), letters(text.as_bytes()));
            prop_assert!(!kind.iter().any(u8::is_ascii_digit) && !kind.windows(2).any(|two| two == b"NN"));
        }
    }
}
