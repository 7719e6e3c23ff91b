//! Why a description is refused.

use std::fmt;

/// The most characters of what is wrong: it may quote the file.
const LONGEST: usize = 200;

/// Why a machine was not read: one line that names the file, the key, what is wrong with it, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineError(String);

impl MachineError {
    pub(super) fn new(file: &str, key: &str, wrong: impl fmt::Display, remedy: impl fmt::Display) -> Self {
        let wrong = wrong.to_string();
        let wrong = abridged(wrong.trim(), LONGEST);
        let text = if key.is_empty() {
            format!("{file}: {wrong}; {remedy}")
        } else {
            format!("{file}: {key}: {wrong}; {remedy}")
        };
        // Names, keys and values are the user's: a line it stays, whatever is in them.
        let lines = text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
        let line = lines.collect::<Vec<_>>().join(" ");
        MachineError(
            line.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect(),
        )
    }
}

/// A text of somebody else's, short enough for a line.
pub(super) fn abridged(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.into(),
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
    }
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MachineError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_without_control_characters() {
        let error = MachineError::new("a\nb", "c\u{1b}[2J", "wrong\r\n", "do this\n");
        assert_eq!(error.to_string(), "a b: c\u{fffd}[2J: wrong; do this");
        let long = MachineError::new("a", "b", "ä".repeat(LONGEST + 1), "do this").to_string();
        assert_eq!(long, format!("a: b: {}...; do this", "ä".repeat(LONGEST)));
        assert_eq!(MachineError::new("a", "", "wrong", "do this").to_string(), "a: wrong; do this");
    }
}
