//! What standard error gets while much is simulated.

use crate::told;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Before that nobody wonders.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between lines where standard error is no terminal.
const PAUSE: Duration = Duration::from_secs(10);

/// Tells what is under way, when it takes long.
pub struct Steps {
    start: Instant,
    told: Mutex<Option<Instant>>,
}

impl Steps {
    pub fn begin() -> Steps {
        Steps { start: Instant::now(), told: Mutex::new(None) }
    }

    /// So many of `all` are done.
    pub fn done(&self, count: usize, all: usize) {
        self.say(&format!("{count} of {all} simulated"));
    }

    /// This is under way.
    pub fn say(&self, what: &str) {
        if self.start.elapsed() < PATIENCE {
            return;
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if std::io::stderr().is_terminal() {
            told::raw(format_args!("\r\x1b[Kterrace: {what}"));
        } else if told.is_none_or(|told| told.elapsed() > PAUSE) {
            told::line(format_args!("terrace: {what}"));
        } else {
            return;
        }
        *told = Some(Instant::now());
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_some() && std::io::stderr().is_terminal() {
            // The line goes.
            told::raw(format_args!("\r\x1b[K"));
        }
    }
}
