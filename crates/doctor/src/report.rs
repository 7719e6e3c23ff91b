//! What the doctor says, whole.

use crate::evidence::Evidence;
use crate::finding::Finding;
use crate::rules;
use crate::trial::Trial;
use jvm::{Error, Result};
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

    /// An error if trials failed: the report has the reasons, and whoever only looks at the exit code has to hear of it.
    pub fn check_trials(&self) -> Result<()> {
        match self.trials.iter().filter(|trial| trial.failed).count() {
            0 => Ok(()),
            failed => Err(Error::failed(format!(
                "{failed} of {} remedies could not be tried; the report says why",
                self.trials.len()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_that_failed_are_an_error() {
        let why = Error::failed("no memory");
        let failed = |remedy: &str| Trial::failure(remedy.into(), &why);
        let refused = Trial::without_result("terrace".into(), "not tried: an observer is there".into());
        let measured = Trial { remedy: "-Xmx2g".into(), ..Trial::default() };
        let check = |trials: Vec<Trial>| {
            let report = Report { trials, ..Report::of(Evidence::default()) };
            report.check_trials().map_err(|error| (error.to_string(), error.exit_code()))
        };
        assert_eq!(failed("terrace").note, "failed: no memory");
        assert_eq!(check(vec![]), Ok(()), "there was nothing to try");
        assert_eq!(check(vec![refused.clone(), measured.clone()]), Ok(()));
        let text = "2 of 4 remedies could not be tried; the report says why".to_owned();
        assert_eq!(check(vec![failed("-Xmn1g"), refused, failed("terrace"), measured]), Err((text, 1)));
    }
}
