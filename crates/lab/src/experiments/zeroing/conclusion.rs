//! What the cells say about Shipilëv's claims, and which way of zeroing is the best for which size.

use super::kernels::Method;
use super::{BANDWIDTH, JAVA, NATIVE, UNINITIALIZED, WATCHED, ZEROED};
use crate::experiment::{Check, Conclusion, Measured, Value};
use crate::experiments::words::{nanoseconds, times};
use jvm::size;
use present::numbers::three as digits;
use statistics::Interval;

/// A way must be faster than `memset` by this factor, and with all of its interval, to be worth choosing.
const WORTH: f64 = 1.05;
/// Times that differ by less are alike: noise of a quiet machine is well below.
const ALIKE: std::ops::RangeInclusive<f64> = 0.8..=1.25;

pub(super) fn conclude(measured: &Measured) -> Conclusion {
    let seen = Seen(measured);
    Conclusion {
        answer: seen.answer(),
        checks: vec![
            seen.uninitialized_wins(),
            seen.small_arrays_are_alike(),
            seen.large_arrays_are_zeroing(),
            seen.the_rate_ends_at_the_bandwidth(),
            seen.stops_are_short(),
        ],
    }
}

/// The fastest way to zero so many bytes that are used right afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The size in bytes.
    pub bytes: f64,
    /// The method's name; `memset` unless another is clearly faster.
    pub method: &'static str,
    /// Nanoseconds of zeroing and using.
    pub ns: f64,
}

/// The best way for every size that was measured with one thread, smallest first. The arena chooses by this table.
pub fn best(measured: &Measured) -> Vec<Best> {
    let mut table = Vec::new();
    for size in measured.values("bytes", "used") {
        let Some(bytes) = size.number() else { continue };
        let used = |method: Method| {
            let at = [
                ("language", NATIVE.into()),
                ("method", method.name().into()),
                ("bytes", size.clone()),
                ("threads", 1_u32.into()),
            ];
            measured.get("used", &at)
        };
        let Some(memset) = used(Method::Memset).map(|interval| interval.median) else { continue };
        let mut best = Best { bytes, method: Method::Memset.name(), ns: memset };
        for method in [Method::RepStosb, Method::NonTemporal] {
            let Some(other) = used(method) else { continue };
            if other.median * WORTH < memset && other.high < memset && other.median < best.ns {
                best = Best { bytes, method: method.name(), ns: other.median };
            }
        }
        table.push(best);
    }
    table
}

struct Seen<'a>(&'a Measured<'a>);

