//! `terrace sim evaluate`.

use crate::format::{Format, json};
use clap::{Args, ValueEnum};
use coherence::evaluation::{
    Finding, LevelsRow, Limit, Part, Role, evaluate_with_ranges, when_a_processor_level_pays,
};
use coherence::machine;
use jvm::{Error, Result};
use present::numbers::{percent, three};
use present::steps::Steps;
use present::table::{Table, columns, indented};

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Counters that all threads increment (Thompson 2011).
    Thompson,
    /// Allocation without thread buffers (Opsian 2020).
    Opsian,
    /// Counters by threads (Downs 2020).
    Counters,
    /// Speed-ups by buffers of processors and cores (the paper's Figures 2 and 3).
    Figure2,
    /// Foreign allocations (the paper's Tables I and II): takes an hour of CPU time.
    Tables,
    /// When a level of processor buffers above core buffers pays off, on one machine: takes less than a minute.
    Levels,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  terrace sim evaluate                                     everything but the tables: about a minute
  terrace sim evaluate --no-ranges                         the same without ranges: seconds
  terrace sim evaluate tables
  terrace sim evaluate levels --machine docs/machines/assumed-2x256.toml")]
pub struct Evaluate {
    /// What to evaluate [default: thompson, opsian, counters and figure2].
    what: Vec<What>,

    /// The machine for 'levels'.
    #[arg(long, value_name = "NAME|FILE", value_parser = super::arguments::machine, default_value = "epyc-9654-2x96")]
    machine: machine::Machine,

    /// Simulate only with the numbers as they are, not over seeds and the ranges of all numbers.
    #[arg(long)]
    no_ranges: bool,

    /// Output format.
    #[arg(long, value_parser = Format::of(Format::BOTH), default_value = "table", help_heading = "Output")]
    format: Format,
}

impl What {
    fn part(self) -> Option<Part> {
        match self {
            What::Thompson => Some(Part::Thompson),
            What::Opsian => Some(Part::Opsian),
            What::Counters => Some(Part::Counters),
            What::Figure2 => Some(Part::Figure2),
            What::Tables => Some(Part::Tables),
            What::Levels => None,
        }
    }
}

/// Core buffers' bytes, and multiples of javac's rate of allocation.
const CORE_SIZES: [usize; 4] = [16 << 10, 64 << 10, 256 << 10, 1 << 20];
const INTENSITIES: [f64; 3] = [1.0, 3.0, 10.0];

impl Evaluate {
    pub fn execute(&self) -> Result<()> {
        let steps = Steps::begin();
        let progress = |step: &str| steps.say(step);
        let failed = |error: std::io::Error| Error::failed(error.to_string());
        let what: &[What] = if self.what.is_empty() {
            &[What::Thompson, What::Opsian, What::Counters, What::Figure2]
        } else {
            &self.what
        };
        let parts: Vec<Part> = what.iter().filter_map(|what| what.part()).collect();
        let findings = if self.no_ranges {
            let each = parts.iter().map(|part| part.evaluate(&progress));
            each.collect::<std::io::Result<Vec<_>>>().map(|of_parts| of_parts.concat())
        } else {
            evaluate_with_ranges(&parts, |count, all| steps.done(count, all))
        };
        let findings = findings.map_err(failed)?;
        let mut levels = None;
        if what.contains(&What::Levels) {
            let rows = when_a_processor_level_pays(&self.machine, &CORE_SIZES, &INTENSITIES, &progress);
            levels = Some(rows.map_err(failed)?);
        }
        drop(steps);
        if self.format == Format::Json {
            let findings: Vec<serde_json::Value> = findings.iter().map(value).collect();
            let machine = &self.machine.name;
            let all = serde_json::json!({ "findings": findings, "machine": machine, "levels": levels });
            print!("{}", json(&all)?);
            return Ok(());
        }
        if !findings.is_empty() {
            show(&findings);
        }
        if let Some(rows) = levels {
            self.show_levels(&rows);
        }
        Ok(())
    }

    fn show_levels(&self, rows: &[LevelsRow]) {
        let header = [
            "core buffer",
            "x javac",
            "thread, heap",
            "+ core",
            "+ L3",
            "or + package",
            "heap requests",
            "waiting for the heap",
        ];
        let by = |limit: &Option<coherence::scenario::Limit>| {
            limit.map(|limit| format!(" ({})", limit.bound)).unwrap_or_default()
        };
        let times = |value: f64, two: f64| format!("{:.2}x", value / two);
        let cells = rows.iter().map(|row| {
            let [two, three, cluster, package] = row.limits.each_ref().map(by);
            vec![
                format!("{} KB", row.core_bytes >> 10),
                format!("{}", row.intensity),
                format!("{:.0} M/s{two}", row.two),
                format!("{:.0} M/s{three}", row.three),
                times(row.four_cluster, row.three) + &cluster,
                times(row.four_package, row.three) + &package,
                format!("{:.2} M/s", row.heap_requests),
                percent(row.waiting, 0),
            ]
        });
        let headline = format!(
            "{}, all {} CPUs, thread buffers of 4 KB: objects per second; four levels over three; in brackets: what it is bound by; with three levels, requests to the heap",
            self.machine.name,
            rows.first().map_or(0, |row| row.threads)
        );
        let columns = columns();
        print!("{}", indented("", &headline, columns));
        print!("{}", Table::new(header).with(cells).text(columns));
        print!("{}", indented("", &conclusion(rows), columns));
    }
}

