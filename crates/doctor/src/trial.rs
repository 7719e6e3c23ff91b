//! What trying a remedy gave.

use serde::Serialize;
use statistics::Interval;

/// What trying one gave, as ratios to the program as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Trial {
    /// The remedy, as its text says it.
    pub remedy: String,
    /// Collections for the same work.
    pub collections: Option<f64>,
    /// For a remedy that changes eden's size, or keeps collections from coming: the same relative to the JVM that was watched, by the heap that is used up from one
    /// collection to the next, and not to JVMs that ran beside this one. A collector may have chosen another eden for those.
    pub collections_of_watched: Option<f64>,
    /// Work for each second; for each CPU-second of the whole process where JVMs ran at the same time. `None` if it could not be measured.
    pub speed: Option<Interval>,
    /// Whether JVMs ran at the same time, so that `speed` is by CPU time.
    pub shared: bool,
    /// Work for each CPU-second: of the application's threads where it was tried in one process, of the whole process in several.
    pub speed_cpu: Option<Interval>,
    /// Why something is missing, or what else has to be known.
    pub note: String,
    /// Whether it was begun and gave nothing; what cannot be tried is no failure.
    pub failed: bool,
}

impl Trial {
    /// One that gave nothing.
    pub fn without_result(remedy: String, note: String) -> Trial {
        Trial { remedy, note, ..Trial::default() }
    }

    /// One that was begun and gave nothing.
    pub fn failure(remedy: String, error: &jvm::Error) -> Trial {
        Trial { failed: true, ..Trial::without_result(remedy, format!("failed: {error}")) }
    }
}
