//! A JVM's counters at two moments, and what follows from them.

use crate::evidence::{Allocation, Buffers, Evidence, Group, Refills, SHENANDOAH, Threads, Times};
use crate::placement::Periods;
use crate::short_lived;
use crate::thread_waste::ThreadWaste;
use control::times::{Kind, Way};
use control::{Mode, View};
use hab::Counter;
use jvm::cpu;
use jvm::large_objects::LargeObjects;
use jvm::new_threads::NewThreads;
use jvm::observe;
use jvm::perfdata::PerfData;
use jvm::refills::{RefillTimes, Taken};
use jvm::thread_dump::JavaThread;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A word of the heap, in which HotSpot counts waste.
const WORD: f64 = 8.0;

/// What is counted since the JVM's start.
pub(crate) struct Moment {
    pub(crate) at: Instant,
    pub(crate) perf: Option<PerfData>,
    /// Handed out to threads, in bytes.
    pub(crate) used: u64,
    /// Of Terrace's own buffers, where there are any.
    pub(crate) buffers: Option<Requests>,
    pub(crate) pauses: u64,
    pub(crate) objects: Option<u64>,
    pub(crate) times: Option<RefillTimes>,
    pub(crate) large: Option<LargeObjects>,
    pub(crate) new_threads: Option<NewThreads>,
    pub(crate) by_thread: Option<ThreadWaste>,
    pub(crate) cpu: Option<cpu::CpuTime>,
    pub(crate) touches: Option<u64>,
    pub(crate) anonymous: Option<u64>,
    pub(crate) periods: Option<Periods>,
}

/// Counters that were read longer ago are not those of the end: their file was removed, and the JVM has gone on without it.
const RECENT: Duration = Duration::from_secs(1);

impl Moment {
    /// A JVM that ends takes its counters with it, before it is gone: those that were read last, and their time, are the end. Whether it is so.
    pub(crate) fn end_with(&mut self, last: Option<(Instant, PerfData)>) -> bool {
        let last = last.filter(|(at, _)| self.perf.is_none() && self.at.duration_since(*at) <= RECENT);
        let Some((at, perf)) = last else { return false };
        (self.at, self.perf) = (at, Some(perf));
        true
    }
}

/// What Terrace's buffers were asked for, and did.
#[derive(Clone, Copy, Default)]
pub(crate) struct Requests {
    all: u64,
    to_heap: u64,
    waste: u64,
}

impl Requests {
    /// `None` of an agent without buffers.
    pub(crate) fn read(view: &View, settings: &serde_json::Value) -> Option<Requests> {
        let names = settings["levels"].as_str().filter(|names| *names != "none")?;
        let levels = names.split('+').count().clamp(1, view.levels().max(1));
        let of = |level: usize, counters: &[Counter]| {
            let domains = view.counters(level).iter();
            let all = domains.flat_map(|domain| counters.iter().map(|counter| domain.get(*counter)));
            all.fold(0, u64::saturating_add)
        };
        // Past the buffers: off, or not served by any.
        let past = of(0, &[Counter::Passed, Counter::Missed]);
        let near = of(0, &[Counter::Buffers, Counter::Objects, Counter::Stolen, Counter::Direct]);
        let far = of(levels - 1, &[Counter::Refills, Counter::Direct]);
        let waste = observe::waste(view, false);
        Some(Requests {
            all: near.saturating_add(past),
            to_heap: far.saturating_add(past),
            waste: waste.total(),
        })
    }
}

/// Terrace's buffers between two moments.
pub(crate) fn buffers(
    first: &Moment,
    last: &Moment,
    view: &View,
    settings: &serde_json::Value,
) -> Option<Buffers> {
    let (from, to) = (first.buffers?, last.buffers?);
    Some(Buffers {
        levels: settings["levels"].as_str().unwrap_or_default().to_owned(),
        on: view.mode() != Mode::Off,
        requests: to.all.saturating_sub(from.all),
        to_heap: to.to_heap.saturating_sub(from.to_heap),
        waste: to.waste.saturating_sub(from.waste) as f64,
    })
}

/// Waste in TLABs, as HotSpot publishes it at each collection, of the time since the one before.
#[derive(Default)]
pub(crate) struct Waste {
    collections: u64,
    at_collection: f64,
    at_refill: f64,
    threads: f64,
}

impl Waste {
    /// What changes with each collection that retires TLABs. Pauses of a concurrent cycle do not, and leave the numbers as they were. Where phases are counted
    /// as collections, the numbers themselves have to tell: they differ from one retirement to the next.
    pub(crate) fn retirements(perf: &PerfData) -> u64 {
        if perf.counts_phases() {
            let numbers = ["gcWaste", "refillWaste", "slowWaste", "alloc", "fills", "allocThreads"];
            let values = numbers.iter().map(|name| perf.get(&format!("sun.gc.tlab.{name}")).unwrap_or(0));
            return values.fold(0, |sum: u64, value| sum.wrapping_mul(31).wrapping_add(value));
        }
        let [young, full, ..] = perf.collections_of_each();
        young + full
    }

