//! Tables of cells: parameters beside values.

use super::format;
use super::plot::matching;
use experiment::results::Findings;
use experiment::{Declaration, MeasuredCell, Metric, Parameters, Plot, Quantity, Reference};
use present::numbers;
use present::table::Table;
use std::collections::BTreeSet;

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

pub(super) fn headings(declaration: &Declaration, keys: &[&str]) -> Vec<String> {
    let name = |key: &&str| {
        let found = declaration.parameters.iter().find(|parameter| parameter.key == **key);
        found.map_or((*key).to_owned(), |parameter| parameter.name.clone())
    };
    keys.iter().map(name).collect()
}

/// The values of a plot.
pub(super) fn figure_table(findings: &Findings, plot: &Plot, metric: &Metric) -> Table {
    let declaration = &findings.declaration;
    let cells: Vec<(usize, &Parameters)> = matching(plot, findings).collect();
    let (keys, fixed) = varying(declaration, &cells.iter().map(|(_, cell)| *cell).collect::<Vec<_>>());
    let mut columns = headings(declaration, &keys);
    columns.extend([format!("{}: median", metric.name), "95 % interval".into(), "values".into()]);
    let unit = &metric.unit;
    let row = |(index, cell): &(usize, &Parameters)| {
        let mut row: Vec<String> = keys.iter().map(|key| place(declaration, key, cell)).collect();
        let cell = &findings.cells[*index];
        row.extend(match cell.metrics.get(&plot.metric) {
            Some(Quantity::Known { interval, values }) => {
                let (low, high) =
                    (numbers::quantity(interval.low, unit), numbers::quantity(interval.high, unit));
                [
                    numbers::quantity(interval.median, unit),
                    format!("{low} to {high}"),
                    if cell.processes == 1 { format::processes(cell) } else { values.len().to_string() },
                ]
            }
            other => [format::known(other, unit), String::new(), String::new()],
        });
        row
    };
    Table { columns, names: keys.len(), rows: cells.iter().map(row).collect(), fixed }
}

/// All metrics of all cells.
pub(super) fn whole_table(findings: &Findings) -> Table {
    let declaration = &findings.declaration;
    let (keys, fixed) =
        varying(declaration, &findings.cells.iter().map(|cell| &cell.parameters).collect::<Vec<_>>());
    let mut columns = headings(declaration, &keys);
    columns.extend(declaration.metrics.iter().map(|metric| metric.name.clone()));
    let compared = findings.cells.iter().any(|cell| cell.processes > 0);
    columns.extend(compared.then(|| "of".to_owned()));
    let rows = findings.cells.iter().map(|cell| {
        let places = keys.iter().map(|key| place(declaration, key, &cell.parameters));
        let values = declaration
            .metrics
            .iter()
            .map(|metric| format::known(cell.metrics.get(&metric.key), &metric.unit));
        places.chain(values).chain(compared.then(|| format::processes(cell))).collect()
    });
    Table { names: keys.len(), columns, rows: rows.collect(), fixed }
}

/// The measured value that stands where a published one does: that of the only cell that has all its parameters.
pub(super) fn here(findings: &Findings, reference: &Reference) -> String {
    let fits = |cell: &&MeasuredCell| {
        reference.parameters.iter().all(|(key, value)| cell.parameters.get(key) == Some(value))
    };
    let unit = findings.declaration.metric(&reference.metric).map_or("", |metric| metric.unit.as_str());
    let found: Vec<_> = findings.cells.iter().filter(fits).collect();
    match found.as_slice() {
        [] => "no such cell in this run".into(),
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
    let columns = ["source", "where", "metric", "published", "measured here"];
    let table = || Table { names: 3, ..Table::new(columns) }.with(declaration.references.iter().map(row));
    (!declaration.references.is_empty()).then(table)
}
