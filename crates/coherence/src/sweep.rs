//! Many simulations at once: one for each CPU of the machine at hand.
//!
//! A simulation runs on one thread and knows nothing of others, so what it gives does not depend on how many there are.

use crate::machine::Machine;
use crate::programs::allocate::Tlab;
use crate::scenario::{Levels, Measured, Scenario};
use serde::Serialize;
use std::io;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// One place of a grid.
#[derive(Clone, Debug)]
pub struct Point {
    /// Threads' buffers.
    pub tlab: Tlab,
    /// What stands over them.
    pub levels: Levels,
    /// All of it, with sizes.
    pub scenario: Scenario,
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The levels' name.
    pub levels: &'static str,
    /// Objects in a second over those without levels, with the same TLABs and threads; `None` where that is not in the grid.
    pub speed_up: Option<f64>,
    /// The rest.
    #[serde(flatten)]
    pub measured: Measured,
}

/// Simulates a grid; `done` is told how many points are done.
///
/// # Errors
/// When there is no memory for the threads' stacks.
pub fn grid(machine: &Machine, points: &[Point], done: impl Fn(usize) + Sync) -> io::Result<Vec<Cell>> {
    let results = each(points, done, |point| point.scenario.run(machine, 0).map(|(measured, _)| measured));
    let results = results.into_iter().collect::<io::Result<Vec<Measured>>>()?;
    let base = |point: &Point| {
        let same = |other: &&Point| {
            other.levels == Levels::NONE
                && other.tlab == point.tlab
                && other.scenario.threads == point.scenario.threads
        };
        let (index, _) = points.iter().enumerate().find(|(_, other)| same(other))?;
        Some(results[index].per_second)
    };
    let speed_ups: Vec<Option<f64>> = (points.iter().zip(&results))
        .map(|(point, measured)| {
            base(point).filter(|base| *base > 0.0).map(|base| measured.per_second / base)
        })
        .collect();
    let cells = points.iter().zip(results).zip(speed_ups);
    Ok(cells
        .map(|((point, measured), speed_up)| Cell { levels: point.levels.name(), speed_up, measured })
        .collect())
}

/// Does `work` for every item on all CPUs, and gives what it gives in the items' order. `done` is told how many are done, each time
/// one is.
pub fn each<T: Sync, R: Send>(
    items: &[T],
    done: impl Fn(usize) + Sync,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(items.len()).max(1);
    each_by(workers, items, done, work)
}

fn each_by<T: Sync, R: Send>(
    workers: usize,
    items: &[T],
    done: impl Fn(usize) + Sync,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = Mutex::new(items.iter().enumerate());
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    // The lock is not held while the work is done.
                    let item = next.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((index, item)) = item else { break };
                    let result = work(item);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.push((index, result));
                    done(results.len());
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::allocate::Collector;
    use crate::programs::allocate::Hierarchy;
    use crate::scenario::Calls;
    use crate::scenario::{Program, Sizes};

    #[test]
    fn results_are_in_the_items_order_whoever_made_them() {
        let items: Vec<u64> = (0..50).collect();
        for workers in [1, 2, 7] {
            let told = Mutex::new(Vec::new());
            let results = each_by(workers, &items, |count| told.lock().unwrap().push(count), |item| item * 2);
            assert_eq!(results, items.iter().map(|item| item * 2).collect::<Vec<_>>());
            assert_eq!(told.into_inner().unwrap(), (1..=50).collect::<Vec<_>>());
        }
        assert!(each::<u64, u64>(&[], |_| (), |item| *item).is_empty());
    }

    #[test]
    fn speed_ups_are_over_no_levels_with_the_same_thread_buffers() {
        let machine = Machine::named("opsian-haswell").unwrap();
        let point = |tlab, levels| Point {
            tlab,
            levels,
            scenario: Scenario {
                tlab,
                hierarchy: Sizes::default().hierarchy(levels, &machine, 1 << 30),
                ..scenario(4)
            },
        };
        let small = Tlab::Bytes(512);
        let points =
            [point(small, Levels::CORE), point(small, Levels::NONE), point(Tlab::Growing, Levels::CORE)];
        let cells = grid(&machine, &points, |_| ()).unwrap();
        assert_eq!(cells[1].speed_up, Some(1.0));
        assert_eq!(cells[0].speed_up, Some(cells[0].measured.per_second / cells[1].measured.per_second));
        assert_eq!((cells[2].speed_up, cells[2].levels), (None, "core"));
    }

    fn scenario(threads: u32) -> Scenario {
        Scenario {
            program: Program::Allocate,
            threads,
            tlab: Tlab::Bytes(1024),
            hierarchy: Hierarchy::None,
            eden: 64 << 20,
            collector: Collector::Parallel,
            object: 64,
            work: 40.0,
            calls: Calls::default(),
            pinned: false,
            seed: 7,
            length: 50_000_000,
        }
    }

    #[test]
    fn simulations_beside_each_other_do_not_know_of_each_other() {
        let machine = Machine::named("opsian-haswell").unwrap();
        let scenarios: Vec<Scenario> = (1..=6).map(scenario).collect();
        let run = |scenario: &Scenario| scenario.run(&machine, 0).unwrap().0;
        assert_eq!(each_by(1, &scenarios, |_| (), run), each_by(3, &scenarios, |_| (), run));
    }
}
