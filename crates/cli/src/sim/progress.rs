//! What standard error gets while much is simulated.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Before that nobody wonders.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between lines where standard error is no terminal.
const PAUSE: Duration = Duration::from_secs(10);

/// Tells how many simulations are done, when it takes long.
pub struct Progress {
    all: usize,
    start: Instant,
    told: Mutex<Option<Instant>>,
}

impl Progress {
    /// Of so many.
    pub fn of(all: usize) -> Progress {
        Progress { all, start: Instant::now(), told: Mutex::new(None) }
    }

    /// So many are done.
    pub fn done(&self, count: usize) {
        if self.start.elapsed() >= PATIENCE {
            tell(&self.told, &format!("{count} of {} simulated", self.all));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        clear(&self.told);
    }
}

/// Tells which step is under way, when it takes long.
pub struct Steps {
    start: Instant,
    told: Mutex<Option<Instant>>,
}

impl Default for Steps {
    fn default() -> Steps {
        Steps { start: Instant::now(), told: Mutex::new(None) }
    }
}

impl Steps {
    /// This one is.
    pub fn say(&self, step: &str) {
        if self.start.elapsed() >= PATIENCE {
            tell(&self.told, step);
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        clear(&self.told);
    }
}

fn tell(told: &Mutex<Option<Instant>>, text: &str) {
    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[Kterrace: {text}");
        let _ = std::io::stderr().flush();
    } else if told.is_none_or(|told| told.elapsed() > PAUSE) {
        eprintln!("terrace: {text}");
    } else {
        return;
    }
    *told = Some(Instant::now());
}

fn clear(told: &Mutex<Option<Instant>>) {
    let told = told.lock().unwrap_or_else(PoisonError::into_inner);
    if told.is_some() && std::io::stderr().is_terminal() {
        // The line goes.
        eprint!("\r\x1b[K");
    }
}
