//! One line that says what went wrong and what to do about it.

use crate::printable;
use std::fmt;

/// The result of everything here.
pub type Result<T> = std::result::Result<T, Error>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Usage,
    Failed,
    Unanswered,
    Interrupted(i32),
}

/// Why something was not done; the text is one line and names the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    text: String,
}

impl Error {
    /// What was asked for cannot be: an unknown name, a bad size, a path that is no JDK.
    pub fn usage(text: impl Into<String>) -> Error {
        Error::new(Kind::Usage, text.into())
    }

    /// What was asked for was tried and failed.
    pub fn failed(text: impl Into<String>) -> Error {
        Error::new(Kind::Failed, text.into())
    }

    /// A JVM was asked, and did not answer in time.
    pub fn unanswered(text: impl Into<String>) -> Error {
        Error::new(Kind::Unanswered, text.into())
    }

    /// The user stopped us with this signal.
    pub fn interrupted(signal: i32) -> Error {
        Error::new(
            Kind::Interrupted(signal),
            "stopped by a signal; programs started by this command were ended, and observers withdrawn"
                .into(),
        )
    }

    /// The same, and something of it is left.
    pub fn interrupted_late(signal: i32, text: impl Into<String>) -> Error {
        Error::new(Kind::Interrupted(signal), text.into())
    }

    fn new(kind: Kind, text: String) -> Error {
        // What a child wrote may have found its way in here: one line it stays.
        let text =
            text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>();
        Error { kind, text: printable::line(&text.join(" | ")) }
    }

    /// Whether what was asked for cannot be: trying again is in vain.
    pub fn is_usage(&self) -> bool {
        self.kind == Kind::Usage
    }

    /// Whether a signal asked for it.
    pub fn is_interruption(&self) -> bool {
        matches!(self.kind, Kind::Interrupted(_))
    }

    /// Whether asking that JVM for anything more is in vain: it does not answer, or the user stopped us.
    pub fn ends_asking(&self) -> bool {
        matches!(self.kind, Kind::Unanswered | Kind::Interrupted(_))
    }

    /// 2 for usage, 1 for a failure, 128 + the signal as shells have it.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::Usage => 2,
            Kind::Failed | Kind::Unanswered => 1,
            Kind::Interrupted(signal) => 128_u8.wrapping_add(signal as u8),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

impl From<control::Error> for Error {
    fn from(error: control::Error) -> Error {
        Error::failed(error.to_string())
    }
}

impl From<pages::Error> for Error {
    fn from(error: pages::Error) -> Error {
        Error::failed(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line() {
        assert_eq!(
            Error::failed("java failed:\n  first\r\n\nsecond\n").to_string(),
            "java failed: | first | second"
        );
        assert_eq!(
            Error::failed("the JVM refused load: \u{1b}[2J").to_string(),
            "the JVM refused load:  [2J"
        );
        assert_eq!(Error::usage("x").exit_code(), 2);
        assert_eq!(Error::failed("x").exit_code(), 1);
        assert_eq!(Error::interrupted(2).exit_code(), 130);
        assert_eq!(Error::unanswered("x").exit_code(), 1);
        let ends = [Error::failed("x"), Error::unanswered("x"), Error::interrupted(2)];
        assert_eq!(ends.map(|error| error.ends_asking()), [false, true, true]);
    }
}
