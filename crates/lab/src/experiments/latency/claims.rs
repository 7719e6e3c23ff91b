//! The sources' claims, which depend on where this machine's caches are, and the question answered.

use super::knees::{Knee, Point, knees};
use super::pairs::SHARED_CACHE;
use super::{ALONE, HUGE, LOADS, SMALL, TRANSFER};
use experiment::Relation::{Above, Alike, AtLeast, AtMost, Between};
use experiment::claim::OWN;
use experiment::{Claim, Comparison, Measured, MeasuredCell, Term, Value};
use present::numbers::{bytes, quantity};
use statistics::Interval;

const SOURCE: &str = "Taking JVM on a performance ride, part 6 (2026)";
/// Cycles of each level: what is published for one processor, within a quarter on another.
const CYCLES: [(u32, f64, f64); 3] = [(1, 3.0, 6.25), (2, 9.0, 17.5), (3, 30.0, f64::INFINITY)];
const NO_CACHES: &str = "no load from a cache was measured, the kernel reports no cache sizes, or no time rises; the cells give the reason";

/// What the loads show of the caches.
struct Seen {
    /// The pages whose loads tell of the caches: huge ones, where they were obtained, since translation costs least there.
    pages: &'static str,
    knees: Vec<Knee>,
    /// The largest size in bytes.
    most: f64,
}

/// Rounded to 1/8 of a power of two, which is how far sizes between two measured ones are known.
fn about(size: f64) -> String {
    let step = (size.log2().floor() - 3.0).exp2().max(1.0);
    bytes((size / step).round() * step)
}

fn load(name: impl Into<String>, metric: &'static str, pages: &str, size: f64) -> Term {
    let term = Term::metric(name, metric).at("measurement", LOADS);
    term.at("pages", pages).at("size", size)
}

fn transfer(name: &str) -> Term {
    Term::metric(name, "transfer_ns").at("measurement", TRANSFER)
}

/// Huge pages that were not obtained tell nothing of huge pages.
fn obtained(cell: &MeasuredCell) -> Result<(), String> {
    let huge = cell.parameters.get("pages") == Some(&HUGE.into());
    let size = cell.parameters.get("size").and_then(Value::number);
    let obtained = cell.settings.get("huge_bytes").and_then(|bytes| bytes.as_f64());
    if !huge || obtained.zip(size).is_some_and(|(obtained, size)| obtained >= size) {
        return Ok(());
    }
    Err("no huge pages were obtained; the notes give the remedy".into())
}

impl Seen {
    fn of(measured: &Measured) -> Seen {
        let huge = measured.select(&[("pages", HUGE.into())]).any(|cell| obtained(cell).is_ok());
        let pages = if huge { HUGE } else { SMALL };
        let sizes: Vec<f64> = measured.values("size", "ns").iter().filter_map(Value::number).collect();
        let point =
            |bytes: f64| Some(Point { bytes, time: load("", "ns", pages, bytes).of(measured)?.interval });
        let points: Vec<Point> = sizes.iter().copied().filter_map(point).collect();
        let caches: Vec<(u32, f64)> = (measured.select(&[("measurement", LOADS.into())]))
            .find_map(|cell| serde_json::from_value(cell.settings.get("caches")?.clone()).ok())
            .unwrap_or_default();
        Seen { pages, knees: knees(&points, &caches), most: sizes.last().copied().unwrap_or(0.0) }
    }

    /// Whether the caches are lost in the largest size.
    fn beyond_caches(&self) -> bool {
        self.knees.last().is_some_and(|knee| self.most >= 4.0 * knee.cache_bytes)
    }

    fn memory(&self, name: &str, metric: &'static str) -> Term {
        load(name, metric, self.pages, self.most)
    }

    /// Each knee over its cache's size.
    fn knees(&self) -> impl Iterator<Item = Comparison> {
        self.knees.iter().filter_map(|Knee { level, cache_bytes, at_bytes, .. }| {
            let at = (*at_bytes)?;
            let [median, low, high] = [at.median, at.low, at.high].map(|bytes| bytes / cache_bytes);
            let (size, end, pages) = (about(*cache_bytes), about(at.median), self.pages);
            let name = format!("L{level} of {size}: knee on {pages} pages at {end}, over its size");
            Some(Term::given(name, Interval { median, low, high }).is(Alike(2.0), 1.0))
        })
    }

