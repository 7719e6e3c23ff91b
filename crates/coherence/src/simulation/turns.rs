//! Who goes on when: the queue of a discrete-event simulation.

use super::thread::Number;
use crate::machine::Picoseconds;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Who goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// A line that threads wait for: it is free.
    Line(u32),
    /// A thread.
    Thread(Number),
}

/// When somebody goes on. Ordered by time, then lines before threads, then by number: one number, because turns are compared all the
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn(u128);

/// Set in a thread's turn.
const THREAD: u64 = 1 << 32;

impl Turn {
    pub(super) const NEVER: Turn = Turn(u128::MAX);

    const fn new(time: Picoseconds, who: u64) -> Turn {
        Turn((time as u128) << 64 | who as u128)
    }

    #[inline]
    pub(super) const fn of(thread: Number, time: Picoseconds) -> Turn {
        Turn::new(time, THREAD | thread.0 as u64)
    }

    #[inline]
    pub(super) const fn of_line(line: u32, time: Picoseconds) -> Turn {
        Turn::new(time, line as u64)
    }

    #[inline]
    pub(super) const fn time(self) -> Picoseconds {
        (self.0 >> 64) as Picoseconds
    }

    #[inline]
    pub(super) const fn who(self) -> Who {
        let who = self.0 as u64;
        if who & THREAD == 0 { Who::Line(who as u32) } else { Who::Thread(Number(who as u32)) }
    }
}

/// So many of the earliest turns are kept in order.
const NEAR: usize = 16;

/// Turns, the earliest first. A few are in order, which is all that there is on a small machine; the others are a heap.
#[derive(Debug)]
pub(super) struct Turns {
    /// At 0 one that never comes, then the earliest ones, the very earliest last; all before `far`.
    near: [Turn; NEAR + 1],
    count: usize,
    far: BinaryHeap<Reverse<Turn>>,
}

impl Turns {
    pub(super) fn new() -> Turns {
        Turns { near: [Turn::NEVER; NEAR + 1], count: 0, far: BinaryHeap::new() }
    }

    /// The earliest; never if there is none.
    #[inline]
    pub(super) fn first(&self) -> Turn {
        self.near[self.count]
    }

    /// Whether it has to go behind those that are near.
    #[inline]
    fn behind(&self, turn: Turn) -> bool {
        !self.far.is_empty() && turn > self.near[1]
    }

    #[inline]
    pub(super) fn push(&mut self, turn: Turn) {
        if self.count == NEAR || self.behind(turn) {
            return self.push_far(turn);
        }
        self.count += 1;
        self.settle(turn);
    }

    /// The last place is free: puts a turn into its own, and those between move up.
    #[inline]
    fn settle(&mut self, turn: Turn) {
        let mut place = self.count;
        while self.near[place - 1] < turn {
            self.near[place] = self.near[place - 1];
            place -= 1;
        }
        self.near[place] = turn;
    }

    /// Where there is no room near, or it is behind all that are.
    #[inline(never)]
    fn push_far(&mut self, turn: Turn) {
        let last = self.near[1];
        self.far.push(Reverse(turn.max(last)));
        if turn < last {
            self.near.copy_within(2..=self.count, 1);
            self.settle(turn);
        }
    }

    /// Takes the earliest.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Turn> {
        let first = self.first();
        self.count = self.count.checked_sub(1)?;
        if self.count == 0 {
            self.refill();
        }
        Some(first)
    }

    /// Takes the earliest, after one has been added.
    #[inline]
    pub(super) fn exchange(&mut self, turn: Turn) -> Turn {
        let first = self.first();
        if turn < first {
            return turn;
        }
        if self.behind(turn) {
            self.pop();
            self.push(turn);
        } else {
            self.settle(turn);
        }
        first
    }

    fn refill(&mut self) {
        self.count = self.far.len().min(NEAR / 2);
        for place in (1..=self.count).rev() {
            if let Some(Reverse(turn)) = self.far.pop() {
                self.near[place] = turn;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_in_the_order_of_time_then_lines_then_threads_then_numbers() {
        let turns = [
            Turn::of_line(7, 4),
            Turn::of_line(u32::MAX, 5),
            Turn::of(Number(0), 5),
            Turn::of(Number(9), 5),
            Turn::of_line(0, 6),
            Turn::NEVER,
        ];
        assert!(turns.is_sorted() && turns.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!((turns[1].time(), turns[1].who()), (5, Who::Line(u32::MAX)));
        assert_eq!((turns[3].time(), turns[3].who()), (5, Who::Thread(Number(9))));
    }

    #[test]
    fn whatever_comes_in_goes_out_in_order() {
        let (mut turns, mut heap) = (Turns::new(), BinaryHeap::new());
        let mut chance = 1_u64;
        for step in 0..20_000_u64 {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Up and down: sometimes many, sometimes none.
            let adds = (chance >> 33) % 100 < if step / 100 % 2 == 0 { 60 } else { 40 };
            let turn = Turn::of(Number((chance >> 40) as u32 % 50), step + (chance >> 50) % 300);
            if adds {
                turns.push(turn);
                heap.push(Reverse(turn));
            } else if chance & 1 << 60 == 0 {
                assert_eq!(turns.pop(), heap.pop().map(|Reverse(turn)| turn));
            } else {
                heap.push(Reverse(turn));
                assert_eq!(Some(turns.exchange(turn)), heap.pop().map(|Reverse(turn)| turn));
            }
            assert_eq!(turns.first(), heap.peek().map_or(Turn::NEVER, |Reverse(turn)| *turn));
        }
    }
}
