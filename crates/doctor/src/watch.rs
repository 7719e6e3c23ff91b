//! A stretch of a JVM's life, from its counters at both ends and looks in between.

use crate::costs::Measured;
use crate::evidence::{Evidence, SinceStart};
use crate::looks::Looks;
use crate::moment;
use crate::placement::System;
use crate::system::Left;
use crate::watched::{Watch, Watched};
use crate::{costs, heap, missing, replaced, stops, system};
use control::{Mode, State, View};
use jvm::agent::AgentOptions;
use jvm::attach::Attached;
use jvm::install::Install;
use jvm::observe;
use jvm::observer::Observer;
use jvm::perfdata::{PerfData, PerfFile};
use jvm::vm_flags::VmFlags;
use jvm::{Error, Result, cpu, os, vm_flags};
use memory::{Mappings, resident_of_sample};
use present::progress::Progress;
use std::time::Duration;

/// For an answer of the JVM's: it may be in the middle of a long collection.
const PATIENCE: Duration = Duration::from_secs(60);

/// A JVM that runs: loads the agent as an observer, and watches. Where that cannot be had, what can be seen without it is. The second result is an error if
/// the observer is still there: what was seen is to be reported all the same.
pub fn watch_process(
    pid: u32,
    length: Duration,
    install: &Install,
    tell: impl Fn(&str),
    progress: &Progress,
) -> Result<(Evidence, Result<()>)> {
    let attached = Attached::to(pid, PATIENCE);
    let perf = PerfFile::of(pid);
    let mut missing = Vec::new();
    let mut attached = match attached {
        Ok(attached) => Some(attached),
        Err(error) if perf.is_none() || ends_watching(&error, pid) => return Err(error),
        Err(error) => {
            missing.push(format!("flags, threads, and the use of eden: {error}"));
            None
        }
    };
    let present = match View::of_process(pid) {
        Err(error) if error.is_of_other_version() => {
            return Err(error.into());
        }
        other => other.ok().flatten(),
    };
    // Whoever is there is looked at, and left as it is.
    let present = present.filter(|view| matches!(view.state(), Some(State::Installed | State::Observing)));
    if let Some(view) = present.as_ref().filter(|view| view.state() == Some(State::Observing)) {
        let times = if view.times().is_empty() { "; it does not time refills" } else { "" };
        missing.push(format!(
            "an observer was already installed, and stays: 'terrace off {pid}' withdraws it{times}"
        ));
    }
    let system = System::here();
    // Before anything is in the JVM that would stay there if this ended here.
    let costs = costs::measure(&system.machine(pid));
    let attach = attached.as_ref().filter(|_| present.is_none());
    let observer = match attach.map(|_| Observer::attach(pid, install, &tell)).transpose() {
        Ok(observer) => observer,
        Err(error) if ends_watching(&error, pid) => return Err(error),
        Err(error) if error.ends_asking() => {
            missing.push(format!("flags, threads, and the use of eden: {error}"));
            attached = None;
            None
        }
        Err(error) => {
            missing.push(format!("the use of eden, and refills: {error}"));
            None
        }
    };
    let control = present.as_ref().or(observer.as_ref().map(Observer::control));
    let watched = Watched { pid, control, attached: attached.as_ref(), system, missing };
    let evidence = watch_where(&watched, costs, length, progress);
    // It goes whatever came of it.
    let Err(late) = observer.map(Observer::withdraw).transpose() else {
        return evidence.map(|evidence| (evidence, Ok(())));
    };
    match (evidence, os::stopped_by()) {
        (Err(_), Some(signal)) => {
            Err(Error::interrupted_late(signal, format!("stopped by a signal; {late}")))
        }
        (Ok(mut evidence), _) => {
            evidence.missing.push(late.to_string());
            Ok((evidence, Err(late)))
        }
        (Err(failed), None) => {
            tell(&late.to_string());
            Err(failed)
        }
    }
}

/// Whether there is nothing to be seen of a JVM after such an error: a process that is stopped does nothing.
fn ends_watching(error: &Error, pid: u32) -> bool {
    error.is_interruption() || os::is_stopped(pid)
}

/// An agent that counts and times, and has no buffers.
pub fn observing() -> AgentOptions {
    AgentOptions { times: true, ..AgentOptions::observing() }
}

/// Watches for so long, and says what was seen. It ends early, without an error, when the JVM ends.
pub fn watch(jvm: &Watched, length: Duration, progress: &Progress) -> Result<Evidence> {
    progress.say("measuring the costs of operations on this machine");
    watch_where(jvm, costs::measure(&jvm.system.machine(jvm.pid)), length, progress)
}

