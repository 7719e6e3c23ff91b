//! A stretch of a JVM's life, from its counters at both ends and looks in between.

use crate::evidence::{Allocation, Eden, Evidence, Group, Refills, Threads, Times};
use crate::{costs, system};
use control::View;
use control::times::{Kind, Way};
use hab::Counter;
use jvm::accounts::Accounts;
use jvm::agent::AgentOptions;
use jvm::attach::Attached;
use jvm::install::Install;
use jvm::observe;
use jvm::observer::Observer;
use jvm::perfdata::{PerfData, PerfFile};
use jvm::refills::{RefillTimes, Taken};
use jvm::thread_dump::{self, JavaThread};
use jvm::{Error, Result, cpu, os, vm_flags};
use present::progress::Progress;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Counters are looked at so often: those of a TLAB's waste hold from one collection to the next.
const STEP: Duration = Duration::from_millis(50);
/// Threads are looked at so often; each look is a safepoint.
const LOOKS: u32 = 4;
/// A word of the heap, in which HotSpot counts waste.
const WORD: f64 = 8.0;

/// A JVM that is watched, with as many ways in as it has.
pub struct Watched<'a> {
    pub pid: u32,
    /// Its agent's counters. `None` where the agent could not be loaded.
    pub control: Option<&'a View>,
    /// `None` where it does not answer.
    pub attached: Option<&'a Attached>,
    /// Why something is not there.
    pub missing: Vec<String>,
}

/// What is counted since the JVM's start.
struct Moment {
    at: Instant,
    perf: Option<PerfData>,
    used: u64,
    pauses: u64,
    objects: Option<u64>,
    times: Option<RefillTimes>,
    cpu: Option<cpu::CpuTime>,
    touches: Option<u64>,
    periods: Option<system::Periods>,
}

/// Waste in TLABs, as HotSpot publishes it at each collection, of the time since the one before.
#[derive(Default)]
struct Waste {
    collections: u64,
    at_collection: f64,
    at_refill: f64,
    threads: f64,
}

struct Watch<'a> {
    jvm: &'a Watched<'a>,
    perf: Option<PerfFile>,
    accounts: Option<Accounts>,
    threads: cpu::Threads,
}

/// For an answer of the JVM's: it may be in the middle of a long collection.
const PATIENCE: Duration = Duration::from_secs(60);

/// A JVM that runs: loads the agent as an observer, and watches. Where that cannot be had, what can be seen without it is.
pub fn watch_process(
    pid: u32,
    length: Duration,
    install: &Install,
    tell: impl Fn(&str),
    progress: &Progress,
) -> Result<Evidence> {
    let attached = Attached::to(pid, PATIENCE);
    let perf = PerfFile::of(pid);
    let mut missing = Vec::new();
    let attached = match attached {
        Ok(attached) => Some(attached),
        Err(error) if perf.is_none() || os::stopped_by().is_some() => return Err(error),
        Err(error) => {
            missing.push(format!("flags, threads, and where eden goes: {error}"));
            None
        }
    };
    let observer = attached.as_ref().map(|_| Observer::attach(pid, install, tell)).transpose();
    let observer = observer.unwrap_or_else(|error| {
        missing.push(format!("where eden goes, and refills: {error}"));
        None
    });
    let control = observer.as_ref().map(Observer::control);
    let evidence = watch(&Watched { pid, control, attached: attached.as_ref(), missing }, length, progress);
    // It goes whatever came of it. Only then is an error one.
    let gone = observer.map(Observer::withdraw).transpose();
    evidence.and_then(|evidence| gone.map(|_| evidence))
}

/// An agent that counts and times, and has no buffers.
pub fn observing() -> AgentOptions {
    AgentOptions { times: true, ..AgentOptions::observing() }
}

/// Watches for so long, and says what was seen. It ends early, without an error, when the JVM ends.
pub fn watch(jvm: &Watched, length: Duration, progress: &Progress) -> Result<Evidence> {
    let machine = system::machine(jvm.pid);
    progress.start("watching", length + Duration::from_secs(1));
    progress.say("measuring this machine's own costs");
    let costs = costs::measure(machine.cpus);
    let flags = jvm.attached.map(vm_flags::of).transpose()?.unwrap_or_default();
    let settings = jvm.control.map(observe::settings).unwrap_or_default();
    let mut watch = Watch {
        jvm,
        perf: PerfFile::of(jvm.pid),
        accounts: Accounts::from_settings(jvm.pid, &settings),
        threads: cpu::Threads::of(jvm.pid),
    };
    progress.say(format!("watching process {}", jvm.pid));
    let first = watch.moment();
    let (looks, waste) = watch.look(length, progress)?;
    let last = watch.moment();
    if last.at.duration_since(first.at) < length / 2 {
        return Err(Error::failed(format!(
            "process {} ended while it was watched; nothing can be said",
            jvm.pid
        )));
    }
    progress.finish();

    let mut evidence = Evidence {
        jvm: crate::evidence::Jvm {
            pid: jvm.pid,
            version: version(jvm, &settings),
            collector: collector(&flags),
            flags,
        },
        seconds: last.at.duration_since(first.at).as_secs_f64(),
        machine,
        costs,
        missing: jvm.missing.clone(),
        ..Evidence::default()
    };
    let cpu = |of: fn(&cpu::CpuTime) -> Duration| {
        let (from, to) = (of(first.cpu.as_ref()?), of(last.cpu.as_ref()?));
        Some(to.saturating_sub(from).as_secs_f64())
    };
    evidence.application_cpu = cpu(|time| time.application());
    evidence.collector_cpu = cpu(|time| time.collector);
    evidence.eden = eden(&first, &last);
    evidence.threads = threads(&first, &last, &looks, &waste, evidence.seconds);
    evidence.allocation = allocation(&first, &last, &waste, &evidence, &looks);
    evidence.refills = refills(&first, &last);
    evidence.memory = system::memory(jvm.pid);
    evidence.memory.first_touches = first.touches.zip(last.touches).map(|(from, to)| to.saturating_sub(from));
    evidence.machine.throttled = first.periods.zip(last.periods).and_then(|(from, to)| {
        let all = to.all.saturating_sub(from.all);
        (all > 0).then(|| to.throttled.saturating_sub(from.throttled) as f64 / all as f64)
    });
    if watch.perf.is_none() {
        evidence.missing.push("HotSpot's own counters (start without -XX:-UsePerfData)".into());
    }
    Ok(evidence)
}

