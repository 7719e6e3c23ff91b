//! A status as a table.

use crate::counter_values::CounterValues;
use crate::counts::Waste;
use crate::refills::{Summaries, Summary, Ways};
use crate::status::Status;
use hab::Counter;
use present::numbers::{count, human, percent, quantity};
use present::table::{Table, labelled};
use serde_json::Value;

/// Status shows no more domains than this of a level; JSON has all of them.
const MOST_DOMAINS: usize = 16;

/// Waste as a share, and in bytes.
pub fn wasted(waste: Option<&Waste>) -> String {
    let Some((waste, share)) = waste.and_then(|waste| Some((waste, waste.share()?))) else {
        return "unavailable".into();
    };
    format!("{} ({})", percent(share, 2), human(waste.total() as f64))
}

/// The agent's settings on a line.
pub fn brief(settings: &Value) -> String {
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

/// How long requests took, and by which way.
fn times(ways: &Ways) -> String {
    let Ways { all, quick, region, collection } = ways;
    let ns = |ns: u64| quantity(ns as f64, "ns");
    let requests = |summary: &Summary| count(summary.count as f64);
    let sampled = match all.timed < all.count {
        true => format!(" ({} of them timed)", count(all.timed as f64)),
        false => String::new(),
    };
    format!(
        "{}{sampled}: p50 {}, p99 {}, max {} (quick {}, region {}, collection {})",
        requests(all),
        ns(all.p50_ns),
        ns(all.p99_ns),
        ns(all.max_ns),
        requests(quick),
        requests(region),
        requests(collection)
    )
}

/// Agent and command were not made together.
fn differs(settings: &Value) -> Option<String> {
    const OWN: &str = env!("CARGO_PKG_VERSION");
    let agent = settings["terrace"].as_str().filter(|agent| *agent != OWN)?;
    Some(format!("the agent is version {agent}, this command {OWN}; use the same version of both"))
}

pub fn status(status: &Status, columns: u16) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| text.push_str(&labelled(name, value, columns));
    line("process", &status.pid.to_string());
    line("state", &status.state);
    if !status.message.is_empty() {
        line("message", &status.message);
    }
    if let Some(differs) = differs(&status.settings) {
        line("version", &differs);
    }
    line("buffers", &status.mode);
    if !status.settings.is_null() {
        line("settings in force", &brief(&status.settings));
    }
    line("collector pauses", &status.pauses.to_string());
    line("made parsable", &format!("{} times, within collections and outside", status.parsability));
    if status.first_tlab > 0 {
        line("new threads' TLABs", &format!("most from {}", human(status.first_tlab as f64)));
    }
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
    if let Some(Summaries { tlabs, objects }) = &status.times {
        line("TLAB requests", &times(tlabs));
        line("object requests", &times(objects));
    }
    if status.levels.is_empty() {
        return text;
    }
    let mut levels = Table::new([
        "level", "TLABs", "bytes", "objects", "refills", "stolen", "foreign", "direct", "passed", "missed",
    ]);
    for level in &status.levels {
        let row = |domain: &CounterValues, label: String| {
            let counted = |counter| count(domain.get(counter) as f64);
            [
                format!("{} {label}", level.name),
                counted(Counter::Buffers),
                human(domain.get(Counter::BufferBytes) as f64),
                counted(Counter::Objects),
                counted(Counter::Refills),
                counted(Counter::Stolen),
                counted(Counter::Foreign),
                counted(Counter::Direct),
                counted(Counter::Passed),
                counted(Counter::Missed),
            ]
        };
        let shown = level.domains.iter().enumerate().filter(|(_, domain)| !domain.is_zero());
        for (index, domain) in shown.take(MOST_DOMAINS) {
            levels.push(row(domain, index.to_string()));
        }
        levels.push(row(&CounterValues::sum(&level.domains), format!("all {}", level.domains.len())));
    }
    text + &levels.text(columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::times::{Kind, Way};
    use control::{Control, Counted, Mode};
    use hab::Counter;

    #[test]
    fn an_agent_of_another_version_is_told() {
        let told = |version: &str| {
            let control = Control::anonymous(&[1]).unwrap();
            control.set_settings(&format!(r#"{{"terrace":"{version}"}}"#));
            status(&crate::status::read(&control), 100)
        };
        let other = told("0.0.9");
        assert!(
            other.contains("the agent is version 0.0.9, this command") && other.contains("the same version"),
            "{other}"
        );
        assert!(!told(env!("CARGO_PKG_VERSION")).contains("this command"));
    }

    #[test]
    fn a_status_shows_how_long_requests_took() {
        let control = Control::anonymous(Counted { levels: &[1], timed: 1 }).unwrap();
        control.set_settings(r#"{"levels":"none","clock":"monotonic"}"#);
        for ticks in [80, 80, 90, 3_000_000] {
            control.times()[0].record(Kind::Tlab, Way::Quick, ticks, true);
        }
        let text = status(&crate::status::read(&control), 200);
        for part in ["4: p50 ", "max 3.00 ms (quick 4, region 0, collection 0)", "object requests"] {
            assert!(text.contains(part), "'{part}' in: {text}");
        }
    }

    #[test]
    fn a_status_shows_the_domains_that_did_something() {
        let control = Control::anonymous(&[64]).unwrap();
        control.set_mode(Mode::On);
        control.set_settings(r#"{"levels":"core"}"#);
        control.counters(0)[5].add(Counter::BufferBytes, 1_000_000);
        let text = status(&crate::status::read(&control), 100);
        assert!(text.contains("1.00 MB") && text.contains("all 64"), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("| core")).count(), 2, "{text}");
        assert!((60..=100).contains(&present::table::widest(&text)), "{text}");
    }
}
