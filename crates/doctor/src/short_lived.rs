//! Threads that come and go: what they are called, and who has started them.

use crate::evidence::ShortLived;
use control::new_threads::ThreadKind;
use jvm::new_threads::{self, NewThreads};
use jvm::thread_dump::JavaThread;
use std::collections::{BTreeMap, BTreeSet};

/// How long a thread lives at least, in seconds.
const YOUNGEST: f64 = 1e-4;
/// A younger one's age is 0.00 in a dump.
const TOLD: f64 = 5e-3;
/// Of the threads that started, those met have to stand for so many.
const ENOUGH_SEEN: f64 = 0.5;
/// Native code has attached most of the new threads.
pub(crate) const MOSTLY: f64 = 0.5;

/// The share of the threads that started which native code has attached, by those met whose frames tell. Who lives long is met often: one that is `age` old
/// when it is met lives for twice that on average, and stands for all that were not met. `None` where those met stand for too few.
///
/// Callbacks live for microseconds. A thread of Java's that is met right after its start, and may live for seconds, does not stand for them.
pub(crate) fn attached(
    seen: &[&JavaThread],
    looks: usize,
    seconds: f64,
    started: Option<u64>,
) -> Option<f64> {
    let stands_for = |age: f64| seconds / (looks as f64 * 2.0 * age);
    let (mut all, mut attached, mut certain) = (0.0, 0.0, 0.0);
    for (thread, is_attached) in seen.iter().filter_map(|thread| Some((thread, thread.is_attached()?))) {
        let weight = stands_for(thread.elapsed.max(YOUNGEST));
        all += weight;
        attached += if is_attached { weight } else { 0.0 };
        certain += if is_attached { weight } else { stands_for(thread.elapsed.max(TOLD)) };
    }
    let is_enough = started.is_none_or(|started| certain >= ENOUGH_SEEN * started as f64);
    (all > 0.0 && is_enough).then(|| attached / all)
}

/// What they are called, the most frequent name first. Best of all by the names that the agent has `counted`, those of native threads by who was met: an attached one has a name of
/// its own in Java only.
pub(crate) fn named(
    seen: &[&JavaThread],
    looks: &[Vec<JavaThread>],
    seconds: f64,
    started: Option<u64>,
    attached: Option<f64>,
    counted: Option<NewThreads>,
) -> Vec<ShortLived> {
    let by_count = counted.map_or_else(Vec::new, |counted| ended(&counted, looks));
    let are_native = attached.is_some_and(|share| share > MOSTLY);
    if !by_count.is_empty() && !are_native {
        return by_count;
    }
    let by_meeting = met(seen, looks.len(), seconds, started);
    if by_meeting.is_empty() { by_count } else { by_meeting }
}

/// By those met. Who lives long is met often, so that each stands for the more the younger it is; the youngest ones' ages are not told. None where those met stand for too few of
/// those that started, as in [`attached`].
fn met(seen: &[&JavaThread], looks: usize, seconds: f64, started: Option<u64>) -> Vec<ShortLived> {
    let mut weights: BTreeMap<String, f64> = BTreeMap::new();
    for thread in seen {
        *weights.entry(thread.group()).or_default() += 1.0 / thread.elapsed.max(TOLD);
    }
    let all: f64 = weights.values().sum();
    let stand_for = all * seconds / (2.0 * looks.max(1) as f64);
    if started.is_some_and(|started| stand_for < ENOUGH_SEEN * started as f64) {
        return Vec::new();
    }
    shares(weights, all, |_| false)
}

/// By those that requested their first TLAB meanwhile: who is still there at the last look has not ended, and who was there at the first has. None where most have names for which there
/// was no room.
fn ended(counted: &NewThreads, looks: &[Vec<JavaThread>]) -> Vec<ShortLived> {
    let groups: BTreeSet<String> = looks.iter().flatten().map(JavaThread::group).collect();
    let named = |kind| new_threads::name(kind, groups.iter().map(String::as_str));
    let names: BTreeMap<ThreadKind, String> = counted.kinds.keys().map(|kind| (*kind, named(kind))).collect();
    let mut ended: BTreeMap<String, f64> = BTreeMap::new();
    for (kind, threads) in &counted.kinds {
        *ended.entry(names[kind].clone()).or_default() += *threads as f64;
    }
    if ended.values().sum::<f64>() < counted.others as f64 {
        return Vec::new();
    }
    let mut staying = BTreeSet::new();
    if let (Some(first), Some(last)) = (looks.first(), looks.last()) {
        // A group that fits several shortened names may be any of these.
        let name_of = |group: String| {
            let may_be = || names.iter().find(|(kind, _)| new_threads::may_be_of(kind, &group));
            if names.values().any(|name| *name == group) {
                return group;
            }
            may_be().map_or(group.clone(), |(_, name)| name.clone())
        };
        let numbers = |look: &[JavaThread]| -> BTreeSet<u64> {
            look.iter().filter(|thread| !has_allocated_nothing(thread)).map(|thread| thread.number).collect()
        };
        let (at_first, at_last) = (numbers(first), numbers(last));
        for thread in last {
            let name = name_of(thread.group());
            if at_first.contains(&thread.number) {
                staying.insert(name);
            } else if at_last.contains(&thread.number)
                && let Some(threads) = ended.get_mut(&name)
            {
                *threads = (*threads - 1.0).max(0.0);
            }
        }
        for thread in first.iter().filter(|thread| at_first.contains(&thread.number)) {
            if !at_last.contains(&thread.number) {
                *ended.entry(name_of(thread.group())).or_default() += 1.0;
            }
        }
    }
    let all = ended.values().sum::<f64>() + counted.others as f64;
    shares(ended, all, |name| staying.contains(name))
}

/// It has no TLAB yet: the first one is still to come.
fn has_allocated_nothing(thread: &JavaThread) -> bool {
    thread.exactly.or(thread.allocated) == Some(0)
}

/// The largest first.
fn shares(threads: BTreeMap<String, f64>, all: f64, stays: impl Fn(&str) -> bool) -> Vec<ShortLived> {
    let of = |(name, threads): (String, f64)| {
        let is_of_others = stays(&name);
        ShortLived { name, share: threads / all, is_of_others, unused: None }
    };
    let mut found: Vec<ShortLived> =
        threads.into_iter().filter(|(_, threads)| *threads > 0.0).map(of).collect();
    found.sort_by(|one, other| other.share.total_cmp(&one.share));
    found
}

/// Each thread once that came or went in the `seconds` of watching: who stays is no trouble, however it came. One that is there
/// at the first look and at the last stays, even where the JVM is hardly older than that.
pub(crate) fn young(looks: &[Vec<JavaThread>], seconds: f64) -> Vec<&JavaThread> {
    let stays = |thread: &JavaThread| {
        let is_there = |look: &[JavaThread]| look.iter().any(|other| other.number == thread.number);
        looks.len() > 1 && [looks.first(), looks.last()].into_iter().flatten().all(|look| is_there(look))
    };
    let mut seen = BTreeSet::new();
    looks
        .iter()
        .flatten()
        .filter(|thread| thread.elapsed < seconds && !stays(thread) && seen.insert(thread.number))
        .collect()
}

#[cfg(test)]
#[path = "short_lived_test.rs"]
mod tests;
