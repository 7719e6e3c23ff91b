//! A plot's structure worked out, once for the page, its tables and its tests.

use super::format;
use super::layout::{Builder, combinations, different, split, titled};
use experiment::results::Findings;
use experiment::{Better, Kind, Metric, Parameters, Plot};
use present::figure::{Axis, Figure, Series, Tick};
use std::collections::BTreeMap;

/// The cells of a plot: those with the values of `only` and a place across.
pub fn matching<'a>(plot: &'a Plot, findings: &'a Findings) -> impl Iterator<Item = (usize, &'a Parameters)> {
    findings.cells.iter().enumerate().map(|(index, cell)| (index, &cell.parameters)).filter(
        |(_, parameters)| {
            plot.only.iter().all(|(key, value)| parameters.get(key) == Some(value))
                && parameters.contains_key(&plot.x)
        },
    )
}

/// A plot, ready to be drawn.
pub struct Layout {
    pub figure: Figure,
    pub metric: Metric,
    /// What differs from what was declared, and why.
    pub notes: Vec<String>,
    /// What could not be drawn, by reason.
    pub missing: BTreeMap<String, Vec<String>>,
}

impl Layout {
    pub fn new(findings: &Findings, plot: &Plot) -> Layout {
        let declaration = &findings.declaration;
        let undeclared = || Metric::neither(&plot.metric, &plot.metric, "");
        let metric = declaration.metric(&plot.metric).cloned().unwrap_or_else(undeclared);
        let cells: Vec<(usize, &Parameters)> = matching(plot, findings).collect();
        let parameter = declaration.parameters.iter().find(|parameter| parameter.key == plot.x);
        let places = different(cells.iter().filter_map(|(_, parameters)| parameters.get(&plot.x)));
        let words = plot.kind != Kind::Lines || places.iter().any(|value| value.number().is_none());
        let mut notes = Vec::new();
        let positive = places.iter().all(|value| value.number().is_none_or(|number| number > 0.0));
        if plot.log_x && !words && !positive {
            notes.push("The horizontal scale is linear because it includes 0.".to_owned());
        }
        let split = split(plot, declaration, &cells);
        let rows = combinations(&cells, &split.series);
        let series = rows.iter().map(|row| {
            let label = titled(declaration, &split.series, row);
            let label = if label.is_empty() { metric.name.clone() } else { label };
            Series::of(label)
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
        let zero = panels.iter().flat_map(|panel| &panel.points).any(|point| point.value.median <= 0.0);
        if plot.log_y && zero {
            notes.push("The scale of values is linear because some are 0.".to_owned());
        }
        let ticks = builder.places.iter().map(|value| Tick {
            at: builder.at(value).unwrap_or(0.0),
            label: format::parameter(parameter, value),
            number: value.number().is_some(),
        });
        let figure = Figure {
            kind: plot.kind,
            title: plot.title.clone(),
            unit: metric.unit.clone(),
            lower_is_better: metric.better == Better::Lower,
            log: plot.log_y && !zero,
            base: None,
            x: Axis {
                name: parameter.map_or(plot.x.clone(), |parameter| parameter.name.clone()),
                words,
                log: builder.log_x,
                ticks: ticks.collect(),
            },
            series: builder.series,
            panels,
        };
        Layout { figure, metric, notes, missing }
    }
}

#[cfg(test)]
#[path = "plot_test.rs"]
mod tests;