impl Seen<'_> {
    fn java(&self, metric: &str, method: &str, bytes: f64) -> Option<f64> {
        let at = [("language", JAVA.into()), ("method", method.into()), ("bytes", bytes.into())];
        self.0.median(metric, &at)
    }

    fn interval(&self, method: &str, bytes: f64) -> Option<Interval> {
        let at = [("language", JAVA.into()), ("method", method.into()), ("bytes", bytes.into())];
        self.0.get("ns", &at)
    }

    /// The sizes of arrays for which both kinds were measured, ascending.
    fn sizes(&self) -> Vec<f64> {
        let both = |bytes: &f64| {
            [ZEROED, UNINITIALIZED].iter().all(|method| self.java("ns", method, *bytes).is_some())
        };
        self.0.values("bytes", "ns").iter().filter_map(Value::number).filter(both).collect()
    }

    /// How many times longer a zeroed array takes.
    fn ratio(&self, bytes: f64) -> Option<f64> {
        Some(self.java("ns", ZEROED, bytes)? / self.java("ns", UNINITIALIZED, bytes)?)
    }

    /// The write bandwidth with the most threads that it was measured with, in GB/s.
    fn bandwidth(&self) -> Option<f64> {
        let at = [("language", NATIVE.into()), ("method", BANDWIDTH.into())];
        let rates = self.0.select(&at).filter_map(|cell| cell.metrics.get("rate")?.interval());
        rates.map(|interval| interval.median).reduce(f64::max)
    }

    fn unseen(claim: &str) -> Check {
        Check::new(
            claim,
            "not testable here: the cells for it were not measured; run the experiment again",
            None,
        )
    }

    fn answer(&self) -> String {
        let mut sentences = Vec::new();
        if let (Some(zeroed), Some(not)) = (self.java("ns", ZEROED, 1e5), self.java("ns", UNINITIALIZED, 1e5))
        {
            sentences.push(format!(
                "A byte array of 100 KB takes {} zeroed and {} uninitialized: zeroing is {} % of its time.",
                nanoseconds(zeroed),
                nanoseconds(not),
                digits(100.0 * (1.0 - not / zeroed).max(0.0))
            ));
        }
        let largest = self.sizes().last().copied();
        let rate = largest.and_then(|bytes| self.java("rate", ZEROED, bytes));
        if let (Some(rate), Some(bandwidth)) = (rate, self.bandwidth()) {
            sentences.push(format!(
                "The largest zeroed arrays come at {} GB/s, {} % of the {} GB/s that this machine writes.",
                digits(rate),
                digits(100.0 * rate / bandwidth),
                digits(bandwidth)
            ));
        }
        if let Some(words) = in_words(&best(self.0)) {
            sentences.push(words);
        }
        if sentences.is_empty() {
            return "Nothing of this was measured; run the experiment again.".into();
        }
        sentences.join(" ")
    }

    fn uninitialized_wins(&self) -> Check {
        let claim = "uninitialized arrays win by more than 10x at 100 KB";
        let Some(ratio) = self.ratio(1e5) else { return Seen::unseen(claim) };
        Check::new(claim, format!("a zeroed array takes {} the time", times(ratio)), Some(ratio > 10.0))
    }

    fn small_arrays_are_alike(&self) -> Check {
        let claim = "small arrays do not differ: their headers cost more than their zeros";
        let small: Vec<(f64, f64, bool)> = (self.sizes().into_iter())
            .filter(|bytes| *bytes <= 10.0)
            .filter_map(|bytes| {
                let (zeroed, not) = (self.interval(ZEROED, bytes)?, self.interval(UNINITIALIZED, bytes)?);
                let ratio = zeroed.median / not.median;
                let overlap = zeroed.low <= not.high && not.low <= zeroed.high;
                Some((bytes, ratio, overlap || ALIKE.contains(&ratio)))
            })
            .collect();
        if small.is_empty() {
            return Seen::unseen(claim);
        }
        let found: Vec<String> = (small.iter())
            .map(|(bytes, ratio, _)| format!("{} the time with {bytes} bytes", times(*ratio)))
            .collect();
        Check::new(
            claim,
            format!("a zeroed array takes {}", found.join(" and ")),
            Some(small.iter().all(|(_, _, alike)| *alike)),
        )
    }

    fn large_arrays_are_zeroing(&self) -> Check {
        let claim = "zeroing dominates large arrays, and their rate levels out";
        let large: Vec<f64> = self.sizes().into_iter().filter(|bytes| *bytes >= 1e5).collect();
        let rates: Vec<f64> = large.iter().filter_map(|bytes| self.java("rate", ZEROED, *bytes)).collect();
        let most = rates.iter().copied().fold(0.0, f64::max);
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let (Some(ratio), Some(largest), true) = (self.ratio(1e5), large.last(), rates.len() >= 2) else {
            return Seen::unseen(claim);
        };
        let mut found = format!(
            "at 100 KB zeroed arrays take {} the time of uninitialized ones, and from there on they come at {} to {} GB/s",
            times(ratio),
            digits(least),
            digits(most)
        );
        if let Some(ratio) = self.ratio(*largest).filter(|ratio| *ratio < 2.0) {
            found += &format!(
                "; at {} MB it is {}: what the JVM allocates outside of a TLAB it zeroes although it was asked not to",
                digits(*largest / 1e6),
                times(ratio)
            );
        }
        Check::new(claim, found, Some(ratio > 2.0 && most < 2.0 * least))
    }

    fn the_rate_ends_at_the_bandwidth(&self) -> Check {
        let claim = "the rate of zeroed arrays ends at the write bandwidth";
        let largest = self.sizes().last().copied();
        let (Some(rate), Some(bandwidth)) =
            (largest.and_then(|bytes| self.java("rate", ZEROED, bytes)), self.bandwidth())
        else {
            return Seen::unseen(claim);
        };
        Check::new(
            claim,
            format!("{} of {} GB/s", digits(rate), digits(bandwidth)),
            Some(rate >= 0.8 * bandwidth),
        )
    }

    fn stops_are_short(&self) -> Check {
        let claim = "collecting dead arrays takes less than 1 ms on average, however fast they come";
        let at = [("language", WATCHED.into()), ("method", Value::from(UNINITIALIZED))];
        let (Some(time), Some(count)) =
            (self.0.median("safepoint_time", &at), self.0.median("safepoint_count", &at))
        else {
            return Seen::unseen(claim);
        };
        let mean = time / count;
        let mut found = format!(
            "safepoints of {} ms on average, {} of them and {} ms in each second",
            digits(mean),
            digits(count),
            digits(time)
        );
        if let Some(longest) = self.0.median("safepoint_longest", &at) {
            found += &format!(", the longest {} ms", digits(longest));
        }
        if let Some(seen) = self.0.median("watched_time", &at) {
            found += &format!("; a watcher saw {} ms of each second in pauses over 1 ms", digits(seen));
        }
        Check::new(claim, found, Some(mean < 1.0))
    }
}

