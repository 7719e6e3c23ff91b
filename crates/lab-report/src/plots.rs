//! Plots as the page's template is given them.

use super::plot::Layout;
use super::tables::figure_table;
use experiment::Metric;
use experiment::results::Findings;
use present::figure;
use present::table::Table;
use serde::Serialize;

/// A plot with its drawing and its table.
#[derive(Serialize)]
pub(super) struct PlotView {
    id: String,
    experiment: String,
    index: usize,
    title: String,
    caption: String,
    metric: Metric,
    pub(super) drawing: String,
    notes: Vec<String>,
    missing: Vec<Missing>,
    pub(super) table: Table,
}

/// Cells without a value, and why.
#[derive(Serialize)]
struct Missing {
    reason: String,
    cells: Vec<String>,
}

pub(super) fn plots(findings: &Findings) -> Vec<PlotView> {
    let declaration = &findings.declaration;
    let view = |(index, plot)| {
        let Layout { figure: found, metric, notes, missing } = Layout::new(findings, plot);
        let mut missing: Vec<Missing> =
            missing.into_iter().map(|(reason, cells)| Missing { reason, cells }).collect();
        let marks = found.panels.iter().any(|panel| !panel.references.is_empty());
        let drawing = match (found.points() == 0 && !marks, missing.as_slice()) {
            (false, _) => found.drawing(),
            // The one reason stands in the plot's place.
            (true, [_]) => missing.pop().map_or_else(String::new, |missing| figure::empty(&missing.reason)),
            (true, _) => figure::empty("none of this was measured; the reasons are below"),
        };
        PlotView {
            id: format!("{}-{index}", declaration.name),
            experiment: declaration.name.clone(),
            index,
            title: plot.title.clone(),
            caption: plot.caption.clone(),
            drawing,
            notes,
            missing,
            table: figure_table(findings, plot, &metric),
            metric,
        }
    };
    declaration.plots.iter().enumerate().map(view).collect()
}
