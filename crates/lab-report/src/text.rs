//! Tables for the terminal: what the page shows, without pictures. Plain text; nothing depends on colour.

use super::simulated::{Simulated, narrow};
use super::tables::{headings, place, published, varying};
use super::view::{incomplete, verdict};
use super::{format, machine, noise};
use experiment::results::{Findings, Results};
use experiment::{Metric, Quantity};
use present::numbers;
use present::table::{Table, labelled};
use std::fmt::Write;

/// Never more metrics than these beside each other, and fewer where they do not fit; the rest is below, or in the files.
const MOST_METRICS: usize = 3;

/// A whole run: every experiment, then the machine and how steady it was.
pub fn run(results: &Results, columns: u16) -> String {
    let mut text = String::new();
    for found in &results.experiments {
        text.push_str(&findings(found, columns));
        text.push('\n');
    }
    beside(&mut text, results, columns);
    heading(&mut text, "the machine", columns);
    let rows = machine::description(&results.machine).into_iter().chain(machine::disturbance(results));
    for row in rows {
        for (index, line) in row.lines.iter().enumerate() {
            // Some names are longer than the column of names; they get a line of their own.
            let name = if index == 0 { row.name } else { "" };
            if name.len() < 20 {
                text.push_str(&labelled(name, line, columns));
            } else {
                let _ = writeln!(text, "{name}");
                text.push_str(&labelled("", line, columns));
            }
        }
    }
    text.push('\n');
    heading(&mut text, "the run", columns);
    let mut line = |name: &str, value: &str| text.push_str(&labelled(name, value, columns));
    let when = numbers::date(results.started_unix);
    line(
        "measured",
        &format!("{when}, {}, {} run", numbers::duration(results.seconds), results.effort.name()),
    );
    for (index, canary) in results.canaries.iter().enumerate() {
        line(if index == 0 { "canaries" } else { "" }, &noise::canary(canary));
    }
    line("steadiness", &noise::meaning(results));
    line("overhead", &machine::overhead(results));
    if !incomplete(results.state).is_empty() {
        line("incomplete", incomplete(results.state));
    }
    for note in &results.notes {
        line("note", note);
    }
    line("again", &results.command);
    text
}

fn heading(text: &mut String, words: &str, columns: u16) {
    let rule = "-".repeat(words.chars().count().min(usize::from(columns)));
    let _ = writeln!(text, "{words}\n{rule}");
}

/// What is simulated beside what was measured, or why nothing is.
fn beside(text: &mut String, results: &Results, columns: u16) {
    let Some(simulated) = Simulated::new(results) else { return };
    heading(text, &format!("simulated: {}", simulated.title), columns);
    if let Some(reason) = &simulated.reason {
        text.push_str(&labelled("nothing simulated", reason, columns));
    } else {
        text.push_str(&labelled("answer", &simulated.answer, columns));
        narrow(&results.simulated).iter().for_each(|table| text.push_str(&table.text(columns)));
        for note in &simulated.words {
            text.push_str(&labelled("note", note, columns));
        }
    }
    text.push('\n');
}

pub fn findings(findings: &Findings, columns: u16) -> String {
    let declaration = &findings.declaration;
    let mut text = String::new();
    heading(&mut text, &format!("{}: {}", declaration.name, declaration.title), columns);
    let mut line = |name: &str, value: &str| text.push_str(&labelled(name, value, columns));
    line("question", &declaration.question);
    line("answer", &findings.answer);
    for (index, check) in findings.checks.iter().enumerate() {
        let name = if index == 0 { "checks" } else { "" };
        let source = if check.source.is_empty() { String::new() } else { format!(" [{}]", check.source) };
        line(name, &format!("{}: {}{source} ({})", verdict(check).words, check.claim, check.found));
    }
    if !incomplete(findings.state).is_empty() {
        line("incomplete", incomplete(findings.state));
    }
    cells(&mut text, findings, columns);
    references(&mut text, findings, columns);
    for note in &findings.notes {
        text.push_str(&labelled("note", note, columns));
    }
    text
}

