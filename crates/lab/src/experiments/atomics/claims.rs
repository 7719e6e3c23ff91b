//! Thompson's claims, and what the counting threads answer.

use super::{CLAIMED, COMPARE_EXCHANGE, LOCK_ADD, LOCK_XADD, NATIVE};
use crate::counting::Layout::{self, FalseSharing, Padded, Shared};
use experiment::Relation::{Above, Alike, AtLeast, AtMost};
use experiment::claim::OWN;
use experiment::native::quiet::ENOUGH;
use experiment::{Claim, Measured, MeasuredCell, Quantity, Term, Value};
use present::numbers::{count, quantity, three};

const THOMPSON: &str = "Thompson, Adventures with AtomicLong (2011)";
/// What a comparison with itself may differ by: noise of a quiet machine is well below.
const ALIKE: f64 = 1.25;

pub(super) fn claims(measured: &Measured) -> Vec<Claim> {
    let (cpus, contended) = contended(measured);
    let (few, many) = (contended.first().copied().unwrap_or(2.0), contended.last().copied().unwrap_or(2.0));
    // Of more than eight threads not all share a line.
    let of_a_line = contended.iter().copied().filter(|threads| *threads <= 8.0).fold(2.0, f64::max);
    let contention = |text, source| {
        let contend = "threads contend only on two or more CPUs";
        Claim::new(text, source).usable(undisturbed).needs(cpus >= 2.0, contend)
    };
    let growth = |operation: &'static str| {
        let of = |threads: f64| ns(operation, Shared).at("threads", threads);
        Term::ratio(operation, "times", of(many), of(few))
    };
    let of_line = |layout| ns(LOCK_XADD, layout).at("threads", of_a_line);
    let claimed = |name: &str, threads: f64| {
        let rate = Term::metric(name, "rate").at("language", NATIVE).at("operation", CLAIMED);
        rate.at("threads", threads)
    };
    let batches = |name, threads| claimed(name, threads).largest("batch");
    vec![
        contention("XADD beats CAS under contention", THOMPSON)
            .each_within("threads", 2.0..=cpus)
            .that(ns(COMPARE_EXCHANGE, Shared).is(Above, ns(LOCK_XADD, Shared))),
        contention("from 2 threads to one per CPU, XADD's time levels off while that of CAS grows", THOMPSON)
            .needs(many > few, "this needs at least 4 CPUs; of more threads only one per CPU contends")
            .that(growth(LOCK_XADD).is(AtMost(ALIKE), 1.0))
            .that(growth(COMPARE_EXCHANGE).is(AtLeast(ALIKE), growth(LOCK_XADD))),
        Claim::new("LOCK ADD and LOCK XADD are similar", THOMPSON)
            .usable(undisturbed)
            .each_within("threads", 1.0..=cpus)
            .that(ns(LOCK_XADD, Shared).is(Alike(ALIKE), ns(LOCK_ADD, Shared))),
        contention("a falsely shared line costs as much as a shared one", THOMPSON)
            .that(of_line(FalseSharing).is(Alike(1.5), of_line(Shared)))
            .that(of_line(FalseSharing).is(AtLeast(2.0), of_line(Padded))),
        contention("claiming in batches removes the contention", OWN)
            .that(
                batches("in batches, all threads", many).is(AtLeast(0.8 * many), batches("one thread", 1.0)),
            )
            .context(claimed("one by one, all threads", many).at("batch", 1_u32)),
    ]
}

/// The time for an increment with the group's number of threads.
fn ns(operation: &'static str, layout: Layout) -> Term {
    let name = if layout == Shared { operation.into() } else { format!("{operation} ({})", layout.name()) };
    let time = Term::metric(name, "ns").at("language", NATIVE).at("operation", operation);
    time.at("layout", layout.name())
}

/// The CPUs, and the numbers of threads of which each had one to itself, 2 and more.
fn contended(measured: &Measured) -> (f64, Vec<f64>) {
    let cpus = measured.setting("usable_cpus", &[("language", NATIVE.into())]).unwrap_or(0.0);
    let numbers = measured.values("threads", "ns");
    let numbers = numbers.iter().filter_map(Value::number);
    (cpus, numbers.filter(|threads| (2.0..=cpus).contains(threads)).collect())
}

/// Other programs had too much of the CPUs for it to be about contention.
fn undisturbed(cell: &MeasuredCell) -> Result<(), String> {
    let share = cell.metrics.get("share").and_then(Quantity::interval);
    if share.is_none_or(|share| share.median >= ENOUGH) {
        return Ok(());
    }
    Err("other programs used part of its CPUs; stop them and measure again".into())
}

pub(super) fn answer(measured: &Measured) -> String {
    let told = || {
        let threads = *contended(measured).1.last()?;
        let time = |operation, threads: f64| {
            let found = ns(operation, Shared).at("threads", threads).of(measured)?;
            undisturbed(found.cell?).ok().map(|()| found.interval.median)
        };
        let (xadd, alone) = (time(LOCK_XADD, threads)?, time(LOCK_XADD, 1.0)?);
        Some(format!(
            "With {threads} threads on one counter, an increment takes {} with lock xadd ({} times one thread's {}) and \
             {} with a lock cmpxchg loop: the counter yields at most {} increments/s.",
            quantity(xadd, "ns"),
            three(xadd / alone),
            quantity(alone, "ns"),
            quantity(time(COMPARE_EXCHANGE, threads)?, "ns"),
            count(1e9 / xadd),
        ))
    };
    told().unwrap_or_else(|| "Contention could not be measured here: see the checks for the reason.".into())
}

#[cfg(test)]
#[path = "claims_test.rs"]
mod test;
