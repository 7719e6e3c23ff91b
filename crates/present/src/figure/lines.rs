//! Lines through medians with their intervals as bands; published values dashed and hollow.

use super::look::Look;
use super::scale::Scale;
use super::svg::{escaped, line, percent, text, width, with_room};
use super::{Axis, Figure, Mark, Panel};
use crate::numbers;
use statistics::Interval;
use std::fmt::Write;

const TOP: f64 = 10.0;
/// Names of places, below the values.
const BELOW: f64 = 26.0;
/// The width for which labels are chosen, and the one from which on there is room for more.
const NARROW: f64 = 230.0;
const WIDE: f64 = 560.0;
/// From so many places on marks are small.
const DENSE: usize = 36;

/// The range across: words have a slot each.
fn across(axis: &Axis, panel: &Panel) -> Scale {
    let marks = panel.references.iter().filter_map(|mark| mark.at);
    let all =
        axis.ticks.iter().map(|tick| tick.at).chain(panel.points.iter().map(|point| point.at)).chain(marks);
    let (low, high) =
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
    if !low.is_finite() {
        return Scale { low: 0.0, high: 1.0, log: false };
    }
    if axis.words {
        return Scale { low: low - 0.5, high: high + 0.5, log: false };
    }
    if axis.log {
        return Scale::over((low, high), true, false);
    }
    let span = if high > low { high - low } else { 1.0 };
    Scale { low: low - span * 0.03, high: high + span * 0.06, log: false }
}

/// One panel: the names of the values, and beside them a window on the area, which is wider while the reader has zoomed in.
pub fn panel(markup: &mut String, figure: &Figure, panel: &Panel, values: &Scale) {
    let height = if figure.panels.len() > 1 { 280.0 } else { 320.0 };
    let bottom = height - BELOW;
    let y = |value: f64| TOP + (1.0 - values.share(value)) * (bottom - TOP);
    let ticks = values.ticks(((bottom - TOP) / 50.0) as usize);
    let labels: Vec<String> = ticks.iter().map(|tick| numbers::tick(*tick, &figure.unit)).collect();
    let left = 12.0 + labels.iter().map(|label| width(label)).fold(20.0, f64::max).ceil();
    let _ = write!(
        markup,
        r#"<div class="drawing lines" tabindex="0" role="group" aria-label="{}: arrow keys read the values"><svg width="{left}" height="{height}" aria-hidden="true">"#,
        figure.named(panel)
    );
    let mut rules = String::new();
    for (tick, label) in ticks.iter().zip(&labels) {
        let at = y(*tick);
        text(markup, "", left - 8.0, at + 4.0, "end", label);
        line(&mut rules, "rule", ("0", at), ("100%", at));
    }
    let title = figure.described(panel);
    let _ = write!(
        markup,
        r#"</svg><div class="window"><svg class="area" height="{height}" role="img">{title}<rect class="back" width="100%" height="{bottom}"/>{rules}"#
    );
    let x = across(&figure.x, panel);
    places(markup, &figure.x, &x, bottom);
    if let Some(base) = figure.base.filter(|base| (values.low..=values.high).contains(base)) {
        line(markup, "base", ("0", y(base)), ("100%", y(base)));
    }
    let canvas = Canvas { figure, panel, x: &x, y: &y, height };
    (0..figure.series.len()).for_each(|index| canvas.series(markup, index));
    let _ = write!(markup, r#"</svg></div></div><p class="x-name">{}</p>"#, escaped(&figure.x.name));
}

/// Rules and names of the places across; some only where the drawing is wide.
fn places(markup: &mut String, axis: &Axis, x: &Scale, bottom: f64) {
    let labels: Vec<(f64, &str)> =
        axis.ticks.iter().map(|tick| (x.share(tick.at), tick.label.as_str())).collect();
    let (narrow, wide) = (with_room(&labels, NARROW), with_room(&labels, WIDE));
    for (index, (share, label)) in labels.iter().enumerate() {
        let class = match (narrow[index], wide[index]) {
            (true, true) => "tick",
            (true, false) => "tick narrow",
            (false, true) => "tick wide",
            (false, false) => "tick crowded",
        };
        let at = percent(*share);
        let _ = write!(markup, r#"<g class="{class}">"#);
        line(markup, "rule", (&at, TOP), (&at, bottom + 4.0));
        text(markup, "", at, bottom + 18.0, "middle", label);
        markup.push_str("</g>");
    }
}

/// Where across, what, and the same for reading.
type Placed<'a> = (Option<f64>, Interval, &'a String);

struct Canvas<'a> {
    figure: &'a Figure,
    panel: &'a Panel,
    x: &'a Scale,
    y: &'a dyn Fn(f64) -> f64,
    height: f64,
}

