//! The paper's claims, and its question answered.

use super::GROWING;
use experiment::Relation::{Above, AtLeast, Below};
use experiment::{Claim, Measured, NO_ANSWER, Standing, Term};
use present::numbers;
use statistics::Interval;

const FIGURES: &str = "Kirsch, Payer, Röck 2012, Figures 2 and 3";
const TABLES: &str = "Kirsch, Payer, Röck 2012, Tables I and II";
/// "As well as": not more than this much slower.
const AS_WELL: f64 = 0.97;
/// TLABs that count as small.
const SMALL: [&str; 2] = ["1k", "4k"];

pub(super) fn claims(_: &Measured) -> Vec<Claim> {
    let best = |name, tlab: &str| Term::metric(name, "speedup").at("tlab", tlab).highest();
    let mean = |level: &str| {
        Term::metric(format!("geometric mean with {level} buffers"), "speedup").at("level", level).mean()
    };
    vec![
        Claim::new("the smaller the TLAB, the more the buffers speed it up", FIGURES)
            .that(best("at best with TLABs of 1k", "1k").is(Above, best("with 64k", "64k"))),
        Claim::new("performance also improves with growing TLABs", FIGURES)
            .that(best("at best", GROWING).is(Above, 1.0)),
        Claim::new("core buffers do slightly better than processor buffers on average", FIGURES)
            .that(mean("core").is(Above, mean("processor"))),
        Claim::new("foreign allocations are rare: below 3 % in all of the paper's cells", TABLES)
            .that(Term::metric("at most", "foreign").highest().is(Below, 3.0)),
    ]
}

pub(super) fn answer(measured: &Measured) -> String {
    let best = (SMALL.iter())
        .filter_map(|tlab| Term::metric(*tlab, "over_growing").at("tlab", *tlab).highest().of(measured))
        .max_by(|a, b| a.interval.median.total_cmp(&b.interval.median));
    let Some((best, cell)) = best.and_then(|best| Some((best.interval, best.cell?))) else {
        return NO_ANSWER.into();
    };
    let verdict = match AtLeast(AS_WELL).decide(&best, &Interval::exactly(1.0)) {
        Standing::Holds => "Yes",
        Standing::DoesNotHold => "No, not here",
        Standing::CannotBeTold(_) => "Undecided here",
    };
    let of = |key: &str| cell.parameters.get(key).map(ToString::to_string).unwrap_or_default();
    let times = numbers::interval(&best, "");
    format!(
        "{verdict}: {} TLABs with {} buffers of {} give {times} times the rate of growing TLABs without buffers.",
        of("tlab"),
        of("level"),
        of("size")
    )
}

#[cfg(test)]
mod tests {
    use super::super::experiment;
    use super::*;
    use experiment::fixture::{cell, conclude, holds};
    use experiment::{MeasuredCell, Quantity, parameters};

    fn of(tlab: &str, level: &str, speedup: f64, over_growing: f64, foreign: f64) -> MeasuredCell {
        let at = parameters([("tlab", tlab.into()), ("level", level.into()), ("size", "8m".into())]);
        cell(at, &[("speedup", speedup), ("over_growing", over_growing), ("foreign", foreign)])
    }

    /// As in the paper's figures.
    fn cells() -> Vec<MeasuredCell> {
        let mut cells = Vec::new();
        for (level, better) in [("processor", 1.0), ("core", 1.05)] {
            for (tlab, speedup) in [("1k", 1.5), ("4k", 1.3), ("64k", 1.1), (GROWING, 1.05)] {
                cells.push(of(tlab, level, better * speedup, better, 0.5));
            }
        }
        cells
    }

    #[test]
    fn a_machine_like_the_papers_agrees_with_it() {
        let (answer, checks) = conclude(&experiment(), &cells());
        assert!(checks.iter().all(|check| check.holds == Some(true)), "{checks:#?}");
        assert!(
            answer.starts_with("Yes: 4k TLABs with core buffers of 8m give 1.05 [1.04, 1.06] times"),
            "{answer}"
        );
        assert!(checks[0].found.contains("(level=core size=8m)"), "{}", checks[0].found);
    }

    #[test]
    fn what_intervals_leave_open_is_open() {
        let mut cells = cells();
        for cell in &mut cells {
            let level = cell.parameters["level"].clone();
            let (speedup, over) = if level == "core".into() { (1.003, 0.965) } else { (1.0, 0.9) };
            let tlab = cell.parameters["tlab"].to_string();
            *cell = of(&tlab, &level.to_string(), speedup, over, 2.99);
        }
        let (answer, checks) = conclude(&experiment(), &cells);
        assert_eq!(holds(&checks), [None; 4]);
        assert!(checks[2].found.contains("overlap") && checks[2].found.contains("--full"), "{checks:#?}");
        assert!(answer.starts_with("Undecided"), "{answer}");
    }

    /// TLABs that are larger than the buffers have no foreign allocations, in the paper's tables as well.
    #[test]
    fn cells_without_buffers_large_enough_leave_the_claim_to_the_others() {
        let mut cells = cells();
        cells[0].metrics.insert("foreign".into(), Quantity::unavailable("TLABs bypassed the buffers".into()));
        assert_eq!(conclude(&experiment(), &cells).1[3].holds, None);
        cells[0].inapplicable.insert("foreign".into());
        assert_eq!(conclude(&experiment(), &cells).1[3].holds, Some(true));
    }

    #[test]
    fn nothing_measured_is_nothing_claimed() {
        let (answer, checks) = conclude(&experiment(), &[]);
        assert_eq!(holds(&checks), [None; 4]);
        assert_eq!(answer, NO_ANSWER);
    }
}
