//! Who waits for which line.

use super::World;
use super::thread::Number;
use super::turns::Turn;
use crate::machine::{Grid, Picoseconds};
use crate::memory::{Answer, Transfer, Want};
use rand_xoshiro::rand_core::Rng;

/// A thread that waits for a line, or one of its stores that does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) thread: Number,
    pub(super) core: u32,
    pub(super) want: Want,
    pub(super) asked: Picoseconds,
    /// The word that a waiting store writes; `None` where the thread itself waits.
    pub(super) stored: Option<usize>,
}

/// Who waits for one line.
#[derive(Debug, Default)]
struct Queue {
    waiters: Vec<Waiter>,
    /// Where each of them is, in the same order and apart: who is next is asked of all who wait, again and again, and the processor
    /// compares many small numbers at once. Nothing where there is one cluster.
    places: Vec<Place>,
    /// How many there are by cluster and by package.
    by_cluster: Vec<u32>,
    by_package: Vec<u32>,
}

/// Numbers of a cluster and its package, in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place(u32);

impl Place {
    fn of(core: u32, grid: &Grid<'_>) -> Place {
        Place(grid.package(core) << 16 | grid.cluster(core))
    }

    const fn cluster(self) -> usize {
        (self.0 & 0xffff) as usize
    }

    const fn package(self) -> usize {
        (self.0 >> 16) as usize
    }
}

impl Queue {
    fn new(grid: &Grid<'_>) -> Queue {
        let none = |count: u32| vec![0; count as usize];
        Queue {
            by_cluster: none(grid.clusters()),
            by_package: none(grid.machine.shape.packages),
            ..Queue::default()
        }
    }

    fn push(&mut self, waiter: Waiter, grid: &Grid<'_>) {
        self.waiters.push(waiter);
        if grid.clusters() > 1 {
            let place = Place::of(waiter.core, grid);
            self.places.push(place);
            self.by_cluster[place.cluster()] += 1;
            self.by_package[place.package()] += 1;
        }
    }

    fn swap(&mut self, one: usize, other: usize) {
        if one != other {
            self.waiters.swap(one, other);
            if !self.places.is_empty() {
                self.places.swap(one, other);
            }
        }
    }

    fn swap_remove(&mut self, at: usize) {
        self.waiters.swap_remove(at);
        if !self.places.is_empty() {
            let place = self.places.swap_remove(at);
            self.by_cluster[place.cluster()] -= 1;
            self.by_package[place.package()] -= 1;
        }
    }

    /// Which of those from a place on is next, by chance. All cores of the cluster that has the line ask its cache themselves; of the
    /// other clusters of the package only one, and of the other packages only one: who keeps order at home lets one request for a line
    /// through at a time.
    #[inline]
    fn arbitrate(&self, from: usize, owner: Option<u32>, grid: &Grid<'_>, chance: u64) -> usize {
        let waiting = self.waiters.len() - from;
        match owner {
            _ if waiting == 1 => from,
            Some(owner) if grid.clusters() > 1 => self.choose(from, Place::of(owner, grid), chance),
            _ => from + (chance % waiting as u64) as usize,
        }
    }

    /// The same where there are several clusters.
    fn choose(&self, from: usize, at: Place, chance: u64) -> usize {
        let (before, places) = self.places.split_at(from);
        let inside = |place: Place| place.cluster() == at.cluster();
        let beside = |place: Place| place.package() == at.package();
        let in_cluster = u64::from(self.by_cluster[at.cluster()]) - count(before, inside);
        let in_package = u64::from(self.by_package[at.package()]) - count(before, beside);
        let (elsewhere, outside) = (in_package - in_cluster, places.len() as u64 - in_package);
        let near = in_cluster + u64::from(elsewhere > 0) + u64::from(outside > 0);
        let far = |all: u64| (chance >> 32) % all;
        from + match chance % near {
            number if number < in_cluster => find(places, number, inside),
            number if number == in_cluster && elsewhere > 0 => {
                find(places, far(elsewhere), |place| beside(place) && !inside(place))
            }
            _ => find(places, far(outside), |place| !beside(place)),
        }
    }
}

/// How many fit.
#[inline]
fn count(places: &[Place], fits: impl Fn(Place) -> bool) -> u64 {
    u64::from(places.iter().fold(0_u32, |sum, place| sum + u32::from(fits(*place))))
}

/// Where the one is that fits after so many others that do.
#[inline]
fn find(places: &[Place], mut others: u64, fits: impl Fn(Place) -> bool) -> usize {
    // Eight at once, without a branch for each.
    let (eights, rest) = places.as_chunks::<8>();
    let mut start = 0;
    for eight in eights {
        let here = count(eight, &fits);
        if others < here {
            break;
        }
        others -= here;
        start += 8;
    }
    let some = if start < eights.len() * 8 { &places[start..start + 8] } else { rest };
    let mut fitting = some.iter().enumerate().filter(|(_, place)| fits(**place));
    start + fitting.nth(others as usize).map_or(0, |(place, _)| place)
}

