//! What was seen of a JVM, each fact on a line of its own.

use crate::cpu_time;
use crate::evidence::{Allocation, Buffers, Evidence, Group, Refills, Times};
use crate::placement;
use present::numbers::{count, human, quantity, share, significant};

/// Groups of threads that are named.
const GROUPS: usize = 3;
/// Groups that allocate less than this are not.
const LEAST_PART: f64 = 0.01;
/// A cause of collections besides a full eden is named from this share on.
const LEAST_CAUSE: f64 = 0.1;
/// Collections that stop threads for less than this part of all stops are told apart.
const MOSTLY: f64 = 0.9;
/// Less of the time is not said to have gone to the doctor's own thread dumps.
const LEAST_DUMPS: f64 = 0.001;
/// Less of eden is not said to be unused.
const LEAST_UNUSED: f64 = 0.005;
/// A group of threads is named whose TLABs had so much of what was unused.
const MOST_OF_IT: f64 = 0.5;
/// What zeroing is shown for.
const PAGE: f64 = 4096.0;

/// What was seen, each with its name.
pub(crate) fn facts(evidence: &Evidence) -> Vec<(&'static str, String)> {
    let jvm = &evidence.jvm;
    let mut facts = vec![(
        "process",
        format!(
            "{}: JDK {}, {}; watched {}",
            jvm.pid,
            jvm.version,
            if jvm.collector == "unknown" { "collector unknown" } else { &jvm.collector },
            quantity(evidence.seconds, "s")
        ),
    )];
    if let Some(allocation) = &evidence.allocation {
        facts.push(("use of eden", eden(allocation, evidence)));
    }
    facts.push(("collections", collections(evidence)));
    facts.extend(cpu_time::shares(evidence).map(|text| ("CPU time", text)));
    if let Some(refills) = &evidence.refills {
        facts.push(("TLAB refills", refill(refills, evidence)));
    }
    if let Some(buffers) = &evidence.terrace {
        facts.push(("Terrace", terrace(buffers, evidence)));
    }
    facts.push(("threads", threads(evidence)));
    facts.push(("memory", memory(evidence)));
    facts.push(("machine", machine(evidence)));
    if !evidence.missing.is_empty() {
        facts.push(("not observed", evidence.missing.join("; ")));
    }
    facts
}

fn eden(allocation: &Allocation, evidence: &Evidence) -> String {
    let part = |bytes: f64| share(bytes / allocation.used);
    let groups = &evidence.threads.groups;
    let (at_collection, at_refill) = (allocation.waste_collection, allocation.waste_refill);
    let unused = [
        ("at threads' ends", allocation.waste_ended, None),
        ("at collections", at_collection, mostly(groups, at_collection, |group| group.waste_collection)),
        ("at refills", at_refill, mostly(groups, at_refill, |group| group.waste_refill)),
        ("in Terrace's buffers", allocation.waste_buffers, None),
        ("in new threads' TLABs", allocation.held, None),
        ("(cause unknown)", allocation.waste_unknown, None),
    ];
    let unused = unused.into_iter().filter(|(_, bytes, _)| *bytes >= LEAST_UNUSED * allocation.used);
    let unused: Vec<String> = unused
        .map(|(when, bytes, whose)| format!("{} {when}{}", part(bytes), whose.unwrap_or_default()))
        .collect();
    let text =
        format!("{}/s: objects {}", human(allocation.used / evidence.seconds), part(allocation.objects));
    if unused.is_empty() { text } else { format!("{text}; unused: {}", unused.join(", ")) }
}

/// Whose TLABs most of it was in, where one group of threads has most of it.
fn mostly(groups: &[Group], all: f64, of: impl Fn(&Group) -> Option<f64>) -> Option<String> {
    let parts = groups.iter().filter_map(|group| Some((group, of(group)? / all)));
    let (group, part) = parts.max_by(|one, other| one.1.total_cmp(&other.1))?;
    (part >= MOST_OF_IT).then(|| format!(" ({} of it by {})", share(part), group.name))
}