    pub(crate) fn add(&mut self, perf: &PerfData, seen: &mut Option<u64>) {
        let now = Waste::retirements(perf);
        let before = seen.replace(now);
        if before.is_none_or(|before| before == now) {
            return;
        }
        let words = |name: &str| perf.get(&format!("sun.gc.tlab.{name}")).map(|words| words as f64 * WORD);
        let (Some(at_collection), Some(at_refill)) =
            (words("gcWaste"), words("refillWaste").or_else(|| words("slowWaste")))
        else {
            return;
        };
        self.collections += 1;
        self.at_collection += at_collection;
        self.at_refill += at_refill;
        self.threads += perf.get("sun.gc.tlab.allocThreads").unwrap_or(0) as f64;
    }

    /// Of all collections, as many as there were: of those that were seen the mean.
    fn of(&self, sum: f64, collections: f64) -> f64 {
        if self.collections == 0 { 0.0 } else { sum / self.collections as f64 * collections }
    }
}

/// CPU-seconds for which a quota held the process back: the group's time, in the proportion in which the process used the group's CPU time.
pub(crate) fn held_back(
    from: &Periods,
    to: &Periods,
    cpu: Option<(&cpu::CpuTime, &cpu::CpuTime)>,
) -> Option<f64> {
    let of_group = to.used?.saturating_sub(from.used?).as_secs_f64();
    let (first, last) = cpu?;
    let own = last.process.saturating_sub(first.process).as_secs_f64();
    let held = to.held_back?.saturating_sub(from.held_back?).as_secs_f64();
    (of_group > 0.0).then(|| held * (own / of_group).min(1.0))
}

pub(crate) fn threads(
    first: &Moment,
    last: &Moment,
    looks: &[Vec<JavaThread>],
    waste: &Waste,
    seconds: f64,
) -> Threads {
    let counter = |moment: &Moment, name: &str| moment.perf.as_ref()?.get(name);
    let both = |name: &str| counter(first, name).zip(counter(last, name));
    let started = both("java.threads.started").map(|(from, to)| to.saturating_sub(from));
    let living = both("java.threads.live");
    let young = short_lived::young(looks, seconds);
    let attached = short_lived::attached(&young, looks.len(), seconds, started);
    let counted = last.new_threads.as_ref().zip(first.new_threads.as_ref()).map(|(to, from)| to.since(from));
    Threads {
        alive: counter(last, "java.threads.live"),
        started,
        // All that were there or came, but for those that are there.
        ended: started.zip(living).map(|(started, (from, to))| (started + from).saturating_sub(to)),
        allocating: (waste.collections > 0)
            .then(|| (waste.threads / waste.collections as f64).round() as u64),
        attached,
        short_lived: short_lived::named(&young, looks, seconds, started, attached, counted),
        groups: groups(looks),
        of_ended: None,
    }
}

/// What each has allocated, from the accounts of HotSpot's threads, by their addresses: a dump rounds it, to a gigabyte at last. A thread without an account
/// keeps what the dump says.
pub(crate) fn count_exactly(threads: &mut [JavaThread], accounts: &BTreeMap<usize, u64>) {
    for thread in threads {
        let known = usize::try_from(thread.id).ok().and_then(|id| accounts.get(&id)).copied();
        // An account of less is that of a thread that has got the address since.
        thread.exactly = known.filter(|bytes| thread.allocated.is_none_or(|dumped| *bytes >= dumped));
    }
}

/// What threads of each name allocated between the first look and the last. A thread that has got another name meanwhile, as those of pools get for each
/// task, is the same.
fn groups(looks: &[Vec<JavaThread>]) -> Vec<Group> {
    let (Some(first), Some(last)) = (looks.first(), looks.last()) else { return Vec::new() };
    let before: BTreeMap<u64, &JavaThread> = first.iter().map(|thread| (thread.number, thread)).collect();
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for thread in last {
        let group = groups
            .entry(thread.group())
            .or_insert_with_key(|name| Group { name: name.clone(), ..Group::default() });
        let had = before.get(&thread.number);
        // Like from like: of a rounded number and an exact one the difference may be a gigabyte.
        let exactly = match had {
            Some(had) => thread.exactly.zip(had.exactly),
            None => thread.exactly.map(|bytes| (bytes, 0)),
        };
        let rounded = || (thread.allocated.unwrap_or(0), had.and_then(|had| had.allocated).unwrap_or(0));
        let (now, had) = exactly.unwrap_or_else(rounded);
        group.threads += 1;
        group.bytes += now.saturating_sub(had);
    }
    let mut groups: Vec<Group> = groups.into_values().filter(|group| group.bytes > 0).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.bytes));
    groups
}

