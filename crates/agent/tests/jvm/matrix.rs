//! The JDKs and collectors that a hazard is for, and the cases that come of it.

use crate::jdk::{self, Jdk};
use crate::launch::Launch;
use crate::runner::{Case, Outcome, QUIET, Verdict};
use hotspot::collector::Collector;
use hotspot::version::Feature;
use std::collections::HashSet;

/// The collectors with buffers of which every JDK has all.
pub const USUAL: &[Collector] = &[Collector::Serial, Collector::Parallel, Collector::G1];
/// All collectors with buffers.
pub const SERVED: &[Collector] = &[
    Collector::Serial,
    Collector::Parallel,
    Collector::G1,
    Collector::Shenandoah,
    Collector::GenerationalShenandoah,
    Collector::Epsilon,
];
/// The JDKs that terrace supports.
pub const JDKS: &[u32] = &[11, 17, 21, 25, 26, 27, 28];
/// Those that every hazard meets in turn. The others are met where they are installed (`cargo xtask jdks`), and with `--all`.
pub const MAIN: &[u32] = &[17, 21, 25];
/// Hazards that the others meet in any case.
const SMOKE: [&str; 5] =
    ["load", "attach::core", "jar::at_start", "late_collections::exit", "collections_in_vm_death::exit"];

/// The supported JDKs from this one on.
pub fn since(feature: u32) -> &'static [u32] {
    &JDKS[JDKS.partition_point(|other| *other < feature)..]
}

/// One cell of a matrix.
#[derive(Clone, Copy)]
pub struct Setting {
    pub jdk: &'static Jdk,
    pub collector: Collector,
}

/// Whether this machine can run a setting.
pub fn setting(feature: u32, collector: Collector) -> Result<Setting, String> {
    let jdk = jdk::of(feature)?;
    if !jdk.has(collector) {
        return Err(format!("{} on {feature}: not in this build", collector.name()));
    }
    Ok(Setting { jdk, collector })
}

/// A case for each supported JDK that no hazard has one of because it is not installed: it is skipped, and told by name.
pub fn missing(cases: &mut Vec<Case>) {
    for feature in JDKS.iter().filter(|feature| !MAIN.contains(feature)) {
        if jdk::of(*feature).is_err() {
            cases.push(Case::new(format!("every_hazard::{feature}"), move || {
                Ok(Outcome::Skipped(format!("JDK {feature}: not found (cargo xtask jdks {feature})")))
            }));
        }
    }
}

/// A hazard for each JDK and collector, by `body`.
///
/// Usually each collector meets it on one of the main JDKs, and each of these with some collector, in turn: hazards are many, so that each
/// JDK meets each collector often. Three [`turn`]s that follow each other meet every pair; with `--all` one run does. There is no case of a JDK
/// that is neither a main one nor installed ([`missing`]), nor of a collector that it does not have.
pub fn matrix(
    cases: &mut Vec<Case>,
    name: &str,
    jdks: &[u32],
    collectors: &[Collector],
    body: impl Fn(Setting) -> Verdict + Clone + Send + Sync + 'static,
) {
    let is_main = |feature: &u32| MAIN.contains(feature);
    let main: Vec<u32> = jdks.iter().copied().filter(is_main).collect();
    let usual = |feature: u32, index: usize, collector: Collector| {
        if !is_main(&feature) {
            return SMOKE.contains(&name);
        }
        in_turn(turn(), name, index, &main)
            .find(|feature| setting(*feature, collector).is_ok())
            .unwrap_or(main[0])
            == feature
    };
    for feature in jdks.iter().copied().filter(|feature| is_main(feature) || jdk::of(*feature).is_ok()) {
        let met = |collector: &Collector| jdk::exists(*collector, Feature(feature));
        for (index, &collector) in collectors.iter().enumerate().filter(|(_, collector)| met(collector)) {
            let body = body.clone();
            let short = collector.name().replace(' ', "-");
            let case =
                Case::new(format!("{name}::{short}::{feature}"), move || match setting(feature, collector) {
                    Ok(setting) => body(setting),
                    Err(why) => Ok(Outcome::Skipped(why)),
                });
            cases.push(if usual(feature, index, collector) { case } else { case.only_if_asked() });
        }
    }
}

/// Which of the pairs meet without `--all`: `TERRACE_TURN`, which `cargo xtask test` sets to the number of the commit, so that each commit has its
/// own; otherwise 0.
pub fn turn() -> usize {
    let Ok(text) = std::env::var("TERRACE_TURN") else { return 0 };
    text.parse().unwrap_or_else(|_| panic!("TERRACE_TURN={text}: not a number"))
}

/// The JDKs in the order in which they are tried for a hazard and the collector at this index.
fn in_turn(turn: usize, name: &str, index: usize, jdks: &[u32]) -> impl Iterator<Item = u32> {
    let hazard = name.bytes().map(usize::from).sum::<usize>();
    (0..jdks.len()).map(move |step| jdks[(turn % jdks.len() + hazard + index + step) % jdks.len()])
}

/// As many turns as there are JDKs meet every pair.
pub fn cases(cases: &mut Vec<Case>) {
    cases.push(Case::new("turns_meet_every_pair", || {
        for (jdks, begin, index) in [(MAIN, 0, 0), (MAIN, 851, 1), (&MAIN[1..], 852, 5), (&MAIN[..1], 7, 2)] {
            let turns = begin..begin + jdks.len();
            let met: HashSet<u32> =
                turns.filter_map(|turn| in_turn(turn, "load", index, jdks).next()).collect();
            if met.len() != jdks.len() {
                return Err(format!("from turn {begin} on, of {jdks:?} only {met:?} are met"));
            }
        }
        Ok(Outcome::Passed)
    }));
}

/// The same, each case with `--all` or by its name alone: for what takes many minutes.
pub fn only_if_asked(
    cases: &mut Vec<Case>,
    name: &str,
    jdks: &[u32],
    collectors: &[Collector],
    body: impl Fn(Setting) -> Verdict + Clone + Send + Sync + 'static,
) {
    let mut asked = Vec::new();
    matrix(&mut asked, name, jdks, collectors, body);
    cases.extend(asked.into_iter().map(Case::only_if_asked));
}

/// A hazard for each JDK and collector, by one launch each.
pub fn hazard(
    cases: &mut Vec<Case>,
    name: &str,
    jdks: &[u32],
    collectors: &[Collector],
    launch: impl Fn(Setting) -> Launch + Clone + Send + Sync + 'static,
) {
    matrix(cases, name, jdks, collectors, move |setting| {
        let launch =
            launch(setting).flags(&jdk::collector_flags(setting.collector, setting.jdk.feature).join(" "));
        if let Some(why) = launch.impossible() {
            return Ok(Outcome::Skipped(why));
        }
        QUIET.shared(|| launch.run(setting.jdk)).map(|_| Outcome::Passed)
    });
}
