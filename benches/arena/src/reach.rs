//! What was to be reached, and what was.

use crate::Findings;
use crate::contestants::Contestant;
use crate::fill::{Filled, Way};
use crate::memory::Held;
use crate::objects::{Cell, Pass, SIZES};
use crate::small::Maker;
use present::numbers::{self, human, three};
use serde::Serialize;
use statistics::{Interval, bootstrap, median};

/// One figure that was asked for.
#[derive(Debug, Serialize)]
pub struct Figure {
    /// What is compared.
    pub what: String,
    /// `at most 1.10` or `at least 3.00`.
    pub limit: String,
    pub found: String,
    /// Whether the median is on the right side.
    pub reached: bool,
    /// The figure itself.
    pub value: f64,
}

impl Figure {
    /// In a word, or with the figure that was not enough.
    pub fn verdict(&self) -> String {
        if self.reached { "reached".into() } else { format!("not reached: {}", three(self.value)) }
    }
}

#[derive(Clone, Copy)]
enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

fn figure(what: impl Into<String>, limit: Limit, value: f64, found: String) -> Figure {
    let (text, reached) = match limit {
        Limit::AtMost(most) => (format!("at most {most:.2}"), value <= most),
        Limit::AtLeast(least) => (format!("at least {least:.2}"), value >= least),
    };
    Figure { what: what.into(), limit: text, found, reached, value }
}

/// `1.32 [1.28, 1.35]`.
pub fn shown(interval: &Interval) -> String {
    numbers::interval(interval, "")
}

/// The ratios a / b of the same rounds.
pub fn ratio(cell: &Cell, a: Contestant, b: Contestant, pick: impl Fn(&Pass) -> f64) -> Option<Interval> {
    let (a, b) = (cell.rounds.get(&a)?, cell.rounds.get(&b)?);
    let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| pick(a) / pick(b)).collect();
    bootstrap(&ratios, 1)
}

/// The median of a contestant's rounds.
pub fn middle(cell: &Cell, contestant: Contestant, pick: impl Fn(&Pass) -> f64) -> Option<f64> {
    median(&cell.rounds.get(&contestant)?.iter().map(pick).collect::<Vec<_>>())
}

/// The median of what processes held.
pub fn held(findings: &Findings, contestant: Contestant, pick: impl Fn(&Held) -> Option<u64>) -> Option<f64> {
    let values: Vec<f64> =
        findings.memory.get(&contestant)?.iter().filter_map(pick).map(|bytes| bytes as f64).collect();
    median(&values)
}

/// All of them, in the order in which they were asked for.
pub fn figures(findings: &Findings) -> Vec<Figure> {
    let mut figures = Vec::new();
    let cell = |bytes: usize, threads: usize| {
        findings.cells.iter().find(|cell| cell.bytes == bytes && cell.threads == threads)
    };
    let paired = |bytes, threads, a: Contestant, b: Contestant, limit| {
        let interval = ratio(cell(bytes, threads)?, a, b, |pass| pass.allocate)?;
        let what = format!("{a} / {b}, {bytes} bytes, {threads} thr., allocate");
        Some(figure(what, limit, interval.median, shown(&interval)))
    };
    for one in [Contestant::Thread, Contestant::Local] {
        for bytes in SIZES {
            figures.extend(paired(bytes, 1, one, Contestant::Bumpalo, Limit::AtMost(1.1)));
        }
    }
    figures.extend(prefetch(findings));
    if findings.cpus >= 2 {
        for one in [Contestant::Thread, Contestant::Local] {
            figures.extend(SIZES.iter().filter_map(|&bytes| flat(one, cell(bytes, 1)?, cell(bytes, 2)?)));
        }
    }
    for bytes in SIZES {
        for threads in [1, 2] {
            figures.extend(paired(bytes, threads, Contestant::Core, Contestant::Thread, Limit::AtMost(1.5)));
        }
    }
    for bytes in SIZES {
        figures.extend(paired(bytes, 2, Contestant::Shared, Contestant::Core, Limit::AtLeast(3.0)));
    }
    figures.extend(Contestant::MALLOCS.iter().filter_map(|malloc| against_malloc(findings, *malloc)));
    let mut part = |what: &str, pick: fn(&Held) -> Option<u64>| {
        let of = |contestant| held(findings, contestant, pick);
        if let (Some(core), Some(thread)) = (of(Contestant::Core), of(Contestant::Thread)) {
            let value = core / thread;
            let found = format!("{}: {} / {}", three(value), human(core), human(thread));
            figures.push(figure(
                format!("core / thread, 1,000 threads, {what}"),
                Limit::AtMost(0.2),
                value,
                found,
            ));
        }
    };
    part("taken from the reserve", |held| held.used);
    part("resident growth", |held| Some(held.resident));
    figures.extend(requests(findings));
    figures.extend(findings.fills.iter().filter_map(fill));
    figures
}

/// The size at which prefetch helps least, or does harm, decides.
fn prefetch(findings: &Findings) -> Option<Figure> {
    let mut ratios: Vec<(Interval, usize)> = findings
        .cells
        .iter()
        .filter(|cell| cell.threads == 1)
        .filter_map(|cell| {
            let allocate = |pass: &Pass| pass.allocate;
            Some((ratio(cell, Contestant::Thread, Contestant::NoPrefetch, allocate)?, cell.bytes))
        })
        .collect();
    ratios.sort_by(|a, b| a.0.median.total_cmp(&b.0.median));
    let ((best, best_at), (worst, worst_at)) = (ratios.first()?, ratios.last()?);
    let found =
        format!("worst {} at {worst_at} bytes; best {} at {best_at} bytes", shown(worst), shown(best));
    let what = "prefetch: with / without, thread, all sizes, 1 thr., allocate";
    Some(figure(what, Limit::AtMost(1.02), worst.median, found))
}

