//! A result as a table.

use crate::forks::Schedule;
use crate::result::{ComparisonResult, Side};
use jvm::show::{brief, wasted};
use present::numbers::{count, human, ratio};
use present::table::{Table, labelled};
use statistics::{Interval, Verdict};

fn rate(amount: f64, unit: &str) -> String {
    match unit {
        "bytes/s" => format!("{}/s", human(amount)),
        "runs/s" => format!("{amount:.3} runs/s"),
        _ => format!("{}/s", count(amount)),
    }
}

fn collected(side: &Side) -> String {
    let Some(collections) = side.collections else { return "unavailable".into() };
    let each = side.collections_rate.map(|rate| {
        format!(" ({} per {})", count(rate), side.collections_unit.trim_end_matches(" operations"))
    });
    format!("{collections}{}", each.unwrap_or_default())
}

pub fn outcome(outcome: &ComparisonResult, columns: u16) -> String {
    let method = &outcome.method;
    let is_shared = method.schedule.as_deref() == Some(Schedule::Concurrent.name());
    let length = match (method.window_ms, method.fork_seconds) {
        (Some(window), _) => format!("windows of {window} ms in one JVM"),
        (None, fork) => {
            let fork = fork.unwrap_or_default();
            let both = if is_shared { ", both at the same time," } else { "" };
            format!("forks of {fork} s{both} in balanced random order")
        }
    };
    let mut text = labelled("metric", &outcome.metric, columns);
    text.push_str(&labelled(
        "measured",
        &format!("{} pairs, {length}; {}", outcome.pairs, outcome.jdk),
        columns,
    ));
    let mut sides = Table::new(["side", "throughput", "per CPU-second", "collections", "waste of buffers"]);
    for (letter, side) in [("a", &outcome.sides.a), ("b", &outcome.sides.b)] {
        let cpu =
            side.throughput_cpu.map_or("unavailable".into(), |interval| rate(interval.median, &outcome.unit));
        sides.push([
            format!("{letter}: {}", side.name),
            rate(side.throughput.median, &outcome.unit),
            cpu.trim_end_matches("/s").to_owned(),
            collected(side),
            wasted(side.waste.as_ref()),
        ]);
    }
    text.push_str(&sides.text(columns));
    let mut line = |name: &str, value: &str| text.push_str(&labelled(name, value, columns));
    let decided = |interval: &Interval| format!("{}  {}", ratio(interval), worded(outcome));
    let of_shared = outcome.ratio_cpu.as_ref().filter(|_| is_shared);
    line(
        "a/b per second",
        &if of_shared.is_some() { ratio(&outcome.ratio) } else { decided(&outcome.ratio) },
    );
    let per_cpu = outcome.ratio_cpu.as_ref().map_or("unavailable".into(), ratio);
    line("a/b per CPU-second", &of_shared.map_or(per_cpu, decided));
    let collections = outcome.collections_ratio.map_or("unavailable".into(), |ratio| format!("{ratio:.3}"));
    line("a/b collections", &collections);
    line("a/b heap used up", &outcome.heap_use.as_ref().map_or("unavailable".into(), ratio));
    if let Some(estimate) = &outcome.estimate {
        line("a/b untrimmed", &format!("{}  total work over total time", ratio(&estimate.all_windows)));
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

fn worded(outcome: &ComparisonResult) -> String {
    match outcome.verdict {
        Verdict::NoDifference => "no significant difference (the 95 % interval includes 1)".into(),
        Verdict::TooFewPairs => "undecided (too few pairs)".into(),
        Verdict::NotComparable => "not comparable (the sides do not allocate alike)".into(),
        verdict => format!("a is {} (95 % interval)", verdict.words()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Host;
    use crate::result::{Method, SCHEMA, Sides};
    use jvm::counts::Waste;
    use present::table::widest;

    fn side(name: &str, waste: Option<Waste>) -> Side {
        let throughput = Interval { median: 123_456_789.0, low: 120_000_000.0, high: 125_000_000.0 };
        Side {
            name: name.into(),
            settings: serde_json::json!({"collector": "Serial", "core_bytes": 65536, "tlab": "2048", "levels": "core"}),
            flags: vec![],
            throughput,
            throughput_cpu: Some(throughput),
            collections: Some(17),
            work: Some(10.0),
            collections_rate: Some(0.137),
            collections_unit: "million operations".into(),
            heap_used: None,
            collection_seconds: None,
            waste,
            requests: None,
            rates: Vec::new(),
        }
    }

    fn example() -> ComparisonResult {
        let interval = Interval { median: 1.5, low: 1.4, high: 1.6 };
        ComparisonResult {
            schema: SCHEMA,
            terrace: "0".into(),
            metric: "byte[16] allocated".into(),
            unit: "operations/s".into(),
            mode: "process".into(),
            pairs: 98,
            ratio: interval,
            ratio_cpu: None,
            latency: None,
            estimate: None,
            heap_use: None,
            collections_ratio: Some(1.0),
            verdict: Verdict::Faster,
            sides: Sides {
                a: side("terrace", Some(Waste { refill_bytes: 10, of_bytes: 1000, ..Waste::default() })),
                b: side("private buffer for each thread (the bound)", None),
            },
            report: None,
            method: Method {
                seconds: 20.0,
                warmup_seconds: 2.0,
                window_ms: Some(100.0),
                skip_ms: Some(5.0),
                fork_seconds: None,
                schedule: None,
                precision: None,
                seed: 1,
                resamples: 4000,
            },
            machine: Host::here(),
            jdk: "Eclipse Adoptium 25.0.3+9-LTS".into(),
            command: "java".into(),
            notes: vec![],
            ratios: vec![],
        }
    }

    #[test]
    fn the_result_fits_its_columns() {
        for columns in [100, 80, 60] {
            let text = outcome(&example(), columns);
            assert!((20..=usize::from(columns)).contains(&widest(&text)), "{text}");
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
        assert_eq!(serde_json::from_value::<ComparisonResult>(json.clone()).unwrap(), example());
        // A result of schema 1 lacks these.
        let mut old = json;
        old.as_object_mut().unwrap().remove("estimate");
        old["method"].as_object_mut().unwrap().remove("precision");
        assert_eq!(serde_json::from_value::<ComparisonResult>(old).unwrap(), example());
    }
}
