//! A plot's structure, as `plot` works it out: which cells are points, of which series, in which panel, and where the published values
//! belong. It has places, labels and texts; the numbers that are drawn are looked up in the results by `cell`.

use crate::experiment::{Kind, Metric, Quantity};
use present::numbers::Scale;
use serde::Serialize;

/// A plot, ready to be drawn.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    pub experiment: String,
    /// The plot's place in the declaration.
    pub index: usize,
    /// How it is drawn.
    pub kind: Kind,
    pub title: String,
    /// What to look for.
    pub caption: String,
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
    pub series: usize,
    /// Where across.
    pub at: f64,
    /// Why.
    pub text: String,
}

/// A published value.
#[derive(Clone, Debug, Serialize)]
pub struct Mark {
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
    pub cells: Vec<String>,
}

impl Figure {
    /// How many measured points it has.
    pub fn points(&self) -> usize {
        self.panels.iter().map(|panel| panel.points.len()).sum()
    }
}
