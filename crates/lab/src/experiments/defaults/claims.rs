//! What is claimed of the defaults, and what the cells say together.

use super::super::matrix::LOSS;
use super::{COMPARED, CONTROL, FLAG, PRECISION};
use compare::estimate::half_width;
use experiment::claim::OWN;
use experiment::{Claim, Measured, MeasuredCell, NO_ANSWER, Relation, Term, value};
use present::numbers;
use statistics::Interval;

const RATIOS: [&str; 2] = ["speed", "cpu"];

pub(super) fn claims(_: &Measured) -> Vec<Claim> {
    let slower = |(text, metric)| {
        let worst = Term::metric("at worst", metric).at("compared", COMPARED[0].0).lowest();
        Claim::new(text, OWN).that(worst.is(Relation::AtLeast(LOSS), 1.0))
    };
    [
        ("no program is slower", RATIOS[0]),
        ("no program needs more CPU time", RATIOS[1]),
        ("no program is slower when nothing is trimmed", "untrimmed"),
    ]
    .map(slower)
    .into()
}

/// The cells of a comparison with one of these metrics for which `test` holds, and of how many.
fn which(measured: &Measured, compared: &str, test: impl Fn(&Interval) -> bool) -> (Vec<String>, usize) {
    let at = [("compared", compared.into())];
    let cells = measured.select(&at);
    let known = |cell: &MeasuredCell| {
        let of = |metric| Some((value::name(&cell.parameters), cell.metrics.get(metric)?.interval()?));
        RATIOS.into_iter().filter_map(of).collect::<Vec<_>>()
    };
    let all: Vec<(String, Interval)> = cells.flat_map(known).collect();
    let found = all.iter().filter(|(_, interval)| test(interval));
    (
        found.map(|(cell, interval)| format!("{cell}: {}", numbers::interval(interval, ""))).collect(),
        all.len(),
    )
}

pub(super) fn answer(measured: &Measured) -> String {
    let (losses, all) = which(measured, COMPARED[0].0, |found| found.high < LOSS);
    let (wide, _) = which(measured, COMPARED[0].0, |found| half_width(found) > PRECISION);
    let (outside, controls) = which(measured, CONTROL, |found| found.low > 1.0 || found.high < 1.0);
    let mut said = Vec::new();
    if all > 0 {
        let list = if losses.is_empty() { String::new() } else { format!(" ({})", losses.join("; ")) };
        said.push(format!("{} of {all} intervals lie entirely below {LOSS}{list}", losses.len()));
        said.push(format!("{} are wider than {} %", wide.len(), 200.0 * PRECISION));
    }
    let (behind, flags) = which(measured, FLAG, |found| found.high < LOSS);
    if flags > 0 {
        said.push(format!("against -XX:TLABSize=4k {} of {flags} lie entirely below {LOSS}", behind.len()));
    }
    if controls > 0 {
        let outside = outside.len();
        said.push(format!("off against off {outside} of {controls} exclude 1, where 1 in 20 is expected"));
    }
    match said.as_slice() {
        [] => NO_ANSWER.into(),
        said => said.join("; ") + ".",
    }
}

#[cfg(test)]
mod tests {
    use super::super::experiment;
    use super::*;
    use experiment::fixture::{cell, conclude, holds};
    use experiment::parameters;

    fn of(workload: &str, compared: &str, speed: f64) -> MeasuredCell {
        let at = parameters([("workload", workload.into()), ("compared", compared.into())]);
        cell(at, &[("speed", speed), ("cpu", 1.01), ("untrimmed", 1.0)])
    }

    #[test]
    fn losses_are_named_and_controls_are_apart() {
        let good = [of("alloc", "on / off", 1.005), of("alloc", CONTROL, 0.9), of("churn", FLAG, 0.9)];
        let (answer, checks) = conclude(&experiment(), &good);
        assert_eq!(holds(&checks), [Some(true); 3]);
        assert_eq!(
            answer,
            "0 of 2 intervals lie entirely below 0.99; 0 are wider than 3 %; against -XX:TLABSize=4k 1 of 2 lie entirely below 0.99; off against off 1 of 2 exclude 1, where 1 in 20 is expected."
        );
        let (answer, checks) = conclude(&experiment(), &[of("churn", "on / off", 0.9)]);
        assert_eq!(holds(&checks), [Some(false), Some(true), Some(true)]);
        assert!(answer.contains("(compared=on / off workload=churn: 0.900 [0.891, 0.909])"), "{answer}");
    }
}
