//! Why something cannot be done.

use std::fmt;

/// Why a control file cannot be made or read; one line, which names the remedy.
#[derive(Debug, PartialEq, Eq)]
pub struct Error(pub(crate) String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
