//! Results as tables that fit the terminal, plain text elsewhere.

use crate::comparison::measure::Waste;
use crate::comparison::result::{Outcome, Side};
use crate::jvm::status::Status;
use crate::os;
use crate::size::{count, human};
use crate::statistics::{Interval, Verdict};
use comfy_table::{ContentArrangement, Table};
use serde_json::{Map, Value};
use std::fmt::Write;

/// The widest that a table gets.
const WIDEST: u16 = 100;
/// Status shows no more domains than this of a level; JSON has all of them.
const MOST_DOMAINS: usize = 16;

/// Columns to use: the terminal's, up to 100.
pub fn columns() -> u16 {
    os::terminal_columns().unwrap_or(WIDEST).clamp(40, WIDEST)
}

/// An empty table that fits.
pub(crate) fn table(columns: u16, header: &[&str]) -> Table {
    let mut table = Table::new();
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
    table.set_header(header.iter().copied());
    table
}

/// A table of words.
pub fn plain<const N: usize>(header: &[&str; N], rows: &[[String; N]], columns: u16) -> String {
    let mut lines = table(columns, header);
    for row in rows {
        lines.add_row(row.iter());
    }
    lines.to_string()
}

fn rate(amount: f64, unit: &str) -> String {
    match unit {
        "bytes/s" => format!("{}/s", human(amount)),
        "runs/s" => format!("{amount:.3} runs/s"),
        _ => format!("{}/s", count(amount)),
    }
}

fn ratio(interval: &Interval) -> String {
    format!("{:.3} [{:.3}, {:.3}]", interval.median, interval.low, interval.high)
}

fn wasted(waste: Option<&Waste>) -> String {
    let Some((waste, share)) = waste.and_then(|waste| Some((waste, waste.share()?))) else {
        return "unavailable".into();
    };
    format!("{:.2} % ({})", share * 100.0, human(waste.total() as f64))
}

fn collected(side: &Side) -> String {
    let Some(collections) = side.collections else { return "unavailable".into() };
    let each = side.collections_rate.map(|rate| {
        format!(" ({} per {})", count(rate), side.collections_unit.trim_end_matches(" operations"))
    });
    format!("{collections}{}", each.unwrap_or_default())
}

/// A comparison's result.
pub fn outcome(outcome: &Outcome, columns: u16) -> String {
    let method = &outcome.method;
    let length = match (method.window_ms, method.fork_seconds) {
        (Some(window), _) => format!("windows of {window} ms in one JVM"),
        (None, fork) => format!("forks of {} s, A B B A", fork.unwrap_or_default()),
    };
    let mut text = labelled("metric", &outcome.metric, columns);
    text.push_str(&labelled(
        "measured",
        &format!("{} pairs, {length}; {}", outcome.pairs, outcome.jdk),
        columns,
    ));
    let mut sides =
        table(columns, &["side", "throughput", "per CPU-second", "collections", "waste of buffers"]);
    for (letter, side) in [("a", &outcome.sides.a), ("b", &outcome.sides.b)] {
        let cpu =
            side.throughput_cpu.map_or("unavailable".into(), |interval| rate(interval.median, &outcome.unit));
        sides.add_row([
            format!("{letter}: {}", side.name),
            rate(side.throughput.median, &outcome.unit),
            cpu.trim_end_matches("/s").to_owned(),
            collected(side),
            wasted(side.waste.as_ref()),
        ]);
    }
    let _ = writeln!(text, "{sides}");
    let mut line = |name: &str, value: &str| text.push_str(&labelled(name, value, columns));
    line("a/b per second", &format!("{}  {}", ratio(&outcome.ratio), worded(outcome)));
    line("a/b per CPU-second", &outcome.ratio_cpu.as_ref().map_or("unavailable".into(), ratio));
    let collections = outcome.collections_ratio.map_or("unavailable".into(), |ratio| format!("{ratio:.3}"));
    line("a/b collections", &collections);
    if let Some(estimate) = &outcome.estimate {
        line("a/b heap used up", &estimate.heap_use.as_ref().map_or("unavailable".into(), ratio));
        line("a/b untrimmed", &format!("{}  all work in all time", ratio(&estimate.all_windows)));
    }
    let (a, b) = (&outcome.sides.a.settings, &outcome.sides.b.settings);
    if a == b {
        line("settings of both", &brief(a));
    } else {
        line("settings of a", &brief(a));
        line("settings of b", &brief(b));
    }
    for note in &outcome.notes {
        line("note", note);
    }
    text
}

