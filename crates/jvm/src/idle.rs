//! For tests: a process that is no JVM, has no control file and starts nothing. The test's own process may have all of that, from
//! the tests that run beside it.

use std::process::{Child, Command};

/// Ends when it is dropped.
pub struct Idle(pub Child);

impl Idle {
    pub fn start() -> Idle {
        Idle(Command::new("sleep").arg("600").spawn().expect("'sleep' can be started"))
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