/// The reason for which a metric is not to be had in any cell.
fn nowhere(findings: &Findings, metric: &Metric) -> Option<String> {
    let mut reason = None;
    for cell in &findings.cells {
        match cell.metrics.get(&metric.key) {
            Some(Quantity::Known { .. }) => return None,
            other => reason = reason.or_else(|| Some(format::known(other, ""))),
        }
    }
    reason
}

/// Why values are not to be had, told once each and referred to by number.
#[derive(Default)]
struct Reasons(Vec<String>);

impl Reasons {
    fn refer(&mut self, reason: String) -> String {
        let number = self.0.iter().position(|known| *known == reason).unwrap_or_else(|| {
            self.0.push(reason);
            self.0.len() - 1
        });
        format!("unavailable ({})", number + 1)
    }
}

/// All cells with these metrics, and what their references mean.
fn table(findings: &Findings, keys: &[&str], metrics: &[&Metric], reasons: &mut Reasons) -> Table {
    let declaration = &findings.declaration;
    let mut header = headings(declaration, keys);
    header.extend(metrics.iter().map(|metric| match metric.unit.as_str() {
        "" => metric.name.clone(),
        unit => format!("{}, {unit}", metric.name),
    }));
    let compared = findings.cells.iter().any(|cell| cell.processes > 0);
    header.extend(compared.then(|| "of".to_owned()));
    let rows = findings.cells.iter().map(|cell| {
        let mut row: Vec<String> = keys.iter().map(|key| place(declaration, key, &cell.parameters)).collect();
        row.extend(metrics.iter().map(|metric| match cell.metrics.get(&metric.key) {
            Some(Quantity::Known { interval, values }) if !format::is_single(interval, values) => {
                numbers::brief(interval, &metric.unit)
            }
            known @ Some(Quantity::Known { .. }) => format::known(known, &metric.unit),
            other => reasons.refer(format::known(other, "")),
        }));
        row.extend(compared.then(|| format::processes(cell)));
        row
    });
    Table::new(header).with(rows.collect::<Vec<_>>())
}

fn cells(text: &mut String, findings: &Findings, columns: u16) {
    let declaration = &findings.declaration;
    let places: Vec<_> = findings.cells.iter().map(|cell| &cell.parameters).collect();
    let (keys, fixed) = varying(declaration, &places);
    let (known, lacking): (Vec<&Metric>, Vec<&Metric>) =
        declaration.metrics.iter().partition(|metric| nowhere(findings, metric).is_none());
    let (mut rest, mut reasons) = (&known[..], Reasons::default());
    while !rest.is_empty() {
        let fits =
            |most: &usize| table(findings, &keys, &rest[..*most], &mut Reasons::default()).fits(columns);
        let most = (2..=rest.len().min(MOST_METRICS)).rev().find(fits).unwrap_or(1);
        text.push_str(&table(findings, &keys, &rest[..most], &mut reasons).text(columns));
        rest = &rest[most..];
        if !declaration.shows_all {
            break;
        }
    }
    let mut line = |name: &str, value: &str| text.push_str(&labelled(name, value, columns));
    if !fixed.is_empty() {
        line("in all rows", &fixed);
    }
    for (index, reason) in reasons.0.iter().enumerate() {
        line(&format!("({})", index + 1), reason);
    }
    for metric in lacking {
        let reason = nowhere(findings, metric).unwrap_or_else(|| numbers::lacking("there are no cells"));
        line("not measured", &format!("{}: {reason}", metric.name));
    }
    let rest: Vec<&str> = rest.iter().map(|metric| metric.name.as_str()).collect();
    if !rest.is_empty() {
        line("in the files", &rest.join(", "));
    }
}

