//! Heaps that HotSpot lays out by memory nodes: Parallel's eden has a part for each, G1 a region in use for each. Where the machine has
//! one node, HotSpot is given a `libnuma` that has two (`tests/nodes`), and the agent a `sysfs` with as many.

use crate::environment::herded;
use crate::launch::{Launch, SMALL_TLABS};
use crate::matrix::{JDKS, Setting, hazard, matrix};
use crate::runner::{Case, Outcome, QUIET};
use crate::surroundings::Surroundings;
use crate::{affinity, artifacts, jdk};
use hotspot::collector::Collector;
use topology::{CpuId, DomainKind, Machine};

const COLLECTORS: &[Collector] = &[Collector::Parallel, Collector::G1];

const TWO_CPUS: &str = "two CPUs: this process may use one";

/// The CPUs of either node, in variables that [`nodes`] sets. `tests/nodes` has them of the second one.
const TWO_NODES: &str = "mount -t tmpfs none /sys/devices/system/node && \
    mkdir /sys/devices/system/node/node0 /sys/devices/system/node/node1 && \
    echo $TERRACE_FIRST > /sys/devices/system/node/node0/cpulist && \
    echo $TERRACE_SECOND > /sys/devices/system/node/node1/cpulist";

/// Half of the cores that threads may use are on the second node, with all their CPUs; with one core half of its CPUs.
fn second_node() -> Vec<usize> {
    let machine = Machine::detect();
    let cores = machine.domains(DomainKind::Core);
    let core = |cpu: &usize| cores.of(CpuId(*cpu as u32)).index();
    let mut cpus = affinity::allowed();
    cpus.sort_by_key(|cpu| (core(cpu), *cpu));
    let middle = (cpus.len() / 2).max(1).min(cpus.len());
    let border = (middle..cpus.len()).chain((1..middle).rev());
    let mut border = border.filter(|at| core(&cpus[*at - 1]) != core(&cpus[*at]));
    cpus.split_off(border.next().unwrap_or(middle))
}

/// The second node's CPUs, and all others.
fn nodes() -> [(&'static str, String); 2] {
    let second = second_node();
    // SAFETY: sysconf has no preconditions.
    let all = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) } as usize;
    let list = |cpus: Vec<usize>| cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let first = (0..all).filter(|cpu| !second.contains(cpu)).collect();
    [("TERRACE_FIRST", list(first)), ("TERRACE_SECOND", list(second))]
}

pub fn cases(cases: &mut Vec<Case>) {
    // HotSpot accepts the flag on a machine with one node, and turns it off.
    hazard(cases, "numa::one_node", JDKS, COLLECTORS, |_| {
        Launch::new("Load").flags("-XX:+UseNUMA -Xmn16m").collects(1)
    });
    matrix(cases, "numa::two_nodes", JDKS, COLLECTORS, |setting| {
        // Otherwise it is the launch below in which nodes are hidden.
        let launch = by_size(setting).collects(3).after(|finished| {
            let report = finished.report()?;
            let machine = report.setting("machine").to_string();
            if machine.contains("2 nodes") { Ok(()) } else { Err(format!("the agent sees {machine}")) }
        });
        on_nodes(setting, Surroundings::mounts(TWO_NODES), launch)
    });
    matrix(cases, "numa::own_tlabs", JDKS, COLLECTORS, |setting| {
        let launch = Launch::new("Load").agent("tlab=auto").without(&SMALL_TLABS).flags("-Xmn16m");
        on_nodes(setting, Surroundings::mounts(TWO_NODES), launch.collects(3))
    });
    // A container may not say which node a CPU is on: then buffers serve threads of both.
    matrix(cases, "numa::hidden_nodes", JDKS, COLLECTORS, |setting| {
        on_nodes(setting, Ok(Surroundings::default()), by_size(setting).collects(3))
    });
    matrix(cases, "numa::threads_that_move", JDKS, COLLECTORS, |setting| {
        let (mut cpus, second) = (affinity::allowed(), second_node());
        if cpus.len() < 2 {
            return Ok(Outcome::Skipped(TWO_CPUS.into()));
        }
        // The first two are on different nodes.
        cpus.sort_by_key(|cpu| second.contains(cpu));
        let border = cpus.len() - second.len();
        cpus.swap(1, border);
        let launch = by_size(setting)
            .args(&["until=released"])
            .agent("core=64k,control=control")
            .beside(move |running| herded(running, &cpus));
        QUIET.shared(|| on_nodes(setting, Surroundings::mounts(TWO_NODES), launch))
    });
    matrix(cases, "numa::full_heap", JDKS, COLLECTORS, |setting| {
        let launch = Launch::bare("Fill").args(&["words=60", "by=exit"]).agent("log=warn").flags("-Xmx24m");
        QUIET.shared(|| on_nodes(setting, Surroundings::mounts(TWO_NODES), launch))
    });
}

/// Parts of eden that change their sizes with each collection.
fn by_size(setting: Setting) -> Launch {
    match setting.collector {
        Collector::Parallel => Launch::new("Load").flags("-Xmn16m -XX:NUMASpaceResizeRate=1m"),
        _ => Launch::new("Load").flags("-Xmn16m"),
    }
}

fn on_nodes(
    setting: Setting,
    surroundings: Result<Surroundings, String>,
    launch: Launch,
) -> Result<Outcome, String> {
    if affinity::allowed().len() < 2 {
        return Ok(Outcome::Skipped(TWO_CPUS.into()));
    }
    let surroundings = match surroundings {
        Ok(surroundings) => nodes().into_iter().fold(
            surroundings.with("LD_PRELOAD", artifacts::two_nodes()?.to_string_lossy()),
            |surroundings, (name, cpus)| surroundings.with(name, cpus),
        ),
        Err(why) => return Ok(Outcome::Skipped(why)),
    };
    let launch = launch
        .flags("-XX:+UseNUMA -XX:+PrintFlagsFinal")
        .flags(&jdk::collector_flags(setting.collector, setting.jdk.feature).join(" "))
        .within(surroundings);
    let finished = launch.run(setting.jdk)?;
    // HotSpot turns the flag off where it finds one node.
    let is_on = |line: &str| line.contains(" UseNUMA ") && line.contains("= true");
    match finished.stdout.lines().any(is_on) {
        true => Ok(Outcome::Passed),
        false => Err(finished.describe("HotSpot found one node")),
    }
}
