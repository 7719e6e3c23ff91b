//! A report as one screen of a terminal.

use crate::evidence::{Allocation, Buffers, Evidence, Group, Refills, Times};
use crate::finding::{Advice, Finding};
use crate::placement;
use crate::report::Report;
use present::numbers::{count, human, quantity, ratio, share, significant};
use present::table::{Table, labelled, wrapped};

/// Groups of threads that are named.
const GROUPS: usize = 3;
/// Groups that allocate less than this are not.
const LEAST_PART: f64 = 0.01;

pub fn report(report: &Report, columns: u16) -> String {
    let mut text = String::new();
    for (name, value) in facts(&report.evidence) {
        text += &labelled(name, &value, columns);
    }
    text.push('\n');
    if report.findings.is_empty() {
        text += &nothing(&report.evidence);
        text.push('\n');
    }
    for (number, finding) in report.findings.iter().enumerate() {
        let head = format!("{}. {}: {}", number + 1, finding.rule, finding.evidence);
        for line in wrapped(&head, usize::from(columns)) {
            text += &format!("{line}\n");
        }
        text += &advice(finding, report).text(columns);
    }
    let advised = |remedy: &str| {
        let mut advice = report.findings.iter().flat_map(|finding| &finding.advice);
        advice.any(|advice| advice.remedy.text() == remedy)
    };
    for trial in &report.trials {
        // What was there before is no advice.
        if let Some(speed) = trial.speed.as_ref().filter(|_| !advised(&trial.remedy)) {
            let collections = trial.collections.map(|ratio| format!(", collections {ratio:.3}"));
            let line = format!(
                "{} on against off: speed {}{}",
                trial.remedy,
                ratio(speed),
                collections.unwrap_or_default()
            );
            text += &format!("{}\n", wrapped(&line, usize::from(columns)).join("\n"));
        }
        if trial.speed.is_some() && !trial.note.is_empty() {
            text += &format!(
                "{}\n",
                wrapped(&format!("{}: {}", trial.remedy, trial.note), usize::from(columns)).join("\n")
            );
        }
    }
    if !report.findings.is_empty() {
        let legend = "Expected: relative to the current state, for the same work; speed above 1 is faster.";
        text += &format!("{legend}\n");
    }
    text
}

/// What was seen, each with its name.
pub fn facts(evidence: &Evidence) -> Vec<(&'static str, String)> {
    let jvm = &evidence.jvm;
    let mut facts = vec![(
        "process",
        format!(
            "{}: JDK {}, {}; watched {}",
            jvm.pid,
            jvm.version,
            jvm.collector,
            quantity(evidence.seconds, "s")
        ),
    )];
    if let Some(allocation) = &evidence.allocation {
        facts.push(("use of eden", eden(allocation, evidence.seconds)));
    }
    facts.push(("collections", collections(evidence)));
    if let Some(refills) = &evidence.refills {
        facts.push(("TLAB refills", refill(refills, evidence)));
    }
    if let Some(buffers) = &evidence.terrace {
        facts.push(("Terrace", terrace(buffers, evidence)));
    }
    facts.push(("threads", threads(evidence)));
    facts.push(("memory", memory(evidence)));
    facts.push(("machine", machine(evidence)));
    facts.push(("placement", placement(evidence)));
    if !evidence.missing.is_empty() {
        facts.push(("not observed", evidence.missing.join("; ")));
    }
    facts
}

fn eden(allocation: &Allocation, seconds: f64) -> String {
    let part = |bytes: f64| share(bytes / allocation.used);
    let mut text = format!(
        "{}/s: objects {}; unused at threads' ends {}, at collections {}, at refills {}",
        human(allocation.used / seconds),
        part(allocation.objects),
        part(allocation.waste_ended),
        part(allocation.waste_collection),
        part(allocation.waste_refill),
    );
    if allocation.waste_buffers > 0.0 {
        text += &format!(", in Terrace's buffers {}", part(allocation.waste_buffers));
    }
    text
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
        Some(number) => format!("{number}, {}/s", significant(number as f64 / evidence.seconds)),
        None => "not counted".to_owned(),
    };
    if let Some(bytes) = eden.bytes.filter(|bytes| *bytes > 0.0) {
        text += &format!(", eden {}", human(bytes));
    }
    if let Some(stopped) = evidence.stopped_share() {
        text += &format!(", threads stopped {} of the time", share(stopped));
    }
    text
}

