//! A plot's structure, worked out once for the page, its tables and its tests: which cells are points, of which series, in
//! which panel, and where the published values belong. It holds places, labels and texts; the numbers that are drawn are
//! looked up in the results by `cell`.

use super::format;
use super::layout::{Builder, combinations, different, split, titled};
use crate::experiment::{Kind, Metric, Parameters, Plot, Quantity};
use crate::results::Findings;
use present::numbers::{self, Scale};
use serde::Serialize;
use std::collections::BTreeMap;

/// A plot, ready to be drawn.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// The experiment's name.
    pub experiment: String,
    /// The plot's place in the declaration.
    pub index: usize,
    /// How it is drawn.
    pub kind: Kind,
    /// Its heading.
    pub title: String,
    /// What to look for.
    pub caption: String,
    /// The metric.
    pub metric: Metric,
    /// The multiples of the metric's unit.
    pub scales: Vec<Scale>,
    /// Across.
    pub x: Axis,
    /// Whether values are on a logarithmic scale.
    pub log_y: bool,
    /// Lines or groups of bars; with [`Kind::Heat`] the rows.
    pub series: Vec<Series>,
    /// Small multiples; one without a title when there is nothing to tell apart.
    pub panels: Vec<Panel>,
    /// What differs from what was declared, and why.
    pub notes: Vec<String>,
    /// What could not be drawn, by reason.
    pub missing: Vec<Missing>,
    /// The values by cell, where the cells are not those of an experiment in the results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Quantity>>,
}

/// What lies across.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    /// The parameter's name.
    pub name: String,
    /// Its places have no distance: words, or columns.
    pub words: bool,
    /// Logarithmic.
    pub log: bool,
    /// Places and their labels.
    pub ticks: Vec<Tick>,
}

/// A place across.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tick {
    /// The number, or for words the index.
    pub at: f64,
    /// As a reader sees it.
    pub label: String,
    /// Whether it is a number, so that a line may lead to it.
    pub number: bool,
}

/// A line, or a bar in each group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// For the legend.
    pub label: String,
    /// Not measured here.
    pub published: bool,
    /// The measured series that this published one is about.
    pub like: Option<usize>,
}

/// One of the small multiples.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Panel {
    /// What it is of.
    pub title: String,
    /// Measured.
    pub points: Vec<Point>,
    /// Not to be had.
    pub gaps: Vec<Gap>,
    /// Published.
    pub references: Vec<Mark>,
}

/// A measured point.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// Of which series.
    pub series: usize,
    /// Where across.
    pub at: f64,
    /// The cell's index in the results.
    pub cell: usize,
    /// The value with its interval, for reading.
    pub text: String,
}

/// A point that there is not.
#[derive(Clone, Debug, Serialize)]
pub struct Gap {
    /// Of which series.
    pub series: usize,
    /// Where across.
    pub at: f64,
    /// Why.
    pub text: String,
}

/// A published value.
#[derive(Clone, Debug, Serialize)]
pub struct Mark {
    /// Of which series.
    pub series: usize,
    /// Where across; `None` for a value that holds anywhere.
    pub at: Option<f64>,
    /// The reference's index in the declaration.
    pub reference: usize,
    /// The value, for reading.
    pub text: String,
}

/// Cells without a value, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Missing {
    /// Why.
    pub reason: String,
    /// Which.
    pub cells: Vec<String>,
}

/// The cells of a plot: those with the values of `only` and a place across.
pub fn matching<'a>(plot: &'a Plot, findings: &'a Findings) -> impl Iterator<Item = (usize, &'a Parameters)> {
    findings.cells.iter().enumerate().map(|(index, cell)| (index, &cell.parameters)).filter(
        |(_, parameters)| {
            plot.only.iter().all(|(key, value)| parameters.get(key) == Some(value))
                && parameters.contains_key(&plot.x)
        },
    )
}

impl Figure {
    /// Works out a plot.
    pub fn new(findings: &Findings, index: usize, plot: &Plot) -> Figure {
        let declaration = &findings.declaration;
        let metric = declaration.metric(&plot.metric).cloned().unwrap_or_else(|| Metric {
            key: plot.metric.clone(),
            name: plot.metric.clone(),
            unit: String::new(),
            better: crate::experiment::Better::Neither,
            definition: String::new(),
            caveat: String::new(),
        });
        let cells: Vec<(usize, &Parameters)> = matching(plot, findings).collect();
        let parameter = declaration.parameters.iter().find(|parameter| parameter.key == plot.x);
        let places = different(cells.iter().filter_map(|(_, parameters)| parameters.get(&plot.x)));
        let words = plot.kind != Kind::Lines || places.iter().any(|value| value.number().is_none());
        let mut notes = Vec::new();
        let positive = places.iter().all(|value| value.number().is_none_or(|number| number > 0.0));
        if plot.log_x && !words && !positive {
            notes.push("The scale across is linear because it holds 0.".to_owned());
        }
        let split = split(plot, declaration, &cells);
        let rows = combinations(&cells, &split.series);
        let series = rows.iter().map(|row| {
            let label = titled(declaration, &split.series, row);
            let label = if label.is_empty() { metric.name.clone() } else { label };
            Series { label, published: false, like: None }
        });
        let series: Vec<Series> = series.collect();
        let mut builder = Builder {
            findings,
            plot,
            unit: metric.unit.clone(),
            panels: combinations(&cells, &split.panels),
            split,
            rows,
            places,
            words,
            log_x: plot.log_x && !words && positive,
            series,
        };
        let mut missing = BTreeMap::new();
        let mut panels = builder.measured(&cells, &mut missing);
        builder.published(&mut panels);
        let zero = panels.iter().flat_map(|panel| &panel.points).any(|point| {
            let found = findings.cells[point.cell].metrics.get(&plot.metric).and_then(Quantity::interval);
            found.is_some_and(|found| found.median <= 0.0)
        });
        if plot.log_y && zero {
            notes.push("The scale of values is linear because some are 0.".to_owned());
        }
        let ticks = builder.places.iter().map(|value| Tick {
            at: builder.at(value).unwrap_or(0.0),
            label: format::parameter(parameter, value),
            number: value.number().is_some(),
        });
        Figure {
            experiment: declaration.name.clone(),
            index,
            kind: plot.kind,
            title: plot.title.clone(),
            caption: plot.caption.clone(),
            scales: numbers::scales(&metric.unit),
            x: Axis {
                name: parameter.map_or(plot.x.clone(), |parameter| parameter.name.clone()),
                words,
                log: builder.log_x,
                ticks: ticks.collect(),
            },
            metric,
            log_y: plot.log_y && !zero,
            panels,
            notes,
            missing: missing.into_iter().map(|(reason, cells)| Missing { reason, cells }).collect(),
            series: builder.series,
            values: None,
        }
    }

    /// How many measured points it has.
    pub fn points(&self) -> usize {
        self.panels.iter().map(|panel| panel.points.len()).sum()
    }
}

#[cfg(test)]
#[path = "figure_test.rs"]
mod tests;