fn references(text: &mut String, findings: &Findings, columns: u16) {
    let Some(published) = published(findings) else { return };
    text.push_str(&labelled(
        "published",
        "from the sources, on other machines; not measured in this run",
        columns,
    ));
    text.push_str(&published.text(columns));
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::fixture;

    /// The lines that hold all of these words.
    fn lines<'a>(text: &'a str, words: &[&str]) -> Vec<&'a str> {
        text.lines().filter(|line| words.iter().all(|word| line.contains(word))).collect()
    }

    fn without_spaces(line: &str) -> String {
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_experiment_shows_its_answer_checks_and_all_cells() {
        let text = findings(&fixture::atomics(), 130);
        assert!(text.starts_with("atomics: Atomic increments under contention\n---"), "{text}");
        assert_eq!(
            lines(&text, &["checks", "holds: XADD beats a CAS loop under contention"]).len(),
            1,
            "{text}"
        );
        assert_eq!(lines(&text, &["inconclusive here: "]).len(), 1);
        assert!(lines(&text, &["| LongAdder", "falsely shared line", "|"]).len() == 5, "whole rows: {text}");
        assert_eq!(lines(&text, &["| lock add", "|"]).len(), 3 * 5, "{text}");
        assert_eq!(
            lines(&text, &["not measured", "modified line elsewhere: unavailable: the"]).len(),
            1,
            "{text}"
        );
        assert_eq!(lines(&text, &["(1)", "unavailable: this operation cannot fail"]).len(), 1);
    }

    #[test]
    fn a_cell_has_its_median_interval_and_unit() {
        let text = findings(&fixture::atomics(), 130);
        let row = without_spaces(lines(&text, &["| lock xadd", "padded lines", "| 16 "])[0]);
        assert!(row.starts_with("| lock xadd | padded lines | 16 | 6.26 [6.16, 6.64] ns | "), "{row}");
        assert!(row.contains("] ns | ") && row.contains("] M | unavailable (1) |"), "{row}");
    }

    #[test]
    fn every_metric_has_its_column_where_the_experiment_wants_that() {
        let mut findings_ = fixture::atomics();
        assert!(findings(&findings_, 80).contains("in the files"));
        findings_.declaration.shows_all = true;
        let text = findings(&findings_, 80);
        assert!(!text.contains("in the files"), "{text}");
        // Headings are not broken there.
        let text = findings(&findings_, 400);
        for metric in &findings_.declaration.metrics {
            assert!(text.contains(&metric.name), "{}: {text}", metric.name);
        }
    }

    #[test]
    fn published_values_stand_apart_with_their_source() {
        let text = findings(&fixture::hab(), 100);
        let row = without_spaces(lines(&text, &["Figure 2", "1.38"])[0]);
        assert!(row.contains("TLAB 1k, buffers 2m") && row.contains("1.38 × | 1.47 ["), "{row}");
        assert!(text.contains("not measured in this run"));
        assert!(text.contains("| growing ") && text.contains("| 512k "), "sizes as people write them");
    }

    #[test]
    fn a_cell_of_one_process_says_so_here_and_on_the_page() {
        let mut results = fixture::results();
        results.experiments[0].cells[0].processes = 1;
        results.experiments[0].cells[1].processes = 3;
        let text = run(&results, 130);
        assert_eq!(
            (lines(&text, &["one process"]).len(), lines(&text, &["3 processes"]).len()),
            (1, 1),
            "{text}"
        );
        assert!(crate::page(&results).unwrap().contains("one process"));
        assert!(!run(&fixture::results(), 130).contains("process "));
    }

    #[test]
    fn what_does_not_hold_and_what_is_incomplete_is_said() {
        let text = findings(&fixture::tlab(), 100);
        assert_eq!(lines(&text, &["does not hold here: Core buffers without a TLAB"]).len(), 1, "{text}");
        assert!(findings(&fixture::zeroing(), 100).contains("incomplete          Some cells failed"));
    }

    #[test]
    fn a_run_ends_with_its_machine_and_steadiness_and_fits() {
        for columns in [100, 60] {
            let text = run(&fixture::results(), columns);
            for words in [
                "kernel              6.1.0",
                "canaries            arithmetic: ",
                "steadiness          The machine drifted",
                "again               terrace lab run",
                "overhead            +0.4 %",
            ] {
                assert!(text.contains(words), "{words}: {text}");
            }
            assert!((40..=usize::from(columns)).contains(&present::table::widest(&text)), "{text}");
        }
    }
}