fn refill(refills: &Refills, evidence: &Evidence) -> String {
    let one = |name: &str, times: &Times| {
        (times.count > 0).then(|| {
            format!(
                "{name} {}/s ({}, {}, {})",
                count(times.count as f64 / evidence.seconds),
                quantity(times.p50_ns, "ns"),
                quantity(times.p99_ns, "ns"),
                quantity(times.max_ns, "ns")
            )
        })
    };
    let ways = [
        one("lock-free", &refills.quick),
        one("with a lock", &refills.locked),
        one("waiting for collections", &refills.collecting),
        one("objects outside", &refills.objects),
    ];
    let mut text = ways.into_iter().flatten().collect::<Vec<_>>().join("; ");
    if text.is_empty() {
        return "none".into();
    }
    if let Some(cpu) = evidence.application_cpu.filter(|cpu| *cpu > 0.0) {
        let spent = (refills.quick.total_ns + refills.locked.total_ns + refills.objects.total_ns) / 1e9;
        text += &format!("; {} of CPU time; in parentheses p50, p99, max", share(spent / cpu));
    }
    let all = [&refills.quick, &refills.locked, &refills.collecting, &refills.objects];
    let sum = |of: fn(&Times) -> u64| all.iter().map(|times| of(times)).fold(0, u64::saturating_add);
    let (number, timed) = (sum(|times| times.count), sum(|times| times.timed));
    if timed < number {
        text += &format!("; all were counted, {} of them timed", share(timed as f64 / number as f64));
    }
    text
}

