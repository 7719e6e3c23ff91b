//! Bars that lie, so that their names have room: a group for each place, a row for each series, whiskers for intervals. On a logarithmic
//! scale a bar's length means nothing; there a mark stands at the median.

use super::look::Look;
use super::scale::Scale;
use super::svg::{self, escaped, line, percent, width, with_room};
use super::{Figure, Panel};
use crate::numbers;
use statistics::Interval;
use std::fmt::Write;

/// The least width that a panel has.
const NARROW: f64 = 290.0;
/// Left and right of the bars in the style, for marks that stand at an end.
const MARGIN: f64 = 6.0;
const LINE: f64 = 16.0;
const TRACK: f64 = 18.0;
/// What a name or a reason may take.
const MOST_LINES: usize = 3;

enum Value {
    Measured(Interval, usize),
    Published(f64),
    Missing,
}

/// What is known of a series at a place.
struct Row<'a> {
    series: usize,
    at: Option<f64>,
    text: &'a str,
    value: Value,
}

/// The rows of a panel, in the order of their series.
fn rows(panel: &Panel) -> Vec<Row<'_>> {
    let measured = panel.points.iter().map(|point| {
        let value = Value::Measured(point.value, point.values);
        Row { series: point.series, at: Some(point.at), text: &point.text, value }
    });
    let missing = panel.gaps.iter().map(|gap| Row {
        series: gap.series,
        at: Some(gap.at),
        text: &gap.text,
        value: Value::Missing,
    });
    let published = panel.references.iter().map(|mark| {
        let value = Value::Published(mark.value);
        Row { series: mark.series, at: mark.at, text: &mark.text, value }
    });
    let mut rows: Vec<Row<'_>> = measured.chain(missing).chain(published).collect();
    rows.sort_by_key(|row| row.series);
    rows
}

pub fn panel(markup: &mut String, figure: &Figure, panel: &Panel, values: &Scale) {
    let rows = rows(panel);
    let mut drawn = Drawn { figure, values, ticks: values.ticks(5), markup: String::new(), y: 0.0 };
    drawn.axis();
    for tick in &figure.x.ticks {
        drawn.group(&format!("{} {}", figure.x.name, tick.label), &rows, Some(tick.at));
    }
    drawn.group(&format!("published, {} not given", figure.x.name), &rows, None);
    drawn.axis();
    let (height, title, inner) = (drawn.y, figure.described(panel), &drawn.markup);
    let _ = write!(
        markup,
        r#"<div class="drawing bars"><svg width="100%" height="{height}" role="img">{title}{inner}</svg></div>"#
    );
}

/// What is drawn down to a height.
struct Drawn<'a> {
    figure: &'a Figure,
    values: &'a Scale,
    ticks: Vec<f64>,
    markup: String,
    y: f64,
}

impl Drawn<'_> {
    fn at(&self, value: f64) -> String {
        percent(self.values.share(value))
    }

    /// The names of the ticks that have room.
    fn axis(&mut self) {
        let name = |tick: &f64| (self.values.share(*tick), numbers::tick(*tick, &self.figure.unit));
        let names: Vec<(f64, String)> = self.ticks.iter().map(name).collect();
        let labels: Vec<(f64, &str)> = names.iter().map(|(share, name)| (*share, name.as_str())).collect();
        let shown = with_room(&labels, NARROW);
        self.y += 20.0;
        for ((share, name), _) in names.iter().zip(shown).filter(|(_, shown)| *shown) {
            let anchor = if share * NARROW + MARGIN < width(name) / 2.0 { "start" } else { "middle" };
            svg::text(&mut self.markup, "tick", percent(*share), self.y - 6.0, anchor, name);
        }
    }

    fn group(&mut self, title: &str, rows: &[Row<'_>], at: Option<f64>) {
        let mut here = rows.iter().filter(|row| row.at == at).peekable();
        if here.peek().is_some() {
            self.text("group", title, NARROW);
            here.for_each(|row| self.row(row));
            self.y += 6.0;
        }
    }

    /// Lines of text from the left.
    fn text(&mut self, class: &str, text: &str, room: f64) {
        let mut lines = svg::lines(text, room);
        if lines.len() > MOST_LINES {
            lines.truncate(MOST_LINES);
            lines[MOST_LINES - 1].to_mut().push('…');
        }
        for line in lines {
            svg::text(&mut self.markup, class, -MARGIN, self.y + 13.0, "start", &line);
            self.y += LINE;
        }
    }

    fn row(&mut self, row: &Row<'_>) {
        let label = &self.figure.series[row.series].label;
        let Look { class, mark } = Look::of(self.figure, row.series);
        let (kind, count) = match row.value {
            Value::Measured(_, values) if values > 1 => ("", format!(", {values} values")),
            Value::Measured(..) => ("", String::new()),
            Value::Published(_) => ("published", String::new()),
            Value::Missing => ("unavailable", String::new()),
        };
        let _ = write!(self.markup, r#"<g class="row {kind} {class}">"#);
        if let Value::Missing = row.value {
            self.text("of", label, NARROW);
            self.text("amount", row.text, NARROW);
            self.y += 4.0;
        } else {
            let amount = numbers::shortened(row.text);
            let _ = write!(
                self.markup,
                r#"<text class="amount" x="100%" dx="{MARGIN}" y="{:.1}" text-anchor="end">{}</text>"#,
                self.y + 13.0,
                escaped(&amount)
            );
            self.text("of", label, NARROW - width(&amount) - 12.0);
            self.track(&row.value, mark);
        }
        let _ = write!(self.markup, "<title>{}: {}{count}</title></g>", escaped(label), escaped(row.text));
    }

    /// The bar itself, with its rules behind it.
    fn track(&mut self, value: &Value, mark: usize) {
        let (top, middle, bottom) = (self.y, self.y + TRACK / 2.0 - 1.0, self.y + TRACK - 2.0);
        for tick in self.ticks.iter().map(|tick| self.at(*tick)).collect::<Vec<_>>() {
            line(&mut self.markup, "rule", (&tick, top), (&tick, bottom));
        }
        match value {
            Value::Measured(found, _) => {
                let [low, median, high] = [found.low, found.median, found.high].map(|value| self.at(value));
                let (class, half) = if self.values.log { ("stem", 1.5) } else { ("bar", 6.0) };
                let (from, height) = (middle - half, 2.0 * half);
                let _ = write!(
                    self.markup,
                    r#"<rect class="{class} point" width="{median}" y="{from}" height="{height}"/>"#
                );
                line(&mut self.markup, "whisker", (&low, middle), (&high, middle));
                for end in [&low, &high] {
                    line(&mut self.markup, "whisker", (end, middle - 5.0), (end, middle + 5.0));
                }
                if self.values.log {
                    self.mark(mark, &median, middle);
                }
            }
            Value::Published(value) => {
                let at = self.at(*value);
                line(&mut self.markup, "curve", ("0", middle), (&at, middle));
                self.mark(3, &at, middle);
            }
            Value::Missing => {}
        }
        self.y += TRACK + 2.0;
    }

    fn mark(&mut self, mark: usize, x: &str, y: f64) {
        let _ = write!(self.markup, r##"<use class="mark" href="#mark-{mark}" x="{x}" y="{y}"/>"##);
    }
}