/// That Terrace is there, and what that comes to.
fn terrace(buffers: &Buffers, evidence: &Evidence) -> String {
    let (pid, rate) = (evidence.jvm.pid, |number: u64| count(number as f64 / evidence.seconds));
    match (buffers.on, buffers.saved_share()) {
        (false, _) => format!(
            "off ({} buffers): {} requests/s go to the heap; 'terrace on {pid}' switches it on",
            buffers.levels,
            rate(buffers.requests)
        ),
        (true, None) => format!("on ({} buffers); no requests meanwhile", buffers.levels),
        (true, Some(saved)) => format!(
            "on ({} buffers): it saves {} of {} requests/s to the shared heap, {} reach it; 'terrace compare' measures what that gains",
            buffers.levels,
            share(saved),
            rate(buffers.requests),
            rate(buffers.to_heap),
        ),
    }
}

fn collections(evidence: &Evidence) -> String {
    let eden = &evidence.eden;
    let mut text = match eden.collections {
        Some(number) => {
            let of = if eden.phases { " phases of concurrent collections" } else { "" };
            format!("{number}{of}, {}/s", significant(number as f64 / evidence.seconds))
        }
        None => "not counted".to_owned(),
    };
    if let Some((cause, count)) = eden.causes.other() {
        let part = count as f64 / eden.causes.all() as f64;
        if part >= LEAST_CAUSE {
            text += &format!(" ({} {cause})", share(part));
        }
    }
    if let Some(bytes) = eden.bytes.filter(|bytes| *bytes > 0.0) {
        text += &format!(", eden {}", human(bytes));
    }
    if let Some(stopped) = evidence.stopped_share() {
        text += &format!(", threads stopped {} of the time", share(stopped));
        let collecting = evidence.collecting_share().filter(|part| *part < MOSTLY * stopped);
        text.extend(collecting.map(|part| format!(" ({} for collections)", share(part))));
        let dumps = eden.stopped_by_dumps.map(|seconds| seconds / evidence.seconds);
        let dumps = dumps.filter(|part| *part >= LEAST_DUMPS);
        text.extend(dumps.map(|part| format!("; {} more for the doctor's thread dumps", share(part))));
    }
    text
}

fn refill(refills: &Refills, evidence: &Evidence) -> String {
    let mut explained = false;
    let mut one = |name: &str, times: &Times| {
        if times.count == 0 {
            return None;
        }
        let [p50, p99, max] = [times.p50_ns, times.p99_ns, times.max_ns].map(|time| quantity(time, "ns"));
        let rate = count(times.count as f64 / evidence.seconds);
        Some(match std::mem::replace(&mut explained, true) {
            false => format!("{name} {rate}/s (p50 {p50}, p99 {p99}, max {max})"),
            true => format!("{name} {rate}/s ({p50}, {p99}, {max})"),
        })
    };
    let ways = [
        one("lock-free", &refills.quick),
        one("with a lock", &refills.locked),
        one("at collections", &refills.collecting),
        one("objects outside", &refills.objects),
    ];
    let mut text = ways.into_iter().flatten().collect::<Vec<_>>().join("; ");
    if text.is_empty() {
        return "none".into();
    }
    if let Some(cpu) = evidence.application_cpu.filter(|cpu| *cpu > 0.0) {
        let spent = |ns: f64| share(ns / 1e9 / cpu);
        text += &format!(
            "; {} of the program's CPU time",
            spent(refills.quick.total_ns + refills.objects.total_ns)
        );
        // A thread that waits for a lock uses no CPU, and how long it waited is in the time.
        let locked = refills.locked.total_ns + refills.waited_ns;
        if locked > 0.0 {
            text += &format!(", and with a lock {} of it used or waited", spent(locked));
        }
    }
    text
}

fn threads(evidence: &Evidence) -> String {
    let threads = &evidence.threads;
    let number = |value: Option<u64>, what: &str| value.map(|value| format!("{value} {what}"));
    let started = threads.started.filter(|value| *value > 0);
    let started = started.map(|value| format!("{}/s started", count(value as f64 / evidence.seconds)));
    let attached = threads
        .attached
        .filter(|share| *share > 0.0)
        .map(|part| format!("about {} of these by native code", share(part)));
    let parts = [number(threads.alive, "alive"), number(threads.allocating, "allocating"), started, attached];
    let mut text = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let living: u64 = threads.groups.iter().map(|group| group.bytes).sum();
    let ended = threads.of_ended.unwrap_or(0);
    let part = |bytes: u64| bytes as f64 / living.saturating_add(ended) as f64;
    let one = |group: &Group| {
        (group.bytes, format!("{} ({}, {})", group.name, group.threads, share(part(group.bytes))))
    };
    let mut most: Vec<(u64, String)> = threads.groups.iter().take(GROUPS).map(one).collect();
    most.push((ended, format!("threads that ended ({})", share(part(ended)))));
    most.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let most = most.into_iter().filter(|(bytes, _)| part(*bytes) >= LEAST_PART);
    let most: Vec<String> = most.map(|(_, text)| text).collect();
    if !most.is_empty() {
        text += &format!("; allocating most: {}", most.join(", "));
    }
    text
}

