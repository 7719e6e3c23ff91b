//! On which pages a JVM that somebody else started for us really lies: seen from outside, while it runs.

use crate::os::stat_field;
use crate::{loaded, os};
use pages::{Faults, Mappings, Obtained};
use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often is looked: reading the kernel's list holds the JVM's page faults up for some milliseconds.
const EVERY: Duration = Duration::from_millis(400);

/// What was seen of a JVM.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// Its memory when it was largest.
    pub obtained: Obtained,
    /// Its page faults from its start until it was last looked at.
    pub faults: Faults,
}

/// Looks at the JVMs among our descendants until it is asked.
pub struct Observer {
    stop: Sender<()>,
    thread: JoinHandle<Option<Seen>>,
}

impl Observer {
    pub fn start() -> Observer {
        Observer::of(std::process::id())
    }

    fn of(root: u32) -> Observer {
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            let mut largest: Option<Seen> = None;
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                for seen in java_below(root).into_iter().filter_map(look) {
                    match &mut largest {
                        Some(largest) if seen.obtained.resident() < largest.obtained.resident() => {
                            // The same JVM, smaller after a collection, or a smaller one, which has fewer faults.
                            largest.faults.minor = largest.faults.minor.max(seen.faults.minor);
                            largest.faults.major = largest.faults.major.max(seen.faults.major);
                        }
                        _ => largest = Some(seen),
                    }
                }
            }
            largest
        });
        Observer { stop, thread }
    }

    /// The largest JVM; `None` when none was seen.
    pub fn finish(self) -> Option<Seen> {
        drop(self.stop);
        self.thread.join().ok().flatten()
    }
}

/// A JVM that ends meanwhile is no error: there was an earlier look, or there is none.
fn look(pid: u32) -> Option<Seen> {
    let stat = os::read_text(format!("/proc/{pid}/stat")).ok()?;
    Some(Seen { faults: faults(&stat)?, obtained: Mappings::of_process(pid).ok()?.anonymous() })
}

/// The JVMs among a process and those that it started, or its children did.
pub fn jvms_of(root: u32) -> Vec<u32> {
    let is_jvm =
        |pid: &u32| os::read_text(format!("/proc/{pid}/maps")).is_ok_and(|maps| loaded::runs_libjvm(&maps));
    std::iter::once(root).chain(java_below(root)).filter(is_jvm).collect()
}

/// The processes named `java` that a process started, or its children did.
pub fn java_below(root: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes: BTreeMap<u32, (u32, String)> = entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            Some((pid, stat(&os::read_text(entry.path().join("stat")).ok()?)?))
        })
        .collect();
    let below = |pid: u32| {
        let parents = std::iter::successors(Some(pid), |pid| processes.get(pid).map(|(parent, _)| *parent));
        // A chain of parents is short; a process number that was given out again cannot make it endless.
        parents.skip(1).take(processes.len()).any(|parent| parent == root)
    };
    (processes.iter())
        .filter(|(pid, (_, name))| name == "java" && below(**pid))
        .map(|(pid, _)| *pid)
        .collect()
}

/// Parent and name of a `stat` line: `12 (java) S 7 ...`.
fn stat(line: &str) -> Option<(u32, String)> {
    let name = line.rsplit_once(')')?.0.split_once('(')?.1;
    Some((stat_field(line, 4)?, name.to_owned()))
}

fn faults(line: &str) -> Option<Faults> {
    Some(Faults { minor: stat_field(line, 10)?, major: stat_field(line, 12)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::idle::Idle;

    #[test]
    fn a_processs_line_is_read_whatever_its_name() {
        assert_eq!(stat("12 (java) S 7 12 12 0"), Some((7, "java".into())));
        assert_eq!(stat("12 (a) b (c)) R 3 1"), Some((3, "a) b (c)".into())));
        assert_eq!(stat("no such process"), None);
    }

    #[test]
    fn faults_are_the_processs_own() {
        let line = "12 (java) S 7 12 12 34816 12 4194304 37055 7 3 1 12 5";
        assert_eq!(faults(line), Some(Faults { minor: 37055, major: 3 }));
        assert!(look(std::process::id()).unwrap().faults.minor > 0);
    }

    #[test]
    fn without_a_jvm_nothing_is_seen() {
        let idle = Idle::start();
        assert_eq!(jvms_of(idle.pid()), [0; 0]);
        assert_eq!(Observer::of(idle.pid()).finish(), None);
    }
}
