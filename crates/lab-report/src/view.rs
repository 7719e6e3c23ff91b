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
        State::Interrupted => {
            "The run was interrupted, so cells are missing: 'terrace lab run --resume' continues it."
        }
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

fn section(findings: &Findings) -> Section<'_> {
    Section {
        declaration: &findings.declaration,
        answer: &findings.answer,
        checks: &findings.checks,
        notes: &findings.notes,
        verdicts: findings.checks.iter().map(verdict).collect(),
        tally: tallies(&findings.checks),
        state: incomplete(findings.state),
        method: format!(
            "{} cells, each in {} rounds, in {}",
            findings.cells.len(),
            findings.rounds,
            numbers::duration(findings.seconds)
        ),
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
