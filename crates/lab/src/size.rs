//! Sizes as people write them.

use crate::{Error, Result};

const UNITS: [(char, u64); 3] = [('g', 1 << 30), ('m', 1 << 20), ('k', 1 << 10)];

/// `64k`, `1m`, `2G` or plain bytes, in bytes. Zero is no size.
pub fn parse(text: &str) -> Result<u64> {
    let trimmed = text.trim();
    let unit = UNITS.iter().find(|(letter, _)| trimmed.ends_with([*letter, letter.to_ascii_uppercase()]));
    let digits = if unit.is_some() { &trimmed[..trimmed.len() - 1] } else { trimmed };
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse::<u64>().ok().filter(|number| plain && *number > 0);
    number.and_then(|number| number.checked_mul(unit.map_or(1, |(_, bytes)| *bytes))).ok_or_else(|| {
        Error::usage(format!("'{text}' is no size; write bytes, or a number with k, m or g, such as 64k"))
    })
}

/// Exact, in the largest unit that divides it: what [`parse`] reads back.
pub fn format(bytes: u64) -> String {
    for (letter, unit) in UNITS {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{}{letter}", bytes / unit);
        }
    }
    bytes.to_string()
}

/// Rounded for reading: `1.5 GB`, in powers of 1000.
pub fn human(bytes: f64) -> String {
    let (value, unit) = scaled(bytes);
    let unit = match unit {
        "" => "B",
        "k" => "kB",
        "M" => "MB",
        "G" => "GB",
        _ => "TB",
    };
    format!("{value} {unit}")
}

/// Rounded for reading: `1.23 M`.
pub fn count(number: f64) -> String {
    let (value, unit) = scaled(number);
    format!("{value} {unit}").trim_end().to_owned()
}

fn scaled(number: f64) -> (String, &'static str) {
    let mut value = number;
    let mut unit = 0;
    // 999.5 would be printed as 1000.
    while value >= 999.5 && unit < 4 {
        value /= 1000.0;
        unit += 1;
    }
    let digits = match value {
        v if unit == 0 && v.fract() == 0.0 => 0,
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    (format!("{value:.digits$}"), ["", "k", "M", "G", "T"][unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written() {
        for (text, bytes) in
            [("64k", 65536), ("1m", 1 << 20), ("512K", 524_288), ("4096", 4096), ("2G", 2 << 30)]
        {
            assert_eq!(parse(text).unwrap(), bytes, "{text}");
            assert_eq!(parse(&format(bytes)).unwrap(), bytes);
        }
        assert_eq!(format(65536), "64k");
        assert_eq!(format(1000), "1000");
    }

    #[test]
    fn what_is_no_size_is_refused_with_an_example() {
        for text in ["", "k", "0", "0k", "-1", "+1k", "1.5k", "64kb", "12q", "99999999999999g", "6 4k", "é"]
        {
            assert!(parse(text).unwrap_err().to_string().contains("such as 64k"), "{text}");
        }
    }

    #[test]
    fn rounding_for_readers() {
        assert_eq!(human(999.0), "999 B");
        assert_eq!(human(1_500_000_000.0), "1.50 GB");
        assert_eq!(human(999_999.0), "1.00 MB");
        assert_eq!(count(12_345.0), "12.3 k");
        assert_eq!(count(0.0), "0");
        assert_eq!(count(0.5), "0.50");
    }
}
