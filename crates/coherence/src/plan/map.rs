//! Where buffers pay: threads x eden, by the bounds of each way to refill.
//!
//! What serves refills is simulated once for each number of threads: how many the heap's top, a core's buffer or that of an L3 serves
//! in a second when threads do nothing else. The rest is arithmetic: a program asks for (bytes in a second) / (bytes of a TLAB), and is
//! as fast as the first thing that is used up.

use super::ranges::{End, Group, vary};
use super::{Request, Young};
use crate::machine::Machine;
use crate::programs::allocate::{Hierarchy, Tlab, streams};
use crate::scenario::{Bound, Levels, Scenario, Sizes, work};
use crate::sweep;
use serde::Serialize;
use std::io;

/// A way to refill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// HotSpot's own growing TLABs.
    Growing,
    /// TLABs of 4 KB from the heap (`-XX:TLABSize=4k -XX:-ResizeTLAB`).
    Small,
    /// TLABs of 4 KB from core buffers.
    Core,
    /// TLABs of 4 KB from L3 buffers.
    L3,
    /// TLABs of 4 KB from core buffers over L3 buffers.
    CoreL3,
}

/// TLABs of all ways but the growing one.
const SMALL: Tlab = Tlab::Bytes(4 << 10);

impl Way {
    /// All of them, the simplest first: of equal ones the first is taken.
    pub const ALL: [Way; 5] = [Way::Growing, Way::Small, Way::Core, Way::L3, Way::CoreL3];

    /// As shown.
    pub const fn name(self) -> &'static str {
        match self {
            Way::Growing => "growing",
            Way::Small => "4k",
            Way::Core => "core",
            Way::L3 => "L3",
            Way::CoreL3 => "core+L3",
        }
    }

    const fn levels(self) -> Levels {
        match self {
            Way::Growing | Way::Small => Levels::NONE,
            Way::Core => Levels::CORE,
            Way::L3 => Levels::L3,
            Way::CoreL3 => Levels::CORE_L3,
        }
    }

    const fn tlab(self) -> Tlab {
        if matches!(self, Way::Growing) { Tlab::Growing } else { SMALL }
    }
}

/// What a way comes to at one place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Which.
    pub way: Way,
    /// Objects in a second, with all collections.
    pub per_second: f64,
    /// What decides.
    pub bound: Bound,
    /// The part of the time for which everybody stops.
    pub collecting: f64,
}

/// A place of the map.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// Threads that allocate.
    pub threads: u32,
    /// Eden in bytes.
    pub eden: usize,
    /// All ways.
    pub rates: Vec<Rate>,
    /// What the way that is as fast as any gains over HotSpot's growing TLABs: the least and the most over the ranges of all numbers.
    pub range: (f64, f64),
}

impl Place {
    /// The simplest way that is at most 2 % slower than the fastest, if it gains over the whole range; otherwise HotSpot's own.
    pub fn choice(&self) -> &Rate {
        if self.range.0 > super::TELLING { fastest(&self.rates) } else { &self.rates[0] }
    }

    /// Over HotSpot's growing TLABs.
    pub fn gain(&self) -> f64 {
        self.choice().per_second / self.rates[0].per_second
    }
}

fn fastest(rates: &[Rate]) -> &Rate {
    let most = rates.iter().map(|rate| rate.per_second).fold(0.0, f64::max);
    let near = |rate: &&Rate| rate.per_second >= most * (1.0 - super::CLOSE);
    rates.iter().find(near).unwrap_or(&rates[0])
}

/// Threads that a program may have: some for each CPU, and pools of more.
pub const POOLS: [u32; 4] = [200, 1000, 2000, 5000];
/// Edens that programs have.
pub const EDENS: [usize; 6] = [64 << 20, 256 << 20, 1 << 30, 4 << 30, 16 << 30, 64 << 30];
/// The heap of an eden: as much as [`super::plan`]'s users have where they name none.
pub const HEAP_OF_EDEN: usize = 4;
/// Simulated time for a capacity, in picoseconds.
const LENGTH: u64 = 500_000_000;
/// A TLAB of two objects: little but refills.
const TINY: (Tlab, u32) = (Tlab::Bytes(256), 128);

/// Refills in a second that are served when threads do nothing else.
fn capacity(machine: &Machine, request: &Request, levels: Levels, running: u32) -> io::Result<f64> {
    let eden = 64 << 30;
    let (tlab, object) = TINY;
    // Large buffers: what is above them is counted apart.
    let sizes = Sizes { core: Some(1 << 20), l3: Some(32 << 20), package: None };
    let mut machine = machine.clone();
    // Lines alone: memory is a bound of its own.
    machine.bandwidth.last_cache = f64::INFINITY;
    let scenario = Scenario {
        object,
        work: 1.0,
        threads: running,
        eden,
        collector: request.collector.with_heap(HEAP_OF_EDEN * eden),
        length: LENGTH,
        ..request.scenario(0, tlab, sizes.hierarchy(levels, &machine, eden))
    };
    let (measured, _) = scenario.run(&machine, 0)?;
    let refills = measured.buffers.as_ref().map_or(0, |buffers| buffers.refills);
    Ok(refills as f64 / measured.seconds)
}

