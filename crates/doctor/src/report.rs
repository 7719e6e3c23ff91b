//! What the doctor says, whole.

use crate::evidence::Evidence;
use crate::finding::Finding;
use crate::rules;
use crate::trial::Trial;
use serde::Serialize;

/// The number of this layout.
pub const SCHEMA: u32 = 1;

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub schema: u32,
    pub terrace: &'static str,
    /// Whether the program was started to be watched, and has ended since.
    pub started: bool,
    pub evidence: Evidence,
    pub findings: Vec<Finding>,
    /// Rules that could not say whether there is something to find: `evidence.missing` has the reasons.
    pub unjudged: Vec<&'static str>,
    /// What trying the advice gave. Empty unless it was asked for.
    pub trials: Vec<Trial>,
}

impl Report {
    pub fn of(evidence: Evidence) -> Report {
        let (findings, unjudged) = (rules::examine(&evidence), rules::unjudged(&evidence));
        let terrace = env!("CARGO_PKG_VERSION");
        Report { schema: SCHEMA, terrace, started: false, evidence, findings, unjudged, trials: Vec::new() }
    }

    /// The same of a program that was started to be watched.
    pub fn of_started(evidence: Evidence) -> Report {
        Report { started: true, ..Report::of(evidence) }
    }

    /// What trying the remedy of a finding gave.
    pub fn trial(&self, remedy: &str) -> Option<&Trial> {
        self.trials.iter().find(|trial| trial.remedy == remedy)
    }
}
