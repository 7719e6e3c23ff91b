//! What the page's template is given: words and tables, all made from the results.

use super::figure::{Figure, matching};
use super::simulated::Simulated;
use super::{format, machine, noise};
use crate::experiment::{Better, Check, Declaration, Metric, Parameters, Quantity, Reference};
use crate::results::{Findings, Results, State};
use present::numbers;
use serde::Serialize;
use std::collections::BTreeSet;

/// The page's words.
#[derive(Serialize)]
pub(super) struct View {
    version: String,
    started: String,
    duration: String,
    effort: &'static str,
    state: &'static str,
    command: String,
    notes: Vec<String>,
    machine: Vec<machine::Row>,
    disturbance: Vec<machine::Row>,
    canaries: Vec<String>,
    steadiness: String,
    overhead: String,
    model: String,
    cpus: usize,
    experiments: Vec<Section>,
    simulated: Option<Simulated>,
}

/// An experiment's words.
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
    figures: Vec<FigureView>,
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

/// A plot with its table.
#[derive(Serialize)]
pub(super) struct FigureView {
    #[serde(flatten)]
    pub(super) figure: Figure,
    id: String,
    better: &'static str,
    /// Nothing at all to draw, for one reason, which stands in the plot's place.
    empty: bool,
    table: Table,
}

#[derive(Serialize)]
struct MetricView {
    name: String,
    unit: String,
    better: &'static str,
    definition: String,
    caveat: String,
}

/// A table: the first `headers` columns name the row.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    pub(super) columns: Vec<String>,
    pub(super) headers: usize,
    pub(super) rows: Vec<Vec<String>>,
    /// What is the same in all rows.
    pub(super) fixed: String,
}

const HOLDS: Verdict = Verdict { mark: "✓", words: "holds", plural: "hold", class: "holds" };
const FAILS: Verdict =
    Verdict { mark: "✗", words: "does not hold here", plural: "do not hold here", class: "fails" };
const UNKNOWN: Verdict =
    Verdict { mark: "?", words: "cannot be told here", plural: "cannot be told here", class: "unknown" };

/// A check's result.
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

/// Which way is good.
pub(super) fn better(metric: &Metric) -> &'static str {
    match metric.better {
        Better::Lower => "lower is better",
        Better::Higher => "higher is better",
        Better::Neither => "",
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

/// Declared parameters that differ between these cells, and in words those that do not.
pub(super) fn varying<'a>(declaration: &'a Declaration, cells: &[&Parameters]) -> (Vec<&'a str>, String) {
    let keys = declaration.parameters.iter().map(|parameter| parameter.key.as_str());
    let differs = |key: &&str| {
        let values: BTreeSet<String> =
            cells.iter().map(|cell| cell.get(*key).map(ToString::to_string).unwrap_or_default()).collect();
        values.len() > 1 || cells.len() < 2
    };
    let (varying, fixed): (Vec<&str>, Vec<&str>) = keys.partition(differs);
    let first = cells.first();
    let pairs = fixed.iter().filter_map(|key| Some((*key, first?.get(*key)?)));
    (varying, format::label(declaration, pairs))
}

/// A parameter of a cell as a table shows it.
pub(super) fn place(declaration: &Declaration, key: &str, cell: &Parameters) -> String {
    let parameter = declaration.parameters.iter().find(|parameter| parameter.key == key);
    cell.get(key).map_or("–".into(), |value| format::parameter(parameter, value))
}

/// Headings of parameters.
pub(super) fn headings(declaration: &Declaration, keys: &[&str]) -> Vec<String> {
    let name = |key: &&str| {
        let found = declaration.parameters.iter().find(|parameter| parameter.key == **key);
        found.map_or((*key).to_owned(), |parameter| parameter.name.clone())
    };
    keys.iter().map(name).collect()
}

fn figure_table(findings: &Findings, figure: &Figure) -> Table {
    let declaration = &findings.declaration;
    let plot = &declaration.plots[figure.index];
    let cells: Vec<(usize, &Parameters)> = matching(plot, findings).collect();
    let (keys, fixed) = varying(declaration, &cells.iter().map(|(_, cell)| *cell).collect::<Vec<_>>());
    let mut columns = headings(declaration, &keys);
    columns.extend([format!("{}: median", figure.metric.name), "95 % interval".into(), "values".into()]);
    let unit = &figure.metric.unit;
    let row = |(index, cell): &(usize, &Parameters)| {
        let mut row: Vec<String> = keys.iter().map(|key| place(declaration, key, cell)).collect();
        row.extend(match findings.cells[*index].metrics.get(&plot.metric) {
            Some(Quantity::Known { interval, values }) => {
                let (low, high) =
                    (numbers::quantity(interval.low, unit), numbers::quantity(interval.high, unit));
                [
                    numbers::quantity(interval.median, unit),
                    format!("{low} to {high}"),
                    values.len().to_string(),
                ]
            }
            other => [format::known(other, unit), String::new(), String::new()],
        });
        row
    };
    Table { headers: keys.len(), columns, rows: cells.iter().map(row).collect(), fixed }
}

