//! Numbers in sentences.

use crate::experiment::{Measured, Value};

/// Three significant digits: `0.213`, `4.07`, `59.8`, `1234`.
pub fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    // What is rounded up to the next power of ten has a digit less behind the point.
    let places = |value: f64| (2 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let rounded = format!("{:.*}", places(value), value);
    let again = rounded.parse().map_or(places(value), places);
    format!("{value:.again$}")
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_shown_and_no_more() {
        for (value, text) in [
            (0.0, "0"),
            (0.21349, "0.213"),
            (0.99999, "1.00"),
            (4.067, "4.07"),
            (9.999, "10.0"),
            (59.84, "59.8"),
            (999.6, "1000"),
            (1234.4, "1234"),
        ] {
            assert_eq!(digits(value), text);
        }
        assert_eq!((nanoseconds(2.0), times(1.5)), ("2.00 ns".into(), "1.50x".into()));
    }
}