/// Each CPU's time for an object with two threads over that with one, in the same rounds: what the allocator's threads do to each
/// other, and what the memory does to them. `bumpalo`, whose threads share nothing, shows the second alone.
fn flat(contestant: Contestant, one: &Cell, two: &Cell) -> Option<Figure> {
    let growth = |contestant: Contestant| -> Option<Vec<f64>> {
        let rounds = two.rounds.get(&contestant)?.iter().zip(one.rounds.get(&contestant)?);
        Some(rounds.map(|(two, one)| two.allocate / one.allocate).collect())
    };
    let (thread, bumpalo) = (growth(contestant)?, growth(Contestant::Bumpalo)?);
    let ratios: Vec<f64> = thread.iter().zip(&bumpalo).map(|(thread, bumpalo)| thread / bumpalo).collect();
    let interval = bootstrap(&ratios, 1)?;
    let found = format!(
        "{}; {contestant} {}, bumpalo {}, floor {}",
        shown(&interval),
        shown(&bootstrap(&thread, 1)?),
        shown(&bootstrap(&bumpalo, 1)?),
        shown(&bootstrap(&growth(Contestant::Floor)?, 1)?)
    );
    let what = format!("time with 2 thr. / with 1, {contestant} over bumpalo, {} bytes, allocate", one.bytes);
    Some(figure(what, Limit::AtMost(1.1), interval.median, found))
}

/// The worst cell of all sizes and threads decides. Where the arena takes what the stores alone take, nothing could be faster: such a cell counts
/// as reached, and is told apart.
fn against_malloc(findings: &Findings, malloc: Contestant) -> Option<Figure> {
    const LEAST: f64 = 3.0;
    const BOUND: f64 = 1.1;
    let mut ratios: Vec<(Interval, &Cell)> = findings
        .cells
        .iter()
        .filter_map(|cell| Some((ratio(cell, malloc, Contestant::Thread, |pass| pass.all)?, cell)))
        .collect();
    ratios.sort_by(|a, b| a.0.median.total_cmp(&b.0.median));
    let ((worst, at), (best, _)) = (ratios.first()?, ratios.last()?);
    let at_bound = |cell: &Cell| {
        let over = ratio(cell, Contestant::Thread, Contestant::Floor, |pass| pass.allocate);
        over.is_some_and(|over| over.median <= BOUND)
    };
    let (reached, rest): (Vec<_>, Vec<_>) = ratios.iter().partition(|(ratio, _)| ratio.median >= LEAST);
    let bound = rest.iter().filter(|(_, cell)| at_bound(cell)).count();
    let found = format!(
        "worst {} at {} bytes, {} threads; best {}; {} of {} cells reach it, {bound} of the others are at most {BOUND} of the stores alone",
        shown(worst),
        at.bytes,
        at.threads,
        three(best.median),
        reached.len(),
        ratios.len()
    );
    let what = format!("{malloc} / thread, allocate and free all, or the stores alone");
    let mut figure = figure(what, Limit::AtLeast(LEAST), worst.median, found);
    figure.reached = rest.len() == bound;
    Some(figure)
}

/// An arena for each request: made and dropped, and with a first object, where an earlier one is kept and where none is.
fn requests(findings: &Findings) -> Vec<Figure> {
    let of = |bytes: usize, maker: Maker| {
        let small = findings.small.iter().find(|small| small.bytes == bytes && small.threads == 1)?;
        bootstrap(small.rounds.get(&maker)?, 1)
    };
    let limits = [(0, "made and dropped", 2000.0), (64, "made, a first object, dropped", 10_000.0)];
    let mut figures = Vec::new();
    for (bytes, what, most) in limits {
        for maker in [Maker::Thread, Maker::Core, Maker::Unkept] {
            if let Some(found) = of(bytes, maker) {
                let what = format!("{}, {what}, ns", maker.name());
                figures.push(figure(what, Limit::AtMost(most), found.median, shown(&found)));
            }
        }
    }
    figures
}

/// The arena's better way of writing against the better way of writing plain memory, in the same rounds.
fn fill(filled: &Filled) -> Option<Figure> {
    let of = |way| filled.rounds.get(&way).map(Vec::as_slice);
    let best = |a: Way, b: Way| {
        let (a, b) = (of(a)?, of(b)?);
        Some(if median(a)? > median(b)? { a } else { b })
    };
    let arena = best(Way::ArenaOrdinary, Way::ArenaStreaming)?;
    let plain = best(Way::PlainOrdinary, Way::PlainStreaming)?;
    let ratios: Vec<f64> = arena.iter().zip(plain).map(|(arena, plain)| arena / plain).collect();
    let interval = bootstrap(&ratios, 1)?;
    let found = format!("{}: {} / {} GB/s", shown(&interval), three(median(arena)?), three(median(plain)?));
    Some(figure(
        format!("fill on {}, arena / plain memory, the better stores of each", filled.asked),
        Limit::AtLeast(0.9),
        interval.median,
        found,
    ))
}
