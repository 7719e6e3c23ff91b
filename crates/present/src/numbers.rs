//! Numbers as people read them: three significant digits, units scaled, sizes as 4k. The only place that turns a number into words, so
//! that terminal, page and plots say the same.

use statistics::Interval;
use std::time::{Duration, UNIX_EPOCH};

/// A multiple of a unit: a value of `factor` units is shown as 1 `unit`.
#[derive(Clone, Debug, PartialEq)]
struct Scale {
    /// By what a value is divided.
    factor: f64,
    /// What is written behind it.
    unit: String,
}

/// Prefixes that belong to a unit: seconds downwards, bytes upwards.
const TIMES: [(&str, f64); 5] = [("ps", 1e-12), ("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
const BYTES: [(&str, f64); 5] = [("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)];
const COUNTS: [(&str, f64); 5] = [("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
/// Units that take no prefix.
const BARE: [&str; 6] = ["%", "×", "x", "ratio", "share", "°C"];
/// The multiples of a unit, smallest first. The head of the unit (`ns` of `ns/operation`) is scaled, the rest is kept.
fn scales(unit: &str) -> Vec<Scale> {
    let head = unit.split(['/', ' ']).next().unwrap_or_default();
    let rest = &unit[head.len()..];
    let canonical = match head {
        "us" => "µs",
        "byte" | "bytes" => "B",
        other => other,
    };
    let family = |names: &[(&str, f64)]| {
        let own = names.iter().find(|(name, _)| *name == canonical)?.1;
        let scale =
            |(name, factor): &(&str, f64)| Scale { factor: factor / own, unit: format!("{name}{rest}") };
        Some(names.iter().map(scale).collect())
    };
    if let Some(scales) = family(&TIMES).or_else(|| family(&BYTES)) {
        return scales;
    }
    if BARE.contains(&head) {
        return vec![Scale { factor: 1.0, unit: unit.to_owned() }];
    }
    let counted = |(prefix, factor): &(&str, f64)| {
        let unit = if unit.is_empty() || prefix.is_empty() {
            format!("{prefix}{unit}")
        } else {
            format!("{prefix} {unit}")
        };
        Scale { factor: *factor, unit }
    };
    COUNTS.iter().map(counted).collect()
}

/// The largest multiple that leaves a number of at least 1; without prefixes for 0.
fn fitting(value: f64, unit: &str) -> Scale {
    let scales = scales(unit);
    let own = scales.iter().position(|scale| scale.factor == 1.0).unwrap_or(0);
    let fits = |scale: &&Scale| value.abs() >= 0.9995 * scale.factor;
    let best = if value == 0.0 { scales.get(own) } else { scales.iter().rev().find(fits).or(scales.first()) };
    best.cloned().unwrap_or(Scale { factor: 1.0, unit: unit.to_owned() })
}

/// Three significant digits: `12.3`, `0.00123`, `1.2e-7`. Whole numbers below 1000 have no point.
pub fn significant(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1000.0 {
        return format!("{value}");
    }
    three(value)
}

/// Three significant digits, whole numbers too: `2.00`.
pub fn three(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    // Rounding first: 9.996 has two digits before the point.
    let rounded = format!("{value:.2e}");
    let exponent: i32 = rounded.split('e').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    let decimals = usize::try_from(2 - exponent).unwrap_or(0);
    match rounded.parse::<f64>() {
        Ok(value) if (-4..=9).contains(&exponent) => format!("{value:.decimals$}"),
        _ => rounded,
    }
}

/// A value with its unit: `12.3 ns`.
pub fn quantity(value: f64, unit: &str) -> String {
    let scale = fitting(value, unit);
    let digits = if scale.factor == 1.0 { significant } else { three };
    format!("{} {}", digits(value / scale.factor), scale.unit).trim_end().to_owned()
}

/// A median, its interval and the unit: `12.3 [12.1, 12.6] ns`.
pub fn interval(interval: &Interval, unit: &str) -> String {
    let scale = fitting(interval.median, unit);
    let ends = [interval.median, interval.low, interval.high].map(|value| value / scale.factor);
    let whole = ends.iter().all(|value| value.fract() == 0.0 && value.abs() < 1000.0);
    let [median, low, high] = ends.map(|value| if whole { significant(value) } else { three(value) });
    format!("{median} [{low}, {high}] {}", scale.unit).trim_end().to_owned()
}

/// A ratio of measurements: `1.016 [0.974, 1.058]`.
pub fn ratio(ratio: &Interval) -> String {
    format!("{:.3} [{:.3}, {:.3}]", ratio.median, ratio.low, ratio.high)
}

/// A simulated speed-up: `1.38 x`.
pub fn times(factor: f64) -> String {
    format!("{factor:.*} x", if factor < 99.95 { 2 } else { 0 })
}

/// A unit as a column has room for it: the prefix of a count, times and sizes as they are. The rest is in the heading.
pub fn short(unit: &str) -> &str {
    let head = unit.split(['/', ' ']).next().unwrap_or_default();
    if head.chars().count() <= 2 { head } else { "" }
}

/// The same as [`interval`] with a short unit: `12.3 [12.1, 12.6] M`.
pub fn brief(found: &Interval, unit: &str) -> String {
    let scale = fitting(found.median, unit);
    let text = interval(found, unit);
    format!("{} {}", text.strip_suffix(&scale.unit).unwrap_or(&text).trim_end(), short(&scale.unit))
        .trim_end()
        .to_owned()
}

/// A written quantity with a unit as short as a tick's: `404 [394, 412] M` of `404 [394, 412] M objects/s`.
pub fn shortened(text: &str) -> String {
    let end = text.find(']').map_or_else(|| text.find(' ').unwrap_or(text.len()), |end| end + 1);
    format!("{} {}", &text[..end], tick_unit(text[end..].trim_start())).trim_end().to_owned()
}

fn tick_unit(unit: &str) -> &str {
    if unit.split(['/', ' ']).next() == Some("ratio") { "ratio" } else { short(unit) }
}

/// What stands at a tick: without superfluous zeros, with a short unit.
pub fn tick(value: f64, unit: &str) -> String {
    let scale = fitting(value, unit);
    let number: f64 = format!("{:.2e}", value / scale.factor).parse().unwrap_or(value);
    format!("{number} {}", tick_unit(&scale.unit)).trim_end().to_owned()
}

/// `unavailable: reason`, once.
pub fn lacking(reason: &str) -> String {
    let reason = reason.strip_prefix("unavailable:").map_or(reason, str::trim_start);
    format!("unavailable: {reason}")
}

/// Exact where it is whole, otherwise three digits.
pub fn plain(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 { format!("{number}") } else { three(number) }
}

/// Exact, and shorter where that loses nothing: 64k in powers of 1024, 100 B and 100 kB in powers of 1000.
pub fn bytes(number: f64) -> String {
    if number.fract() != 0.0 || !(0.0..1e15).contains(&number) {
        return human(number);
    }
    let whole = number as u64;
    if whole > 0 && whole.is_multiple_of(1 << 10) {
        return control::size::format(whole as usize);
    }
    let power = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")];
    let short = power.iter().find(|(power, _)| whole >= *power && whole.is_multiple_of(*power));
    short.map_or(format!("{whole} B"), |(power, unit)| format!("{} {unit}", whole / power))
}

/// Rounded for reading: `1.50 GB`, in powers of 1000.
pub fn human(bytes: f64) -> String {
    quantity(bytes, "B")
}

/// Rounded for reading: `1.23 M`.
pub fn count(number: f64) -> String {
    quantity(number, "")
}

/// A share as per cent: `2.35 %`.
pub fn share(share: f64) -> String {
    format!("{} %", significant(share * 100.0))
}

/// The same with so many decimals, for columns and limits: `2.35 %`.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{:.decimals$} %", share * 100.0)
}

/// A duration in seconds as `4 min 10 s`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round().max(0.0) as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, _) => format!("{} s", significant(seconds)),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// Seconds since 1970 as a date and time in UTC.
pub fn date(unix: u64) -> String {
    // The end of the year 9999, after which nothing can be written.
    let time = UNIX_EPOCH + Duration::from_secs(unix.min(253_402_300_799));
    let text = humantime::format_rfc3339_seconds(time).to_string();
    format!("{} {} UTC", &text[..10], &text[11..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_fitting_unit() {
        for (value, unit, text) in [
            (12.345, "ns", "12.3 ns"),
            (1234.5, "ns", "1.23 µs"),
            (999.6, "ns", "1.00 µs"),
            (0.25, "ns/load", "250 ps/load"),
            (0.0, "ns", "0 ns"),
            (12.0, "", "12"),
            (2_500_000.0, "operations/s", "2.50 M operations/s"),
            (2_500_000.0, "", "2.50 M"),
            (1.5e9, "bytes/s", "1.50 GB/s"),
            (1500.0, "GB/s", "1.50 TB/s"),
            (98.76, "%", "98.8 %"),
            (0.000_012_3, "x", "1.23e-5 x"),
            (-1234.5, "ns", "-1.23 µs"),
            (7200.0, "s", "7200 s"),
        ] {
            assert_eq!(quantity(value, unit), text);
        }
    }

    #[test]
    fn intervals_share_their_medians_unit() {
        let of = |median, low, high| Interval { median, low, high };
        assert_eq!(interval(&of(1050.0, 990.0, 1100.0), "ns"), "1.05 [0.990, 1.10] µs");
        assert_eq!(interval(&of(17.0, 16.0, 18.0), "collections"), "17 [16, 18] collections");
        assert_eq!(brief(&of(2e8, 1.9e8, 2.1e8), "objects/s"), "200 [190, 210] M");
        assert_eq!(brief(&of(20.0, 19.5, 21.0), "ns/load"), "20.0 [19.5, 21.0] ns");
        assert_eq!(lacking("unavailable: no counters"), "unavailable: no counters");
    }

    #[test]
    fn ticks_have_no_superfluous_zeros_and_short_units() {
        for (value, unit, text) in [
            (1500.0, "ns", "1.5 µs"),
            (2e8, "objects/s", "200 M"),
            (0.25, "×", "0.25 ×"),
            (1.5, "ratio", "1.5 ratio"),
            (0.0, "ns/load", "0 ns"),
            (3.0, "", "3"),
        ] {
            assert_eq!(tick(value, unit), text);
        }
        assert_eq!(shortened("404 [394, 412] M objects/s"), "404 [394, 412] M");
        assert_eq!(shortened("1.98 ns/load"), "1.98 ns");
        assert_eq!(shortened("17"), "17");
    }

    #[test]
    fn dates_are_right_across_leap_years() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_827_696), "2000-02-29 12:34 UTC");
        assert_eq!(date(1_709_251_199), "2024-02-29 23:59 UTC");
        assert_eq!(date(u64::MAX), "9999-12-31 23:59 UTC");
        assert_eq!(duration(250.0), "4 min 10 s");
    }

    #[test]
    fn rounding_for_readers() {
        assert_eq!(human(999.0), "999 B");
        assert_eq!(human(1_500_000_000.0), "1.50 GB");
        assert_eq!(human(999_999.0), "1.00 MB");
        assert_eq!(count(12_345.0), "12.3 k");
        assert_eq!(count(0.0), "0");
        assert_eq!(count(0.5), "0.500");
    }
}
