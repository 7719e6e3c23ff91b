//! What is claimed of Terrace's defaults, and what the cells say together.

use super::super::matrix::LOSS;
use super::super::startup::enough;
use super::{DEFAULTS, ON_OFF};
use experiment::claim::OWN;
use experiment::{Claim, Measured, MeasuredCell, NO_ANSWER, Relation, Term};
use present::numbers;
use statistics::Interval;

/// Resident memory may be that much more.
const MORE_MEMORY: f64 = 1.01;
/// Programs whose threads end after one small task collect at most this share as often.
const FEWER: f64 = 0.05;
/// Not `http-connection`: its threads use an eighth to nine tenths of their first TLABs, so that a twentieth is out of reach.
const ONE_TASK: [&str; 2] = ["callbacks", "callbacks-jni"];

fn defaults(name: &str, metric: &'static str) -> Term {
    Term::metric(name, metric).at("compared", DEFAULTS)
}

pub(super) fn claims(_: &Measured) -> Vec<Claim> {
    // In one process an interval is narrow; that of forks would call nothing slower for its width.
    let slowest = Term::metric("at worst", "speed").at("compared", ON_OFF).lowest();
    let longest = defaults("at worst", "p99").highest();
    let memory = defaults("at worst", "resident").highest();
    let fewer = ONE_TASK.into_iter().fold(
        Claim::new(
            "programs whose threads end after one small task collect at most a twentieth as often",
            OWN,
        ),
        |claim, program| {
            let most = defaults(program, "collections").at("program", program).highest();
            claim.that(most.is(Relation::AtMost(1.0), FEWER))
        },
    );
    let slower = Claim::new("no program is slower", OWN).that(slowest.is(Relation::AtLeast(LOSS), 1.0));
    let claims = [
        Claim::new("no p99 is longer, of programs that perform enough operations for one", OWN)
            .that(longest.is(Relation::AtMost(1.0), 1.0 / LOSS)),
        Claim::new("no program needs more than 1 % more memory", OWN)
            .that(memory.is(Relation::AtMost(1.0), MORE_MEMORY)),
        fewer,
    ];
    [slower].into_iter().chain(claims.map(|claim| claim.usable(enough))).collect()
}

/// The programs compared so, with how fast they are.
fn speeds<'a>(measured: &Measured<'a>, compared: &'static str) -> Vec<(&'a MeasuredCell, Interval)> {
    let speed = |cell: &'a MeasuredCell| Some((cell, cell.metrics.get("speed")?.interval()?));
    measured.select(&[("compared", compared.into())]).filter_map(speed).collect()
}

/// Of one process, because intervals of several are wide; of these where nothing else was measured.
pub(super) fn answer(measured: &Measured) -> String {
    let sides = [(ON_OFF, "than with buffers off in the same JVM"), (DEFAULTS, "than a stock JVM")];
    let told = |(compared, than): (&'static str, &str)| {
        let speeds = speeds(measured, compared);
        let (cell, speed) = speeds.iter().min_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))?;
        let place = |key: &str| cell.parameters.get(key).map(ToString::to_string).unwrap_or_default();
        let slower = speeds.iter().filter(|(_, speed)| speed.high < 1.0).count();
        Some(format!(
            "With Terrace's defaults, {slower} of {} cells are significantly slower {than}; \
             lowest: {} ({}, JDK {}, {} heap), {} times the speed.",
            speeds.len(),
            place("program"),
            place("collector"),
            place("jdk"),
            place("heap"),
            numbers::interval(speed, "")
        ))
    };
    sides.into_iter().find_map(told).unwrap_or_else(|| NO_ANSWER.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::applications::experiment;
    use experiment::fixture::{cell, conclude, holds};
    use experiment::parameters;

    fn of(program: &str, compared: &str, speed: f64, collections: f64) -> MeasuredCell {
        let at = parameters([
            ("program", program.into()),
            ("collector", "g1".into()),
            ("jdk", 25_u32.into()),
            ("heap", "small".into()),
            ("compared", compared.into()),
        ]);
        let metrics = [("speed", speed), ("collections", collections), ("p99", 0.9), ("resident", 0.99)];
        MeasuredCell { runs: 6, ..cell(at, &metrics) }
    }

    #[test]
    fn the_lowest_cell_of_the_defaults_is_named() {
        let cells = [
            of("h2", ON_OFF, 0.9, 0.8),
            of("callbacks", ON_OFF, 1.2, 0.8),
            of("callbacks", DEFAULTS, 0.5, 0.01),
            of("callbacks-jni", DEFAULTS, 1.0, 0.01),
            of("http-connection", DEFAULTS, 1.1, 0.98),
            of("callbacks", "TLABSize=4k / stock", 0.5, 0.5),
        ];
        let (answer, checks) = conclude(&experiment(), &cells);
        assert!(answer.contains("1 of 2 cells are significantly slower"), "{answer}");
        assert!(answer.contains("lowest: h2 (g1, JDK 25, small heap), 0.900 ["), "{answer}");
        assert_eq!(holds(&checks), [Some(false), Some(true), Some(true), Some(true)]);
        let (forks, _) = conclude(&experiment(), &cells[2..]);
        assert!(
            forks.contains("1 of 3 cells are significantly slower than a stock JVM; lowest: callbacks"),
            "{forks}"
        );
        assert_eq!(conclude(&experiment(), &[]).0, NO_ANSWER);
        let few = cells.map(|cell| MeasuredCell { runs: 2, ..cell });
        let (_, checks) = conclude(&experiment(), &few);
        assert_eq!(holds(&checks), [Some(false), None, None, None], "of forks two rounds decide nothing");
    }

    #[test]
    fn what_collects_too_often_does_not_hold() {
        let of = |program: &str, collections: f64| of(program, DEFAULTS, 1.1, collections);
        let cells = [of("callbacks", 0.3), of("callbacks-jni", 0.01)];
        assert_eq!(holds(&conclude(&experiment(), &cells).1)[3], Some(false));
    }
}
