//! What trying a remedy gave.

use serde::Serialize;
use statistics::Interval;

/// What trying one gave, as ratios to the program as it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// The remedy, as its text says it.
    pub remedy: String,
    /// Collections for the same work.
    pub collections: Option<f64>,
    /// Work for each second. `None` if it could not be measured.
    pub speed: Option<Interval>,
    /// Why something is missing, or what else has to be known.
    pub note: String,
}
