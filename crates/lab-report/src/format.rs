//! What an experiment's values and cells are called. Numbers are [`present::numbers`]'s.

use experiment::{Declaration, MeasuredCell, Parameter, Parameters, Quantity, Value};
use present::numbers::{bytes, interval, lacking, plain, quantity};
use statistics::Interval;

/// Words that say little without the name of what they are a value of.
const BARE_WORDS: [&str; 12] =
    ["on", "off", "yes", "no", "none", "auto", "true", "false", "stock", "default", "growing", "same"];

/// What is known of a metric: a value with its interval, or `unavailable: reason`.
pub fn known(known: Option<&Quantity>, unit: &str) -> String {
    match known {
        Some(Quantity::Known { interval: found, values }) if is_single(found, values) => {
            quantity(found.median, unit)
        }
        Some(Quantity::Known { interval: found, .. }) => interval(found, unit),
        Some(Quantity::Unavailable { unavailable }) => lacking(unavailable),
        None => lacking("not measured in this cell"),
    }
}

/// Whether there is one value, of which nothing tells how it scatters.
pub fn is_single(interval: &Interval, values: &[f64]) -> bool {
    values.len() == 1 && interval.low == interval.high
}

/// How many JVMs a cell's intervals are over: an interval of one tells nothing of another.
pub fn processes(cell: &MeasuredCell) -> String {
    match cell.processes {
        0 => "–".into(),
        1 => "one process".into(),
        many => format!("{many} processes"),
    }
}

/// A parameter's value without its name: sizes as 4k, 2m; 1000 bytes as 1 kB.
pub fn parameter(parameter: Option<&Parameter>, value: &Value) -> String {
    let number = match value {
        Value::Text(text) => return text.clone(),
        Value::Number(number) => *number,
    };
    match parameter.map_or("", |parameter| parameter.unit.as_str()) {
        "" => plain(number),
        "bytes" => bytes(number),
        unit => format!("{} {unit}", plain(number)),
    }
}

/// Where values stand, as a legend writes it: `lock add, padded, 4 threads`.
pub fn label<'a>(declaration: &Declaration, pairs: impl IntoIterator<Item = (&'a str, &'a Value)>) -> String {
    let words: Vec<String> = pairs.into_iter().map(|(key, value)| named(declaration, key, value)).collect();
    words.join(", ")
}

/// A value that can stand alone: with its parameter's name where it says nothing without.
fn named(declaration: &Declaration, key: &str, value: &Value) -> String {
    let found = declaration.parameters.iter().find(|parameter| parameter.key == key);
    let name = found.map_or(key, |parameter| parameter.name.as_str());
    let text = parameter(found, value);
    match value {
        Value::Text(word) if !BARE_WORDS.contains(&word.as_str()) => text,
        _ => format!("{name} {text}"),
    }
}

/// All parameters of a cell, in declared order.
pub fn cell(declaration: &Declaration, parameters: &Parameters) -> String {
    label(declaration, ordered(declaration, parameters))
}

/// Parameters in declared order, those that were not declared behind them.
pub fn ordered<'a>(declaration: &'a Declaration, parameters: &'a Parameters) -> Vec<(&'a str, &'a Value)> {
    let declared = declaration.parameters.iter().map(|parameter| parameter.key.as_str());
    let rest = parameters.keys().map(String::as_str);
    let rest = rest.filter(|key| !declaration.parameters.iter().any(|parameter| parameter.key == *key));
    declared.chain(rest).filter_map(|key| Some((key, parameters.get(key)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_says_why() {
        assert_eq!(known(Some(&Quantity::of(vec![], "no counters")), "ns"), "unavailable: no counters");
    }

    #[test]
    fn sizes_stay_exact() {
        let size = Parameter::new("size", "size", "bytes");
        for (value, text) in [
            (4096.0, "4k"),
            (2_097_152.0, "2m"),
            (100.0, "100 B"),
            (100_000.0, "100 kB"),
            (1536.0, "1536 B"),
            (1e7, "10 MB"),
        ] {
            assert_eq!(parameter(Some(&size), &Value::Number(value)), text);
        }
        assert_eq!(parameter(Some(&size), &"growing".into()), "growing");
        assert_eq!(parameter(None, &3_u32.into()), "3");
    }
}