impl Watch<'_> {
    fn moment(&mut self) -> Moment {
        self.threads.refresh();
        let control = self.jvm.control;
        Moment {
            at: Instant::now(),
            perf: self.perf.as_ref().and_then(PerfFile::read),
            used: control.map_or(0, |control| control.total(Counter::PassedBytes)),
            pauses: control.map_or(0, View::pauses),
            objects: self.accounts.as_mut().and_then(Accounts::read),
            times: control.and_then(RefillTimes::read),
            cpu: self.threads.cpu(),
            touches: system::first_touches(self.jvm.pid),
            periods: system::periods(self.jvm.pid),
        }
    }

    /// Looks at threads a few times, and at counters all the time.
    fn look(&mut self, length: Duration, progress: &Progress) -> Result<(Vec<Vec<JavaThread>>, Waste)> {
        let since = Instant::now();
        let (mut looks, mut waste) = (Vec::new(), Waste::default());
        let mut seen = self.perf.as_ref().and_then(PerfFile::read).map(|perf| perf.collections());
        loop {
            if let Some(signal) = os::stopped_by() {
                return Err(Error::interrupted(signal));
            }
            let passed = since.elapsed();
            let due = length * looks.len() as u32 / (LOOKS - 1);
            if passed >= due.min(length) && looks.len() < LOOKS as usize {
                // A JVM that ends meanwhile has no threads to show.
                looks.extend(self.jvm.attached.and_then(|jvm| thread_dump::of(jvm).ok()));
            }
            if let Some(perf) = self.perf.as_ref().and_then(PerfFile::read) {
                waste.add(&perf, &mut seen);
            }
            if passed >= length || !std::path::Path::new(&format!("/proc/{}", self.jvm.pid)).exists() {
                return Ok((looks, waste));
            }
            progress.passed(passed);
            std::thread::sleep(STEP.min(length - passed));
        }
    }
}

impl Waste {
    fn add(&mut self, perf: &PerfData, seen: &mut Option<u64>) {
        let now = perf.collections();
        let before = seen.replace(now);
        if before.is_none_or(|before| before == now) {
            return;
        }
        let words = |name: &str| perf.get(&format!("sun.gc.tlab.{name}")).map(|words| words as f64 * WORD);
        let (Some(at_collection), Some(at_refill)) =
            (words("gcWaste"), words("refillWaste").or_else(|| words("slowWaste")))
        else {
            return;
        };
        self.collections += 1;
        self.at_collection += at_collection;
        self.at_refill += at_refill;
        self.threads += perf.get("sun.gc.tlab.allocThreads").unwrap_or(0) as f64;
    }

    /// Of all collections, as many as there were: of those that were seen the mean.
    fn of(&self, sum: f64, collections: f64) -> f64 {
        if self.collections == 0 { 0.0 } else { sum / self.collections as f64 * collections }
    }
}

fn eden(first: &Moment, last: &Moment) -> Eden {
    let perf = last.perf.as_ref();
    let counter = |name: &str| perf.and_then(|perf| perf.get(name)).map(|bytes| bytes as f64);
    let of_perf = || Some(perf?.collections() - first.perf.as_ref()?.collections());
    let seconds = |moment: &Moment| moment.perf.as_ref()?.seconds("sun.rt.safepointTime");
    Eden {
        bytes: counter("sun.gc.generation.0.space.0.capacity"),
        most_bytes: counter("sun.gc.generation.0.maxCapacity"),
        // HotSpot's own count has the collections only, the agent's each pause of a concurrent one, too.
        collections: of_perf().or(Some(last.pauses - first.pauses).filter(|count| *count > 0)),
        stopped: seconds(first).zip(seconds(last)).map(|(from, to)| to - from),
    }
}