/// A gain that is worth a level.
const WORTH: f64 = 1.1;

/// In words: when four levels pay.
fn conclusion(rows: &[LevelsRow]) -> String {
    let gain = |row: &LevelsRow| row.four_cluster.max(row.four_package) / row.three;
    let (pays, not): (Vec<&LevelsRow>, Vec<&LevelsRow>) = rows.iter().partition(|row| gain(row) >= WORTH);
    let share = |part: f64| percent(part, 0);
    let least = pays.iter().map(|row| row.waiting).fold(f64::INFINITY, f64::min);
    let most = not.iter().map(|row| row.waiting).fold(0.0, f64::max);
    let best = rows.iter().map(gain).fold(0.0, f64::max);
    let served = rows.iter().map(|row| row.heap_requests).fold(0.0, f64::max);
    if pays.is_empty() {
        return format!(
            "A processor level gains at most {best:.2}x: the heap's top serves all core buffers, and threads wait for it at most {} of their time.",
            share(most)
        );
    }
    let where_not =
        if not.is_empty() { String::new() } else { format!(", at most {} where it does not", share(most)) };
    format!(
        "A processor level pays (10 % and more, up to {best:.1}x) where the heap's top cannot serve all core buffers: it serves {served:.1} million requests per second here. \
         Threads with three levels wait for it at least {} of their time where a fourth pays{where_not}. Core buffers twice as large need half the requests.",
        share(least)
    )
}

/// A limit, without the digits of a quotient.
fn plain(limit: f64) -> f64 {
    (limit * 1e3).round() / 1e3
}

fn limit(finding: &Finding) -> String {
    match finding.limit {
        Limit::Within(part) => format!("within {}", percent(part, 0)),
        Limit::Factor(factor) => format!("factor {}", plain(factor)),
        Limit::AtLeast(least) => format!("at least {}", plain(least)),
        Limit::AtMost(most) => format!("at most {}", plain(most)),
    }
}

fn value(finding: &Finding) -> serde_json::Value {
    serde_json::json!({
        "source": finding.source,
        "what": finding.what,
        "role": finding.role,
        "published": finding.published,
        "simulated": finding.simulated,
        "limit": limit(finding),
        "holds": finding.holds(),
        "range": finding.range.as_ref().map(|range| serde_json::json!({
            "low": range.low,
            "high": range.high,
            "seeds": range.seeds,
            "decides": range.decides.map(|(group, [low, high])| {
                serde_json::json!({ "parameters": group, "low": low, "high": high })
            }),
        })),
        "published_in_range": inside(finding),
    })
}

/// Whether the published value lies inside the range of the simulated one, where there are both.
fn inside(finding: &Finding) -> Option<bool> {
    Some(finding.range.as_ref()?.contains(finding.published?))
}

const fn yes_or_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "NO" }
}

fn show(findings: &[Finding]) {
    let ranges = findings.iter().any(|finding| finding.range.is_some());
    let columns = columns();
    for of_source in findings.chunk_by(|one, other| one.source == other.source) {
        println!("{}", of_source[0].source);
        let mut header = vec!["what", "role", "published", "simulated"];
        if ranges {
            header.extend(["range", "inside"]);
        }
        header.extend(["asked for", "holds"]);
        let rows = of_source.iter().map(|finding| {
            let mut row = vec![
                finding.what.clone(),
                finding.role.to_string(),
                finding.published.map_or("(words)".into(), three),
                three(finding.simulated),
            ];
            if ranges {
                let range = finding.range.as_ref();
                row.push(
                    range
                        .map_or("-".into(), |range| format!("{} to {}", three(range.low), three(range.high))),
                );
                row.push(inside(finding).map_or("-", yes_or_no).into());
            }
            row.extend([limit(finding), yes_or_no(finding.holds()).into()]);
            row
        });
        print!("{}", Table::new(header).with(rows).text(columns));
    }
    if ranges {
        for line in [
            "range: over seeds and the ranges of all numbers, one group at a time and all at once",
            "inside: whether the range includes the published value; where it does not, no choice of numbers within \
             their ranges explains the difference",
        ] {
            print!("{}", indented("", line, columns));
        }
    }
    if findings.iter().any(|finding| finding.role == Role::Seen) {
        let seen = "seen: the model had missed it, and a rule was added for that; no number was chosen on it";
        print!("{}", indented("", seen, columns));
    }
    for kind in [Role::Calibrated, Role::Predicted, Role::Blind, Role::Seen] {
        let of: Vec<&Finding> = findings.iter().filter(|finding| finding.role == kind).collect();
        if !of.is_empty() {
            let holds = of.iter().filter(|finding| finding.holds()).count();
            let inside: Vec<bool> = of.iter().filter_map(|finding| inside(finding)).collect();
            let ranges = match (inside.iter().filter(|inside| **inside).count(), inside.len()) {
                (_, 0) => String::new(),
                (inside, all) => format!("; the range includes {inside} of {all} published values"),
            };
            println!("{kind}: {holds} of {} hold{ranges}", of.len());
            let factors: Vec<f64> = of.iter().filter_map(|finding| finding.factor()).collect();
            if kind == Role::Blind && !factors.is_empty() {
                let near = factors.iter().filter(|factor| **factor <= 1.5).count();
                println!("blind values within a factor of 1.5: {near} of {}", factors.len());
            }
        }
    }
}
