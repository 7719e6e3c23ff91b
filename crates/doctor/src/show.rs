//! A report as one screen of a terminal.

use crate::evidence::{Allocation, Evidence, Group, Refills, Times};
use crate::finding::{Advice, Finding};
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
    if !report.findings.is_empty() {
        let legend = "Expected: ratios to now, for the same work; speed above 1 is faster.";
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
        facts.push(("eden goes to", eden(allocation, evidence.seconds)));
    }
    facts.push(("collections", collections(evidence)));
    if let Some(refills) = &evidence.refills {
        facts.push(("TLAB refills", refill(refills, evidence)));
    }
    facts.push(("threads", threads(evidence)));
    facts.push(("memory", memory(evidence)));
    facts.push(("machine", machine(evidence)));
    if !evidence.missing.is_empty() {
        facts.push(("not seen", evidence.missing.join("; ")));
    }
    facts
}

fn eden(allocation: &Allocation, seconds: f64) -> String {
    let part = |bytes: f64| share(bytes / allocation.used);
    format!(
        "{}/s: objects {}; unused at threads' ends {}, at collections {}, at refills {}",
        human(allocation.used / seconds),
        part(allocation.objects),
        part(allocation.waste_ended),
        part(allocation.waste_collection),
        part(allocation.waste_refill),
    )
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
        text += &format!("; {} of CPU time; in brackets p50, p99, longest", share(spent / cpu));
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
    let all: u64 = threads.groups.iter().map(|group| group.bytes).sum();
    let part = |group: &Group| group.bytes as f64 / all as f64;
    let most = threads.groups.iter().take(GROUPS).filter(|group| part(group) >= LEAST_PART);
    let most: Vec<String> =
        most.map(|group| format!("{} ({}, {})", group.name, group.threads, share(part(group)))).collect();
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
    let plural = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let mut text = format!("{}, {}", plural(machine.cpus, "CPU"), plural(machine.nodes, "node"));
    match machine.quota {
        Some(quota) => text += &format!(", quota of {} CPUs", significant(quota)),
        None => text += ", no quota",
    }
    text += &format!("; atomic addition {}", quantity(costs.alone_ns, "ns"));
    if let Some(contended) = costs.contended_ns {
        text += &format!(", shared {}", quantity(contended, "ns"));
    }
    format!("{text}; first touch {}", quantity(costs.first_touch_ns, "ns"))
}

pub(crate) fn advice(finding: &Finding, report: &Report) -> Table {
    let tried = !report.trials.is_empty();
    let mut columns = vec!["remedy", "collections", "speed", "how sure"];
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
        (None, _) => "Nothing found, but where eden goes could not be seen (see 'not seen').".into(),
        (Some(allocation), _) => format!(
            "Nothing to gain here from other buffers or flags: {} of eden holds objects, and refills take little.",
            share(allocation.objects / allocation.used)
        ),
    }
}