pub(crate) fn allocation(
    first: &Moment,
    last: &Moment,
    waste: &Waste,
    evidence: &Evidence,
) -> Option<Allocation> {
    let waste_buffers = evidence.terrace.as_ref().map_or(0.0, |buffers| buffers.waste);
    let used = last.used.saturating_sub(first.used) as f64 + waste_buffers;
    let objects = last.objects?.saturating_sub(first.objects?) as f64;
    if used <= 0.0 {
        return None;
    }
    let causes = &evidence.eden.causes;
    let retiring = 1.0 - causes.concurrent() as f64 / causes.all().max(1) as f64;
    let collections = match evidence.eden.phases {
        true => waste.collections as f64,
        false => evidence.eden.collections.unwrap_or(0) as f64 * retiring,
    };
    let lost = (used - waste_buffers - objects).max(0.0);
    let at_collection = waste.of(waste.at_collection, collections).min(lost);
    let at_refill = waste.of(waste.at_refill, collections).min(lost - at_collection);
    let rest = lost - at_collection - at_refill;
    // Of collections that were not looked at, and of counters that are not there, nobody knows what they lost.
    let is_counted = waste.collections > 0 || evidence.eden.collections == Some(0);
    let threads = &evidence.threads;
    let ended_share = match evidence.eden.collections {
        // No collection has retired the TLABs of those who stay and have long been there: each still has his.
        Some(0) => threads.ended_share().zip(threads.ended).map(|(share, ended)| {
            share.min(ended as f64 / ended.saturating_add(threads.alive.unwrap_or(0)) as f64)
        }),
        _ => threads.ended_share().filter(|_| is_counted),
    };
    let known = if ended_share.is_some() { rest } else { 0.0 };
    let waste_ended = known * ended_share.unwrap_or(0.0);
    let ended = evidence.threads.of_ended.zip(evidence.threads.ended);
    Some(Allocation {
        used,
        objects: objects.min(used),
        waste_collection: at_collection,
        waste_refill: at_refill,
        waste_buffers,
        waste_ended,
        waste_unknown: rest - known,
        held: known - waste_ended,
        of_ended_thread: ended.map(|(bytes, ended)| bytes as f64 / ended as f64),
    })
}

/// Bytes of objects that no thread alive at the end has allocated: threads that had ended by then did.
pub(crate) fn of_ended(first: &Moment, last: &Moment, evidence: &Evidence, looks: usize) -> Option<u64> {
    let objects = last.objects?.saturating_sub(first.objects?);
    let staying = evidence.threads.groups.iter().map(|group| group.bytes).fold(0, u64::saturating_add);
    (looks > 1 && evidence.threads.ended? > 0).then(|| objects.saturating_sub(staying))
}

/// No work for a refill takes so long: the thread has lost its CPU, or waits for a lock whose holder has. Others work meanwhile.
const PREEMPTED_NS: u64 = 50_000;

/// What Shenandoah does for an object always takes its lock; with G1 such a request is one for humongous objects, which no TLAB is to have.
pub(crate) fn refills(first: &Moment, last: &Moment, collector: &str) -> Option<Refills> {
    let between = last.times.as_ref()?.since(first.times.as_ref()?);
    let at_work = |kind, way| {
        let taken = between.of(kind, way);
        Times { total_ns: taken.total_within_ns(PREEMPTED_NS) as f64, ..times(taken) }
    };
    let locked = at_work(Kind::Tlab, Way::Region);
    let with_waits = between.of(Kind::Tlab, Way::Region).total_ns() as f64;
    Some(Refills {
        quick: at_work(Kind::Tlab, Way::Quick),
        locked,
        waited_ns: (with_waits - locked.total_ns).max(0.0),
        collecting: times(between.of(Kind::Tlab, Way::Collection)),
        objects: at_work(Kind::Object, if collector == SHENANDOAH { Way::Region } else { Way::Quick }),
    })
}

fn times(taken: &Taken) -> Times {
    let percentile = |share| taken.percentile_ns(share).unwrap_or(0) as f64;
    Times {
        count: taken.count(),
        timed: taken.timed(),
        total_ns: taken.total_ns() as f64,
        p10_ns: percentile(0.1),
        p50_ns: percentile(0.5),
        p99_ns: percentile(0.99),
        max_ns: taken.max_ns() as f64,
    }
}

#[cfg(test)]
#[path = "moment_test.rs"]
mod tests;