/// The same, on a machine where operations cost so much.
fn watch_where(jvm: &Watched, costs: Measured, length: Duration, progress: &Progress) -> Result<Evidence> {
    let machine = jvm.system.machine(jvm.pid);
    let mut unseen = jvm.missing.clone();
    let flags = match jvm.attached.map(vm_flags::of).transpose() {
        Ok(flags) => flags.unwrap_or_default(),
        Err(error) if ends_watching(&error, jvm.pid) => return Err(error),
        Err(error) => {
            unseen.push(format!("flags: {error}"));
            VmFlags::default()
        }
    };
    if jvm.attached.is_some() && flags.get("UseTLAB").is_none() && unseen.len() == jvm.missing.len() {
        unseen.push("flags: this JVM lists them in another form".into());
    }
    unseen.extend(costs.missing);
    progress.start("watching", length + Duration::from_secs(1));
    let settings = jvm.control.map(observe::settings).unwrap_or_default();
    let mut watch = Watch::of(jvm, settings);
    progress.say(format!("watching process {}", jvm.pid));
    let as_it_was = jvm.control.map(Agent::of);
    let left_at_first = Left::to(jvm.pid, &jvm.system);
    let heap = jvm.attached.and_then(heap::place);
    let resident = || resident_of_sample(jvm.pid, heap.as_ref()?);
    let resident_at_first = resident();
    let mut first = watch.moment();
    let age_at_first = system::age(jvm.pid).or_else(|| system::age_of_jvm(first.perf.as_ref()?));
    let Looks {
        threads: looks,
        unlisted,
        new_threads,
        waste,
        causes,
        sizes,
        stopped_by_dumps,
        last: last_counters,
    } = watch.look(length, progress)?;
    // Who comes and goes is counted from the first look on: who was there then is known.
    first.new_threads = new_threads.or(first.new_threads);
    let mut last = watch.moment();
    let has_ended = last.end_with(last_counters) || !os::is_running(jvm.pid);
    if has_ended {
        // What is still listed of it has lost its threads and its memory: all CPU time would be the program's.
        last.cpu = None;
    }
    if last.at.duration_since(first.at) < length / 2 {
        return Err(Error::failed(format!(
            "process {} ended while it was watched, too early for an assessment; use a shorter --seconds, or a program that runs longer",
            jvm.pid
        )));
    }
    progress.finish();

    let mut evidence = Evidence {
        jvm: crate::evidence::Jvm {
            pid: jvm.pid,
            version: version(jvm, &watch.settings, first.perf.as_ref()),
            collector: collector(&flags, first.perf.as_ref()),
            flags,
            options: replaced::options(jvm.pid),
        },
        seconds: last.at.duration_since(first.at).as_secs_f64(),
        machine,
        costs: costs.costs,
        missing: unseen,
        ..Evidence::default()
    };
    let cpu = |of: fn(&cpu::CpuTime) -> Duration| {
        let (from, to) = (of(first.cpu.as_ref()?), of(last.cpu.as_ref()?));
        Some(to.saturating_sub(from).as_secs_f64())
    };
    evidence.application_cpu = cpu(|time| time.application());
    evidence.collector_cpu = cpu(|time| time.collector);
    evidence.concurrent_cpu = cpu(|time| time.concurrent);
    evidence.process_cpu = cpu(|time| time.process);
    evidence.eden = stops::eden(&first, &last, stopped_by_dumps);
    evidence.eden.since_start =
        age_at_first.map(|age| age + evidence.seconds).zip(last.perf.as_ref()).and_then(since_start);
    evidence.concurrent_cpu = evidence.concurrent_cpu.map(|cpu| cpu - evidence.of_pauses(cpu));
    evidence.eden.causes = causes.found;
    evidence.eden.full_causes = causes.full;
    evidence.eden.mean_bytes = (sizes.1 > 0).then(|| sizes.0 / f64::from(sizes.1));
    evidence.terrace = jvm.control.and_then(|view| moment::buffers(&first, &last, view, &watch.settings));
    evidence.threads = moment::threads(&first, &last, &looks, &waste, evidence.seconds);
    evidence.threads.of_ended = moment::of_ended(&first, &last, &evidence, looks.len());
    evidence.allocation = moment::allocation(&first, &last, &waste, &evidence);
    if let Some((allocation, threads)) = evidence.allocation.as_ref().zip(looks.last())
        && let Some((from, to)) = first.by_thread.as_ref().zip(last.by_thread.as_ref())
    {
        to.divide(from, &mut evidence.threads.groups, threads, allocation);
    }
    if let Some(allocation) = &evidence.allocation {
        for kind in &mut evidence.threads.short_lived {
            kind.unused = Some(kind.share * allocation.waste_ended);
        }
    }
    evidence.allocated_nothing =
        first.objects.and(last.objects).is_some() && evidence.terrace.is_none() && last.used == first.used;
    evidence.refills = moment::refills(&first, &last, &evidence.jvm.collector);
    evidence.large_objects = last.large.as_ref().zip(first.large.as_ref()).map(|(to, from)| to.since(from));
    evidence.placement = jvm.system.placement(jvm.pid, &watch.whereabouts);
    evidence.migrations = watch.whereabouts.migrations;
    // It may end at any moment: of one that has, no group is to be seen, and the machine has its memory back.
    let left = Left::to(jvm.pid, &jvm.system);
    let left = if has_ended || !os::is_running(jvm.pid) { left_at_first } else { left };
    // Once, and after the last moment: the JVM may have to wait while it is read.
    let mappings = Mappings::of_process(jvm.pid).ok().filter(|_| !has_ended && os::is_running(jvm.pid));
    evidence.memory = system::memory(mappings.as_ref(), left);
    evidence.missing.extend(missing::of_memory_left(left.of_group));
    evidence.missing.extend((evidence.jvm.collector == "Z").then(missing::of_zgc_heap));
    evidence.missing.extend(evidence.machine.may_have_quota.then(missing::of_quota));
    heap::describe(mappings.as_ref(), last.perf.as_ref(), jvm.attached, &mut evidence.memory);
    evidence.memory.first_touches = first.touches.zip(last.touches).map(|(from, to)| to.saturating_sub(from));
    let resident_at_last = resident().filter(|_| !has_ended && os::is_running(jvm.pid));
    evidence.memory.heap_touched =
        resident_at_first.zip(resident_at_last).map(|(from, to)| to.saturating_sub(from));
    evidence.memory.anonymous = last.anonymous;
    evidence.memory.grown = first.anonymous.zip(last.anonymous).map(|(from, to)| to as i64 - from as i64);
    if let Some((from, to)) = first.periods.zip(last.periods) {
        let all = to.all.saturating_sub(from.all);
        let throttled = to.throttled.saturating_sub(from.throttled);
        evidence.machine.throttled = (all > 0).then(|| throttled as f64 / all as f64);
        evidence.machine.held_back = moment::held_back(&from, &to, first.cpu.as_ref().zip(last.cpu.as_ref()));
    }
    if looks.iter().all(Vec::is_empty)
        && let Some(why) = unlisted
    {
        evidence.missing.push(format!("threads: {why}"));
    }
    let unread = jvm.control.is_some() && first.objects.and(last.objects).is_none();
    if unread && !has_ended && os::is_running(jvm.pid) {
        evidence.missing.push(missing::of_accounts(jvm.pid, &watch.settings));
    }
    let gone = |view: &View| view.state() == Some(State::Withdrawn) || view.has_lapsed();
    if let Some(view) = jvm.control.filter(|view| Some(Agent::of(view)) != as_it_was || gone(view))
        && view.state() != Some(State::Ended)
        && os::is_running(jvm.pid)
    {
        // Of a part of the time, or of both ways together.
        (evidence.allocation, evidence.refills, evidence.terrace) = (None, None, None);
        evidence.large_objects = None;
        evidence.missing.push(missing::of_changed_agent(view));
    } else if evidence.terrace.is_some() && evidence.refills.is_none() {
        evidence.missing.push(missing::of_refill_times());
    }
    if watch.perf.is_none() || (last.perf.is_none() && !has_ended) {
        evidence.missing.push(missing::of_counters(&evidence.jvm.flags));
    }
    evidence.missing.extend(has_ended.then(missing::of_ended));
    Ok(evidence)
}