/// Bytes of new objects in a second of threads that fill cores first, where a core's would write `work` of them if nothing kept it from
/// it; and what keeps it. `local`: they are in their writers' packages.
fn memory(machine: &Machine, running: u32, work: f64, local: bool) -> (Bound, f64) {
    let (shape, bandwidth) = (&machine.shape, &machine.bandwidth);
    let reached = shape.reached(running);
    let packages = f64::from(shape.packages);
    let wanted = work * bandwidth.traffic;
    let core = wanted.min(bandwidth.core);
    // What comes out of the clusters' ports in each package that they reach.
    let mut out = vec![0.0; reached.packages as usize];
    for cluster in 0..reached.clusters {
        let cores = f64::from(shape.cores.min(reached.cores - cluster * shape.cores));
        out[(cluster / shape.clusters) as usize] += (cores * core).min(bandwidth.cluster);
    }
    let ported: f64 = out.iter().sum();
    let most = out.iter().copied().fold(0.0, f64::max);
    let channels = if local {
        out.iter().map(|out| out.min(bandwidth.channels)).sum()
    } else {
        packages * bandwidth.channels
    };
    // Of what a package writes all that goes elsewhere crosses, half of it over its own links; of what others write, its share.
    let link = if packages > 1.0 && !local {
        2.0 * packages * bandwidth.link / (1.0 + most / ported * (packages - 2.0))
    } else {
        f64::INFINITY
    };
    // Each way is told of where it keeps more than those before it.
    let mut least = (Bound::Work, f64::from(reached.cores) * wanted);
    for (bound, bytes) in [
        (Bound::Core, f64::from(reached.cores) * core),
        (Bound::Cluster, ported),
        (Bound::Memory, channels),
        (Bound::Link, link),
    ] {
        if bytes < least.1 * (1.0 - 1e-9) {
            least = (bound, bytes);
        }
    }
    (least.0, least.1 / bandwidth.traffic)
}

/// Numbers somewhere in their ranges, and what serves refills then.
struct Case {
    machine: Machine,
    request: Request,
    served: Vec<((Levels, u32), f64)>,
}

impl Case {
    fn served(&self, levels: Levels, running: u32) -> f64 {
        let found = self.served.iter().find(|(of, _)| *of == (levels, running));
        found.map_or(f64::INFINITY, |(_, capacity)| *capacity)
    }

    fn rates(&self, threads: u32, eden: usize) -> Vec<Rate> {
        Way::ALL.into_iter().filter_map(|way| rate(self, way, threads, eden)).collect()
    }

    /// The same with one more group at an end: what serves refills does not depend on it.
    fn vary(&self, group: Group, end: End) -> Case {
        let (mut machine, mut request) = (self.machine.clone(), self.request.clone());
        vary(&mut machine, &mut request, group, end);
        Case { machine, request, served: self.served.clone() }
    }
}

/// The numbers as they are; all that decides how fast lines move at either end; the clock at either end.
fn corners(machine: &Machine, request: &Request) -> Vec<(Machine, Request)> {
    let lines: &[Group] =
        &[Group::Transfers, Group::Latencies, Group::Locked, Group::Refill, Group::Heap, Group::G1];
    let mut corners = vec![(machine.clone(), request.clone())];
    for groups in [lines, &[Group::Clock]] {
        for end in End::BOTH {
            let (mut machine, mut request) = (machine.clone(), request.clone());
            groups.iter().for_each(|group| vary(&mut machine, &mut request, *group, end));
            if groups == lines {
                // A line is kept for what the drain leaves of a locked instruction.
                vary(&mut machine, &mut request, Group::Drain, end.other());
            }
            corners.push((machine, request));
        }
    }
    corners
}

/// Draws it: for these threads and edens, with everything else as it was asked for.
///
/// # Errors
/// When there is no memory for the threads' stacks.
pub fn map(
    machine: &Machine,
    request: &Request,
    threads: &[u32],
    edens: &[usize],
    done: impl Fn(usize, usize) + Sync,
) -> io::Result<Vec<Place>> {
    within(machine, &corners(machine, request), threads, edens, done)
}

/// What serves the refills of so many running threads, with numbers somewhere in their ranges.
type Serving<'a> = (&'a (Machine, Request), (Levels, u32));