/// Neighbouring sizes with the same method are one range.
fn in_words(table: &[Best]) -> Option<String> {
    let ranges: Vec<String> = table
        .chunk_by(|one, next| one.method == next.method)
        .filter_map(|range| {
            let (first, last) = (range.first()?.bytes as u64, range.last()?.bytes as u64);
            let sizes = if first == last {
                size::format(first)
            } else {
                format!("{} to {}", size::format(first), size::format(last))
            };
            Some(format!("{} for {sizes}", range.first()?.method))
        })
        .collect();
    (!ranges.is_empty()).then(|| {
        format!("A program that zeroes memory and then uses it does best with {}.", ranges.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::measured::MeasuredCell;
    use crate::experiment::{Declaration, Quantity, parameters};

    fn cell(language: &str, method: &str, bytes: f64, metrics: &[(&str, f64)]) -> MeasuredCell {
        MeasuredCell {
            parameters: parameters([
                ("language", language.into()),
                ("method", method.into()),
                ("bytes", bytes.into()),
                ("threads", 1_u32.into()),
            ]),
            metrics: (metrics.iter())
                .map(|(key, value)| ((*key).to_owned(), Quantity::of(vec![*value], "")))
                .collect(),
            ..MeasuredCell::default()
        }
    }

    /// The source's own figures, and a native side made up.
    fn published() -> Vec<MeasuredCell> {
        let mut cells = Vec::new();
        for (bytes, zeroed, not) in super::super::PUBLISHED {
            for (method, [ns, rate]) in [(ZEROED, zeroed), (UNINITIALIZED, not)] {
                cells.push(cell(JAVA, method, bytes.into(), &[("ns", ns), ("rate", rate / 1000.0)]));
            }
        }
        cells.push(cell(JAVA, ZEROED, 1e6, &[("ns", 450_000.0), ("rate", 12.1)]));
        cells.push(cell(JAVA, UNINITIALIZED, 1e6, &[("ns", 1000.0), ("rate", 9999.0)]));
        cells.push(cell(
            WATCHED,
            UNINITIALIZED,
            1e5,
            &[("safepoint_time", 122.5), ("safepoint_count", 126.7)],
        ));
        cells.push(cell(NATIVE, BANDWIDTH, 256e6, &[("rate", 13.0)]));
        for (bytes, memset, stosb, around) in
            [(1024.0, 10.0, 30.0, 50.0), (4096.0, 40.0, 39.0, 99.0), (65536.0, 700.0, 600.0, 500.0)]
        {
            cells.push(cell(NATIVE, Method::Memset.name(), bytes, &[("used", memset)]));
            cells.push(cell(NATIVE, Method::RepStosb.name(), bytes, &[("used", stosb)]));
            cells.push(cell(NATIVE, Method::NonTemporal.name(), bytes, &[("used", around)]));
        }
        cells
    }

    #[test]
    fn the_sources_own_figures_hold() {
        let declaration = Declaration::default();
        let cells = published();
        let conclusion = conclude(&Measured { declaration: &declaration, cells: &cells });
        for check in &conclusion.checks {
            assert_eq!(check.holds, Some(true), "{check:?}");
        }
        assert!(conclusion.answer.contains("zeroing is 99.3 % of its time"), "{}", conclusion.answer);
        assert!(conclusion.answer.contains("93.1 % of the 13.0 GB/s"), "{}", conclusion.answer);
        let table = "memset for 1k to 4k, non-temporal for 64k";
        assert!(conclusion.answer.contains(table), "{}", conclusion.answer);
    }

    #[test]
    fn another_way_must_be_worth_it() {
        let declaration = Declaration::default();
        let cells = published();
        let table = best(&Measured { declaration: &declaration, cells: &cells });
        // rep stosb is 2.5 % faster at 4 KB, which is not worth it.
        assert_eq!(table[1], Best { bytes: 4096.0, method: "memset", ns: 40.0 });
    }

    #[test]
    fn nothing_is_said_without_figures() {
        let declaration = Declaration::default();
        let conclusion = conclude(&Measured { declaration: &declaration, cells: &[] });
        assert!(conclusion.checks.iter().all(|check| check.holds.is_none()));
        assert!(conclusion.answer.starts_with("Nothing"));
    }
}
