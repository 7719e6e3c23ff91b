//! A JVM that is started for one run of a cell.

use super::bench::Bench;
use super::sample::Sample;
use jvm::launch::Launch;
use jvm::running::Running;
use crate::{Error, Result};
use std::time::Duration;

/// Reads what a JVM printed.
pub type Reader = dyn Fn(&str) -> Result<Sample>;

/// A JVM that is started for one run of a cell and says on its standard output what it measured.
pub struct Fork {
    /// The command.
    pub launch: Launch,
    /// How long it may take.
    pub limit: Duration,
    /// Reads its standard output.
    pub read: Box<Reader>,
}

impl Fork {
    /// Starts it, waits for its end, reads.
    pub fn run(&self, _bench: &Bench) -> Result<Sample> {
        let mut running = Running::start(&self.launch, false)?;
        if running.wait(self.limit)?.is_none() {
            return Err(Error::failed(format!(
                "{} did not end within {} s; is the machine overloaded?",
                self.launch.describe(),
                self.limit.as_secs()
            )));
        }
        running.check()?;
        (self.read)(&running.output())
    }
}
