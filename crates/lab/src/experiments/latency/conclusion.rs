//! What the loads say about caches and pages.

use super::knees::{Knee, Point, knees};
use super::pairs::SHARED_CACHE;
use super::{ALONE, HUGE, LOADS, SMALL, TRANSFER};
use crate::experiment::{Check, Conclusion, Measured, Value};
use crate::experiments::words::{nanoseconds, times};
use present::numbers::three as digits;
use statistics::{Interval, median};

pub(super) fn conclude(measured: &Measured) -> Conclusion {
    let seen = Seen::of(measured);
    Conclusion {
        answer: seen.answer(),
        checks: vec![
            seen.knees_lie_at_caches(),
            seen.huge_pages_help(),
            seen.table_holds(),
            seen.transfers_cost(),
            seen.neighbours_are_near(),
        ],
    }
}

struct Seen<'a> {
    measured: &'a Measured<'a>,
    /// The pages whose loads tell of the caches: huge ones, where they were obtained, since translation costs least there.
    pages: &'static str,
    knees: Vec<Knee>,
    /// The largest size in bytes.
    most: Option<f64>,
}

fn at<'a>(pages: &str, bytes: f64) -> [(&'a str, Value); 3] {
    [("measurement", LOADS.into()), ("pages", pages.into()), ("size", bytes.into())]
}

/// As the user writes it; what is between two sizes, rounded to 1/8 of a power of two.
fn about(bytes: f64) -> String {
    let step = (bytes.log2().floor() - 3.0).exp2().max(1.0);
    let rounded = ((bytes / step).round() * step) as u64;
    let (unit, letter) = match rounded {
        0..0x10_0000 => (1 << 10, "KB"),
        0x10_0000..0x4000_0000 => (1 << 20, "MB"),
        _ => (1 << 30, "GB"),
    };
    format!("{} {letter}", (rounded as f64 / unit as f64 * 10.0).round() / 10.0)
}

