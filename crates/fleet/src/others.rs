//! Processes that were no JVMs when they were looked at. Most are none, and a look at one costs as much as at a JVM.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long a process may be a launcher, before its JVM is there.
const YOUNG: Duration = Duration::from_secs(60);
/// How often others are looked at again: a program may load a JVM at any time.
const SELDOM: Duration = Duration::from_secs(60);

/// They are looked at again soon while they are young or have become another program, seldom otherwise.
#[derive(Default)]
pub struct Others(BTreeMap<u32, Other>);

struct Other {
    program: Option<PathBuf>,
    again: Instant,
}

impl Others {
    pub fn has(&self, pid: u32) -> bool {
        self.0.contains_key(&pid)
    }

    /// One that was no JVM, so long after its start.
    pub fn add(&mut self, pid: u32, age: Duration, now: Instant) {
        let again = if age < YOUNG { now } else { now + SELDOM };
        self.0.insert(pid, Other { program: program(pid), again });
    }

    /// Forgets those that are worth another look, and those that have ended.
    pub fn forget(&mut self, now: Instant) {
        self.0.retain(|pid, other| now < other.again && other.program == program(*pid));
    }
}

/// `None` for a thread of the kernel's, and for another user's process.
fn program(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_young_and_the_changed_are_looked_at_again() {
        let (now, own) = (Instant::now(), std::process::id());
        let mut others = Others::default();
        others.add(own, YOUNG, now);
        others.forget(now + SELDOM / 2);
        assert!(others.has(own), "it is old and the same");
        others.forget(now + SELDOM);
        assert!(!others.has(own));
        others.add(own, YOUNG / 2, now);
        others.forget(now);
        assert!(!others.has(own), "a launcher may be about to make its JVM");
        others.0.insert(own, Other { program: Some("/bin/sh".into()), again: now + SELDOM });
        others.forget(now);
        assert!(!others.has(own), "a shell has become another program");
    }
}
