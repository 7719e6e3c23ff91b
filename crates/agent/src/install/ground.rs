//! What an installation stands on: the CPUs as they are grouped, and the memory in which it counts. Nothing of it shows in the JVM.

use crate::hierarchy::{self, ThreadBuffers};
use crate::options::Options;
use crate::report;
use crate::state::{control, set_control};
use control::{Control, Counted, State};
use hotspot::flags::Flags;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use topology::{CpuSource, DomainKind, DomainMap, Machine, Places};

pub(crate) struct Ground {
    pub(crate) machine: Machine,
    /// What tells a thread's place.
    pub(crate) cpu_source: CpuSource,
    /// For each level, the threads' level first.
    pub(crate) maps: Vec<DomainMap>,
    pub(crate) control: &'static Control,
    /// What the user should know of that memory.
    pub(crate) remarks: Vec<String>,
}

impl Ground {
    /// Where nothing is installed, and for all to see. Memory of an attempt that was refused is used again, and any other given up.
    pub(crate) fn make(options: &Options) -> Result<Ground, String> {
        let ground = Ground::with(options, |counted, remarks| {
            if let Some(earlier) = control() {
                if !is_lost() && earlier.try_again(options.control.as_deref(), counted) {
                    return Ok(earlier);
                }
                check_earlier(EARLIER.fetch_add(1, Ordering::Relaxed))?;
                // Whoever looks from now on looks for the next one.
                earlier.give_up();
            }
            new(options, remarks, counted, |place| Control::at(place, counted))
        })?;
        ground.known_for(options).publish();
        Ok(ground)
    }

    /// Beside what is installed, which keeps its own memory, and is what all see until it is replaced.
    pub(crate) fn beside(installed: &Control, options: &Options) -> Result<Ground, String> {
        check_earlier(EARLIER.fetch_add(1, Ordering::Relaxed))?;
        Ground::with(options, |counted, remarks| {
            new(options, remarks, counted, |place| installed.beside(place, counted))
        })
    }

    fn with(
        options: &Options,
        memory: impl FnOnce(Counted<'_>, &mut Vec<String>) -> Result<&'static Control, String>,
    ) -> Result<Ground, String> {
        let machine = Machine::detect();
        let places = match has_memory_by_node(&machine) {
            true => Places::of_topology(CpuSource::detect()),
            false => Places::detect(&machine),
        };
        let maps = hierarchy::domain_maps(options.levels, &machine, &places);
        let mut domains: Vec<usize> = maps.iter().map(DomainMap::count).collect();
        if options.bound {
            domains.push(ThreadBuffers::THREADS);
        }
        let timed = if options.times { domains.first().copied().unwrap_or(0) } else { 0 };
        let mut remarks = Vec::new();
        let control = memory(Counted { levels: &domains, timed }, &mut remarks)?;
        Ok(Ground { cpu_source: places.source(), machine, maps, control, remarks })
    }

    /// What all are to see of it, with these options.
    pub(crate) fn known_for(&self, options: &Options) -> Known {
        Known { control: self.control, report: options.report.clone() }
    }
}

/// What others find of an installation: its memory, and where its report goes if it gets as far as having counters.
pub(crate) struct Known {
    control: &'static Control,
    report: Option<String>,
}

impl Known {
    /// From now on it is this one's.
    pub(crate) fn publish(self) {
        set_control(self.control);
        report::set_path(self.report);
    }
}

/// The control memory; without one that was asked for the application still gets its buffers. Not with `unseen=refuse`, which commands specify: they could
/// neither see nor withdraw what they have put there.
fn new(
    options: &Options,
    remarks: &mut Vec<String>,
    counted: Counted<'_>,
    at: impl FnOnce(&str) -> Result<Control, control::Error>,
) -> Result<&'static Control, String> {
    let made = match options.control.as_deref().map(at) {
        Some(Ok(made)) => Ok(made),
        Some(Err(error)) if options.strict || !options.unseen => return Err(error.to_string()),
        Some(Err(error)) => {
            remarks.push(format!("{error} (running without a control file)"));
            Control::anonymous(counted)
        }
        None => Control::anonymous(counted),
    };
    Ok(Box::leak(Box::new(made.map_err(|error| error.to_string())?)))
}

/// Notes in memory that nobody will count in why not, and gives it up.
pub(crate) fn is_refused(control: &Control, line: &str) {
    control.set_message(line);
    control.set_state(State::Refused);
    control.give_up();
}

/// Whether buffers' hooks were in place for a moment, until another agent's came between them.
static LOST: AtomicBool = AtomicBool::new(false);

/// Notes that.
pub(super) fn set_lost() {
    // Relaxed: one installs at a time, under a lock.
    LOST.store(true, Ordering::Relaxed);
}

fn is_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Refuses buffers after that: a thread may be on its way into a hook that was taken back, no safepoint has told that it is not, and it would take the next
/// agent, whose hierarchy may be another, for its own.
pub(super) fn check_lost() -> Result<(), String> {
    match is_lost() {
        false => Ok(()),
        true => Err("another agent has come between the buffers' hooks in this JVM: restart it, and load only one of them".into()),
    }
}

/// Of earlier attempts and installations whose memory stays mapped.
static EARLIER: AtomicU32 = AtomicU32::new(0);
/// Of these at most: a process may have 65,530 mappings (`vm.max_map_count`), and needs them for its threads and its heap.
const MOST: u32 = 8192;

/// Refuses one more than that.
pub(crate) fn check_number() -> Result<(), String> {
    check_earlier(EARLIER.load(Ordering::Relaxed))
}

fn check_earlier(number: u32) -> Result<(), String> {
    match number < MOST {
        true => Ok(()),
        false => Err(format!(
            "{MOST} agents have been in this JVM, and each leaves memory behind: restart the JVM"
        )),
    }
}

/// Whether the heap gives each thread memory of its own node: then no buffer is to serve threads of two. Parallel does, and G1 since JDK 14 (JEP 345), which
/// is the only one without that among the supported versions.
fn has_memory_by_node(machine: &Machine) -> bool {
    if machine.count(DomainKind::Node) < 2 {
        return false;
    }
    let Ok(flags) = Flags::of_process() else { return false };
    let is_on = |name: &str| flags.boolean(name) == Some(true);
    // A flag of G1's since then.
    let g1_has_nodes = flags.find("G1PeriodicGCInterval").is_some();
    is_on("UseNUMA") && (is_on("UseParallelGC") || is_on("UseG1GC") && g1_has_nodes)
}
