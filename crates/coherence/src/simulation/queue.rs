//! Who waits for which line.

use super::World;
use super::scheduler::{Turn, Who};
use super::thread::Number;
use crate::machine::Picoseconds;
use crate::memory::{Answer, Transfer, Want};
use rand_xoshiro::rand_core::Rng;
use std::cmp::Reverse;

/// A thread that waits for a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) thread: Number,
    pub(super) core: u32,
    /// Numbers of its cluster and package: who is next is asked of all who wait, again and again.
    pub(super) cluster: u32,
    pub(super) package: u32,
    pub(super) want: Want,
    pub(super) asked: Picoseconds,
}

/// The waiting threads by line.
#[derive(Debug, Default)]
pub(super) struct Queues {
    lines: Vec<Vec<Waiter>>,
}

impl Queues {
    /// Adds a waiting thread; says whether it is the first one of its line.
    pub(super) fn join(&mut self, line: u32, waiter: Waiter) -> bool {
        let line = line as usize;
        if self.lines.len() <= line {
            self.lines.resize_with(line + 1, Vec::new);
        }
        self.lines[line].push(waiter);
        self.lines[line].len() == 1
    }
}

impl World<'_> {
    /// Which of those who wait for a line is next, by chance. All cores of the cluster that has it ask its cache themselves; of the
    /// other clusters of the package only one, and of the other packages only one: who keeps order at home lets one request for a
    /// line through at a time.
    fn arbitrate(&mut self, line: u32, queue: &[Waiter]) -> usize {
        let chance = self.random.next_u64();
        let shape = &self.machine.shape;
        let Some(owner) = self.memory.lines()[line as usize].owner() else {
            return (chance % queue.len() as u64) as usize;
        };
        let (cluster, package) = (owner / shape.cores, owner / (shape.cores * shape.clusters));
        let rank = |waiter: &Waiter| {
            if waiter.cluster == cluster {
                0
            } else if waiter.package == package {
                1
            } else {
                2
            }
        };
        let mut counts = [0_u64; 3];
        for waiter in queue {
            counts[rank(waiter)] += 1;
        }
        let near = counts[0] + u64::from(counts[1] > 0) + u64::from(counts[2] > 0);
        let (kind, mut place) = match chance % near {
            place if place < counts[0] => (0, place),
            place if place == counts[0] && counts[1] > 0 => (1, (chance >> 32) % counts[1]),
            _ => (2, (chance >> 32) % counts[2]),
        };
        for (number, waiter) in queue.iter().enumerate() {
            if rank(waiter) == kind {
                if place == 0 {
                    return number;
                }
                place -= 1;
            }
        }
        0
    }

    /// A line that threads wait for is free: one of them gets it, by chance, as the arbitration of a cache that is asked from many
    /// sides comes to; or several that read.
    pub(super) fn serve(&mut self, line: u32, now: Picoseconds) {
        let mut queue = std::mem::take(&mut self.queues.lines[line as usize]);
        let mut next = Picoseconds::MAX;
        // Those before `tried` have been told to ask again.
        let mut tried = 0;
        while tried < queue.len() {
            let pick = tried + self.arbitrate(line, &queue[tried..]);
            let waiter = queue[pick];
            let answer = self.memory.ask_line(self.machine, line, waiter.core, waiter.want, now);
            let (granted, time) = match answer {
                Answer::Now => (Some(waiter.core), now),
                Answer::Then(time) if waiter.want == Want::Lock => (None, time),
                Answer::Then(time) | Answer::Transfer(Transfer { end: time, .. }) => {
                    (Some(waiter.core), time)
                }
                Answer::Busy(free) => {
                    next = next.min(free);
                    queue.swap(tried, pick);
                    tried += 1;
                    if self.memory.lines()[line as usize].moving(now) {
                        break;
                    }
                    continue;
                }
            };
            queue.swap_remove(pick);
            self.memory.waited(line, now - waiter.asked);
            if matches!(answer, Answer::Transfer(_)) {
                self.memory.asked_before(line, waiter.core, now, waiter.asked);
            }
            let thread = &mut self.threads[waiter.thread.0 as usize];
            thread.blocked = false;
            thread.wait(granted, time);
            self.turns.push(Reverse(Turn { time: thread.time, who: Who::Thread(waiter.thread) }));
        }
        if !queue.is_empty() {
            self.turns.push(Reverse(Turn { time: next, who: Who::Line(line) }));
        }
        self.queues.lines[line as usize] = queue;
    }
}
