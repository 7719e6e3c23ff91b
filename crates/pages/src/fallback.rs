//! What is used instead of what was asked for.

use crate::error::Error;
use crate::policy::Policy;
use std::fmt;

/// Smaller pages than those asked for are used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// What was asked for.
    pub asked: Policy,
    /// What is used.
    pub used: Policy,
    /// Why everything larger could not be had, each with its remedy; the largest pages first.
    pub reasons: Vec<Error>,
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} instead of {}", self.used, self.asked)?;
        for (index, reason) in self.reasons.iter().enumerate() {
            f.write_str(if index == 0 { ": " } else { "; and " })?;
            reason.fmt(f)?;
        }
        Ok(())
    }
}
