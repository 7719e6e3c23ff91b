//! What the counting threads say about Thompson's claims.

use super::{CLAIMED, COMPARE_EXCHANGE, ENOUGH, LOCK_ADD, LOCK_XADD, NATIVE};
use crate::experiment::{Check, Conclusion, Measured, Value};
use crate::experiments::words::{nanoseconds, setting, times};
use crate::native::atomics::Layout;
use present::numbers::three as digits;
use statistics::Interval;

/// What a comparison with itself may differ by: noise of a quiet machine is well below.
const ALIKE: std::ops::RangeInclusive<f64> = 0.8..=1.25;

pub(super) fn conclude(measured: &Measured) -> Conclusion {
    let seen = Seen::of(measured);
    Conclusion {
        answer: seen.answer(),
        checks: vec![
            seen.xadd_beats_exchange(),
            seen.xadd_levels_out(),
            seen.add_and_xadd_are_similar(),
            seen.false_sharing_costs_as_much(),
            seen.batches_remove_contention(),
        ],
    }
}

struct Seen<'a> {
    measured: &'a Measured<'a>,
    /// Numbers of threads of which each had a CPU to itself, 2 and more.
    contended: Vec<u32>,
    cpus: f64,
}

impl<'a> Seen<'a> {
    fn of(measured: &'a Measured) -> Seen<'a> {
        let cpus = setting(measured, "usable_cpus", &[("language", NATIVE.into())]).unwrap_or(0.0);
        let contended = (measured.values("threads", "ns").iter())
            .filter_map(Value::number)
            .filter(|threads| *threads >= 2.0 && *threads <= cpus)
            .map(|threads| threads as u32)
            .collect();
        Seen { measured, contended, cpus }
    }

    fn ns(&self, operation: &str, layout: Layout, threads: u32) -> Option<Interval> {
        let at = [
            ("language", NATIVE.into()),
            ("operation", operation.into()),
            ("layout", layout.name().into()),
            ("threads", threads.into()),
        ];
        self.get("ns", &at)
    }

    /// A metric, unless other programs had too much of the CPUs for it to be about contention.
    fn get(&self, metric: &str, at: &[(&str, Value)]) -> Option<Interval> {
        let share = self.measured.median("share", at);
        self.measured.get(metric, at).filter(|_| share.is_none_or(|share| share >= ENOUGH))
    }

    fn shared(&self, operation: &str, threads: u32) -> Option<f64> {
        Some(self.ns(operation, Layout::Shared, threads)?.median)
    }

    fn claimed(&self, batch: &Value, threads: u32) -> Option<f64> {
        let at = [
            ("language", NATIVE.into()),
            ("operation", CLAIMED.into()),
            ("batch", batch.clone()),
            ("threads", threads.into()),
        ];
        Some(self.get("rate", &at)?.median)
    }

    fn unseen(&self, claim: &str) -> Check {
        let reason = if self.cpus < 2.0 {
            "not testable here: threads contend only where there are two CPUs or more".to_owned()
        } else {
            "not testable here: the cells for it were not measured, or other programs had a part of their CPUs; stop what runs \
             beside and measure again"
                .to_owned()
        };
        Check::new(claim, reason, None)
    }

    fn answer(&self) -> String {
        let told = || {
            let threads = *self.contended.last()?;
            let xadd = self.shared(LOCK_XADD, threads)?;
            let exchange = self.shared(COMPARE_EXCHANGE, threads)?;
            let alone = self.shared(LOCK_XADD, 1)?;
            Some(format!(
                "With {threads} threads on one counter an increment takes {} by lock xadd ({} one thread's {}) and {} by a \
                 lock cmpxchg loop: the counter gives at most {} increments/s.",
                nanoseconds(xadd),
                times(xadd / alone),
                nanoseconds(alone),
                nanoseconds(exchange),
                present::numbers::count(1e9 / xadd),
            ))
        };
        told().unwrap_or_else(|| "Contention could not be measured here: see the checks for why.".into())
    }

    fn xadd_beats_exchange(&self) -> Check {
        let claim = "XADD beats CAS under contention";
        let pairs: Vec<(u32, Interval, Interval)> = (self.contended.iter())
            .filter_map(|&threads| {
                let of = |operation| self.ns(operation, Layout::Shared, threads);
                Some((threads, of(LOCK_XADD)?, of(COMPARE_EXCHANGE)?))
            })
            .collect();
        if pairs.is_empty() {
            return self.unseen(claim);
        }
        let told: Vec<String> = (pairs.iter())
            .map(|(threads, xadd, exchange)| {
                format!(
                    "{threads} threads: lock xadd {}, lock cmpxchg loop {} ({})",
                    nanoseconds(xadd.median),
                    nanoseconds(exchange.median),
                    times(exchange.median / xadd.median)
                )
            })
            .collect();
        // Only intervals that do not meet say that one is faster.
        let holds = pairs.iter().all(|(_, xadd, exchange)| exchange.low > xadd.high);
        Check::new(claim, told.join("; "), Some(holds))
    }

    fn xadd_levels_out(&self) -> Check {
        let claim = "XADD levels out while CAS degrades";
        let (Some(&few), Some(&many)) = (self.contended.first(), self.contended.last()) else {
            return self.unseen(claim);
        };
        if few == many {
            let reason = format!(
                "not testable here: it needs at least 4 CPUs. Of more threads than these {} CPUs only {} contend at a time",
                self.cpus, self.cpus
            );
            return Check::new(claim, reason, None);
        }
        let growth = |operation| Some(self.shared(operation, many)? / self.shared(operation, few)?);
        let (Some(xadd), Some(exchange)) = (growth(LOCK_XADD), growth(COMPARE_EXCHANGE)) else {
            return self.unseen(claim);
        };
        let found = format!(
            "from {few} to {many} threads an increment's time becomes {} by lock xadd and {} by a lock cmpxchg loop",
            times(xadd),
            times(exchange)
        );
        Check::new(claim, found, Some(xadd <= *ALIKE.end() && exchange > xadd * ALIKE.end()))
    }

    fn add_and_xadd_are_similar(&self) -> Check {
        let claim = "LOCK ADD and LOCK XADD are similar";
        let ratios: Vec<(u32, f64)> = std::iter::once(&1)
            .chain(&self.contended)
            .filter_map(|&threads| {
                Some((threads, self.shared(LOCK_XADD, threads)? / self.shared(LOCK_ADD, threads)?))
            })
            .collect();
        if ratios.is_empty() {
            return self.unseen(claim);
        }
        let told: Vec<String> =
            ratios.iter().map(|(threads, ratio)| format!("{} with {threads}", digits(*ratio))).collect();
        let holds = ratios.iter().all(|(_, ratio)| ALIKE.contains(ratio));
        Check::new(
            claim,
            format!("time by lock xadd over lock add, by threads: {}", told.join(", ")),
            Some(holds),
        )
    }

    fn false_sharing_costs_as_much(&self) -> Check {
        let claim = "a false-shared line costs as much as a shared one";
        // Of more than eight threads not all share a line.
        let threads = self.contended.iter().copied().filter(|threads| *threads <= 8).max();
        let told = threads.and_then(|threads| {
            let of = |layout| Some(self.ns(LOCK_XADD, layout, threads)?.median);
            let (shared, falsely) = (of(Layout::Shared)?, of(Layout::FalseSharing)?);
            let padded = of(Layout::Padded)?;
            let found = format!(
                "{threads} threads by lock xadd: {} falsely shared, {} shared, {} padded",
                nanoseconds(falsely),
                nanoseconds(shared),
                nanoseconds(padded)
            );
            // In a factor of 1.5 of the one, and at least twice the other.
            let holds = (1.0 / 1.5..=1.5).contains(&(falsely / shared)) && falsely > 2.0 * padded;
            Some(Check::new(claim, found, Some(holds)))
        });
        told.unwrap_or_else(|| self.unseen(claim))
    }

    fn batches_remove_contention(&self) -> Check {
        let claim = "claiming in batches removes the contention";
        let batches = self.measured.values("batch", "rate");
        let told = || {
            let (one, many) = (batches.first()?, batches.last()?);
            let threads = *self.contended.last()?;
            let scaling = |batch| Some(self.claimed(batch, threads)? / self.claimed(batch, 1)?);
            let (contended, relieved) = (scaling(one)?, scaling(many)?);
            let found = format!(
                "{threads} threads give out {} numbers/s one by one and {}/s in batches of {many}: {} and {} of one thread's rate",
                present::numbers::count(self.claimed(one, threads)?),
                present::numbers::count(self.claimed(many, threads)?),
                times(contended),
                times(relieved)
            );
            Some(Check::new(claim, found, Some(relieved >= 0.8 * f64::from(threads))))
        };
        told().unwrap_or_else(|| self.unseen(claim))
    }
}

#[cfg(test)]
#[path = "conclusion_test.rs"]
mod test;
