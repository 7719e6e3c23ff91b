//! What the page's template is given: words and tables, all made from the results.

use super::plots::{PlotView, better, plots};
use super::simulated::Simulated;
use super::tables::{published, whole_table};
use super::{machine, noise};
use crate::experiment::Check;
use crate::results::{Findings, Results, State};
use present::numbers;
use present::table::Table;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct View {
    pub(super) started: String,
    pub(super) duration: String,
    state: &'static str,
    command: String,
    notes: Vec<String>,
    machine: Vec<machine::Row>,
    disturbance: Vec<machine::Row>,
    canaries: Vec<String>,
    steadiness: String,
    overhead: String,
    canary_plot: String,
    /// JSON that can stand in a script element: no text in it can end the element.
    results: String,
    experiments: Vec<Section>,
    simulated: Option<Simulated>,
}

#[derive(Serialize)]
struct Section {
    name: String,
    title: String,
    question: String,
    source: Option<String>,
    answer: String,
    state: &'static str,
    method: String,
    checks: Vec<CheckLine>,
    tally: Vec<Tally>,
    plots: Vec<PlotView>,
    published: Option<Table>,
    metrics: Vec<MetricView>,
    all: Table,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct CheckLine {
    claim: String,
    source: String,
    found: String,
    verdict: Verdict,
}

/// A check's result as a mark and words; colour is only a help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Verdict {
    pub(super) mark: &'static str,
    pub(super) words: &'static str,
    plural: &'static str,
    class: &'static str,
}

#[derive(Serialize)]
struct Tally {
    words: String,
    verdict: Verdict,
}

#[derive(Serialize)]
struct MetricView {
    name: String,
    unit: String,
    better: &'static str,
    definition: String,
    caveat: String,
}

const HOLDS: Verdict = Verdict { mark: "✓", words: "holds", plural: "hold", class: "holds" };
const FAILS: Verdict =
    Verdict { mark: "✗", words: "does not hold here", plural: "do not hold here", class: "fails" };
const UNKNOWN: Verdict =
    Verdict { mark: "?", words: "cannot be told here", plural: "cannot be told here", class: "unknown" };

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
        State::Interrupted => "It was interrupted, so cells are missing: terrace lab run --resume continues.",
        State::Failed => "Some cells failed; their metrics say why.",
    }
}

/// How many claims hold, do not, or cannot be told.
fn tallies(checks: &[Check]) -> Vec<Tally> {
    let count = |verdict_: Verdict| checks.iter().filter(|check| verdict(check) == verdict_).count();
    let tally = |verdict: Verdict| match count(verdict) {
        0 => None,
        1 => Some(Tally { words: format!("1 {}", verdict.words), verdict }),
        more => Some(Tally { words: format!("{more} {}", verdict.plural), verdict }),
    };
    [HOLDS, FAILS, UNKNOWN].into_iter().filter_map(tally).collect()
}

fn section(findings: &Findings) -> Section {
    let declaration = &findings.declaration;
    let metrics = declaration.metrics.iter().map(|metric| MetricView {
        name: metric.name.clone(),
        unit: metric.unit.clone(),
        better: better(metric),
        definition: metric.definition.clone(),
        caveat: metric.caveat.clone(),
    });
    let checks = findings.checks.iter().map(|check| CheckLine {
        claim: check.claim.clone(),
        source: check.source.clone(),
        found: check.found.clone(),
        verdict: verdict(check),
    });
    Section {
        name: declaration.name.clone(),
        title: declaration.title.clone(),
        question: declaration.question.clone(),
        source: (declaration.source.as_ref())
            .map(|source| format!("{}: “{}”, measured on {}", source.authors, source.title, source.machine)),
        answer: findings.answer.clone(),
        state: incomplete(findings.state),
        method: format!(
            "{} cells, each in {} rounds, in {}",
            findings.cells.len(),
            findings.rounds,
            numbers::duration(findings.seconds)
        ),
        tally: tallies(&findings.checks),
        checks: checks.collect(),
        plots: plots(findings),
        published: published(findings),
        metrics: metrics.collect(),
        all: whole_table(findings),
        notes: findings.notes.clone(),
    }
}

impl View {
    pub(super) fn new(results: &Results) -> serde_json::Result<View> {
        Ok(View {
            started: numbers::date(results.started_unix),
            duration: numbers::duration(results.seconds),
            state: incomplete(results.state),
            command: results.command.clone(),
            notes: results.notes.clone(),
            machine: machine::description(&results.machine),
            disturbance: machine::disturbance(results),
            canaries: results.canaries.iter().map(noise::canary).collect(),
            steadiness: noise::meaning(results),
            overhead: machine::overhead(results),
            canary_plot: noise::drawing(&results.canaries),
            results: serde_json::to_string(results)?.replace('<', "\\u003c"),
            experiments: results.experiments.iter().map(section).collect(),
            simulated: Simulated::new(results),
        })
    }
}
