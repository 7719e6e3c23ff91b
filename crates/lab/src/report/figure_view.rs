//! Plots as the page's template is given them.

use super::figure::Figure;
use super::tables::{Table, figure_table};
use crate::experiment::{Better, Metric};
use crate::results::Findings;
use serde::Serialize;

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

/// Which way is good.
pub(super) fn better(metric: &Metric) -> &'static str {
    match metric.better {
        Better::Lower => "lower is better",
        Better::Higher => "higher is better",
        Better::Neither => "",
    }
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
