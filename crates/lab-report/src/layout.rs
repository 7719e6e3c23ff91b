//! How a plot divides an experiment's cells into panels, series and places, and where published values fall among them.

use super::format;
use experiment::results::Findings;
use experiment::{Declaration, Kind, Parameters, Plot, Quantity, Value};
use present::figure::{Gap, Mark, Panel, Point, Series};
use present::numbers;
use std::collections::BTreeMap;

/// Values of some parameters, in the order of their keys; `None` where a cell does not have one.
pub(super) type Combination = Vec<Option<Value>>;

fn combination(parameters: &Parameters, keys: &[String]) -> Combination {
    keys.iter().map(|key| parameters.get(key).cloned()).collect()
}

/// The different values in the order in which they are shown: numbers ascending, words as met.
pub(super) fn different<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<Value> {
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
pub(super) fn combinations(cells: &[(usize, &Parameters)], keys: &[String]) -> Vec<Combination> {
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

pub(super) fn titled(declaration: &Declaration, keys: &[String], combination: &[Option<Value>]) -> String {
    let pairs = keys.iter().zip(combination).filter_map(|(key, value)| Some((key.as_str(), value.as_ref()?)));
    format::label(declaration, pairs)
}

/// How a plot divides the cells.
pub(super) struct Split {
    pub(super) series: Vec<String>,
    pub(super) panels: Vec<String>,
}

/// What the plot does not mention and yet differs tells series apart too, so that no point hides another. A field of colours
/// has one row parameter: what else differs makes panels.
pub(super) fn split(plot: &Plot, declaration: &Declaration, cells: &[(usize, &Parameters)]) -> Split {
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

/// Puts cells and published values into their places.
pub(super) struct Builder<'a> {
    pub(super) findings: &'a Findings,
    pub(super) plot: &'a Plot,
    pub(super) unit: String,
    pub(super) split: Split,
    pub(super) rows: Vec<Combination>,
    pub(super) panels: Vec<Combination>,
    pub(super) places: Vec<Value>,
    pub(super) words: bool,
    pub(super) log_x: bool,
    pub(super) series: Vec<Series>,
}

impl Builder<'_> {
    pub(super) fn at(&self, value: &Value) -> Option<f64> {
        if self.words {
            return self.places.iter().position(|place| place == value).map(|index| index as f64);
        }
        value.number().filter(|number| !self.log_x || *number > 0.0)
    }

    pub(super) fn measured(
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
            if let Some(Quantity::Known { interval, values }) = found {
                panels[panel].points.push(Point { series, at, value: *interval, text, values: values.len() });
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

    pub(super) fn published(&mut self, panels: &mut [Panel]) {
        let declaration = &self.findings.declaration;
        for reference in &declaration.references {
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
            let text = numbers::quantity(reference.value, &self.unit);
            for (panel, values) in panels.iter_mut().zip(&self.panels) {
                if agrees(own, &self.split.panels, values) {
                    panel.references.push(Mark { series, at, value: reference.value, text: text.clone() });
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