/// All metrics of all cells.
fn whole_table(findings: &Findings) -> Table {
    let declaration = &findings.declaration;
    let (keys, fixed) =
        varying(declaration, &findings.cells.iter().map(|cell| &cell.parameters).collect::<Vec<_>>());
    let mut columns = headings(declaration, &keys);
    columns.extend(declaration.metrics.iter().map(|metric| metric.name.clone()));
    let rows = findings.cells.iter().map(|cell| {
        let places = keys.iter().map(|key| place(declaration, key, &cell.parameters));
        let values = declaration
            .metrics
            .iter()
            .map(|metric| format::known(cell.metrics.get(&metric.key), &metric.unit));
        places.chain(values).collect()
    });
    Table { headers: keys.len(), columns, rows: rows.collect(), fixed }
}

/// The measured value that stands where a published one does: that of the only cell that has all its parameters.
pub(super) fn here(findings: &Findings, reference: &Reference) -> String {
    let fits = |cell: &&crate::experiment::measured::MeasuredCell| {
        reference.parameters.iter().all(|(key, value)| cell.parameters.get(key) == Some(value))
    };
    let unit = findings.declaration.metric(&reference.metric).map_or("", |metric| metric.unit.as_str());
    let found: Vec<_> = findings.cells.iter().filter(fits).collect();
    match found.as_slice() {
        [] => "not among the cells here".into(),
        [cell] => format::known(cell.metrics.get(&reference.metric), unit),
        cells => format!("{} cells, see the tables", cells.len()),
    }
}

/// Published values beside what was measured in their place.
pub(super) fn published(findings: &Findings) -> Option<Table> {
    let declaration = &findings.declaration;
    let row = |reference: &Reference| {
        let metric = declaration.metric(&reference.metric);
        let unit = metric.map_or("", |metric| metric.unit.as_str());
        vec![
            reference.label.clone(),
            format::cell(declaration, &reference.parameters),
            metric.map_or(reference.metric.clone(), |metric| metric.name.clone()),
            numbers::quantity(reference.value, unit),
            here(findings, reference),
        ]
    };
    (!declaration.references.is_empty()).then(|| Table {
        columns: ["source", "where", "metric", "published", "measured here"].map(str::to_owned).into(),
        headers: 3,
        rows: declaration.references.iter().map(row).collect(),
        fixed: String::new(),
    })
}

/// All plots of an experiment.
pub(super) fn figures(findings: &Findings) -> Vec<FigureView> {
    let declaration = &findings.declaration;
    let view = |(index, plot)| {
        let figure = Figure::new(findings, index, plot);
        let id = format!("{}-{index}", declaration.name);
        let marks = figure.panels.iter().any(|panel| !panel.references.is_empty());
        let empty = figure.points() == 0 && !marks && figure.missing.len() == 1;
        FigureView {
            id,
            empty,
            better: better(&figure.metric),
            table: figure_table(findings, &figure),
            figure,
        }
    };
    declaration.plots.iter().enumerate().map(view).collect()
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
        figures: figures(findings),
        published: published(findings),
        metrics: metrics.collect(),
        all: whole_table(findings),
        notes: findings.notes.clone(),
    }
}

impl View {
    pub(super) fn new(results: &Results) -> View {
        View {
            version: results.terrace.clone(),
            started: numbers::date(results.started_unix),
            duration: numbers::duration(results.seconds),
            effort: results.effort.name(),
            state: incomplete(results.state),
            command: results.command.clone(),
            notes: results.notes.clone(),
            machine: machine::page(&results.machine),
            disturbance: machine::disturbance(results),
            canaries: results.canaries.iter().map(noise::canary).collect(),
            steadiness: noise::meaning(results),
            overhead: machine::overhead(results),
            model: results.machine.model.clone(),
            cpus: results.machine.cpus,
            experiments: results.experiments.iter().map(section).collect(),
            simulated: Simulated::new(results),
        }
    }

    /// The structure of all plots, for the drawing.
    pub(super) fn figures(&self) -> Vec<&Figure> {
        let simulated = self.simulated.iter().flat_map(|simulated| &simulated.figures);
        let measured = self.experiments.iter().flat_map(|section| &section.figures);
        measured.chain(simulated).map(|view| &view.figure).collect()
    }
}
