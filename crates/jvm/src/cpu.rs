//! CPU time of a running JVM, apart by what its threads do.
//!
//! The application's time is what the process has used less what HotSpot's own threads have: threads of the application
//! come and go (a new one for each task), and what an ended one used is known of the process only. HotSpot's own threads
//! are few and stay.

use crate::os;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Collects, or stops the others for it.
    Collector,
    /// Compiles, and whatever else the JVM does beside.
    Service,
    /// The program's.
    Application,
}

/// Names as HotSpot 17 to 25 gives them; Linux keeps 15 bytes of a name.
const COLLECTORS: [&str; 8] =
    ["GC Thread", "G1 ", "VM Thread", "Shenandoah", "ShenControl", "ParGC", "Parallel GC", "Gang worker"];
const SERVICES: [&str; 12] = [
    "C1 Compiler",
    "C2 Compiler",
    "JVMCI",
    "Sweeper thread",
    "VM Periodic Tas",
    "Signal Dispatch",
    "Service Thread",
    "Monitor Deflati",
    "Notification Th",
    "Attach Listener",
    "StringDedup",
    "Safepoint Clean",
];

fn kind(name: &str) -> Kind {
    let begins = |names: &[&str]| names.iter().any(|known| name.starts_with(known));
    match () {
        () if begins(&COLLECTORS) => Kind::Collector,
        () if begins(&SERVICES) => Kind::Service,
        () => Kind::Application,
    }
}

/// CPU time used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// By all threads.
    pub process: Duration,
    /// By collectors' threads and the one that stops the others.
    pub collector: Duration,
    /// By compilers' and other service threads.
    pub service: Duration,
}

impl CpuTime {
    /// By the program's threads.
    pub fn application(&self) -> Duration {
        self.process.saturating_sub(self.collector + self.service)
    }
}

pub struct Threads {
    pid: u32,
    own: BTreeMap<u32, (Kind, Duration)>,
    /// Of threads that have ended.
    ended: CpuTime,
    /// Threads of the application; `true` once the name was looked at again: a new thread has its creator's name at first.
    others: BTreeMap<u32, bool>,
}

impl Threads {
    pub fn of(pid: u32) -> Threads {
        Threads { pid, own: BTreeMap::new(), ended: CpuTime::default(), others: BTreeMap::new() }
    }

    /// Looks for threads that are new, and forgets those that have ended.
    pub fn refresh(&mut self) {
        let entries = std::fs::read_dir(format!("/proc/{}/task", self.pid)).into_iter().flatten().flatten();
        let alive: BTreeSet<u32> =
            entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        self.others.retain(|thread, _| alive.contains(thread));
        let gone: Vec<u32> = self.own.keys().filter(|thread| !alive.contains(thread)).copied().collect();
        for thread in gone {
            if let Some((kind, time)) = self.own.remove(&thread) {
                self.ended.add(kind, time);
            }
        }
        for thread in alive {
            if self.own.contains_key(&thread) || self.others.get(&thread) == Some(&true) {
                continue;
            }
            let Some(name) = read(self.pid, thread, "comm") else { continue };
            match kind(&name) {
                Kind::Application => {
                    let again = self.others.contains_key(&thread);
                    self.others.insert(thread, again);
                }
                kind => {
                    self.others.remove(&thread);
                    self.own.insert(thread, (kind, Duration::ZERO));
                }
            }
        }
    }

    /// CPU time so far. `None` when the process has ended.
    pub fn cpu(&mut self) -> Option<CpuTime> {
        let mut sum = self.ended;
        // First, at the moment that the caller is counting at. HotSpot's own threads are mostly asleep meanwhile.
        sum.process = os::process_cpu(self.pid)?;
        for (thread, (kind, time)) in &mut self.own {
            // One that has just ended keeps what it had until the next refresh.
            if let Some(now) = read(self.pid, *thread, "schedstat").and_then(|text| schedstat(&text)) {
                *time = now.max(*time);
            }
            sum.add(*kind, *time);
        }
        Some(sum)
    }
}

impl CpuTime {
    fn add(&mut self, kind: Kind, time: Duration) {
        match kind {
            Kind::Collector => self.collector += time,
            Kind::Service => self.service += time,
            Kind::Application => {}
        }
    }
}

fn read(pid: u32, thread: u32, file: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/{file}")).ok()
}

/// `123456 789 10`: nanoseconds on a CPU, nanoseconds waited, turns.
fn schedstat(text: &str) -> Option<Duration> {
    text.split_ascii_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_told_apart_by_their_names() {
        for name in ["GC Thread#0", "G1 Main Marker", "G1 Refine#0", "VM Thread", "Shenandoah GC T"] {
            assert_eq!(kind(name), Kind::Collector, "{name}");
        }
        for name in ["C2 CompilerThre", "C1 CompilerThre", "VM Periodic Tas", "Notification Th"] {
            assert_eq!(kind(name), Kind::Service, "{name}");
        }
        for name in ["java", "alloc-0", "terrace-task", "G1", "GCThing", "main"] {
            assert_eq!(kind(name), Kind::Application, "{name}");
        }
        assert_eq!(schedstat("123456 789 10\n"), Some(Duration::from_nanos(123_456)));
        assert_eq!(schedstat(""), None);
    }

    fn burn(name: &str) {
        let work = || {
            let mut sum = 0_u64;
            for i in 0..30_000_000_u64 {
                sum = std::hint::black_box(sum.wrapping_add(i));
            }
        };
        std::thread::Builder::new().name(name.into()).spawn(work).unwrap().join().unwrap();
    }

    #[test]
    fn a_collectors_time_is_not_the_applications_also_when_it_has_ended() {
        let mut threads = Threads::of(std::process::id());
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let collector = std::thread::Builder::new()
            .name("GC Thread#0".into())
            .spawn(move || {
                while stopped.try_recv().is_err() {
                    let mut sum = 0_u64;
                    for i in 0..5_000_000_u64 {
                        sum = std::hint::black_box(sum.wrapping_add(i));
                    }
                    let _ = ready.send(());
                }
            })
            .unwrap();
        is_ready.recv().unwrap();
        threads.refresh();
        // The kernel accounts a running thread's time when it pleases.
        let during = loop {
            let during = threads.cpu().unwrap();
            if during.collector > Duration::ZERO {
                break during;
            }
            is_ready.recv().unwrap();
        };
        stop.send(()).unwrap();
        collector.join().unwrap();
        threads.refresh();
        let before = threads.cpu().unwrap();
        assert!(before.collector >= during.collector, "what an ended thread used stays known");
        // Of a thread that came and went.
        let after = loop {
            burn("task");
            let after = threads.cpu().unwrap();
            if after.application() > before.application() {
                break after;
            }
        };
        assert_eq!(after.collector, before.collector);
    }

    #[test]
    fn a_process_that_is_gone_has_no_time() {
        assert_eq!(Threads::of(0x3fff_fff0).cpu(), None);
    }
}