fn threads(first: &Moment, last: &Moment, looks: &[Vec<JavaThread>], waste: &Waste, seconds: f64) -> Threads {
    let counter = |moment: &Moment, name: &str| moment.perf.as_ref()?.get(name);
    let started = counter(first, "java.threads.started").zip(counter(last, "java.threads.started"));
    let mut seen = BTreeSet::new();
    // Young ones only: who stays is no trouble, however it came.
    let young: Vec<&JavaThread> =
        looks.iter().flatten().filter(|thread| thread.elapsed < seconds && seen.insert(thread.id)).collect();
    let with_frames = young.iter().filter(|thread| thread.outermost.is_some()).count();
    let attached = young.iter().filter(|thread| thread.is_called_from_native()).count();
    Threads {
        alive: counter(last, "java.threads.live"),
        started: started.map(|(from, to)| to.saturating_sub(from)),
        allocating: (waste.collections > 0)
            .then(|| (waste.threads / waste.collections as f64).round() as u64),
        attached: (with_frames > 0).then(|| attached as f64 / with_frames as f64),
        groups: groups(looks),
    }
}

/// What threads of each name allocated between the first look and the last.
fn groups(looks: &[Vec<JavaThread>]) -> Vec<Group> {
    let (Some(first), Some(last)) = (looks.first(), looks.last()) else { return Vec::new() };
    let before: BTreeMap<(u64, &str), u64> = first
        .iter()
        .filter_map(|thread| Some(((thread.id, thread.name.as_str()), thread.allocated?)))
        .collect();
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for thread in last {
        let group = groups.entry(thread.group()).or_insert_with_key(|name| Group {
            name: name.clone(),
            threads: 0,
            bytes: 0,
        });
        let had = before.get(&(thread.id, thread.name.as_str())).copied().unwrap_or(0);
        group.threads += 1;
        group.bytes += thread.allocated.unwrap_or(0).saturating_sub(had);
    }
    let mut groups: Vec<Group> = groups.into_values().filter(|group| group.bytes > 0).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.bytes));
    groups
}

fn allocation(
    first: &Moment,
    last: &Moment,
    waste: &Waste,
    evidence: &Evidence,
    looks: &[Vec<JavaThread>],
) -> Option<Allocation> {
    let used = last.used.saturating_sub(first.used) as f64;
    let objects = last.objects?.saturating_sub(first.objects?) as f64;
    if used <= 0.0 {
        return None;
    }
    let collections = evidence.eden.collections.unwrap_or(0) as f64;
    let lost = (used - objects).max(0.0);
    let at_collection = waste.of(waste.at_collection, collections).min(lost);
    let at_refill = waste.of(waste.at_refill, collections).min(lost - at_collection);
    // What is in use at either end is neither: the TLABs of the threads alive hold it.
    let staying: u64 = evidence.threads.groups.iter().map(|group| group.bytes).sum();
    let ended = evidence.threads.started.filter(|started| *started > 0 && looks.len() > 1);
    Some(Allocation {
        used,
        objects: objects.min(used),
        waste_collection: at_collection,
        waste_refill: at_refill,
        waste_ended: lost - at_collection - at_refill,
        of_ended_thread: ended.map(|ended| (objects - staying as f64).max(0.0) / ended as f64),
    })
}

/// Without a lock nothing takes so long: the thread has lost its CPU, which is no refill's cost.
const PREEMPTED_NS: u64 = 50_000;

fn refills(first: &Moment, last: &Moment) -> Option<Refills> {
    let between = last.times.as_ref()?.since(first.times.as_ref()?);
    let of = |kind, way| times(between.of(kind, way));
    let on_cpu = |kind| {
        let taken = between.of(kind, Way::Quick);
        Times { total_ns: taken.total_within_ns(PREEMPTED_NS) as f64, ..times(taken) }
    };
    Some(Refills {
        quick: on_cpu(Kind::Tlab),
        locked: of(Kind::Tlab, Way::Region),
        collecting: of(Kind::Tlab, Way::Collection),
        objects: on_cpu(Kind::Object),
    })
}

fn times(taken: &Taken) -> Times {
    let percentile = |share| taken.percentile_ns(share).unwrap_or(0) as f64;
    Times {
        count: taken.count(),
        total_ns: taken.total_ns() as f64,
        p10_ns: percentile(0.1),
        p50_ns: percentile(0.5),
        p99_ns: percentile(0.99),
        max_ns: taken.max_ns() as f64,
    }
}

fn version(jvm: &Watched, settings: &serde_json::Value) -> String {
    let said = settings.get("jdk").and_then(|jdk| jdk.as_str()).map(str::to_owned);
    let asked =
        || jvm.attached?.diagnose("VM.version").ok()?.lines().last().map(|line| line.replace("JDK ", ""));
    said.or_else(asked).unwrap_or_default()
}

/// By its flag.
fn collector(flags: &vm_flags::VmFlags) -> String {
    let known = ["Serial", "Parallel", "G1", "Shenandoah", "Z", "Epsilon"];
    let on = known.into_iter().find(|name| flags.is_on(&format!("Use{name}GC")));
    on.unwrap_or("unknown").to_owned()
}
