//! Why something cannot be done.

use crate::header::FORMAT;
use std::fmt;

/// Why a control file cannot be made or read; one line, which names the remedy.
#[derive(Debug, PartialEq, Eq)]
pub struct Error(pub(crate) String);

const OTHER: &str = "has another version (control format";

impl Error {
    /// `whose` memory has another format.
    pub(crate) fn other_version(whose: &dyn fmt::Display, format: u32) -> Error {
        Error(format!(
            "the agent {whose} {OTHER} {format}, this command supports {FORMAT}): use the terrace command of the same release"
        ))
    }

    /// Whether it is that.
    pub fn is_of_other_version(&self) -> bool {
        self.0.contains(OTHER)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
