//! What the cells say about the source's claims.

use super::tensor::Pattern;
use super::{BEFORE, COLD, FILE, JAVA, NATIVE, WARM, WHEN_USED, kind};
use crate::experiment::{Check, Conclusion, Measured, Value};
use crate::experiments::words::{nanoseconds, times};
use ::pages::{PageSize, Policy};
use present::numbers::three as digits;
use statistics::Interval;

/// A speed against small pages that is as good as theirs.
const ALIKE: std::ops::RangeInclusive<f64> = 0.9..=1.1;

pub(super) fn conclude(measured: &Measured) -> Conclusion {
    let seen = Seen(measured);
    Conclusion {
        answer: seen.answer(),
        checks: vec![
            seen.huge_pages_cut_random_access(),
            seen.order_hardly_differs(),
            seen.touching_before_moves_faults(),
            seen.explicit_pages_are_obtained(),
            seen.a_cold_cache_gives_major_faults(),
        ],
    }
}

struct Seen<'a>(&'a Measured<'a>);

impl Seen<'_> {
    /// Of the largest tensor.
    fn get(
        &self,
        metric: &str,
        language: &str,
        policy: Policy,
        pattern: Pattern,
        touched: &str,
    ) -> Option<Interval> {
        let megabytes = self.0.values("megabytes", metric).into_iter().rev();
        megabytes
            .filter_map(|size: Value| {
                let at = [
                    ("language", language.into()),
                    ("pages", kind::name(policy).into()),
                    ("pattern", pattern.name().into()),
                    ("touched", touched.into()),
                    ("megabytes", size),
                ];
                self.0.get(metric, &at)
            })
            .next()
    }

    fn file(&self, metric: &str, cache: &str) -> Option<f64> {
        self.0.median(metric, &[("pattern", FILE.into()), ("pages", cache.into())])
    }

    /// Speeds of random reads against small pages, with words for them.
    fn gains(&self) -> Vec<(String, Interval)> {
        let mut gains = Vec::new();
        for language in [NATIVE, JAVA] {
            for policy in &Policy::ALL[1..] {
                let gain = self.get("relative", language, *policy, Pattern::Random, BEFORE);
                gains.extend(gain.map(|gain| (format!("{} ({language})", kind::name(*policy)), gain)));
            }
        }
        gains
    }

    fn unseen(claim: &str) -> Check {
        Check::new(
            claim,
            "not testable here: the cells for it were not measured; their reasons stand with them",
            None,
        )
    }

    fn answer(&self) -> String {
        let mut sentences = Vec::new();
        let random = |metric| self.get(metric, NATIVE, Policy::Transparent, Pattern::Random, BEFORE);
        if let (Some(ns), Some(gain)) = (random("ns"), random("relative")) {
            sentences.push(format!(
                "A random read on transparent huge pages takes {}, {} as fast as on 4 KB pages in turns with it ({} to {}).",
                nanoseconds(ns.median),
                times(gain.median),
                digits(gain.low),
                digits(gain.high)
            ));
        }
        let first = |policy, touched| self.get("first", NATIVE, policy, Pattern::Random, touched);
        if let (Some(faulting), Some(huge), Some(before)) = (
            first(Policy::Small, WHEN_USED),
            first(Policy::Transparent, WHEN_USED),
            first(Policy::Small, BEFORE),
        ) {
            sentences.push(format!(
                "The first pass takes {} s on 4 KB pages, {} s on transparent ones, and {} s where pages were touched before.",
                digits(faulting.median),
                digits(huge.median),
                digits(before.median)
            ));
        }
        if sentences.is_empty() {
            return "Nothing of this was measured; run the experiment again.".into();
        }
        sentences.join(" ")
    }

    fn huge_pages_cut_random_access(&self) -> Check {
        let claim = "huge pages cut random access time";
        let gains = self.gains();
        if gains.is_empty() {
            return Seen::unseen(claim);
        }
        let found: Vec<String> = (gains.iter())
            .map(|(name, gain)| {
                format!("{} on {name}, {} to {}", times(gain.median), digits(gain.low), digits(gain.high))
            })
            .collect();
        let mut found = format!("the speed of 4 KB pages times {}", found.join("; "));
        let misses = |policy| Some(self.get("dtlb", JAVA, policy, Pattern::Random, BEFORE)?.median);
        if let (Some(small), Some(huge)) = (misses(Policy::Small), misses(Policy::Transparent)) {
            found += &format!(
                "; dTLB misses for each read of Java: {} on 4 KB pages, {} on transparent huge ones",
                digits(small),
                digits(huge)
            );
            if huge > 0.8 * small {
                found += ", as many: the processor sees small pages, perhaps because this machine is virtual and its host has them";
            }
        }
        Check::new(
            claim,
            found,
            Some(
                gains.iter().any(|(_, gain)| gain.low > 1.0) && gains.iter().all(|(_, gain)| gain.high > 1.0),
            ),
        )
    }

    fn order_hardly_differs(&self) -> Check {
        let claim = "reading in order hardly differs";
        let Some(gain) = self.get("relative", NATIVE, Policy::Transparent, Pattern::Order, BEFORE) else {
            return Seen::unseen(claim);
        };
        Check::new(
            claim,
            format!("on transparent huge pages {} the speed of 4 KB pages", times(gain.median)),
            Some(ALIKE.contains(&gain.median)),
        )
    }

    fn touching_before_moves_faults(&self) -> Check {
        let claim = "touching pages before moves the faults out of the measured time";
        let of =
            |metric, touched| Some(self.get(metric, NATIVE, Policy::Small, Pattern::Random, touched)?.median);
        let (Some(with), Some(without)) = (of("minor", BEFORE), of("minor", WHEN_USED)) else {
            return Seen::unseen(claim);
        };
        let mut found = format!("{} minor faults on 4 KB pages instead of {}", digits(with), digits(without));
        if let (Some(touching), Some(pass), Some(faulting)) =
            (of("before", BEFORE), of("first", BEFORE), of("first", WHEN_USED))
        {
            found += &format!(
                "; the first pass takes {} s instead of {} s, and touching {} s",
                digits(pass),
                digits(faulting),
                digits(touching)
            );
        }
        Check::new(claim, found, Some(with <= without / 100.0))
    }

    fn explicit_pages_are_obtained(&self) -> Check {
        let claim = "1 GB pages are the fastest, 2 MB pages of a pool bring Java nothing";
        let of = |size| self.get("relative", JAVA, Policy::Explicit(size), Pattern::Random, BEFORE);
        let (Some(two), Some(one)) = (of(PageSize::TwoMegabytes), of(PageSize::OneGigabyte)) else {
            return Seen::unseen(claim);
        };
        let mut found = format!(
            "{} on 2 MB pages ({} to {}), {} on 1 GB pages ({} to {})",
            times(two.median),
            digits(two.low),
            digits(two.high),
            times(one.median),
            digits(one.low),
            digits(one.high)
        );
        let overlap = one.low <= two.high && two.low <= one.high;
        if overlap {
            found +=
                "; the intervals overlap, so neither can be told: run with --full, or with nothing beside";
        }
        let holds = (!overlap).then(|| one.median > two.median && ALIKE.contains(&two.median));
        Check::new(claim, found, holds)
    }

    fn a_cold_cache_gives_major_faults(&self) -> Check {
        let claim = "with a cold page cache there are major faults, with a warm one there are none";
        let (Some(cold), Some(warm)) = (self.file("major", COLD), self.file("major", WARM)) else {
            return Seen::unseen(claim);
        };
        let mut found = format!("{} major faults cold, {} warm", digits(cold), digits(warm));
        if let (Some(slow), Some(fast)) = (self.file("first", COLD), self.file("first", WARM)) {
            found += &format!("; a pass takes {} s cold, {} s warm", digits(slow), digits(fast));
        }
        Check::new(claim, found, Some(cold > 0.0 && warm == 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::measured::MeasuredCell;
    use crate::experiment::{Declaration, Quantity, parameters};

    fn cell(
        language: &str,
        pattern: &str,
        pages: String,
        touched: &str,
        metrics: &[(&str, f64)],
    ) -> MeasuredCell {
        MeasuredCell {
            parameters: parameters([
                ("language", language.into()),
                ("pattern", pattern.into()),
                ("pages", pages.into()),
                ("touched", touched.into()),
                ("megabytes", 512_u32.into()),
            ]),
            metrics: (metrics.iter())
                .map(|(key, value)| ((*key).to_owned(), Quantity::of(vec![*value], "")))
                .collect(),
            ..MeasuredCell::default()
        }
    }

    #[test]
    fn the_sources_own_figures_hold() {
        let (random, order) = (Pattern::Random.name(), Pattern::Order.name());
        let name = kind::name;
        let mut cells: Vec<MeasuredCell> = (super::super::PUBLISHED[1..].iter())
            .map(|(policy, rate)| {
                let relative = rate / super::super::PUBLISHED_SMALL;
                cell(JAVA, random, name(*policy), BEFORE, &[("relative", relative)])
            })
            .filter(|cell| cell.parameters["pages"] != name(Policy::Explicit(PageSize::TwoMegabytes)).into())
            .collect();
        let two = name(Policy::Explicit(PageSize::TwoMegabytes));
        cells.push(cell(JAVA, random, two, BEFORE, &[("relative", 1.01)]));
        let (small, huge) = (name(Policy::Small), name(Policy::Transparent));
        let before = [("ns", 22.0), ("minor", 0.0), ("before", 0.06), ("first", 0.02)];
        cells.push(cell(NATIVE, random, small.clone(), BEFORE, &before));
        cells.push(cell(NATIVE, random, small, WHEN_USED, &[("minor", 131_072.0), ("first", 0.1)]));
        cells.push(cell(NATIVE, random, huge.clone(), BEFORE, &[("ns", 20.0), ("relative", 1.1)]));
        cells.push(cell(NATIVE, order, huge, BEFORE, &[("relative", 1.0)]));
        cells.push(cell(NATIVE, FILE, COLD.into(), "", &[("major", 146.0), ("first", 1.0)]));
        cells.push(cell(NATIVE, FILE, WARM.into(), "", &[("major", 0.0), ("first", 0.1)]));
        let declaration = Declaration::default();
        let conclusion = conclude(&Measured { declaration: &declaration, cells: &cells });
        for check in &conclusion.checks {
            assert_eq!(check.holds, Some(true), "{check:?}");
        }
        assert!(conclusion.answer.contains("takes 20.0 ns, 1.10x as fast"), "{}", conclusion.answer);
    }

    #[test]
    fn nothing_is_said_without_figures() {
        let declaration = Declaration::default();
        let conclusion = conclude(&Measured { declaration: &declaration, cells: &[] });
        assert!(conclusion.checks.iter().all(|check| check.holds.is_none()));
        assert!(conclusion.answer.starts_with("Nothing"));
    }
}