/// The same over these corners, of which the first has the numbers as they are.
fn within(
    machine: &Machine,
    corners: &[(Machine, Request)],
    threads: &[u32],
    edens: &[usize],
    done: impl Fn(usize, usize) + Sync,
) -> io::Result<Vec<Place>> {
    let cpus = machine.shape.cpus();
    let mut running: Vec<u32> = threads.iter().map(|threads| (*threads).min(cpus)).collect();
    running.dedup();
    let levels = [Levels::NONE, Levels::CORE, Levels::L3, Levels::CORE_L3];
    let places: Vec<(Levels, u32)> =
        running.iter().flat_map(|running| levels.map(|levels| (levels, *running))).collect();
    let simulated: Vec<Serving<'_>> =
        corners.iter().flat_map(|corner| places.iter().map(move |place| (corner, *place))).collect();
    let of =
        |((machine, request), (levels, running)): &Serving<'_>| capacity(machine, request, *levels, *running);
    let capacities = sweep::each(&simulated, |count| done(count, simulated.len()), of);
    let capacities = capacities.into_iter().collect::<io::Result<Vec<f64>>>()?;
    let mut cases: Vec<Case> = (corners.iter().zip(capacities.chunks(places.len().max(1))))
        .map(|((machine, request), capacities)| Case {
            machine: machine.clone(),
            request: request.clone(),
            served: places.iter().copied().zip(capacities.iter().copied()).collect(),
        })
        .collect();
    let rest =
        [Group::Memory, Group::LastCache, Group::Work, Group::Siblings, Group::Survivors, Group::Pauses];
    for corner in 0..3.min(cases.len()) {
        for group in rest {
            for end in End::BOTH {
                cases.push(cases[corner].vary(group, end));
            }
        }
    }
    let place = |threads: u32, eden: usize| {
        let rates = cases[0].rates(threads, eden);
        let way = fastest(&rates).way;
        let gain = |case: &Case| {
            let rates = case.rates(threads, eden);
            let of = |way| rates.iter().find(|rate| rate.way == way).map_or(f64::NAN, |rate| rate.per_second);
            of(way) / of(Way::Growing)
        };
        let gains: Vec<f64> = cases.iter().map(gain).collect();
        let range =
            (gains.iter().copied().fold(f64::INFINITY, f64::min), gains.iter().copied().fold(0.0, f64::max));
        Place { threads, eden, rates, range }
    };
    let places = threads.iter().flat_map(|threads| edens.iter().map(move |eden| (*threads, *eden)));
    Ok(places.map(|(threads, eden)| place(threads, eden)).collect())
}

/// One way at one place; nothing where eden is too small for its buffers.
fn rate(case: &Case, way: Way, threads: u32, eden: usize) -> Option<Rate> {
    let (machine, request) = (&case.machine, &case.request);
    let hierarchy = Sizes::default().hierarchy(way.levels(), machine, eden);
    let collector = request.collector.with_heap(HEAP_OF_EDEN * eden);
    let asked = Request { threads, eden, collector, ..request.clone() };
    let scenario = asked.scenario(1, way.tlab(), hierarchy);
    // What the command refuses for its buffers alone; HotSpot's own TLABs go down to 2 KB and leave eden its room.
    if way != Way::Growing && scenario.held(machine) as usize > eden / 2 {
        return None;
    }
    let mutator = scenario.mutator()?;
    let (mean, running) = (mutator.mean_bytes(), threads.min(machine.shape.cpus()));
    let tlab = way.tlab().bytes(eden, threads).min(collector.most()) as f64;
    // In a TLAB's time for its objects a refill is work too.
    let alone = work(machine, &mutator, threads);
    let cycles = mutator.object_cycles + mutator.byte_cycles * mean;
    let stock = matches!(way, Way::Growing | Way::Small);
    let call = request.calls.refill + if stock { request.calls.heap.request } else { 0.0 };
    let refill = call / (cycles * machine.costs.work_scale) * (mean / tlab);
    let own = alone / (1.0 + refill);
    let mut bounds = vec![(Bound::Work, own)];
    if streams(machine, eden, threads, request.pinned) {
        let core = own * mean / f64::from(machine.shape.reached(running).cores);
        let (bound, bytes) = memory(machine, running, core, collector.local());
        bounds.push((bound, bytes / mean));
    }
    // What refills TLABs, and what refills the last level's buffers.
    let first = if stock { Bound::Heap } else { Bound::Line };
    bounds.push((first, case.served(way.levels(), running) * tlab / mean));
    if let (Hierarchy::Levels(ranks), Some(last)) = (&scenario.hierarchy, scenario.ranks().last()) {
        bounds.push((
            Bound::Heap,
            case.served(Levels::NONE, running) * last.bytes.min(collector.most()) as f64 / mean,
        ));
        if let [core, _] = ranks.as_slice() {
            bounds.push((Bound::Line, case.served(Levels::L3, running) * core.bytes as f64 / mean));
        }
    }
    let (bound, objects) = bounds.into_iter().min_by(|one, other| one.1.total_cmp(&other.1))?;
    let young = Young {
        eden: eden as f64,
        unused: scenario.held(machine) as f64 / 2.0,
        survivors: request.survivors.share * eden as f64,
        threads,
        pauses: request.pauses,
    };
    let collections = young.collections(machine, objects * mean);
    Some(Rate { way, per_second: objects * (1.0 - collections.share), bound, collecting: collections.share })
}

#[cfg(test)]
#[path = "map_test.rs"]
mod tests;
