//! The source's claims, and the question answered.

use super::tensor::Pattern::{self, Order, Random};
use super::{BEFORE, COLD, FILE, JAVA, NATIVE, WARM, WHEN_USED, kind};
use ::pages::{PageSize, Policy};
use experiment::Relation::{Above, Alike, AtMost};
use experiment::{Claim, Measured, Term};
use present::numbers::{interval, quantity};

const SOURCE: &str = "mpataki, Taking JVM on a performance ride, part 6 (2026)";
/// A speed against small pages that is as good as theirs.
const ALIKE: f64 = 1.1;

/// Of the largest tensor.
fn of(name: &str, metric: &'static str, pattern: Pattern, touched: &str) -> Term {
    let term = Term::metric(name, metric).at("pattern", pattern.name()).at("touched", touched);
    term.largest("megabytes")
}

/// The speed against small pages, touched before.
fn speed(name: &str, language: &str, pattern: Pattern, pages: Policy) -> Term {
    of(name, "relative", pattern, BEFORE).at("language", language).at("pages", kind::name(pages))
}

/// Random native accesses.
fn native(name: &str, metric: &'static str, pages: Policy, touched: &str) -> Term {
    of(name, metric, Random, touched).at("language", NATIVE).at("pages", kind::name(pages))
}

fn file(name: &str, metric: &'static str, cache: &str) -> Term {
    Term::metric(name, metric).at("pattern", FILE).at("pages", cache)
}

pub(super) fn claims(_: &Measured) -> Vec<Claim> {
    use Policy::{Explicit, Small, Transparent};
    let random = |name, metric| of(name, metric, Random, BEFORE);
    let two = || speed("2 MB pages", JAVA, Random, Explicit(PageSize::TwoMegabytes));
    let one = || speed("1 GB pages", JAVA, Random, Explicit(PageSize::OneGigabyte));
    let minor = |name, touched| native(name, "minor", Small, touched);
    vec![
        // The source found none for 2 MB pages of a pool; those and 1 GB pages, which few machines have, are told.
        Claim::new("huge pages cut random access time", SOURCE)
            .each("language")
            .each("pages")
            .decided_at("pages", kind::name(Transparent))
            .that(random("speed relative to 4 KB pages", "relative").is(Above, 1.0))
            .context(random("dTLB misses per read", "dtlb"))
            .context(random("on 4 KB pages", "dtlb").at("pages", kind::name(Small)))
            .otherwise("if misses are as frequent as on 4 KB pages, the host of a virtual machine may have small pages"),
        Claim::new("transparent huge pages hardly help sequential reads", SOURCE)
            .that(speed("speed relative to 4 KB pages", NATIVE, Order, Transparent).is(Alike(ALIKE), 1.0)),
        Claim::new("pre-touching moves the faults out of the measured time", SOURCE)
            .that(minor("minor faults, pre-touched", BEFORE).is(AtMost(0.01), minor("when used", WHEN_USED)))
            .context(native("first pass, pre-touched", "first", Small, BEFORE))
            .context(native("when used", "first", Small, WHEN_USED))
            .context(native("touching", "before", Small, BEFORE)),
        Claim::new("1 GB pages are the fastest, 2 MB pages from a pool gain Java nothing", SOURCE)
            .that(one().is(Above, two()))
            .that(two().is(Alike(ALIKE), 1.0)),
        Claim::new("with a cold page cache there are major faults, with a warm one there are none", SOURCE)
            .that(file("major faults, cold", "major", COLD).is(Above, 0.0))
            .that(file("warm", "major", WARM).is(AtMost(1.0), 0.0))
            .context(file("a pass, cold", "first", COLD))
            .context(file("warm", "first", WARM)),
    ]
}