/// Who waits, by line.
#[derive(Debug, Default)]
pub(super) struct Queues(Vec<Queue>);

impl Queues {
    /// Adds one who waits; says whether it is the first one of its line.
    pub(super) fn join(&mut self, line: u32, waiter: Waiter, grid: &Grid<'_>) -> bool {
        let line = line as usize;
        if self.0.len() <= line {
            self.0.resize_with(line + 1, || Queue::new(grid));
        }
        self.0[line].push(waiter, grid);
        self.0[line].waiters.len() == 1
    }
}

impl World<'_> {
    /// A line that threads wait for is free: one of them gets it, by chance, as the arbitration of a cache that is asked from many
    /// sides comes to; or several that read.
    pub(super) fn serve(&mut self, line: u32, now: Picoseconds) {
        let World { grid, memory, queues, random, threads, turns, .. } = self;
        let queue = &mut queues.0[line as usize];
        let mut next = Picoseconds::MAX;
        // Those before `tried` have been told to ask again.
        let mut tried = 0;
        while tried < queue.waiters.len() {
            let chance = random.next_u64();
            let pick = queue.arbitrate(tried, memory.lines()[line as usize].owner(), grid, chance);
            let waiter = queue.waiters[pick];
            let answer = memory.ask_line(grid, line, waiter.core, waiter.want, now);
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
                    if memory.lines()[line as usize].moving(now) {
                        break;
                    }
                    continue;
                }
            };
            queue.swap_remove(pick);
            memory.waited(line, now - waiter.asked);
            if matches!(answer, Answer::Transfer(_)) {
                memory.asked_before(line, waiter.core, now, waiter.asked);
            }
            let thread = &mut threads[waiter.thread.0 as usize];
            if let Some(address) = waiter.stored {
                thread.stores.arrive(address, waiter.core, time);
                if !std::mem::take(&mut thread.stuffed) {
                    continue;
                }
                // What it waits for is known now, or may be: it looks again.
                thread.wait(None, now);
            } else {
                thread.wait(granted, time);
            }
            thread.blocked = false;
            turns.push(Turn::of(waiter.thread, thread.time));
        }
        if !queue.waiters.is_empty() {
            turns.push(Turn::of_line(line, next));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    /// The same choice, waiter by waiter.
    fn one_by_one(queue: &Queue, from: usize, owner: u32, grid: &Grid<'_>, chance: u64) -> usize {
        let rank = |waiter: &Waiter| {
            if grid.cluster(waiter.core) == grid.cluster(owner) {
                0
            } else if grid.package(waiter.core) == grid.package(owner) {
                1
            } else {
                2
            }
        };
        let of = |wanted: usize| {
            let all = queue.waiters.iter().enumerate().skip(from);
            all.filter(|(_, waiter)| rank(waiter) == wanted).map(|(place, _)| place).collect::<Vec<_>>()
        };
        let ranks = [0, 1, 2].map(of);
        // One of each of the farther ranks stands beside all near ones.
        let mut near: Vec<usize> = ranks[0].clone();
        for far in &ranks[1..] {
            if !far.is_empty() {
                near.push(far[((chance >> 32) % far.len() as u64) as usize]);
            }
        }
        near[(chance % near.len() as u64) as usize]
    }

    #[test]
    fn the_next_one_is_that_of_a_choice_one_by_one() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        for name in ["epyc-9654-2x96", "paper-4x10x2", "opsian-haswell"] {
            let machine = Machine::named(name).unwrap();
            let grid = Grid::new(&machine);
            let mut queue = Queue::new(&grid);
            for step in 0..3000_u32 {
                let (waiting, chance) = (queue.waiters.len(), random.next_u64());
                // Up to some dozens, and down again.
                if waiting < 2 || (chance >> 20) % 100 < if step / 200 % 2 == 0 { 65 } else { 35 } {
                    let core = (chance >> 40) as u32 % grid.cores();
                    queue.push(
                        Waiter { thread: Number(step), core, want: Want::Lock, asked: 0, stored: None },
                        &grid,
                    );
                    continue;
                }
                let (from, owner) = ((chance >> 8) as usize % waiting, (chance >> 44) as u32 % grid.cores());
                let pick = queue.arbitrate(from, Some(owner), &grid, chance);
                assert_eq!(pick, one_by_one(&queue, from, owner, &grid, chance), "step {step}");
                queue.swap(from, pick);
                queue.swap_remove(pick);
            }
        }
    }
}
