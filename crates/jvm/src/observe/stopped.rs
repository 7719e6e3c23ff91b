//! When the threads of a program's JVM stood still, from its own log.

use super::Jvms;
use crate::stops::{Stop, StopLog};

/// Where it is read.
#[derive(Default)]
pub(super) struct Logs {
    log: Option<StopLog>,
    /// JVMs that had ended before anything was measured: a script's that only told it its version.
    over: Vec<u32>,
}

impl Logs {
    /// Whether this JVM is one of those that are measured.
    pub(super) fn measures(&self, pid: u32) -> bool {
        !self.over.contains(&pid)
    }
}

impl Jvms {
    /// The flag that makes each of them log when its threads stood still.
    pub fn stop_flag(&self) -> String {
        StopLog::flag(&self.directory.path().join("stops-%p"))
    }

    /// From now on they are measured: those that have ended by now have no part in it.
    pub fn begin(&mut self) {
        self.logs.over = self.found.iter().filter(|jvm| jvm.has_ended()).map(|jvm| jvm.pid).collect();
    }

    /// The only one that is measured.
    fn only(&self) -> Option<usize> {
        let mut measured = (0..self.found.len()).filter(|at| self.logs.measures(self.found[*at].pid));
        measured.next().filter(|_| measured.next().is_none())
    }

    /// When the threads stood still so far. `None` without such a log, where that lacks pauses which the agent has counted, and of several JVMs, which stop
    /// each by itself.
    pub fn stops(&mut self) -> Option<Vec<Stop>> {
        let jvm = &self.found[self.only()?];
        let path = self.directory.path().join(format!("stops-{}", jvm.control.pid()));
        let log = self.logs.log.take().filter(|log| log.is_at(&path));
        let log = self.logs.log.insert(log.unwrap_or_else(|| StopLog::at(&path)));
        let stops = log.read()?;
        // The program's own -Xlog:disable has closed it.
        let is_closed = stops.is_empty() && jvm.control.pauses() > 0;
        (!is_closed).then(|| stops.to_vec())
    }

    /// Why nobody knows when the threads stood still, if that is so.
    pub fn unlogged(&mut self) -> Option<String> {
        if self.found.is_empty() || self.stops().is_some() {
            return None;
        }
        Some(match self.only() {
            Some(_) => "pauses are not charged to the sides, because the JVM does not log them: leave out -Xlog:disable, or move it to \
                        JAVA_TOOL_OPTIONS"
                .into(),
            None if !self.found.iter().any(|jvm| self.logs.measures(jvm.pid)) => {
                "pauses are not charged to the sides, because no JVM ran while they were measured".into()
            }
            None => "pauses are not charged to the sides, because several JVMs run, which stop each by itself: measure the one that works, or \
                     use --forks"
                .into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Control, State};

    fn create(jvms: &Jvms, pid: u32) -> Control {
        let control = Control::create(&jvms.directory().join(pid.to_string()), &[1]).unwrap();
        let name = format!("stops-{}", control.pid());
        // JDK 25.
        let stop = "[1000000000ns] Safepoint \"G1CollectForAllocation\", Time since last: 1 ns, Reaching safepoint: 2 ns, At safepoint: 3 ns, \
                    Leaving safepoint: 4 ns, Total: 9 ns, Threads: 1 runnable, 9 total\n";
        std::fs::write(jvms.directory().join(name), stop).unwrap();
        control.set_state(State::Installed);
        control
    }

    /// All are of this process here, which has one log.
    #[test]
    fn of_a_script_the_jvm_that_is_measured_tells_when_it_stops() {
        let mut jvms = Jvms::new().unwrap();
        let version = create(&jvms, 1);
        jvms.refresh().unwrap();
        version.set_state(State::Ended);
        jvms.begin();
        assert!(jvms.only().is_none() && jvms.unlogged().unwrap().contains("no JVM ran"), "it is over");
        let mut jvms = Jvms::new().unwrap();
        create(&jvms, 1);
        jvms.refresh().unwrap();
        jvms.begin();
        assert_eq!((jvms.stops().unwrap().len(), jvms.unlogged()), (1, None));
        create(&jvms, 2);
        jvms.refresh().unwrap();
        assert_eq!(jvms.stops(), None, "each stops by itself");
        assert!(jvms.unlogged().unwrap().contains("several JVMs run"));
    }
}