impl<'a> Seen<'a> {
    fn of(measured: &'a Measured) -> Seen<'a> {
        let huge = measured.select(&[("pages", HUGE.into())]).any(|cell| {
            let size = cell.parameters.get("size").and_then(Value::number);
            let obtained = cell.settings.get("huge_bytes").and_then(|bytes| bytes.as_f64());
            obtained.zip(size).is_some_and(|(obtained, size)| obtained >= size)
        });
        let pages = if huge { HUGE } else { SMALL };
        let sizes: Vec<f64> = measured.values("size", "ns").iter().filter_map(Value::number).collect();
        let points: Vec<Point> = (sizes.iter())
            .filter_map(|&bytes| Some(Point { bytes, time: measured.median("ns", &at(pages, bytes))? }))
            .collect();
        let caches: Vec<(u32, f64)> = (measured.select(&[("measurement", LOADS.into())]))
            .find_map(|cell| serde_json::from_value(cell.settings.get("caches")?.clone()).ok())
            .unwrap_or_default();
        Seen { measured, pages, knees: knees(&points, &caches), most: sizes.last().copied() }
    }

    /// Cycles where the time is so long.
    fn cycles(&self, nanoseconds: f64) -> Option<f64> {
        let cell =
            self.measured.select(&[("measurement", LOADS.into()), ("pages", self.pages.into())]).next()?;
        let of = |metric: &str| Some(cell.metrics.get(metric)?.interval()?.median);
        Some(nanoseconds * of("cycles")? / of("ns")?)
    }

    /// The largest size, if the caches are lost in it.
    fn beyond_caches(&self) -> Option<f64> {
        let last = self.knees.last()?.cache_bytes;
        self.most.filter(|most| *most >= 4.0 * last)
    }

    fn largest(&self, pages: &str) -> Option<Interval> {
        self.measured.get("ns", &at(pages, self.most?))
    }

    fn transfers(&self) -> Vec<f64> {
        self.transfers_of(&[("measurement", TRANSFER.into())])
    }

    fn transfers_of(&self, at: &[(&str, Value)]) -> Vec<f64> {
        (self.measured.select(at))
            .filter_map(|cell| Some(cell.metrics.get("transfer_ns")?.interval()?.median))
            .collect()
    }

    fn answer(&self) -> String {
        let mut parts: Vec<String> = (self.knees.iter())
            .map(|knee| {
                let cycles = self.cycles(knee.plateau).map(|cycles| format!(" ({} cycles)", digits(cycles)));
                format!("{}{} from L{}", nanoseconds(knee.plateau), cycles.unwrap_or_default(), knee.level)
            })
            .collect();
        if let (Some(most), Some(time)) = (self.most, self.largest(self.pages)) {
            let small = self.largest(SMALL).filter(|_| self.pages == HUGE);
            let small =
                small.map(|small| format!(" on huge pages and {} on small ones", nanoseconds(small.median)));
            let time = nanoseconds(time.median);
            parts.push(format!("{time}{} over {}", small.unwrap_or_default(), about(most)));
        }
        if parts.is_empty() {
            return "Loads could not be measured here: see the notes for why.".into();
        }
        let mut answer = format!("A load takes {}", parts.join(", "));
        let ends: Vec<String> = self.knees.iter().filter_map(|knee| knee.at_bytes).map(about).collect();
        if !ends.is_empty() {
            answer += &format!("; it rises at {}", ends.join(", "));
        }
        if let Some(transfer) = median(&self.transfers()) {
            answer += &format!("; handing a line to another CPU takes {}", nanoseconds(transfer));
        }
        answer + "."
    }

    fn knees_lie_at_caches(&self) -> Check {
        let claim = "the knees lie at the cache sizes";
        if self.knees.is_empty() {
            return Check::new(
                claim,
                "not testable here: no size within a cache was measured, or the kernel does not tell the caches' sizes",
                None,
            );
        }
        let told: Vec<String> = (self.knees.iter())
            .map(|knee| {
                let found =
                    knee.at_bytes.map_or("none found".into(), |bytes| format!("knee at {}", about(bytes)));
                format!("L{} of {}: {found}", knee.level, about(knee.cache_bytes))
            })
            .collect();
        let fits: Vec<bool> = self.knees.iter().filter_map(Knee::fits).collect();
        let holds = (!fits.is_empty()).then(|| fits.iter().all(|fits| *fits));
        let mut found = format!("{} (within a factor of 2, on {} pages)", told.join(", "), self.pages);
        if self.knees.iter().any(|knee| knee.at_bytes.is_some_and(|bytes| bytes < knee.cache_bytes / 2.0)) {
            found += "; a cache ends early for us where others use it too, or where a virtual machine has only a part of it";
        }
        Check::new(claim, found, holds)
    }

    fn huge_pages_help(&self) -> Check {
        let claim = "huge pages cut random access time";
        match (self.most, self.largest(SMALL), self.largest(HUGE)) {
            (Some(most), Some(small), Some(huge)) if self.pages == HUGE => {
                let found = format!(
                    "over {} a load takes {} on small pages and {} on huge ones: {}",
                    about(most),
                    nanoseconds(small.median),
                    nanoseconds(huge.median),
                    times(small.median / huge.median)
                );
                Check::new(claim, found, Some(small.low > huge.high))
            }
            _ => Check::new(
                claim,
                "not testable here: no huge pages were obtained; the notes say what to do",
                None,
            ),
        }
    }

    fn table_holds(&self) -> Check {
        let claim = "L1 takes 4 to 5 cycles, L2 12 to 14, L3 40 to 60 and more, memory 100 and more";
        // What is published for one processor is looked for within a quarter on another.
        let expected = [(1, 3.0, 6.25), (2, 9.0, 17.5), (3, 30.0, f64::INFINITY)];
        let mut told = Vec::new();
        let mut holds = true;
        for (level, low, high) in expected {
            let plateau = self.knees.iter().find(|knee| knee.level == level);
            if let Some(cycles) = plateau.and_then(|knee| self.cycles(knee.plateau)) {
                told.push(format!("L{level} {}", digits(cycles)));
                holds &= (low..=high).contains(&cycles);
            }
        }
        if let Some(cycles) = self.beyond_caches().and_then(|_| self.cycles(self.largest(self.pages)?.median))
        {
            told.push(format!("memory {}", digits(cycles)));
            holds &= cycles >= 100.0;
        }
        if told.is_empty() {
            return Check::new(
                claim,
                "not testable here: no cycles of a cache were measured; the cells say why",
                None,
            );
        }
        Check::new(claim, format!("{} (within a quarter; another processor)", told.join(", ")), Some(holds))
    }

    fn transfers_cost(&self) -> Check {
        let claim =
            "getting a line from another CPU costs more than a locked instruction on a line of one's own";
        let locked = self.measured.median("locked_ns", &[("measurement", ALONE.into())]);
        let least = self.transfers().into_iter().min_by(f64::total_cmp);
        match (locked, least) {
            (Some(locked), Some(least)) => {
                let found = format!(
                    "lock xadd {}, the nearest transfer {}: {}",
                    nanoseconds(locked),
                    nanoseconds(least),
                    times(least / locked)
                );
                Check::new(claim, found, Some(least > locked))
            }
            _ => Check::new(claim, "not testable here: no transfer was measured; it needs two CPUs", None),
        }
    }

    /// Terrace's buffers follow the kernel's word on who shares what; a hypervisor may have made it up.
    fn neighbours_are_near(&self) -> Check {
        let claim = "CPUs that are told to share the last cache hand a line over without going to memory";
        let at = [("measurement", TRANSFER.into()), ("relation", SHARED_CACHE.into())];
        let times = self.transfers_of(&at);
        let slowest = times.into_iter().max_by(f64::total_cmp);
        match (slowest, self.beyond_caches().and_then(|_| self.largest(self.pages))) {
            (Some(slowest), Some(memory)) => {
                let mut found = format!(
                    "the slowest such pair takes {}, a load from memory {}",
                    nanoseconds(slowest),
                    nanoseconds(memory.median)
                );
                let holds = slowest < memory.median / 2.0;
                if !holds {
                    found += "; in a virtual machine the caches and cores that the kernel tells need not be the machine's";
                }
                Check::new(claim, found, Some(holds))
            }
            (None, _) => Check::new(
                claim,
                "not testable here: no two usable CPUs are told to share a last cache",
                None,
            ),
            (_, None) => Check::new(claim, "not testable here: no load went beyond the caches", None),
        }
    }
}

#[cfg(test)]
#[path = "conclusion_test.rs"]
mod test;
