//! Sizes as users write them: `4096`, `64k`, `1m`, `2G`. Both sides of the control file speak of sizes in this form.

/// The smallest buffer of a level that can be asked for.
pub const MIN_BUFFER: usize = 4 << 10;

/// Bytes of a size text, or a line that says what a size looks like.
pub fn parse(text: &str) -> Result<usize, String> {
    let wrong = || format!("invalid size '{text}': write bytes, or a number with k, m or g (64k, 1m)");
    let (digits, shift) = match text.trim().to_ascii_lowercase() {
        lower if lower.ends_with('k') => (lower[..lower.len() - 1].to_owned(), 10),
        lower if lower.ends_with('m') => (lower[..lower.len() - 1].to_owned(), 20),
        lower if lower.ends_with('g') => (lower[..lower.len() - 1].to_owned(), 30),
        lower => (lower, 0),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let number: usize = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

/// The shortest text that [`parse`] reads as `bytes`.
pub fn format(bytes: usize) -> String {
    for (shift, letter) in [(30, 'g'), (20, 'm'), (10, 'k')] {
        if bytes > 0 && bytes.is_multiple_of(1 << shift) {
            return format!("{}{letter}", bytes >> shift);
        }
    }
    bytes.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (text, bytes) in [("0", 0), ("4096", 4096), ("64k", 65536), ("1M", 1 << 20), ("2g", 2 << 30)] {
            assert_eq!(parse(text), Ok(bytes));
            assert_eq!(parse(&format(bytes)), Ok(bytes));
        }
        assert_eq!(format(65536), "64k");
        assert_eq!(format(1000), "1000");
    }

    #[test]
    fn what_is_no_size_is_told_so() {
        for text in ["", "k", "-1", "1.5m", "64kb", "+5", "99999999999999999999", "99999999999g", "ü"] {
            assert!(parse(text).is_err_and(|line| line.contains("64k")), "{text}");
        }
    }
}