fn threads(evidence: &Evidence) -> String {
    let threads = &evidence.threads;
    let number = |value: Option<u64>, what: &str| value.map(|value| format!("{value} {what}"));
    let started =
        threads.started.map(|value| format!("{}/s started", count(value as f64 / evidence.seconds)));
    let attached = threads
        .attached
        .filter(|share| *share > 0.0)
        .map(|part| format!("{} of these by native code", share(part)));
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
    let memory = &evidence.memory;
    let resident = memory.resident.map(|bytes| format!("{} resident", human(bytes as f64)));
    let huge = memory.resident.zip(memory.huge).filter(|(resident, _)| *resident > 0);
    let huge = huge.map(|(resident, huge)| format!("{} on huge pages", share(huge as f64 / resident as f64)));
    let touched = memory
        .first_touches
        .map(|pages| format!("{} first touches/s", count(pages as f64 / evidence.seconds)));
    [resident, huge, touched].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn machine(evidence: &Evidence) -> String {
    let (machine, costs) = (&evidence.machine, &evidence.costs);
    let mut text = plural(machine.online.unwrap_or(machine.cpus), "CPU");
    text += &format!("; compare-and-swap {}", quantity(costs.alone_ns, "ns"));
    if let Some(contended) = costs.contended_ns {
        text +=
            &format!(", {} where {} share the word", quantity(contended, "ns"), plural(machine.cpus, "CPU"));
    }
    format!("{text}; first touch {}", quantity(costs.first_touch_ns, "ns"))
}

fn plural(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Where it may run, and how far its memory is.
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
        _ => parts.push("all CPUs".into()),
    }
    parts.push(match machine.quota {
        Some(quota) => format!("quota of {} CPUs", significant(quota)),
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

pub(crate) fn advice(finding: &Finding, report: &Report) -> Table {
    let tried = !report.trials.is_empty();
    let mut columns = vec!["remedy", "collections", "speed", "confidence"];
    if tried {
        columns = vec!["remedy", "collections expected", "measured", "speed expected", "measured"];
    }
    let mut table = Table::new(columns);
    let number = |value: Option<f64>| value.map_or("?".to_owned(), |value| format!("{value:.3}"));
    for Advice { remedy, effect, .. } in &finding.advice {
        let text = remedy.text();
        let found = report.trial(&text);
        if tried {
            table.push([
                text.clone(),
                number(effect.collections),
                found.and_then(|trial| trial.collections).map_or("-".into(), |value| format!("{value:.3}")),
                number(effect.speed),
                found.map_or("-".into(), |trial| trial.speed.as_ref().map_or(trial.note.clone(), ratio)),
            ]);
        } else {
            table.push([
                text,
                number(effect.collections),
                number(effect.speed),
                effect.sure.text().to_owned(),
            ]);
        }
    }
    table
}

pub(crate) fn nothing(evidence: &Evidence) -> String {
    match (&evidence.allocation, evidence.application_cpu) {
        (None, _) => "Nothing found, but the use of eden could not be observed (see 'not observed').".into(),
        (Some(allocation), _) => format!(
            "Nothing to gain here from other buffers or flags: {} of eden holds objects, and refills take little.",
            share(allocation.objects / allocation.used)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{CpuLimits, Placement, Threads};

    fn shown(evidence: Evidence) -> String {
        let facts = facts(&Evidence { seconds: 10.0, ..evidence });
        facts.into_iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
    }

    #[test]
    fn what_buffers_keep_from_the_heap() {
        let mut buffers =
            Buffers { levels: "core".into(), on: true, requests: 1_000_000, to_heap: 10_000, waste: 0.0 };
        let text =
            |buffers: &Buffers| shown(Evidence { terrace: Some(buffers.clone()), ..Evidence::default() });
        let on = text(&buffers);
        assert!(on.contains("it saves 99") && on.contains("1.00 k reach it"), "{on}");
        buffers.on = false;
        assert!(text(&buffers).contains("'terrace on 0' switches it on"), "{}", text(&buffers));
        assert!(!shown(Evidence::default()).contains("Terrace"));
    }

    #[test]
    fn where_a_process_runs() {
        let machine = CpuLimits { cpus: 3, online: Some(8), nodes: 1, ..CpuLimits::default() };
        let text = |machine: &CpuLimits, placement| {
            shown(Evidence {
                machine: machine.clone(),
                placement,
                migrations: Some(50),
                ..Evidence::default()
            })
        };
        let one = text(&machine, None);
        assert!(one.contains("placement: affinity to 3 CPUs of 8, no quota, one node, 5"), "{one}");
        let machine = CpuLimits { cpuset: Some("2-4".into()), throttled: Some(0.5), nodes: 2, ..machine };
        let placement = Placement { remote: 0.25, pages: vec![0.5; 2], threads: vec![0.5; 2] };
        let two = text(&machine, Some(placement));
        for part in ["cpuset 2-4 of 8 CPUs", "throttled in 50", "2 nodes: 25"] {
            assert!(two.contains(part), "{part} in {two}");
        }
    }

    #[test]
    fn threads_that_ended_have_their_share() {
        let living = Group { name: "worker-N".into(), threads: 3, bytes: 100 };
        let threads = Threads { groups: vec![living], of_ended: Some(300), ..Threads::default() };
        let text = shown(Evidence { threads, ..Evidence::default() });
        assert!(text.contains("threads that ended (75") && text.contains("worker-N (3, 25"), "{text}");
    }

    #[test]
    fn a_sample_is_called_one() {
        let quick = Times { count: 1000, timed: 10, ..Times::default() };
        let of = |quick| Some(Refills { quick, ..Refills::default() });
        let text = shown(Evidence { refills: of(quick), ..Evidence::default() });
        assert!(text.contains("all were counted, 1"), "{text}");
        let all = Times { timed: 1000, ..quick };
        assert!(!shown(Evidence { refills: of(all), ..Evidence::default() }).contains("were counted"));
    }
}
