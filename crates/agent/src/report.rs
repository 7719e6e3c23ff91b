//! The settings in force and the counters, as JSON.
//!
//! Written by hand: a serialisation library would be larger than the rest of the agent.

use crate::agent::Agent;
use crate::destination::{self, MARK};
use crate::install;
use crate::log::{Severity, say};
use crate::options::{Levels, Options};
use control::Control;
use hab::Counter;
use hotspot::heap;
use std::fmt::Write;
use std::sync::OnceLock;
use topology::Machine;

static PATH: OnceLock<String> = OnceLock::new();

/// Where the report goes when the JVM ends; nowhere without a path.
pub(crate) fn set_path(path: Option<String>) {
    if let Some(path) = path {
        let _ = PATH.set(path);
    }
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", letter as u32);
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// The settings in force as a JSON object.
pub(crate) fn settings(
    jvm: &heap::Machine,
    options: &Options,
    tlab: &str,
    agent: &Agent,
    machine: &Machine,
) -> String {
    let sizes = agent.hierarchy.sizes();
    let size = |level: &str| {
        let names = level_names(options.levels);
        names.iter().position(|name| *name == level).and_then(|at| sizes.get(at)).copied().unwrap_or(0)
    };
    let cpu_source = match agent.cpu_source.reason() {
        Some(reason) => format!("{} ({reason})", agent.cpu_source.name()),
        None => agent.cpu_source.name().to_owned(),
    };
    format!(
        "{{\"jdk\":{},\"collector\":{},\"levels\":{},\"core_bytes\":{},\"processor_bytes\":{},\"automatic\":{},\"tlab\":{},\
         \"cpu_source\":{},\"domains\":[{}],\"processor_is\":{},\"grain_bytes\":{},\"largest_extent_bytes\":{},\"machine\":{}}}",
        quoted(jvm.version),
        quoted(jvm.collector.name()),
        quoted(options.levels.name()),
        size("core"),
        size("processor"),
        agent.automatic.iter().any(|(_, automatic)| *automatic),
        quoted(tlab),
        quoted(&cpu_source),
        agent.automatic.iter().map(|(domains, _)| domains.to_string()).collect::<Vec<_>>().join(","),
        quoted(machine.processor_kind().name()),
        jvm.grain(),
        agent.largest,
        quoted(&machine.to_string()),
    )
}

/// The names of the levels that have counters, in their order.
fn level_names(levels: Levels) -> &'static [&'static str] {
    match levels {
        Levels::None => &["observed"],
        Levels::Core => &["core"],
        Levels::Processor => &["processor"],
        Levels::CoreAndProcessor => &["core", "processor"],
    }
}

fn counters(get: impl Fn(Counter) -> u64) -> String {
    let fields: Vec<String> =
        Counter::ALL.iter().map(|counter| format!("\"{}\":{}", counter.name(), get(*counter))).collect();
    format!("{{{}}}", fields.join(","))
}

fn json(control: &Control) -> String {
    let settings = control.settings();
    let names = level_names_in(&settings);
    let levels: Vec<String> = (0..control.levels())
        .map(|level| {
            let domains: Vec<String> = control
                .counters(level)
                .iter()
                .map(|domain| counters(|counter| domain.get(counter)))
                .collect();
            let name = names.get(level).copied().unwrap_or("thread");
            format!("{{\"name\":{},\"domains\":[{}]}}", quoted(name), domains.join(","))
        })
        .collect();
    format!(
        "{MARK}{},\"pid\":{},\"state\":{},\"message\":{},\"settings\":{},\"pauses\":{},\"parsability\":{},\
         \"levels\":[{}],\"total\":{}}}\n",
        quoted(env!("CARGO_PKG_VERSION")),
        control.pid(),
        quoted(control.state().map_or("unknown", control::State::name)),
        quoted(&control.message()),
        if settings.is_empty() { "null" } else { &settings },
        control.pauses(),
        control.parsability(),
        levels.join(","),
        counters(|counter| control.total(counter)),
    )
}

fn level_names_in(settings: &str) -> &'static [&'static str] {
    [Levels::CoreAndProcessor, Levels::Core, Levels::Processor, Levels::None]
        .into_iter()
        .find(|levels| settings.contains(&format!("\"levels\":\"{}\"", levels.name())))
        .map_or(&[], level_names)
}

/// Writes the report, if one was asked for. A refusal is reported, too.
pub(crate) fn write_at_exit() {
    let (Some(path), Some(control)) = (PATH.get(), install::control()) else { return };
    let text = json(control);
    let path = path.replace("%p", &std::process::id().to_string());
    if let Err(why) = destination::write(&path, text.as_bytes()) {
        say(Severity::Error, &format!("report={path}: {why}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_json() {
        assert_eq!(quoted("a\"b\\c\nd"), "\"a\\\"b\\\\c\\u000ad\"");
    }

    #[test]
    fn a_report_has_every_level_and_counter() {
        let control = Control::anonymous(&[2, 1]).unwrap();
        control.set_settings("{\"levels\":\"core+processor\"}");
        control.counters(1)[0].add(Counter::Refills, 7);
        let text = json(&control);
        assert!(text.contains("\"name\":\"core\"") && text.contains("\"name\":\"processor\""), "{text}");
        assert!(text.contains("\"refills\":7"), "{text}");
        assert_eq!(text.matches("\"waste_collection_bytes\"").count(), 4, "{text}");
    }
}
