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
    /// Collects while the others are stopped, or stops them for it.
    Collector,
    /// Collects, mostly while the program's threads run.
    Concurrent,
    /// Compiles, and whatever else the JVM does beside.
    Service,
    /// The program's.
    Application,
}

/// How names begin that HotSpot 11 to 28 gives its threads (`set_name`, and `name()` of a thread's class). `Gang worker` is in 8.
const COLLECTORS: [&str; 6] = ["GC Thread", "G1 ", "VM Thread", "ParGC", "Parallel GC", "Gang worker"];
/// As [`COLLECTORS`], and before them. `CMS ` is in 11.
const CONCURRENT: [&str; 9] = [
    "G1 Main Marker",
    "G1 Conc",
    "Shenandoah",
    "Shenandoah GC Threads",
    "Shenandoah Control Thread",
    "Shenandoah Regulator Thread",
    "Shenandoah Uncommit Thread",
    "ShenControl",
    "CMS ",
];
/// Whole names, but for a number: programs have threads whose names begin so. Those with X are of the collector without generations, which 21 to
/// 23 have beside the other one (`gc/x`).
const ZGC: [&str; 16] = [
    "ZWorker",
    "ZWorkerYoung",
    "ZWorkerOld",
    "ZDriver",
    "ZDriverMinor",
    "ZDriverMajor",
    "ZDirector",
    "ZStat",
    "ZUncommitter",
    "ZUnmapper",
    "XWorker",
    "XDriver",
    "XDirector",
    "XStat",
    "XUncommitter",
    "XUnmapper",
];
/// As [`COLLECTORS`].
const SERVICES: [&str; 23] = [
    "C1 CompilerThread",
    "C2 CompilerThread",
    "JVMCI",
    "Sweeper thread",
    "VM Periodic Task Thread",
    "Signal Dispatcher",
    "Service Thread",
    "Monitor Deflation Thread",
    "Notification Thread",
    "Attach Listener",
    "StringDedup",
    "StringDedupProcessor",
    "StringDedupThread",
    "Safepoint Cleanup Thread",
    // ZGC's, for safepoints and heap dumps.
    "RuntimeWorker#",
    "AsyncLog Thread",
    "Archive Worker Thread",
    "Training replay thread",
    // Not all that begin with JFR: event streams run code of the program's.
    "JFR Recorder Thread",
    "JFR Periodic Tasks",
    "JFR Sampler Thread",
    "JFR CPU Sampler Thread",
    "JFR Thread Sampler",
];
/// Linux keeps so many bytes of a name.
const KEPT: usize = 15;

/// Whether a thread has this name, or one that begins so, as Linux and HotSpot shorten it.
pub(crate) fn is_called(name: &str, full: &str) -> bool {
    name.starts_with(&full[..full.len().min(KEPT)]) || is_shortened(name, full)
}

/// The names of a process's threads, as they are kept, the oldest first.
pub(crate) fn names(pid: u32) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let name = |entry: std::fs::DirEntry| os::read_text(entry.path().join("comm")).ok();
    entries.filter_map(name).map(|name| name.trim_end().to_owned())
}

fn kind(name: &str) -> Kind {
    let begins = |full: &&str| is_called(name, full);
    match () {
        () if CONCURRENT.iter().any(begins) => Kind::Concurrent,
        () if COLLECTORS.iter().any(begins) => Kind::Collector,
        () if ZGC.iter().any(|full| is_numbered(name, full) || is_shortened(name, full)) => Kind::Concurrent,
        () if SERVICES.iter().any(begins) => Kind::Service,
        () => Kind::Application,
    }
}

/// `ZStat`, `ZWorkerOld#1`.
fn is_numbered(name: &str, full: &str) -> bool {
    let number = name.strip_prefix(full);
    number.is_some_and(|number| {
        number.strip_prefix('#').unwrap_or(number).bytes().all(|digit| digit.is_ascii_digit())
    })
}

/// From 26 on HotSpot itself shortens names, in the middle (JDK-8368124): `C2 Comp..read12`.
fn is_shortened(name: &str, full: &str) -> bool {
    let halves = name.split_at_checked(7).and_then(|(head, rest)| Some((head, rest.strip_prefix("..")?)));
    halves.is_some_and(|(head, tail)| {
        let end = tail.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '#');
        tail.len() == 6 && full.starts_with(head) && full.ends_with(end)
    })
}

/// CPU time used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// By all threads.
    pub process: Duration,
    /// By collectors' threads and the one that stops the others.
    pub collector: Duration,
    /// Of `collector`: in concurrent cycles. By G1's threads for marking, and by all of Shenandoah's, ZGC's and CMS's, which work in pauses as well, but seldom.
    pub concurrent: Duration,
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
            match kind(name.trim_end()) {
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
            Kind::Concurrent => {
                self.collector += time;
                self.concurrent += time;
            }
            Kind::Service => self.service += time,
            Kind::Application => {}
        }
    }
}

fn read(pid: u32, thread: u32, file: &str) -> Option<String> {
    os::read_text(format!("/proc/{pid}/task/{thread}/{file}")).ok()
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
        let collectors = "GC Thread#0,G1 Refine#0,G1 Service,VM Thread,G1 Refi..ontrol";
        let concurrent = "G1 Main Marker,G1 Conc#0,G1 Conc#12,Shenandoah GC T,Shenandoah Cont,Shenandoah Regu,Shenandoah Unco,\
                          CMS Main Thread,Shenand..eads#0,Shenand..Thread";
        let zgc = "ZWorker#0,ZWorkerYoung#0,ZWorkerYoung#12,ZWorkerOld#0,ZDriver,ZDriverMinor,ZDriverMajor,ZDirector,ZStat,\
                   ZUncommitter,ZUncommitter#0,ZUnmapper,XWorker#1,XDriver,XDirector,XStat,XUncommitter,XUnmapper,ZWorker..ng#100";
        let services = "C2 CompilerThre,C1 CompilerThre,JVMCI-native Co,VM Periodic Tas,Notification Th,RuntimeWorker#0,\
                        AsyncLog Thread,Monitor Deflati,JFR Thread Samp,JFR Sampler Thr,JFR CPU Sampler,Safepoint Clean";
        let shortened_services = "C2 Comp..hread0,C1 Comp..read12,VM Peri..Thread,Signal ..atcher,Monitor..Thread,Notific..Thread,\
                                  StringD..cessor,Safepoi..read#3,JFR CPU..Thread";
        let application = "java,alloc-0,terrace-task,G1,GCThing,main,ZStatsd,XWorkerPool#1,ZWorker#a,Worker#0,ZDriver-1,CMS,JFR,\
                           Monitor..acme-1,Foreign..Thread,JFR Event Strea,JFR Eve..ream 1,C2 Comp..hrea-0,ZWorkers,..,Shenand..";
        for (names, expected) in [
            (collectors, Kind::Collector),
            (concurrent, Kind::Concurrent),
            (zgc, Kind::Concurrent),
            (services, Kind::Service),
            (shortened_services, Kind::Service),
            (application, Kind::Application),
        ] {
            for name in names.split(',') {
                assert_eq!(kind(name), expected, "{name}");
            }
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