fn memory(evidence: &Evidence) -> String {
    let (memory, flags) = (&evidence.memory, &evidence.jvm.flags);
    // Explicit huge pages are counted, of whatever file they are.
    let is_unseen = evidence.jvm.collector == "Z" && !flags.is_on("UseLargePages");
    let without = if is_unseen { " without the heap" } else { "" };
    let resident = memory.resident.map(|bytes| format!("{} resident{without}", human(bytes as f64)));
    let huge = memory.resident.zip(memory.huge).filter(|(resident, _)| *resident > 0);
    let huge = huge.map(|(resident, huge)| format!("{} on huge pages", share(huge as f64 / resident as f64)));
    let pages = memory.transparent.as_ref().map(|mode| {
        let asked = flags.get("UseTransparentHugePages").filter(|_| mode == "madvise");
        match asked.map(|flag| flag.value == "true") {
            Some(true) => format!("THP {mode}, requested"),
            Some(false) => format!("THP {mode}, not requested"),
            None => format!("THP {mode}"),
        }
    });
    let touch = flags.get("AlwaysPreTouch").map(|flag| match flag.value == "true" {
        true => "AlwaysPreTouch".to_owned(),
        false => "no AlwaysPreTouch".to_owned(),
    });
    let touched = memory
        .first_touches
        .map(|pages| format!("{} first touches/s", count(pages as f64 / evidence.seconds)));
    let huge = huge.map(|huge| pages.iter().fold(huge, |huge, pages| format!("{huge} ({pages})")));
    [resident, huge, touch, touched].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Where it may run, how far its memory is, and what operations cost there.
fn machine(evidence: &Evidence) -> String {
    let costs = &evidence.costs;
    let mut text = format!("{}; atomic {}", placement(evidence), quantity(costs.alone_ns, "ns"));
    if let Some(contended) = costs.contended_ns {
        text += &format!(", shared {}", quantity(contended, "ns"));
    }
    text += &format!("; first touch {}", quantity(costs.first_touch_ns, "ns"));
    if costs.zero_ns > 0.0 {
        text += &format!(", zeroing a page {}", quantity(costs.zero_ns * PAGE, "ns"));
    }
    text
}

fn plural(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn placement(evidence: &Evidence) -> String {
    let machine = &evidence.machine;
    let mut parts = Vec::new();
    match (&machine.cpuset, machine.online) {
        (Some(cpuset), Some(online)) if placement::listed(cpuset).len() < online => {
            parts.push(format!("cpuset {cpuset} of {}", plural(online, "CPU")));
        }
        (_, Some(online)) if machine.cpus < online => {
            parts.push(format!("affinity to {} of {online}", plural(machine.cpus, "CPU")));
        }
        _ => parts.push(format!("all {}", plural(machine.online.unwrap_or(machine.cpus), "CPU"))),
    }
    parts.push(match machine.quota {
        Some(quota) => format!("quota of {} CPUs", significant(quota)),
        None if machine.may_have_quota => "a quota could not be observed".into(),
        None => "no quota".into(),
    });
    if let Some(throttled) = machine.throttled {
        parts.push(format!("throttled in {} of the periods", share(throttled)));
    }
    parts.push(match &evidence.placement {
        Some(placement) => format!(
            "{}: {} of the memory is on a different node from its threads",
            plural(placement.pages.len(), "node"),
            share(placement.remote)
        ),
        None if machine.nodes == 1 => "one node".into(),
        None => plural(machine.nodes, "node"),
    });
    parts.extend(
        evidence.migrations.map(|number| format!("{} migrations/s", count(number as f64 / evidence.seconds))),
    );
    parts.join(", ")
}

#[cfg(test)]
#[path = "facts_test.rs"]
mod tests;
