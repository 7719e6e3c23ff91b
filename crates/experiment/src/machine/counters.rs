//! Whether the processor's own counters can be read here, and if not, why and what to do.

use crate::machine::events::{Event, EventCounter};
use jvm::jdk::on_path;
use std::fmt;
use std::io;
use std::process::{Command, Stdio};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    Available,
    /// It cannot: why, and the remedy if there is one.
    Unavailable(String),
}

impl Availability {
    pub fn reason(&self) -> Option<&str> {
        match self {
            Availability::Available => None,
            Availability::Unavailable(reason) => Some(reason),
        }
    }

    /// The first of two things that is missing.
    fn and(self, other: impl FnOnce() -> Availability) -> Availability {
        if self == Availability::Available { other() } else { self }
    }
}

impl fmt::Display for Availability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Availability::Available => f.write_str("available"),
            Availability::Unavailable(reason) => write!(f, "unavailable: {reason}"),
        }
    }
}

/// Whether a thread of ours can have its cycles counted. That is tried, not concluded.
pub fn hardware_counters() -> Availability {
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    judged(count_cycles(), paranoid.ok().and_then(|text| text.trim().parse().ok()))
}

/// The cycles of a short loop: a counter that stays at 0, or never runs, counts nothing.
fn count_cycles() -> io::Result<u64> {
    let mut counter = EventCounter::of_thread(Event::Cycles)?;
    (0..100_000_u32).for_each(|number| {
        std::hint::black_box(number);
    });
    Ok(counter.read()?.count)
}

/// Whether JMH can count events around a JVM: the counters, and the program `perf` on `PATH`, which it calls.
pub fn perf() -> Availability {
    hardware_counters().and(|| match on_path("perf") {
        Some(_) => Availability::Available,
        None => Availability::Unavailable(
            "perf is not on PATH; install it (package linux-perf or linux-tools)".into(),
        ),
    })
}

/// Whether `perf` counts an event here. Names differ between processors; it is asked to count it once.
pub fn event(name: &str) -> Availability {
    perf().and(|| {
        let mut command = Command::new("perf");
        command.args(["stat", "--field-separator", ",", "--event", name, "--", "true"]);
        let output = command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::null()).output();
        match output {
            Err(error) => Availability::Unavailable(format!("perf cannot be started: {error}")),
            Ok(output) => counted(name, output.status.success(), &String::from_utf8_lossy(&output.stderr)),
        }
    })
}

/// `1113825,,cycles,...` is counted, `<not supported>,,LLC-loads,...` is not; what perf does not know is an error.
fn counted(name: &str, success: bool, said: &str) -> Availability {
    let line = said.lines().find(|line| line.contains(name)).unwrap_or_default();
    match success {
        true if line.starts_with(|first: char| first.is_ascii_digit()) => Availability::Available,
        true => {
            Availability::Unavailable(format!("this processor, or its hypervisor, does not count {name}"))
        }
        false => Availability::Unavailable(format!("perf knows no event {name} for this processor")),
    }
}

fn judged(cycles: io::Result<u64>, paranoid: Option<i32>) -> Availability {
    let error = match cycles {
        Ok(0) => {
            return Availability::Unavailable(
                "the cycle counter does not advance: the hypervisor exposes counters but does not run them; use bare metal".into(),
            );
        }
        Ok(_) => return Availability::Available,
        Err(error) => error,
    };
    Availability::Unavailable(match (error.raw_os_error(), paranoid) {
        (Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP), _) => {
            "no performance monitoring unit: this virtual machine has none, or the kernel does not know the processor's; use bare \
             metal, or enable the virtual one"
                .into()
        }
        (Some(libc::EACCES | libc::EPERM), Some(level)) if level > 2 => format!(
            "perf_event_paranoid is {level}; allow it with 'sysctl kernel.perf_event_paranoid=2' as root"
        ),
        (Some(libc::EACCES | libc::EPERM), level) => format!(
            "perf_event_open is not permitted (perf_event_paranoid is {}): a container's seccomp filter or a security module \
             forbids it; allow the call there, or grant CAP_PERFMON",
            level.map_or("unknown".into(), |level| level.to_string())
        ),
        (Some(libc::ENOSYS), _) => {
            "the kernel has no perf_event_open, or a seccomp filter hides it; run outside the sandbox".into()
        }
        _ => format!("perf_event_open: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: i32, paranoid: Option<i32>) -> String {
        judged(Err(io::Error::from_raw_os_error(code)), paranoid).to_string()
    }

    #[test]
    fn each_refusal_has_its_reason_and_remedy() {
        assert!(refused(libc::ENOENT, Some(2)).starts_with("unavailable: no performance monitoring unit"));
        assert!(refused(libc::EACCES, Some(4)).contains("is 4; allow it with 'sysctl"));
        assert!(refused(libc::EPERM, Some(2)).contains("seccomp"));
        assert!(refused(libc::EPERM, None).contains("unknown"));
        assert!(refused(libc::ENOSYS, Some(2)).contains("sandbox"));
        assert!(refused(libc::EMFILE, Some(2)).contains("perf_event_open:"));
    }

    #[test]
    fn a_counter_that_stands_still_is_none() {
        assert!(judged(Ok(0), Some(2)).reason().unwrap().contains("does not advance"));
        assert_eq!(judged(Ok(1), Some(2)), Availability::Available);
    }

    #[test]
    fn perf_says_what_it_counts() {
        assert_eq!(counted("cycles", true, "1113825,,cycles,900,100.00,,\n"), Availability::Available);
        let not = counted("LLC-loads", true, "<not supported>,,LLC-loads,0,100.00,,\n");
        assert!(not.reason().unwrap().contains("does not count LLC-loads"));
        let unknown = counted("x.y", false, "event syntax error: 'x.y'\n");
        assert!(unknown.reason().unwrap().contains("knows no event x.y"));
    }

    #[test]
    fn this_machine_gives_an_answer() {
        let answer = hardware_counters();
        assert!(
            answer == Availability::Available || answer.reason().is_some_and(|reason| !reason.is_empty())
        );
        assert!(event("terrace-no-such-event").reason().is_some());
    }
}
