//! A plot's structure, worked out once for the page, its tables and its tests: which cells are points, of which series, in
//! which panel, and where the published values belong. It holds places, labels and texts; the numbers that are drawn are
//! looked up in the results by `cell`.

use super::format::{self, Scale};
use crate::experiment::{Declaration, Kind, Metric, Parameters, Plot, Quantity, Value};
use crate::results::Findings;
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

/// Values of some parameters, in the order of their keys; `None` where a cell does not have one.
type Combination = Vec<Option<Value>>;

fn combination(parameters: &Parameters, keys: &[String]) -> Combination {
    keys.iter().map(|key| parameters.get(key).cloned()).collect()
}

/// The different values in the order in which they are shown: numbers ascending, words as met.
fn different<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for value in values {
        if !found.contains(value) {
            found.push(value.clone());
        }
    }
    if found.iter().all(|value| value.number().is_some()) {
        found.sort_by(|a, b| a.number().unwrap_or(0.0).total_cmp(&b.number().unwrap_or(0.0)));
    }
    found
}

/// The different combinations, ordered key by key.
fn combinations(cells: &[(usize, &Parameters)], keys: &[String]) -> Vec<Combination> {
    let orders: Vec<Vec<Value>> = keys
        .iter()
        .map(|key| different(cells.iter().filter_map(|(_, parameters)| parameters.get(key))))
        .collect();
    let mut found: Vec<Combination> = Vec::new();
    for (_, parameters) in cells {
        let combination = combination(parameters, keys);
        if !found.contains(&combination) {
            found.push(combination);
        }
    }
    found.sort_by_key(|combination| {
        let place = |(value, order): (&Option<Value>, &Vec<Value>)| {
            value
                .as_ref()
                .and_then(|value| order.iter().position(|other| other == value))
                .unwrap_or(usize::MAX)
        };
        combination.iter().zip(&orders).map(place).collect::<Vec<usize>>()
    });
    found
}

/// Whether a published value may be about this combination: it says nothing else.
fn agrees(reference: &Parameters, keys: &[String], combination: &[Option<Value>]) -> bool {
    keys.iter().zip(combination).all(|(key, value)| {
        reference.get(key).is_none_or(|published| value.as_ref().is_some_and(|value| value == published))
    })
}

fn titled(declaration: &Declaration, keys: &[String], combination: &[Option<Value>]) -> String {
    let pairs = keys.iter().zip(combination).filter_map(|(key, value)| Some((key.as_str(), value.as_ref()?)));
    format::label(declaration, pairs)
}

/// How a plot divides the cells.
struct Split {
    series: Vec<String>,
    panels: Vec<String>,
}

/// What the plot does not mention and yet differs tells series apart too, so that no point hides another. A field of colours
/// has one row parameter: what else differs makes panels.
fn split(plot: &Plot, declaration: &Declaration, cells: &[(usize, &Parameters)]) -> Split {
    let declared = declaration.parameters.iter().map(|parameter| parameter.key.clone());
    let mut keys: Vec<String> = declared.collect();
    for (_, parameters) in cells {
        keys.extend(parameters.keys().filter(|key| !keys.contains(key)).cloned().collect::<Vec<_>>());
    }
    let mentioned = |key: &String| {
        *key == plot.x
            || plot.series.contains(key)
            || plot.panels.contains(key)
            || plot.only.contains_key(key)
    };
    let varies = |key: &String| {
        let mut values = cells.iter().map(|(_, parameters)| parameters.get(key));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let others: Vec<String> = keys.into_iter().filter(|key| !mentioned(key) && varies(key)).collect();
    let (mut series, mut panels) = (plot.series.clone(), plot.panels.clone());
    if plot.kind == Kind::Heat {
        panels.extend(series.drain(1.min(series.len())..));
        panels.extend(others);
    } else {
        series.extend(others);
    }
    Split { series, panels }
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
            scales: format::scales(&metric.unit),
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
        }
    }

    /// How many measured points it has.
    pub fn points(&self) -> usize {
        self.panels.iter().map(|panel| panel.points.len()).sum()
    }
}

struct Builder<'a> {
    findings: &'a Findings,
    plot: &'a Plot,
    unit: String,
    split: Split,
    rows: Vec<Combination>,
    panels: Vec<Combination>,
    places: Vec<Value>,
    words: bool,
    log_x: bool,
    series: Vec<Series>,
}

