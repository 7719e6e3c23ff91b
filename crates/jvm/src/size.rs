//! Sizes that a user writes: `64k`, `1m`, `2G` or plain bytes.

use crate::{Error, Result};

/// In bytes, at least 1.
pub fn parse(text: &str) -> Result<u64> {
    let bytes = control::size::parse(text).ok().filter(|bytes| *bytes > 0);
    bytes.map(|bytes| bytes as u64).ok_or_else(|| {
        Error::usage(format!("invalid size '{text}'; write bytes, or a number with k, m or g, such as 64k"))
    })
}

/// Exact, in the largest unit that divides it: what [`parse`] reads back.
pub fn format(bytes: u64) -> String {
    control::size::format(bytes as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written() {
        for (text, bytes) in [("64k", 65536), ("512K", 524_288), ("4096", 4096), ("2G", 2 << 30)] {
            assert_eq!(parse(text).unwrap(), bytes, "{text}");
            assert_eq!(parse(&format(bytes)).unwrap(), bytes);
        }
    }

    #[test]
    fn an_invalid_size_is_refused_with_an_example() {
        for text in ["", "k", "0", "0k", "-1", "+1k", "1.5k", "64kb", "12q", "99999999999999g", "6 4k", "é"]
        {
            assert!(parse(text).unwrap_err().to_string().contains("such as 64k"), "{text}");
        }
    }
}
