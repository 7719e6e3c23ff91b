//! Cells and conclusions for the tests of claims.

use crate::value::Parameters;
use crate::{Check, Experiment, Measured, MeasuredCell, Quantity};

/// A cell whose values lie within a hundredth around these.
pub fn cell(parameters: Parameters, metrics: &[(&str, f64)]) -> MeasuredCell {
    let near =
        |value: f64| Quantity::of([0.99, 0.995, 1.0, 1.005, 1.01].map(|factor| value * factor).into(), "");
    let metrics = metrics.iter().map(|(key, value)| ((*key).to_owned(), near(*value))).collect();
    MeasuredCell { parameters, metrics, ..MeasuredCell::default() }
}

pub fn conclude(experiment: &Experiment, cells: &[MeasuredCell]) -> (String, Vec<Check>) {
    let measured = Measured { declaration: &experiment.declaration, cells };
    let checks = (experiment.claims)(&measured).iter().map(|claim| claim.check(&measured)).collect();
    ((experiment.answer)(&measured), checks)
}

pub fn holds(checks: &[Check]) -> Vec<Option<bool>> {
    checks.iter().map(|check| check.holds).collect()
}