impl Canvas<'_> {
    fn series(&self, markup: &mut String, index: usize) {
        let points = self.panel.points.iter().filter(|point| point.series == index);
        let measured = points.map(|point| (Some(point.at), point.value, &point.text));
        let marks = self.panel.references.iter().filter(|mark| mark.series == index);
        let published = marks.map(|mark| {
            let Mark { at, value, text, .. } = mark;
            (*at, Interval { median: *value, low: *value, high: *value }, text)
        });
        let all: Vec<Placed<'_>> = measured.chain(published).collect();
        if all.is_empty() {
            return;
        }
        let Look { class, mark } = Look::of(self.figure, index);
        let (dense, shape) =
            if all.len() >= DENSE { (" dense", "small".into()) } else { ("", mark.to_string()) };
        let _ = write!(markup, r#"<g class="{class}{dense}" data-series="{index}">"#);
        self.curves(markup, index, &all);
        let kind = if self.figure.series[index].published { "published" } else { "point" };
        for (at, value, text) in &all {
            let (title, y) = (self.title(index, *at, text), (self.y)(value.median));
            let Some(at) = at else {
                let _ = write!(
                    markup,
                    r#"<line class="curve level" x2="100%" y1="{y:.1}" y2="{y:.1}">{title}</line>"#
                );
                continue;
            };
            let x = percent(self.x.share(*at));
            if value.low < value.high {
                line(markup, "span", (&x, (self.y)(value.low)), (&x, (self.y)(value.high)));
            }
            let _ = write!(
                markup,
                r##"<use class="mark {kind}" href="#mark-{shape}" x="{x}" y="{y:.1}">{title}</use>"##
            );
        }
        markup.push_str("</g>");
    }

    /// Series, place and value, a line each.
    fn title(&self, index: usize, at: Option<f64>, text: &str) -> String {
        let place =
            at.map_or("anywhere".into(), |at| format!("{} {}", self.figure.x.name, self.figure.place(at)));
        format!(
            "<title>{}\n{}\n{}</title>",
            escaped(&self.figure.series[index].label),
            escaped(&place),
            escaped(text)
        )
    }

    /// Lines do not lead over a cell that could not be measured, nor from a number to a word: such steps have no length.
    fn broken(&self, index: usize, from: f64, to: f64) -> bool {
        let axis = &self.figure.x;
        let word = |at: f64| axis.words && !axis.ticks.iter().any(|tick| tick.at == at && tick.number);
        word(from) != word(to)
            || self.panel.gaps.iter().any(|gap| gap.series == index && gap.at > from && gap.at < to)
    }

    /// The band of the intervals, and the line through the medians, in a picture that is stretched to the width.
    fn curves(&self, markup: &mut String, index: usize, all: &[Placed<'_>]) {
        let placed: Vec<(f64, Interval)> =
            all.iter().filter_map(|(at, value, _)| Some(((*at)?, *value))).collect();
        let point = |at: f64, value: f64| format!("{:.1} {:.1}", self.x.share(at) * 1000.0, (self.y)(value));
        let (mut band, mut curve) = (String::new(), String::new());
        for part in
            placed.chunk_by(|one, other| !self.broken(index, one.0, other.0)).filter(|part| part.len() > 1)
        {
            let path = |value: fn(&Interval) -> f64| {
                part.iter().map(|(at, all)| point(*at, value(all))).collect::<Vec<_>>()
            };
            let _ = write!(curve, "M{}", path(|all| all.median).join("L"));
            if part.iter().any(|(_, all)| all.low < all.high) {
                let mut around = path(|all| all.low);
                around.extend(path(|all| all.high).into_iter().rev());
                let _ = write!(band, "M{}z", around.join("L"));
            }
        }
        let height = self.height;
        let paths = [("band", band), ("curve", curve)].map(|(class, path)| match path.as_str() {
            "" => path,
            _ => format!(r#"<path class="{class}" d="{path}"/>"#),
        });
        if paths.iter().any(|path| !path.is_empty()) {
            let _ = write!(
                markup,
                r#"<svg width="100%" height="{height}" viewBox="0 0 1000 {height}" preserveAspectRatio="none">{}</svg>"#,
                paths.concat()
            );
        }
    }
}