    fn cycles(&self) -> impl Iterator<Item = Comparison> {
        let memory = self.beyond_caches().then(|| self.memory("memory", "cycles").is(AtLeast(100.0), 1.0));
        let levels = CYCLES.iter().filter_map(|(level, least, most)| {
            let knee = self.knees.iter().find(|knee| knee.level == *level)?;
            let cycles = load(format!("L{level}"), "cycles", self.pages, knee.plateau.bytes);
            Some(cycles.is(Between(*least, *most), 1.0))
        });
        levels.chain(memory)
    }
}

pub(super) fn claims(measured: &Measured) -> Vec<Claim> {
    let seen = Seen::of(measured);
    let largest = |name, pages| load(name, "ns", pages, seen.most);
    let locked = Term::metric("lock xadd", "locked_ns").at("measurement", ALONE);
    let planned = |key, value: &str| measured.select(&[(key, value.into())]).next().is_some();
    let neighbours = transfer("the slowest such pair").at("relation", SHARED_CACHE).highest();
    let knees = Claim::new("the knees lie at the cache sizes, within a factor of 2", SOURCE)
        .needs(seen.knees().next().is_some(), NO_CACHES)
        .otherwise(
            "a cache appears smaller if others use it too, or if a virtual machine has only part of it",
        );
    let cycles = Claim::new(
        "cycles: L1 4 to 5, L2 12 to 14, L3 40 to 60 and more (within a quarter), memory 100 or more",
        SOURCE,
    )
    .needs(seen.cycles().next().is_some(), NO_CACHES);
    vec![
        seen.knees().fold(knees, Claim::that),
        Claim::new("huge pages cut random access time", SOURCE)
            .usable(obtained)
            .that(largest("small pages", SMALL).is(Above, largest("huge pages", HUGE))),
        seen.cycles().fold(cycles, Claim::that),
        Claim::new("a line from another CPU costs more than an uncontended locked instruction", OWN)
            .needs(planned("measurement", TRANSFER), "no transfer was measured; it needs two CPUs")
            .that(transfer("the nearest transfer").lowest().is(Above, locked)),
        // Terrace's buffers follow the kernel's word on who shares what; a hypervisor may have made it up.
        Claim::new("CPUs reported to share a cache transfer a line without going to memory", OWN)
            .needs(
                planned("relation", SHARED_CACHE),
                "no two usable CPUs are reported to share a last-level cache",
            )
            .needs(seen.beyond_caches(), "no load reached beyond the caches")
            .that(neighbours.is(AtMost(0.5), seen.memory("a load from memory", "ns")))
            .otherwise(
                "in a virtual machine, the caches and cores that the kernel reports need not be the \
                 machine's",
            ),
    ]
}

pub(super) fn answer(measured: &Measured) -> String {
    let seen = Seen::of(measured);
    let median = |term: Term| Some(term.of(measured)?.interval.median);
    let mut parts: Vec<String> = (seen.knees.iter())
        .map(|knee| {
            let cycles = median(load("", "cycles", seen.pages, knee.plateau.bytes));
            let cycles =
                cycles.map(|cycles| format!(" ({})", quantity(cycles, "cycles"))).unwrap_or_default();
            format!("{}{cycles} from L{}", quantity(knee.plateau.time.median, "ns"), knee.level)
        })
        .collect();
    let largest = |pages| Some(quantity(median(load("", "ns", pages, seen.most))?, "ns"));
    if let Some(time) = largest(seen.pages) {
        let small = largest(SMALL).filter(|_| seen.pages == HUGE);
        let small =
            small.map(|small| format!(" on huge pages and {small} on small ones")).unwrap_or_default();
        parts.push(format!("{time}{small} over {}", about(seen.most)));
    }
    if parts.is_empty() {
        return "Loads could not be measured here: see the notes for the reason.".into();
    }
    let mut answer = format!("A load takes {}", parts.join(", "));
    let ends: Vec<String> = seen.knees.iter().filter_map(|knee| Some(about(knee.at_bytes?.median))).collect();
    if !ends.is_empty() {
        answer += &format!("; it rises at {}", ends.join(", "));
    }
    if let Some(transfer) = median(transfer("").mean()) {
        answer +=
            &format!("; transferring a line to another CPU takes {} on average", quantity(transfer, "ns"));
    }
    answer + "."
}

#[cfg(test)]
#[path = "claims_test.rs"]
mod test;