/// A name, and beside it a text broken into lines that fit.
pub fn labelled(name: &str, value: &str, columns: u16) -> String {
    const LABEL: usize = 20;
    let width = usize::from(columns).saturating_sub(LABEL).max(20);
    let mut lines = vec![String::new()];
    for word in value.split_inclusive(' ') {
        let used = lines.last().map_or(0, |line| line.chars().count());
        if used > 0 && used + word.trim_end().chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(word);
        }
    }
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let label = if number == 0 { name } else { "" };
        let _ = writeln!(text, "{}", format!("{label:<LABEL$}{line}").trim_end());
    }
    text
}

fn worded(outcome: &Outcome) -> String {
    match outcome.verdict {
        Verdict::NoDifference => "a is no different (the 95 % interval holds 1)".into(),
        Verdict::TooFewPairs => "undecided (too few pairs)".into(),
        verdict => format!("a is {} (95 % interval)", verdict.words()),
    }
}

fn brief(settings: &Value) -> String {
    let show = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match settings {
        Value::Object(settings) => settings
            .iter()
            // Structures are for programs that read the JSON.
            .filter(|(_, value)| !value.is_object())
            .map(|(key, value)| format!("{key} {}", show(value)))
            .collect::<Vec<_>>()
            .join(", "),
        Value::Null => "without the agent".into(),
        other => show(other),
    }
}

