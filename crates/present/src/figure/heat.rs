//! A field of colours with its numbers; wider than the page it scrolls.

use super::scale::Scale;
use super::svg::{escaped, lines, percent, text, width};
use super::{Figure, Panel};
use crate::numbers;
use std::fmt::Write;

const ROW: f64 = 54.0;
const HEAD: f64 = 28.0;
/// The least width of a cell, and the most of the names of rows.
const CELL: f64 = 92.0;
const NAMES: f64 = 150.0;

/// Strong colour, weak colour, and how much of the strong one a value gets.
type Paint = (&'static str, &'static str, f64);

/// The colours of values. Speed-ups and other ratios have a middle: 1.
fn painter(figure: &Figure) -> impl Fn(f64) -> Paint {
    let (low, high) = figure.extent(true);
    let around_one =
        ["×", "x", "ratio"].contains(&figure.unit.as_str()) && low > 0.0 && low < 1.0 && high > 1.0;
    let lower_is_better = figure.lower_is_better;
    let log = low > 0.0 && (figure.log || high / low > 30.0);
    let scale = Scale { low, high: if high == low { low + 1.0 } else { high }, log };
    move |value| {
        if !around_one {
            return ("high", "low", scale.share(value));
        }
        let way = value.ln() / high.ln().max(-low.ln());
        (if (way > 0.0) != lower_is_better { "high" } else { "worse" }, "middle", way.abs())
    }
}

fn colours((strong, weak, amount): Paint) -> String {
    format!("--cell:color-mix(in oklab, var(--heat-{strong}) {:.1}%, var(--heat-{weak}))", amount * 100.0)
}

/// What stands in a cell: its colour or class, its lines (number, interval, published), and its hover text.
type Cell = (String, Vec<(&'static str, String)>, String);

fn cell(figure: &Figure, panel: &Panel, paint: &impl Fn(f64) -> Paint, row: usize, at: f64) -> Cell {
    let point = panel.points.iter().find(|point| point.series == row && point.at == at);
    let gap = panel.gaps.iter().find(|gap| gap.series == row && gap.at == at);
    let class = |class: &str| format!(r#"class="cell {class}""#);
    let (look, mut lines, mut title) = match (point, gap) {
        (Some(point), _) => {
            let text = numbers::shortened(&point.text);
            let (number, rest) = text.split_once(" [").unwrap_or((&text, "]"));
            let (range, unit) = rest.split_once(']').unwrap_or((rest, ""));
            let mut lines = vec![("median", format!("{number}{unit}"))];
            lines.extend((!range.is_empty()).then(|| ("range", format!("[{range}]"))));
            let look = format!(r#"{} style="{}""#, class("point"), colours(paint(point.value.median)));
            let label = &figure.series[row].label;
            (look, lines, format!("{label}, {} {}: {}", figure.x.name, figure.place(at), point.text))
        }
        (None, Some(gap)) => (class("unavailable"), vec![("range", "unavailable".into())], gap.text.clone()),
        (None, None) => (class("none"), vec![("range", "–".into())], "not among the cells".into()),
    };
    for mark in panel.references.iter().filter(|mark| mark.series == row && mark.at == Some(at)) {
        lines.push(("range", format!("◇ {}", numbers::shortened(&mark.text))));
        title += &format!("; published: {}", mark.text);
    }
    (look, lines, title)
}

/// One panel: the key of the colours, then a row for each series.
pub fn panel(markup: &mut String, figure: &Figure, panel: &Panel) {
    let paint = painter(figure);
    key(markup, figure, &paint);
    let names =
        figure.series.iter().map(|series| width(&series.label)).fold(width(&figure.x.name) + 16.0, f64::max);
    let left = (names * 1.08 + 10.0).min(NAMES);
    let columns = figure.x.ticks.len().max(1) as f64;
    let height = HEAD + figure.series.len() as f64 * ROW;
    let _ = write!(
        markup,
        r#"<div class="drawing heat" tabindex="0" role="region" aria-label="{}"><svg width="{left}" height="{height}" aria-hidden="true">"#,
        figure.named(panel)
    );
    text(markup, "corner", left - 8.0, 18.0, "end", &format!("{} →", figure.x.name));
    // The lines of a cell stand around its middle.
    let line_of = |row: usize, lines: usize, line: usize| {
        HEAD + ROW * (row as f64 + 0.5) + 4.5 + 15.0 * (line as f64 - (lines as f64 - 1.0) / 2.0)
    };
    for (row, series) in figure.series.iter().enumerate() {
        let words = lines(&series.label, left - 8.0);
        for (line, part) in words.iter().enumerate() {
            text(markup, "of", left - 8.0, line_of(row, words.len(), line), "end", part);
        }
    }
    let _ = write!(
        markup,
        r#"</svg><svg class="field" height="{height}" style="min-width:{}px" role="img">{}"#,
        columns * CELL,
        figure.described(panel)
    );
    for (column, tick) in figure.x.ticks.iter().enumerate() {
        let (from, centre) = (percent(column as f64 / columns), percent((column as f64 + 0.5) / columns));
        text(markup, "of", &centre, 18.0, "middle", &tick.label);
        for row in 0..figure.series.len() {
            let (look, texts, title) = cell(figure, panel, &paint, row, tick.at);
            let (y, wide) = (HEAD + row as f64 * ROW, percent(1.0 / columns));
            let _ = write!(
                markup,
                r#"<g {look}><rect x="{from}" y="{y}" width="{wide}" height="{ROW}" rx="5"/>"#
            );
            for (line, (class, words)) in texts.iter().enumerate() {
                text(markup, class, &centre, line_of(row, texts.len(), line), "middle", words);
            }
            let _ = write!(markup, "<title>{}</title></g>", escaped(&title));
        }
    }
    markup.push_str("</svg></div>");
}

/// The colours from the least value to the largest.
fn key(markup: &mut String, figure: &Figure, paint: &impl Fn(f64) -> Paint) {
    const STEPS: u32 = 16;
    let (low, high) = figure.extent(true);
    let scale = Scale { low, high, log: low > 0.0 };
    let ends = [low, high].map(|end| numbers::tick(end, &figure.unit));
    let _ = write!(
        markup,
        r#"<p class="heat-key" aria-hidden="true">{}<svg width="160" height="13">"#,
        escaped(&ends[0])
    );
    for step in 0..STEPS {
        let share = f64::from(step) / f64::from(STEPS);
        let style = colours(paint(scale.at(f64::from(step) / f64::from(STEPS - 1))));
        let _ = write!(
            markup,
            r#"<g class="cell" style="{style}"><rect x="{:.2}%" width="{:.2}%" height="13"/></g>"#,
            share * 100.0,
            101.0 / f64::from(STEPS)
        );
    }
    let _ = write!(markup, "</svg>{}</p>", escaped(&ends[1]));
}
