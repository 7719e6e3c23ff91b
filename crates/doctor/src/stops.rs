//! Collections and the time in which threads stood still, from HotSpot's counters at two moments.

use crate::causes::Causes;
use crate::evidence::{Eden, Pauses};
use crate::moment::Moment;
use jvm::perfdata::PerfData;

/// Seconds that sums of counters may be off.
const ROUNDED: f64 = 1e-9;

/// Thread dumps in between have stopped threads for so many seconds: the program does not stop for them when nobody watches it.
pub(crate) fn eden(first: &Moment, last: &Moment, dumps: f64) -> Eden {
    let perf = last.perf.as_ref();
    let counter = |name: &str| perf.and_then(|perf| perf.get(name)).map(|bytes| bytes as f64);
    let of_perf = || Some(perf?.collections() - first.perf.as_ref()?.collections());
    let seconds = |moment: &Moment| moment.perf.as_ref()?.stopped_seconds();
    let all = seconds(first).zip(seconds(last)).map(|(from, to)| to - from);
    let collecting = || collecting(first.perf.as_ref()?, last.perf.as_ref()?);
    let collecting = all.zip(collecting()).map(|(all, collecting)| collecting.min(all));
    let stopped = all.map(|all| {
        let collecting = collecting.unwrap_or(0.0);
        if all - dumps - collecting > ROUNDED { all - dumps } else { collecting }
    });
    Eden {
        bytes: counter("sun.gc.generation.0.space.0.capacity"),
        young_bytes: counter("sun.gc.generation.0.capacity"),
        most_bytes: counter("sun.gc.generation.0.maxCapacity"),
        // Both have the pauses of a concurrent collection, too.
        collections: of_perf().or(Some(last.pauses - first.pauses).filter(|count| *count > 0)),
        phases: perf.is_some_and(PerfData::counts_phases),
        stopped,
        stopped_by_dumps: all.zip(stopped).map(|(all, stopped)| all - stopped),
        collecting,
        pauses: pauses(first.perf.as_ref(), last.perf.as_ref()),
        since_start: None,
        causes: Causes::default(),
        full_causes: Causes::default(),
        mean_bytes: None,
    }
}

/// Seconds in which threads stood still for anything else than collections.
pub(crate) fn otherwise(first: &PerfData, last: &PerfData) -> Option<f64> {
    let stopped = last.stopped_seconds()? - first.stopped_seconds()?;
    Some((stopped - collecting(first, last).unwrap_or(0.0)).max(0.0))
}

/// Seconds in which threads stood still for collections: their pauses, and of the time in which threads were being stopped as large a part as of the
/// safepoints were collections. The others are for thread dumps, walks of the heap, or code that is given up.
fn collecting(first: &PerfData, last: &PerfData) -> Option<f64> {
    let between = |of: &dyn Fn(&PerfData) -> Option<f64>| Some(of(last)? - of(first)?);
    let collections = last.collections().saturating_sub(first.collections());
    Some(between(&PerfData::collecting_seconds)? + reaching(first, last, collections))
}

/// Seconds in which threads were being stopped for so many of the safepoints.
fn reaching(first: &PerfData, last: &PerfData, count: u64) -> f64 {
    let between = |of: &dyn Fn(&PerfData) -> Option<f64>| Some(of(last)? - of(first)?);
    let reaching = between(&|perf| perf.seconds("sun.rt.safepointSyncTime")).unwrap_or(0.0);
    let safepoints = between(&|perf| perf.get("sun.rt.safepoints").map(|count| count as f64));
    reaching * safepoints.filter(|all| *all > 0.0).map_or(1.0, |all| (count as f64 / all).min(1.0))
}

/// What of [`collecting`] is for which collections.
fn pauses(first: Option<&PerfData>, last: Option<&PerfData>) -> Option<Pauses> {
    let (first, last) = (first?, last?);
    let (from, to) = (first.collecting_seconds_of_each()?, last.collecting_seconds_of_each()?);
    let (before, after) = (first.collections_of_each(), last.collections_of_each());
    let count = |of: usize| after[of].saturating_sub(before[of]);
    let seconds = |of: usize| match count(of) {
        0 => to[of] - from[of],
        count => to[of] - from[of] + reaching(first, last, count),
    };
    Some(Pauses {
        young: seconds(0),
        young_count: count(0),
        full: seconds(1),
        full_count: count(1),
        concurrent: seconds(2),
    })
}

#[cfg(test)]
#[path = "stops_test.rs"]
mod tests;
