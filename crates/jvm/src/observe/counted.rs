//! What one JVM's control memory says.

use crate::counts::{Requests, Waste};
use crate::printable;
use control::{Asked, View};
use hab::{Counter, Counters};
use serde_json::Value;

/// What serves a thread is counted here; what serves a buffer from the level above it is not.
const SERVED: [Counter; 6] = [
    Counter::BufferBytes,
    Counter::ObjectBytes,
    Counter::StolenBytes,
    Counter::DirectBytes,
    Counter::PassedBytes,
    Counter::MissedBytes,
];

/// Bytes handed out to threads by a JVM. With `bound`, its last level has the private buffers.
pub fn served(control: &View, bound: bool) -> u64 {
    let of = |level: usize| control.counters(level).iter().map(bytes).fold(0, u64::saturating_add);
    let last = control.levels().saturating_sub(1);
    of(0).saturating_add(if bound && last > 0 { of(last) } else { 0 })
}

fn bytes(domain: &Counters) -> u64 {
    SERVED.iter().map(|counter| domain.get(*counter)).fold(0, u64::saturating_add)
}

/// Waste of a JVM's buffers on all levels.
pub fn waste(control: &View, bound: bool) -> Waste {
    Waste {
        refill_bytes: control.total(Counter::WasteRefill),
        collection_bytes: control.total(Counter::WasteCollection),
        alignment_bytes: control.total(Counter::WasteAlignment),
        of_bytes: served(control, bound),
    }
}

/// Requests of threads to a JVM's buffers: those of the level nearest to threads.
pub fn requests(control: &View) -> Requests {
    let mut requests = Requests::default();
    for domain in control.counters(0) {
        let of = |counter| domain.get(counter);
        requests += Requests {
            served: of(Counter::Buffers) + of(Counter::Objects) + of(Counter::Stolen),
            foreign: of(Counter::Foreign),
            stolen: of(Counter::Stolen),
            direct: of(Counter::Direct),
            refills: of(Counter::Refills),
            reserved_bytes: of(Counter::RefillBytes) + of(Counter::DirectBytes),
        };
    }
    requests
}

/// The settings in force, as the agent has written them, with the sizes of buffers that are in force now.
pub fn settings(control: &View) -> Value {
    in_force(written(control.settings()), control)
}

/// The settings as the agent has written them, but for control characters.
pub(crate) fn written(text: String) -> Value {
    if text.is_empty() {
        return Value::Null;
    }
    printable::value(serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

/// With the sizes of buffers that are in force now.
pub(crate) fn in_force(mut settings: Value, control: &View) -> Value {
    let levels = settings["levels"].as_str().unwrap_or_default().to_owned();
    let named: Vec<(usize, &str)> = levels.split('+').enumerate().collect();
    if let Value::Object(settings) = &mut settings {
        for (level, name) in &named {
            let (key, size) = (format!("{name}_bytes"), control.size(*level));
            if size > 0 && settings.contains_key(&key) {
                settings.insert(key, size.into());
            }
            let asked = control.asked(*level);
            if asked != Asked::Nothing && settings.contains_key(*name) {
                settings.insert((*name).into(), asked.text().into());
            }
        }
        let asked: Vec<Asked> = named.iter().map(|(level, _)| control.asked(*level)).collect();
        if asked.iter().all(|asked| matches!(asked, Asked::Bytes(_))) {
            settings.insert("automatic".into(), false.into());
        } else if asked.iter().any(|asked| matches!(asked, Asked::Auto | Asked::Formula)) {
            settings.insert("automatic".into(), true.into());
        }
    }
    settings
}
