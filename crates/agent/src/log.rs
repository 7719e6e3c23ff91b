//! Lines on standard error: one a message, all with the same beginning.
#![allow(clippy::disallowed_types, reason = "the level is a word that all threads read")]

use crate::patient;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// How long a reader may keep us waiting who is late: some lines are said at safepoints.
const PATIENCE: Duration = Duration::from_millis(100);

/// How much to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Severity {
    Error = 0,
    Warn = 1,
    Info = 2,
    Debug = 3,
}

impl Severity {
    pub(crate) const ALL: [(&'static str, Severity); 4] = [
        ("error", Severity::Error),
        ("warn", Severity::Warn),
        ("info", Severity::Info),
        ("debug", Severity::Debug),
    ];
}

static LEVEL: AtomicU8 = AtomicU8::new(Severity::Warn as u8);

/// What is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(u8);

/// Says from now on what is at least as severe; what was said before, for [`put_back`].
pub(crate) fn set_level(severity: Severity) -> Level {
    // Relaxed: nothing depends on when it is seen.
    Level(LEVEL.swap(severity as u8, Ordering::Relaxed))
}

/// Says from now on what was said at a time.
pub(crate) fn put_back(level: Level) {
    // Relaxed: as above.
    LEVEL.store(level.0, Ordering::Relaxed);
}

/// Says a line. Written at once and whole; a standard error that is closed, or full because nobody reads it, is no reason to stop the application: then
/// the line is lost.
pub(crate) fn say(severity: Severity, text: &str) {
    // Relaxed: as above.
    if severity as u8 <= LEVEL.load(Ordering::Relaxed) {
        let line = match severity {
            Severity::Error => format!("terrace: {text}\n"),
            Severity::Warn => format!("terrace: warning: {text}\n"),
            Severity::Info => format!("terrace: info: {text}\n"),
            Severity::Debug => format!("terrace: debug: {text}\n"),
        };
        let _ = patient::write_patiently(std::io::stderr().lock(), line.as_bytes(), PATIENCE);
    }
}
