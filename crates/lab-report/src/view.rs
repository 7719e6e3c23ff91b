//! What the page's template is given: words and tables, all made from the results.

use super::plots::{PlotView, plots};
use super::simulated::Simulated;
use super::tables::{published, whole_table};
use super::{machine, noise};
use experiment::results::{Findings, Results, State};
use experiment::{Check, Declaration};
use present::numbers;
use present::table::Table;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct View<'a> {
    pub(super) started: String,
    pub(super) duration: String,
    state: &'static str,
    command: &'a str,
    notes: &'a [String],
    machine: Vec<machine::Row>,
    disturbance: Vec<machine::Row>,
    canaries: Vec<String>,
    canary_plot: String,
    steadiness: String,
    overhead: String,
    experiments: Vec<Section<'a>>,
    simulated: Option<Simulated>,
    /// JSON that can stand in a script element: no text in it can end the element.
    results: String,
}

/// An experiment: what it declared and found, and what is made of that.
#[derive(Serialize)]
struct Section<'a> {
    declaration: &'a Declaration,
    answer: &'a str,
    checks: &'a [Check],
    notes: &'a [String],
    /// Of each check.
    verdicts: Vec<Verdict>,
    tally: Vec<(String, Verdict)>,
    state: &'static str,
    method: String,
    plots: Vec<PlotView>,
    published: Option<Table>,
    all: Table,
}

/// A check's result as a mark and words; colour is only a help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Verdict {
    pub(super) mark: &'static str,
    pub(super) words: &'static str,
    plural: &'static str,
    class: &'static str,
}

const HOLDS: Verdict = Verdict { mark: "✓", words: "holds", plural: "hold", class: "holds" };
const FAILS: Verdict =
    Verdict { mark: "✗", words: "does not hold here", plural: "do not hold here", class: "fails" };
const UNKNOWN: Verdict =
    Verdict { mark: "?", words: "inconclusive here", plural: "inconclusive here", class: "unknown" };

pub(super) fn verdict(check: &Check) -> Verdict {
    match check.holds {
        Some(true) => HOLDS,
        Some(false) => FAILS,
        None => UNKNOWN,
    }
}

/// Whether all was measured, as a warning; empty if it was.
pub(super) fn incomplete(state: State) -> &'static str {
    match state {
        State::Finished => "",
        State::Interrupted => "Cells are missing: 'terrace lab run --resume' measures them.",
        State::Failed => "Some cells failed; their metrics say why.",
    }
}

/// How many claims hold, do not, or cannot be told.
fn tallies(checks: &[Check]) -> Vec<(String, Verdict)> {
    let tally = |verdict_: Verdict| {
        let count = checks.iter().filter(|check| verdict(check) == verdict_).count();
        let words = if count == 1 { verdict_.words } else { verdict_.plural };
        (count > 0).then(|| (format!("{count} {words}"), verdict_))
    };
    [HOLDS, FAILS, UNKNOWN].into_iter().filter_map(tally).collect()
}

/// How much was measured, not how much was planned: a cell ends early when it is precise enough, and has fewer rounds when it failed or
/// the run was interrupted.
fn method(findings: &Findings) -> String {
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let measured = findings.cells.iter().map(|cell| cell.runs).filter(|runs| *runs > 0);
    let missing = findings.cells.len() - measured.clone().count();
    let rounds = measured.clone().min().zip(measured.max()).map(|(least, most)| match least == most {
        true => counted(most, "round"),
        false => format!("{least} to {most} rounds"),
    });
    let rounds = match (rounds, missing) {
        (None, _) => "not measured".to_owned(),
        (Some(rounds), 0) => format!("each in {rounds}"),
        (Some(rounds), _) => format!("{missing} of them not measured, the others each in {rounds}"),
    };
    let duration = numbers::duration(findings.seconds);
    format!("{}, {rounds}, in {duration}", counted(findings.cells.len(), "cell"))
}

fn section(findings: &Findings) -> Section<'_> {
    Section {
        declaration: &findings.declaration,
        answer: &findings.answer,
        checks: &findings.checks,
        notes: &findings.notes,
        verdicts: findings.checks.iter().map(verdict).collect(),
        tally: tallies(&findings.checks),
        state: incomplete(findings.state),
        method: method(findings),
        plots: plots(findings),
        published: published(findings),
        all: whole_table(findings),
    }
}

impl View<'_> {
    pub(super) fn new(results: &Results) -> serde_json::Result<View<'_>> {
        Ok(View {
            started: numbers::date(results.started_unix),
            duration: numbers::duration(results.seconds),
            state: incomplete(results.state),
            command: &results.command,
            notes: &results.notes,
            machine: machine::description(&results.machine),
            disturbance: machine::disturbance(results),
            canaries: results.canaries.iter().map(noise::canary).collect(),
            canary_plot: noise::drawing(&results.canaries),
            steadiness: noise::meaning(results),
            overhead: machine::overhead(results),
            experiments: results.experiments.iter().map(section).collect(),
            simulated: Simulated::new(results),
            results: serde_json::to_string(results)?.replace('<', "\\u003c"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::MeasuredCell;

    #[test]
    fn the_rounds_are_those_that_were_run() {
        let method = |runs: &[usize]| {
            let cell = |runs: &usize| MeasuredCell { runs: *runs, ..MeasuredCell::default() };
            let cells = runs.iter().map(cell).collect();
            let words = method(&Findings { rounds: 14, seconds: 30.0, cells, ..Findings::default() });
            words.strip_suffix(&format!(", in {}", numbers::duration(30.0))).unwrap().to_owned()
        };
        assert_eq!(method(&[14, 14]), "2 cells, each in 14 rounds");
        assert_eq!(method(&[14, 8, 9]), "3 cells, each in 8 to 14 rounds");
        assert_eq!(method(&[1]), "1 cell, each in 1 round");
        assert_eq!(method(&[0, 5, 3]), "3 cells, 1 of them not measured, the others each in 3 to 5 rounds");
        assert_eq!(method(&[0, 0]), "2 cells, not measured");
    }
}
