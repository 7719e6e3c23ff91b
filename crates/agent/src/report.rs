//! The counters as JSON.
//!
//! Written by hand: a serialisation library would be larger than the rest of the agent.

use crate::agent::{Agent, agent_if_installed};
use crate::destination::{self, MARK};
use crate::log::{Severity, say};
use crate::options::Levels;
use crate::state;
use control::{Control, Decision};
use hab::Counter;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

static PATH: Mutex<Option<String>> = Mutex::new(None);

/// Where the report goes when the JVM ends; nowhere without a path.
pub(crate) fn set_path(path: Option<String>) {
    *PATH.lock().unwrap_or_else(PoisonError::into_inner) = path;
}

/// A JSON string.
pub(crate) fn quoted(text: &str) -> String {
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

/// The names of the levels that have counters, in their order.
pub(crate) fn level_names(levels: Levels) -> &'static [&'static str] {
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

/// The settings without addresses of this process, which are for those who may read its memory anyway: what is written to a file or a
/// log must not tell where its libraries lie.
pub(crate) fn without_addresses(settings: &str) -> String {
    match settings.split_once(ACCOUNTS) {
        Some((before, _)) => format!("{before}}}"),
        None => settings.to_owned(),
    }
}

/// Begins the last of the settings.
const ACCOUNTS: &str = ",\"accounts\":";

/// `remaining`: bytes that the buffers of each level hold.
fn json(control: &Control, remaining: &[usize]) -> String {
    let settings = without_addresses(&control.settings());
    let names = level_names_in(&settings);
    let levels: Vec<String> = (0..control.levels())
        .map(|level| {
            let domains: Vec<String> = control
                .counters(level)
                .iter()
                .map(|domain| counters(|counter| domain.get(counter)))
                .collect();
            let name = names.get(level).copied().unwrap_or("thread");
            let remaining = remaining.get(level).copied().unwrap_or(0);
            format!(
                "{{\"name\":{},\"remaining_bytes\":{remaining},\"domains\":[{}]}}",
                quoted(name),
                domains.join(",")
            )
        })
        .collect();
    format!(
        "{MARK}{},\"pid\":{},\"state\":{},\"message\":{},\"settings\":{},\"pauses\":{},\"parsability\":{},\"first_tlab\":{},\
         \"levels\":[{}],\"total\":{},\"sizing\":{}}}\n",
        quoted(env!("CARGO_PKG_VERSION")),
        control.pid(),
        quoted(control.state().map_or("unknown", control::State::name)),
        quoted(&control.message()),
        if settings.is_empty() { "null" } else { &settings },
        control.pauses(),
        control.parsability(),
        control.first_tlab(),
        levels.join(","),
        counters(|counter| control.total(counter)),
        sizing(control, names),
    )
}

/// Why adaptive sizes are what they are.
fn sizing(control: &Control, names: &[&str]) -> String {
    let object = |decision: Decision| {
        let name = names.get(decision.level).copied().unwrap_or_default();
        let fields: String =
            decision.fields().iter().map(|(name, value)| format!(",\"{name}\":{value}")).collect();
        format!("{{\"level\":{},\"why\":{}{fields}}}", quoted(name), quoted(decision.why.name()))
    };
    let list = |decisions: Vec<Decision>| decisions.into_iter().map(object).collect::<Vec<_>>().join(",");
    let latest = (0..control.levels()).filter_map(|level| control.latest_decision(level)).collect();
    format!(
        "{{\"changed\":{},\"latest\":[{}],\"changes\":[{}]}}",
        control.changed(),
        list(latest),
        list(control.changes())
    )
}

pub(crate) fn level_names_in(settings: &str) -> &'static [&'static str] {
    [Levels::CoreAndProcessor, Levels::Core, Levels::Processor, Levels::None]
        .into_iter()
        .find(|levels| settings.contains(&format!("\"levels\":\"{}\"", levels.name())))
        .map_or(&[], level_names)
}

/// Bytes that the buffers of each level hold, in the order of the control memory's levels: the private ones last.
pub(crate) fn remaining(agent: &Agent) -> Vec<usize> {
    let mut remaining = agent.hierarchy.remaining();
    if let Some(bound) = &agent.bound {
        remaining.resize(agent.control.levels().saturating_sub(1), 0);
        remaining.push(bound.remaining());
    }
    remaining
}

/// Writes the report, if one was asked for. A refusal is reported, too.
pub(crate) fn write() {
    // Taken: a report is written once.
    let path = PATH.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (Some(path), Some(control)) = (path, state::control()) else { return };
    // What another agent holds is none of it.
    let own = || agent_if_installed().filter(|agent| std::ptr::eq(agent.control, control));
    let text = settled(control, || own().map(remaining).unwrap_or_default());
    let path = path.replace("%p", &std::process::id().to_string());
    if let Err(why) = destination::write(&path, text.as_bytes()) {
        say(Severity::Error, &format!("report={path}: {why}"));
    }
}

