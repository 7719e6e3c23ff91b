//! Numbers in sentences.

use crate::experiment::{Measured, Value};
use present::numbers::three as digits;

/// `59.8 ns`.
pub fn nanoseconds(value: f64) -> String {
    format!("{} ns", digits(value))
}

/// `1.85x`.
pub fn times(value: f64) -> String {
    format!("{}x", digits(value))
}

/// A number in the settings of the cells that have these values: the first that is found.
pub fn setting(measured: &Measured, key: &str, at: &[(&str, Value)]) -> Option<f64> {
    measured.select(at).find_map(|cell| cell.settings.get(key)?.as_f64())
}
