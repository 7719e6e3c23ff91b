//! Broken protocols. Loom has to find the error in each: otherwise the passes of the other tests mean nothing.

use super::*;
use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use terrace_hab::Extent;

const EMPTY: u64 = 0;
const REFILLING: u64 = u64::MAX;

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flaw {
    None,
    /// Retirement resets a buffer even while it is being refilled: the plain reading of the paper's listings.
    RetirementResetsRefill,
    /// The extent is published without release.
    RelaxedPublication,
    /// A look, then a store, instead of an exchange.
    CarveByStore,
}

/// A buffer of three grains at most, with a flaw. The same states as the real one: free grains as `top << 8 | rest`.
struct Broken {
    word: AtomicU64,
    /// As in `atomics`: without it a load hides interleavings from loom.
    turn: AtomicUsize,
    heap: &'static Heap,
    flaw: Flaw,
}

impl Broken {
    fn extent(word: u64) -> Extent {
        Extent { start: BASE + (word >> 8) as usize * GRAIN, bytes: (word & 0xff) as usize * GRAIN }
    }

    fn look(&self) -> u64 {
        self.turn.fetch_add(0, Ordering::Relaxed);
        self.word.load(Ordering::Relaxed)
    }

    fn take(&self) {
        loop {
            let word = self.look();
            if word == REFILLING {
                return self.heap.acquire(CPU0, GRAIN, GRAIN).into_iter().for_each(|own| self.heap.own(own));
            }
            self.turn.fetch_add(0, Ordering::Relaxed);
            let next = if word == EMPTY { REFILLING } else { Self::cut(word) };
            if self.flaw == Flaw::CarveByStore && next != REFILLING {
                self.word.store(next, Ordering::Release);
            } else if self.word.compare_exchange(word, next, Ordering::AcqRel, Ordering::Relaxed).is_err() {
                continue;
            }
            let word = if next == REFILLING { self.refill() } else { word };
            return self.heap.own(Extent { bytes: GRAIN, ..Self::extent(word) });
        }
    }

    /// The word behind the first grain.
    fn cut(word: u64) -> u64 {
        if word & 0xff == 1 { EMPTY } else { word + (1 << 8) - 1 }
    }

    /// Publishes all but the first grain of the extent that it returns.
    fn refill(&self) -> u64 {
        let extent = self.heap.acquire(CPU0, GRAIN, 3 * GRAIN).expect("the heap is large enough");
        let word = ((extent.start - BASE) / GRAIN) as u64 * 256 + (extent.bytes / GRAIN) as u64;
        let order = if self.flaw == Flaw::RelaxedPublication { Ordering::Relaxed } else { Ordering::Release };
        self.turn.fetch_add(0, Ordering::Relaxed);
        self.word.store(Self::cut(word), order);
        word
    }

    fn retire(&self) {
        loop {
            let word = self.look();
            if word == EMPTY || (word == REFILLING && self.flaw != Flaw::RetirementResetsRefill) {
                return;
            }
            self.turn.fetch_add(0, Ordering::Relaxed);
            if self.word.compare_exchange(word, EMPTY, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                if word != REFILLING {
                    self.heap.retire(Self::extent(word));
                }
                return;
            }
        }
    }
}

fn run(flaw: Flaw) {
    model(Some(4), move || {
        let heap = heap(12);
        let (word, turn) = (AtomicU64::new(EMPTY), AtomicUsize::new(0));
        let buffer: &'static Broken = lend(Broken { word, turn, heap, flaw });
        let thread = thread::spawn(move || {
            buffer.take();
            buffer.take();
        });
        buffer.retire();
        buffer.take();
        thread.join().unwrap();
        buffer.retire();
        heap.check();
    });
}

#[test]
fn the_sound_one_passes() {
    run(Flaw::None);
}

#[test]
#[should_panic(expected = "bytes lost")]
fn two_publications_lose_a_tail() {
    run(Flaw::RetirementResetsRefill);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn an_unordered_publication_races() {
    run(Flaw::RelaxedPublication);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn two_threads_carve_the_same_bytes() {
    run(Flaw::CarveByStore);
}