/// The report, in which the buffers hold what the counters say: some collectors still pause while a JVM ends, and retire buffers between two
/// looks. Where additions were lost the two never agree, and the last look counts.
fn settled(control: &Control, remaining: impl Fn() -> Vec<usize>) -> String {
    const LOOKS: usize = 100;
    for _ in 1..LOOKS {
        let held = remaining();
        let got = balanced(control, &held);
        if got.is_some() {
            let text = json(control, &held);
            // Counters only grow: if nothing was got meanwhile, and it agrees with the same buffers, nothing else was counted either.
            if got == balanced(control, &held) {
                return text;
            }
        }
        std::thread::yield_now();
    }
    json(control, &remaining())
}

/// What each level got, in bytes, if all of it was handed on, wasted, or is still there.
fn balanced(control: &Control, held: &[usize]) -> Option<Vec<u64>> {
    const GONE: [Counter; 6] = [
        Counter::BufferBytes,
        Counter::ObjectBytes,
        Counter::StolenBytes,
        Counter::WasteRefill,
        Counter::WasteCollection,
        Counter::WasteAlignment,
    ];
    (0..control.levels())
        .map(|level| {
            let sum = |counter| control.counters(level).iter().map(|domain| domain.get(counter)).sum::<u64>();
            let (held, got) = (held.get(level).copied().unwrap_or(0) as u64, sum(Counter::RefillBytes));
            (got == GONE.iter().map(|counter| sum(*counter)).sum::<u64>() + held).then_some(got)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hab::adaptive::{Observed, Why};

    #[test]
    fn what_is_written_has_no_addresses() {
        let settings = "{\"levels\":\"core\",\"accounts\":{\"list\":140000,\"exited\":0}}";
        assert_eq!(without_addresses(settings), "{\"levels\":\"core\"}");
        assert_eq!(without_addresses(""), "");
    }

    #[test]
    fn strings_are_json() {
        assert_eq!(quoted("a\"b\\c\nd"), "\"a\\\"b\\\\c\\u000ad\"");
    }

    #[test]
    fn a_report_says_why_sizes_have_changed() {
        let control = Control::anonymous(&[2, 1]).unwrap();
        control.set_settings("{\"levels\":\"core+processor\"}");
        assert!(json(&control, &[]).contains("\"sizing\":{\"changed\":0,\"latest\":[],\"changes\":[]}"));
        let seen = Observed { waste: 7, ..Observed::default() };
        control.note_change(&Decision {
            level: 1,
            pause: 3,
            from: 65536,
            to: 32768,
            most: 65536,
            why: Why::Waste,
            seen,
        });
        let text = json(&control, &[]);
        let change = "\"changes\":[{\"level\":\"processor\",\"why\":\"waste\",\"pause\":3,\"from_bytes\":65536,\"to_bytes\":32768,";
        assert!(text.contains(change) && text.contains("\"waste_bytes\":7"), "{text}");
    }

    #[test]
    fn a_pause_between_two_looks_does_not_show() {
        let control = Control::anonymous(&[1]).unwrap();
        let counters = &control.counters(0)[0];
        counters.add(Counter::RefillBytes, 100);
        counters.add(Counter::BufferBytes, 60);
        let look = std::cell::Cell::new(0);
        // Seen, then retired; counted only a look later.
        let text = settled(&control, || {
            look.set(look.get() + 1);
            match look.get() {
                1 => counters.add(Counter::StolenBytes, 10),
                4 => counters.add(Counter::WasteCollection, 30),
                _ => {}
            }
            vec![if look.get() == 1 { 40 } else { 0 }]
        });
        assert!(
            text.contains("\"remaining_bytes\":0") && text.contains("\"waste_collection_bytes\":30"),
            "{text}"
        );
        assert_eq!(look.get(), 4);
    }

    #[test]
    fn what_never_agrees_is_told_all_the_same() {
        let control = Control::anonymous(&[1]).unwrap();
        control.counters(0)[0].add(Counter::RefillBytes, 100);
        assert!(settled(&control, || vec![7]).contains("\"remaining_bytes\":7"));
    }

    #[test]
    fn a_report_has_every_level_and_counter() {
        let control = Control::anonymous(&[2, 1]).unwrap();
        control.set_settings("{\"levels\":\"core+processor\"}");
        control.counters(1)[0].add(Counter::Refills, 7);
        let text = json(&control, &[7, 0]);
        assert!(text.contains("\"remaining_bytes\":7"), "{text}");
        assert!(text.contains("\"name\":\"core\"") && text.contains("\"name\":\"processor\""), "{text}");
        assert!(text.contains("\"refills\":7"), "{text}");
        assert_eq!(text.matches("\"waste_collection_bytes\"").count(), 4, "{text}");
    }
}
