//! `bound`: how far core buffers are from the best that any hierarchy can do, which is a private buffer for each thread.

use super::matrix::{grid, grid_parameters, mean_and_worst};
use crate::Result;
use compare::side::Side;
use experiment::claim::OWN;
use experiment::compared::{metrics, plan as plan_of};
use experiment::{Bench, Claim, Declaration, Experiment, Kind, Measured, Plan, Plot, Relation, Term};

/// Core buffers are at least this many times as fast as private ones.
const CLOSE: f64 = 0.98;

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims, answer)
}

fn declaration() -> Declaration {
    let plot = Plot::new(Kind::Bars, "Core buffers / private buffers", "speed", "tlab", &["jdk", "threads"]);
    Declaration {
        name: "bound".into(),
        title: "Core buffers compared with private ones".into(),
        question: "How close do core buffers come to a private buffer per thread?".into(),
        parameters: grid_parameters(),
        metrics: metrics(&["speed", "cpu", "pairs", "untrimmed"]),
        plots: vec![plot.panels(&["collector"]).caption("1 means as fast as without any sharing.")],
        by_name: true,
        ..Declaration::default()
    }
}

fn plan(bench: &Bench) -> Result<Plan> {
    Ok(plan_of(bench, bench.effort.pick(1, 3), grid(bench, Side::bound, &[1, 4])))
}

fn worst() -> Term {
    Term::metric("at worst", "speed").lowest()
}

fn claims(_: &Measured) -> Vec<Claim> {
    let claim = Claim::new("core buffers are within 2 % of private ones", OWN);
    vec![claim.each("collector").that(worst().is(Relation::AtLeast(CLOSE), 1.0))]
}

fn answer(measured: &Measured) -> String {
    mean_and_worst(measured, "the speed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::fixture::{cell, conclude, holds};
    use experiment::parameters;

    #[test]
    fn each_collector_has_to_be_close() {
        let of =
            |collector: &str, speed| cell(parameters([("collector", collector.into())]), &[("speed", speed)]);
        let (answer, checks) = conclude(&experiment(), &[of("serial", 1.0), of("g1", 0.92)]);
        assert_eq!(holds(&checks), [Some(false)]);
        assert!(answer.contains("at worst 0.920 [0.911, 0.929]"), "{answer}");
        assert_eq!(holds(&conclude(&experiment(), &[of("serial", 1.0)]).1), [Some(true)]);
    }
}