/// A status.
pub fn status(status: &Status, columns: u16) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| text.push_str(&labelled(name, value, columns));
    line("process", &status.pid.to_string());
    line("state", &status.state);
    if !status.message.is_empty() {
        line("message", &status.message);
    }
    line("buffers", &status.mode);
    if !status.settings.is_null() {
        line("settings in force", &brief(&status.settings));
    }
    line("collector pauses", &status.pauses.to_string());
    line("made parsable", &format!("{} times, within collections and outside", status.parsability));
    line("handed out", &human(status.served_bytes as f64));
    let waste = &status.waste;
    let causes = format!(
        "{}: refill {}, collection {}, alignment {}",
        wasted(Some(waste)),
        human(waste.refill_bytes as f64),
        human(waste.collection_bytes as f64),
        human(waste.alignment_bytes as f64)
    );
    line("waste", &causes);
    if status.levels.is_empty() {
        return text;
    }
    let header =
        ["level", "TLABs", "bytes", "objects", "refills", "stolen", "foreign", "direct", "passed", "missed"];
    let mut levels = table(columns, &header);
    for level in &status.levels {
        let value =
            |domain: &Map<String, Value>, name: &str| domain.get(name).and_then(Value::as_u64).unwrap_or(0);
        let row = |domain: &Map<String, Value>, label: String| {
            let counted = |name| count(value(domain, name) as f64);
            [
                format!("{} {label}", level.name),
                counted("buffers"),
                human(value(domain, "buffer_bytes") as f64),
                counted("objects"),
                counted("refills"),
                counted("stolen"),
                counted("foreign"),
                counted("direct"),
                counted("passed"),
                counted("missed"),
            ]
        };
        let busy = |domain: &&Map<String, Value>| domain.values().any(|value| value.as_u64() != Some(0));
        let shown = level.domains.iter().enumerate().filter(|(_, domain)| busy(domain));
        for (index, domain) in shown.take(MOST_DOMAINS) {
            levels.add_row(row(domain, index.to_string()));
        }
        let names = level.domains.first().into_iter().flat_map(|domain| domain.keys());
        let total: Map<String, Value> = names
            .map(|name| {
                let values = level.domains.iter().map(|domain| value(domain, name));
                (name.clone(), values.fold(0, u64::saturating_add).into())
            })
            .collect();
        levels.add_row(row(&total, format!("all {}", level.domains.len())));
    }
    let _ = writeln!(text, "{levels}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::result::{Method, SCHEMA, Sides};
    use crate::machine::Machine;
    use control::{Control, Mode};
    use hab::Counter;

    fn side(name: &str, waste: Option<Waste>) -> Side {
        let throughput = Interval { median: 123_456_789.0, low: 120_000_000.0, high: 125_000_000.0 };
        Side {
            name: name.into(),
            settings: serde_json::json!({"collector": "Serial", "core_bytes": 65536, "tlab": "2048", "levels": "core"}),
            flags: vec![],
            throughput,
            throughput_cpu: Some(throughput),
            collections: Some(17),
            collections_rate: Some(0.137),
            collections_unit: "million operations".into(),
            collection_seconds: None,
            waste,
            requests: None,
            rates: Vec::new(),
        }
    }

    fn example() -> Outcome {
        let interval = Interval { median: 1.5, low: 1.4, high: 1.6 };
        Outcome {
            schema: SCHEMA,
            terrace: "0".into(),
            metric: "byte[16] allocated".into(),
            unit: "operations/s".into(),
            mode: "process".into(),
            pairs: 98,
            ratio: interval,
            ratio_cpu: None,
            estimate: None,
            collections_ratio: Some(1.0),
            verdict: Verdict::Faster,
            sides: Sides {
                a: side(
                    "terrace, buffers on",
                    Some(Waste { refill_bytes: 10, of_bytes: 1000, ..Waste::default() }),
                ),
                b: side("private buffer for each thread (the bound)", None),
            },
            method: Method {
                seconds: 20.0,
                warmup_seconds: 2.0,
                window_ms: Some(100.0),
                skip_ms: Some(5.0),
                fork_seconds: None,
                precision: None,
                seed: 1,
                resamples: 4000,
            },
            machine: Machine::here(),
            jdk: "Eclipse Adoptium 25.0.3+9-LTS".into(),
            command: "java".into(),
            notes: vec![],
            ratios: vec![],
        }
    }

    fn widest_table_line(text: &str) -> usize {
        text.lines()
            .filter(|line| line.starts_with(['|', '+']))
            .map(|line| line.chars().count())
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn the_result_fits_its_columns() {
        for columns in [100, 80, 60] {
            let text = outcome(&example(), columns);
            assert!((20..=usize::from(columns)).contains(&widest_table_line(&text)), "{text}");
        }
        let mut noted = example();
        noted.notes = vec!["noisy: ".repeat(40)];
        let text = outcome(&noted, 60);
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        let text = outcome(&example(), 100);
        assert!(text.contains("1.500 [1.400, 1.600]") && text.contains("a is faster"), "{text}");
        assert!(text.contains("1.00 %") && text.contains("unavailable"), "{text}");
        assert!(!text.contains('\u{1b}'), "no colours where nobody asked for them");
    }

    #[test]
    fn the_json_has_the_promised_fields_and_is_read_back() {
        let json = serde_json::to_value(example()).unwrap();
        for path in
            ["/schema", "/metric", "/unit", "/mode", "/pairs", "/ratio/median", "/ratio/low", "/ratio/high"]
        {
            assert!(json.pointer(path).is_some(), "{path}");
        }
        for side in ["a", "b"] {
            for field in ["name", "settings", "throughput", "collections", "waste"] {
                assert!(json.pointer(&format!("/sides/{side}/{field}")).is_some(), "{side} {field}");
            }
        }
        assert_eq!(json["verdict"], "faster");
        assert_eq!(serde_json::from_value::<Outcome>(json.clone()).unwrap(), example());
        // A result of schema 1 lacks these.
        let mut old = json;
        old.as_object_mut().unwrap().remove("estimate");
        old["method"].as_object_mut().unwrap().remove("precision");
        assert_eq!(serde_json::from_value::<Outcome>(old).unwrap(), example());
    }

    #[test]
    fn a_status_shows_the_domains_that_did_something() {
        let control = Control::anonymous(&[64]).unwrap();
        control.set_mode(Mode::On);
        control.set_settings(r#"{"levels":"core"}"#);
        control.counters(0)[5].add(Counter::BufferBytes, 1_000_000);
        let text = status(&crate::jvm::status::read(&control), 100);
        assert!(text.contains("1.00 MB") && text.contains("all 64"), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("| core")).count(), 2, "{text}");
        assert!(widest_table_line(&text) <= 100, "{text}");
    }
}