impl Builder<'_> {
    fn at(&self, value: &Value) -> Option<f64> {
        if self.words {
            return self.places.iter().position(|place| place == value).map(|index| index as f64);
        }
        value.number().filter(|number| !self.log_x || *number > 0.0)
    }

    fn measured(
        &self,
        cells: &[(usize, &Parameters)],
        missing: &mut BTreeMap<String, Vec<String>>,
    ) -> Vec<Panel> {
        let declaration = &self.findings.declaration;
        let title = |panel: &Combination| titled(declaration, &self.split.panels, panel);
        let mut panels: Vec<Panel> =
            self.panels.iter().map(|panel| Panel { title: title(panel), ..Panel::default() }).collect();
        for (index, parameters) in cells {
            let place = |keys: &[String], among: &[Combination]| {
                let own = combination(parameters, keys);
                among.iter().position(|other| *other == own)
            };
            let (Some(panel), Some(series), Some(at)) = (
                place(&self.split.panels, &self.panels),
                place(&self.split.series, &self.rows),
                parameters.get(&self.plot.x).and_then(|value| self.at(value)),
            ) else {
                continue;
            };
            let found = self.findings.cells[*index].metrics.get(&self.plot.metric);
            let text = format::known(found, &self.unit);
            if found.and_then(Quantity::interval).is_some() {
                panels[panel].points.push(Point { series, at, cell: *index, text });
            } else {
                missing.entry(text.clone()).or_default().push(format::cell(declaration, parameters));
                panels[panel].gaps.push(Gap { series, at, text });
            }
        }
        for panel in &mut panels {
            panel.points.sort_by(|a, b| a.series.cmp(&b.series).then(a.at.total_cmp(&b.at)));
        }
        panels
    }

    fn published(&mut self, panels: &mut [Panel]) {
        let declaration = &self.findings.declaration;
        for (index, reference) in declaration.references.iter().enumerate() {
            let own = &reference.parameters;
            let excluded =
                self.plot.only.iter().any(|(key, value)| own.get(key).is_some_and(|other| other != value));
            if reference.metric != self.plot.metric || excluded {
                continue;
            }
            let at = match own.get(&self.plot.x) {
                None => None,
                Some(value) => {
                    // A word, or a column, that was not measured here gets a place behind the others.
                    if self.words && self.plot.kind != Kind::Heat && !self.places.contains(value) {
                        self.places.push(value.clone());
                    }
                    match self.at(value) {
                        Some(at) => Some(at),
                        None => continue,
                    }
                }
            };
            let complete = self.split.series.iter().all(|key| own.contains_key(key));
            let row = self.rows.iter().position(|row| agrees(own, &self.split.series, row));
            let like = row.filter(|_| complete);
            let series = match (self.plot.kind, like, at) {
                (Kind::Heat, Some(row), Some(_)) => row,
                (Kind::Heat, ..) => continue,
                _ => self.series_of(&reference.label, own, like),
            };
            let text = format::quantity(reference.value, &self.unit);
            for (panel, values) in panels.iter_mut().zip(&self.panels) {
                if agrees(own, &self.split.panels, values) {
                    panel.references.push(Mark { series, at, reference: index, text: text.clone() });
                }
            }
        }
        for panel in panels {
            panel.references.sort_by(|a, b| {
                a.series
                    .cmp(&b.series)
                    .then(a.at.unwrap_or(f64::NEG_INFINITY).total_cmp(&b.at.unwrap_or(f64::NEG_INFINITY)))
            });
        }
    }

    /// The series of a published value: one for each source and each combination that it names.
    fn series_of(&mut self, source: &str, parameters: &Parameters, like: Option<usize>) -> usize {
        let place = |key: &str| key == self.plot.x || self.split.panels.iter().any(|panel| panel == key);
        let declaration = &self.findings.declaration;
        let pairs = format::ordered(declaration, parameters).into_iter();
        let pairs = pairs.filter(|(key, _)| !place(key) && !self.plot.only.contains_key(*key));
        let words = format::label(declaration, pairs);
        let label = if words.is_empty() {
            format!("published: {source}")
        } else {
            format!("published: {source}: {words}")
        };
        let series = Series { label, published: true, like };
        self.series.iter().position(|other| *other == series).unwrap_or_else(|| {
            self.series.push(series);
            self.series.len() - 1
        })
    }
}

#[cfg(test)]
#[path = "figure_test.rs"]
mod tests;