/// The counters are of all the time since then.
fn since_start((seconds, perf): (f64, &PerfData)) -> Option<SinceStart> {
    let [_, full, _] = perf.collecting_seconds_of_each()?;
    let [_, full_count, ..] = perf.collections_of_each();
    Some(SinceStart { seconds, full, full_count })
}

/// What the counters are of.
#[derive(PartialEq)]
struct Agent {
    state: Option<State>,
    mode: Mode,
}

impl Agent {
    fn of(view: &View) -> Agent {
        Agent { state: view.state(), mode: view.mode() }
    }
}

fn version(jvm: &Watched, settings: &serde_json::Value, perf: Option<&PerfData>) -> String {
    let said = settings.get("jdk").and_then(|jdk| jdk.as_str()).map(str::to_owned);
    let asked =
        || jvm.attached?.diagnose("VM.version").ok()?.lines().last().map(|line| line.replace("JDK ", ""));
    // HotSpot's own version is not the JDK's in JDK 8.
    let published = || {
        let of = |name| perf?.text(name).filter(|text| !text.is_empty()).map(str::to_owned);
        of("java.property.java.version").or_else(|| of("java.property.java.vm.version"))
    };
    said.or_else(asked).or_else(published).unwrap_or_else(|| "of unknown version".into())
}

/// By its flag, or where a JVM does not tell its flags by what the collector of its young generation is called.
fn collector(flags: &VmFlags, perf: Option<&PerfData>) -> String {
    let known = ["Serial", "Parallel", "G1", "Shenandoah", "Z", "Epsilon"];
    let on = known.into_iter().find(|name| flags.is_on(&format!("Use{name}GC")));
    let called = || {
        let own = (0..3).find_map(|number| perf?.text(&format!("sun.gc.collector.{number}.name")))?;
        // The names of JDK 8.
        let old = [("PSScavenge", "Parallel"), ("Copy", "Serial")];
        let old = old.into_iter().find(|(name, _)| own == *name).map(|(_, name)| name);
        old.or_else(|| known.into_iter().find(|name| own.starts_with(name)))
    };
    on.or_else(called).unwrap_or("unknown").to_owned()
}

#[cfg(test)]
#[path = "watch_test.rs"]
mod tests;
