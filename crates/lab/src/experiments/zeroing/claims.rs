//! Shipilëv's claims, and the question answered.

use super::best::{best, in_words};
use super::{BANDWIDTH, JAVA, NATIVE, UNINITIALIZED, WATCHED, ZEROED};
use experiment::Relation::{Alike, AtLeast, AtMost, Below};
use experiment::{Claim, Measured, Term};
use present::numbers;

const SHIPILEV: &str = "Shipilëv, JVM Anatomy Quark on initialization costs";
/// Times that differ by less are alike: noise of a quiet machine is well below.
const ALIKE: f64 = 1.25;

fn java(metric: &'static str, method: &'static str) -> Term {
    let name = if metric == "rate" { format!("rate {method}") } else { method.into() };
    Term::metric(name, metric).at("language", JAVA).at("method", method)
}

/// With the most threads that it was measured with.
fn bandwidth() -> Term {
    Term::metric("write bandwidth", "rate").at("language", NATIVE).at("method", BANDWIDTH).highest()
}

pub(super) fn claims(_: &Measured) -> Vec<Claim> {
    let at = |method: &'static str, bytes: f64| java("ns", method).at("bytes", bytes);
    let beyond = || java("rate", ZEROED).within("bytes", 1e5..=f64::INFINITY);
    let watched =
        |name, metric| Term::metric(name, metric).at("language", WATCHED).at("method", UNINITIALIZED);
    let count = watched("safepoints per second", "safepoint_count");
    let mean = Term::ratio("mean time of a safepoint", "ms", watched("", "safepoint_time"), count);
    vec![
        Claim::new("uninitialized arrays win by more than 10x at 100 KB", SHIPILEV)
            .that(at(ZEROED, 1e5).is(AtLeast(10.0), at(UNINITIALIZED, 1e5))),
        Claim::new("small arrays do not differ: their headers cost more than their zeros", SHIPILEV)
            .each_within("bytes", 0.0..=10.0)
            .that(java("ns", ZEROED).is(Alike(ALIKE), java("ns", UNINITIALIZED))),
        Claim::new("zeroing dominates large arrays, and from 100 KB on their rate levels off", SHIPILEV)
            .that(at(ZEROED, 1e5).is(AtLeast(2.0), at(UNINITIALIZED, 1e5)))
            .that(beyond().highest().is(AtMost(2.0), beyond().lowest()))
            .context(java("ns", ZEROED).largest("bytes"))
            .context(java("ns", UNINITIALIZED).largest("bytes")),
        Claim::new("the rate of zeroed arrays ends at the write bandwidth", SHIPILEV)
            .that(java("rate", ZEROED).largest("bytes").is(AtLeast(0.8), bandwidth())),
        Claim::new(
            "dead arrays are collected in less than 1 ms on average, however fast they come",
            SHIPILEV,
        )
        .that(mean.is(Below, 1.0))
        .context(watched("the longest", "safepoint_longest"))
        .context(watched("in pauses over 1 ms, as observed by a watcher thread", "watched_time")),
    ]
}

pub(super) fn answer(measured: &Measured) -> String {
    let of = |term: Term| Some(term.of(measured)?.interval);
    let at_100k = |method| of(java("ns", method).at("bytes", 1e5));
    let mut sentences = Vec::new();
    if let (Some(zeroed), Some(not)) = (at_100k(ZEROED), at_100k(UNINITIALIZED)) {
        sentences.push(format!(
            "A byte array of 100 KB takes {} zeroed and {} uninitialized: zeroing is {} of its time.",
            numbers::quantity(zeroed.median, "ns"),
            numbers::quantity(not.median, "ns"),
            numbers::share((1.0 - not.median / zeroed.median).max(0.0))
        ));
    }
    if let (Some(rate), Some(most)) = (of(java("rate", ZEROED).largest("bytes")), of(bandwidth())) {
        sentences.push(format!(
            "The largest zeroed arrays reach {}, {} of the {} that this machine can write.",
            numbers::quantity(rate.median, "GB/s"),
            numbers::share(rate.median / most.median),
            numbers::quantity(most.median, "GB/s")
        ));
    }
    sentences.extend(in_words(&best(measured)));
    if sentences.is_empty() {
        return "None of this was measured; run the experiment again.".into();
    }
    sentences.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::kernels::Method;
    use super::super::{PUBLISHED, experiment};
    use super::*;
    use experiment::fixture::{self, conclude, holds};
    use experiment::{MeasuredCell, parameters};

    fn cell(language: &str, method: &str, bytes: f64, metrics: &[(&str, f64)]) -> MeasuredCell {
        let at = parameters([
            ("language", language.into()),
            ("method", method.into()),
            ("bytes", bytes.into()),
            ("threads", 1_u32.into()),
        ]);
        fixture::cell(at, metrics)
    }

    /// The source's own figures, and a native side made up.
    fn published() -> Vec<MeasuredCell> {
        let mut cells = Vec::new();
        for (bytes, zeroed, not) in PUBLISHED {
            for (method, [ns, rate]) in [(ZEROED, zeroed), (UNINITIALIZED, not)] {
                cells.push(cell(JAVA, method, bytes.into(), &[("ns", ns), ("rate", rate / 1000.0)]));
            }
        }
        cells.push(cell(JAVA, ZEROED, 1e6, &[("ns", 450_000.0), ("rate", 12.1)]));
        cells.push(cell(JAVA, UNINITIALIZED, 1e6, &[("ns", 1000.0), ("rate", 9999.0)]));
        let pauses = [("safepoint_time", 122.5), ("safepoint_count", 126.7)];
        cells.push(cell(WATCHED, UNINITIALIZED, 1e5, &pauses));
        cells.push(cell(NATIVE, BANDWIDTH, 256e6, &[("rate", 13.0)]));
        for (bytes, used) in
            [(1024.0, [10.0, 30.0, 50.0]), (4096.0, [40.0, 39.0, 99.0]), (65536.0, [700.0, 600.0, 500.0])]
        {
            let methods = [Method::Memset, Method::RepStosb, Method::NonTemporal];
            for (method, ns) in methods.into_iter().zip(used) {
                cells.push(cell(NATIVE, method.name(), bytes, &[("used", ns)]));
            }
        }
        cells
    }

    #[test]
    fn the_sources_own_figures_hold() {
        let (answer, checks) = conclude(&experiment(), &published());
        assert_eq!(holds(&checks), [Some(true); 5], "{checks:#?}");
        assert!(answer.contains("zeroing is 99.3 % of its time"), "{answer}");
        assert!(answer.contains("93.1 % of the 13 GB/s"), "{answer}");
        assert!(answer.contains("memset for 1k to 4k, non-temporal for 64k"), "{answer}");
    }

    #[test]
    fn nothing_is_said_without_figures() {
        let (answer, checks) = conclude(&experiment(), &[]);
        assert_eq!(holds(&checks), [None; 5]);
        assert!(answer.starts_with("None of this"));
    }
}