pub(super) fn answer(measured: &Measured) -> String {
    use Policy::{Small, Transparent};
    let of = |metric, pages, touched| Some(native("", metric, pages, touched).of(measured)?.interval);
    let mut sentences = Vec::new();
    if let (Some(ns), Some(gain)) = (of("ns", Transparent, BEFORE), of("relative", Transparent, BEFORE)) {
        sentences.push(format!(
            "A random read on transparent huge pages takes {}, {} times as fast as on 4 KB pages, interleaved with it.",
            quantity(ns.median, "ns"),
            interval(&gain, "")
        ));
    }
    if let (Some(faulting), Some(huge), Some(before)) =
        (of("first", Small, WHEN_USED), of("first", Transparent, WHEN_USED), of("first", Small, BEFORE))
    {
        sentences.push(format!(
            "The first pass takes {} on 4 KB pages, {} on transparent ones, and {} where pages were pre-touched.",
            quantity(faulting.median, "s"),
            quantity(huge.median, "s"),
            quantity(before.median, "s")
        ));
    }
    if sentences.is_empty() {
        return "None of this was measured; run the experiment again.".into();
    }
    sentences.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::{PUBLISHED, PUBLISHED_SMALL, experiment};
    use super::*;
    use experiment::fixture::{conclude, holds};
    use experiment::{MeasuredCell, Quantity, fixture, parameters};

    fn cell(
        language: &str,
        pattern: &str,
        pages: &str,
        touched: &str,
        metrics: &[(&str, f64)],
    ) -> MeasuredCell {
        let at = parameters([
            ("language", language.into()),
            ("pattern", pattern.into()),
            ("pages", pages.into()),
            ("touched", touched.into()),
            ("megabytes", 512_u32.into()),
        ]);
        fixture::cell(at, metrics)
    }

    /// The source's figures, and a native side made up.
    fn published() -> Vec<MeasuredCell> {
        let (random, order) = (Random.name(), Order.name());
        let mut cells: Vec<MeasuredCell> = (PUBLISHED[1..].iter())
            .map(|(policy, rate)| {
                cell(JAVA, random, &kind::name(*policy), BEFORE, &[("relative", rate / PUBLISHED_SMALL)])
            })
            .collect();
        let (small, huge) = (kind::name(Policy::Small), kind::name(Policy::Transparent));
        let before = [("ns", 22.0), ("minor", 0.0), ("before", 0.06), ("first", 0.02)];
        cells.push(cell(NATIVE, random, &small, BEFORE, &before));
        cells.push(cell(NATIVE, random, &small, WHEN_USED, &[("minor", 131_072.0), ("first", 0.1)]));
        cells.push(cell(NATIVE, random, &huge, BEFORE, &[("ns", 20.0), ("relative", 1.1)]));
        cells.push(cell(NATIVE, order, &huge, BEFORE, &[("relative", 1.0)]));
        cells.push(cell(NATIVE, FILE, COLD, "", &[("major", 146.0), ("first", 1.0)]));
        cells.push(cell(NATIVE, FILE, WARM, "", &[("major", 0.0), ("first", 0.1)]));
        cells
    }

    #[test]
    fn the_sources_own_figures_hold() {
        let (answer, checks) = conclude(&experiment(), &published());
        assert_eq!(holds(&checks), [Some(true); 5], "{checks:#?}");
        assert!(answer.contains("takes 20 ns, 1.10 [1.09, 1.11] times as fast"), "{answer}");
    }

    #[test]
    fn pages_that_could_not_be_had_give_their_reason() {
        let mut cells = published();
        for cell in &mut cells {
            let explicit = ["1 GB", "transparent"].map(|name| cell.parameters["pages"] == name.into());
            if cell.parameters["language"] == JAVA.into() && explicit.contains(&true) {
                cell.metrics.insert("relative".into(), Quantity::of(vec![], "the pool is empty"));
            }
        }
        let (_, checks) = conclude(&experiment(), &cells);
        assert_eq!(holds(&checks)[..4], [None, Some(true), Some(true), None], "{checks:#?}");
        assert!(
            checks[0].found.contains("not testable here: the pool is empty (java, transparent)"),
            "{checks:#?}"
        );
        assert!(checks[3].found.contains("not testable here: the pool is empty"), "{checks:#?}");
    }

    #[test]
    fn nothing_is_said_without_figures() {
        let (answer, checks) = conclude(&experiment(), &[]);
        assert_eq!(holds(&checks), [None; 5]);
        assert!(answer.starts_with("None of this"));
    }
}
