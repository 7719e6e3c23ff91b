//! What can go wrong, in words.

use std::fmt;

/// The result of everything here.
pub type Result<T> = std::result::Result<T, Error>;

/// Why memory could not be had as asked; the text names the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    pub(crate) fn new(text: impl Into<String>) -> Error {
        Error(text.into())
    }

    /// The last system call failed.
    pub(crate) fn last(what: &str, remedy: &str) -> Error {
        Error(format!("{what}: {}; {remedy}", std::io::Error::last_os_error()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
