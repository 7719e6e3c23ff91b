//! What bounds a simulation, and by how much: the part of its time for which each thing that is shared was busy.

use crate::machine::Machine;
use crate::memory::Carried;
use crate::programs::Run;
use crate::programs::allocate::Mutator;
use serde::Serialize;
use strum::Display;

/// What can bound a program.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The threads' own work on the CPUs that they have.
    #[strum(serialize = "work")]
    Work,
    /// One line of the heap: its top, as a rule.
    #[strum(serialize = "heap's top")]
    Heap,
    /// Another line that goes from core to core: a counter, or a level's buffer.
    #[strum(serialize = "line")]
    Line,
    /// What a core alone carries to and from memory.
    #[strum(serialize = "core")]
    Core,
    /// What the port of a cluster carries.
    #[strum(serialize = "L3 port")]
    Cluster,
    /// The memory channels.
    #[strum(serialize = "memory")]
    Memory,
    /// The links between packages.
    #[strum(serialize = "links")]
    Link,
}

/// One bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// What it is.
    pub bound: Bound,
    /// The part of it that is used: 1 is all.
    pub used: f64,
    /// Operations in a second of all threads if all of it were used.
    pub per_second: f64,
}

/// All bounds of a simulation, the most used first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Roofline(pub Vec<Limit>);

/// A bound is told of if at least this part of it is used.
const WORTH_TELLING: f64 = 0.005;

impl Roofline {
    /// `mutator`: what threads do, where they allocate.
    pub(crate) fn of(machine: &Machine, mutator: Option<&Mutator>, run: &Run) -> Roofline {
        let per_second = run.per_second();
        let time = run.length as f64;
        let limit = |bound, used: f64| Limit { bound, used, per_second: per_second / used };
        let mut limits = Vec::new();
        if let Some(mutator) = mutator {
            let most = work(machine, mutator, run.threads);
            limits.push(Limit { bound: Bound::Work, used: per_second / most, per_second: most });
        }
        let busiest = |heap: bool| {
            let lines = run.outcome.traffic.lines.iter();
            let of = lines.filter(|line| line.name.starts_with("heap") == heap && line.name != "new objects");
            of.map(|line| line.occupied).max().unwrap_or(0) as f64 / time
        };
        limits.push(limit(Bound::Heap, busiest(true)));
        limits.push(limit(Bound::Line, busiest(false)));
        let streamed = &run.outcome.streamed;
        let carried = |way: &Carried| way.most / (way.bytes_per_second * time * 1e-12);
        limits.push(limit(Bound::Core, carried(&streamed.cores)));
        limits.push(limit(Bound::Cluster, carried(&streamed.clusters)));
        limits.push(limit(Bound::Memory, carried(&streamed.channels)));
        limits.push(limit(Bound::Link, carried(&streamed.links)));
        limits.retain(|limit| limit.used >= WORTH_TELLING);
        limits.sort_by(|one, other| other.used.total_cmp(&one.used));
        Roofline(limits)
    }

    /// What is used most.
    pub fn first(&self) -> Option<&Limit> {
        self.0.first()
    }

    /// Operations in a second that no other use of the machine's memory, links and CPUs would let the program exceed.
    pub fn most(&self) -> f64 {
        let physical = |limit: &&Limit| !matches!(limit.bound, Bound::Heap | Bound::Line);
        self.0.iter().filter(physical).map(|limit| limit.per_second).fold(f64::INFINITY, f64::min)
    }
}

/// Objects in a second of threads that do nothing but their work.
pub fn work(machine: &Machine, mutator: &Mutator, threads: u32) -> f64 {
    let shape = &machine.shape;
    let threads = threads.min(shape.cpus());
    // Threads fill cores first; those that share one are slower for it.
    let (all, more) = (threads / shape.cores(), threads % shape.cores());
    let core = |threads: u32| f64::from(threads) / machine.slowdown(threads);
    let together = f64::from(more) * core(all + 1) + f64::from(shape.cores() - more) * core(all);
    let cycles = mutator.object_cycles + mutator.byte_cycles * mutator.mean_bytes();
    together * machine.clock_ghz * 1e9 / (cycles * machine.costs.work_scale)
}
