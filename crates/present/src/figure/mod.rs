//! Plots as static SVG: made here once, and looked at in any browser, with scripts or without. Places across are shares of the width and
//! colours are classes, so that one drawing fits every window, light and dark.
//!
//! | part | what it is |
//! |---|---|
//! | [`Figure`] | what is to be drawn: numbers and words, nothing of the drawing |
//! | [`scale`] | ranges of values, and round numbers on them |
//! | [`look`] | colours, marks and dashes of series, and the legend |
//! | `lines`, `bars`, `heat` | a panel of each kind |
//! | [`svg`] | text in drawings |

mod bars;
mod heat;
mod lines;
pub mod look;
pub mod scale;
pub mod svg;

#[cfg(test)]
mod tests;

use scale::Scale;
use serde::{Deserialize, Serialize};
use statistics::Interval;
use std::fmt::Write;
use svg::escaped;

/// How a plot is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A line through the medians, with the intervals as a band. For a parameter that is a scale.
    #[default]
    Lines,
    /// A bar for each median with its interval. For words, or few values.
    Bars,
    /// A field of colours over two parameters: places across, series down.
    Heat,
}

#[derive(Clone, Debug, Default)]
pub struct Figure {
    pub kind: Kind,
    pub title: String,
    /// Of the values.
    pub unit: String,
    /// Where it matters: a ratio below 1 is the good one.
    pub lower_is_better: bool,
    /// Whether values are on a logarithmic scale.
    pub log: bool,
    /// A value that the eye should compare with.
    pub base: Option<f64>,
    pub x: Axis,
    /// Lines, bars of a group, or the rows of a field.
    pub series: Vec<Series>,
    /// Small multiples; one without a title when there is nothing to tell apart.
    pub panels: Vec<Panel>,
}

/// What lies across.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    pub name: String,
    /// Its places have no distance: words, or columns.
    pub words: bool,
    pub log: bool,
    pub ticks: Vec<Tick>,
}

/// A place across.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The number, or for words the index.
    pub at: f64,
    pub label: String,
    /// Whether it is a number, so that a line may lead to it.
    pub number: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub label: String,
    /// Not measured here.
    pub published: bool,
    /// The measured series that this published one is about.
    pub like: Option<usize>,
}

impl Series {
    /// One of our own, not published.
    pub fn of(label: impl Into<String>) -> Series {
        Series { label: label.into(), published: false, like: None }
    }
}

/// One of the small multiples.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    pub title: String,
    pub points: Vec<Point>,
    pub gaps: Vec<Gap>,
    pub references: Vec<Mark>,
}

/// A measured point.
#[derive(Clone, Debug)]
pub struct Point {
    pub series: usize,
    /// Where across.
    pub at: f64,
    pub value: Interval,
    /// The value with its interval, for reading.
    pub text: String,
    /// How many values it is the median of.
    pub values: usize,
}

/// A point that there is not.
#[derive(Clone, Debug)]
pub struct Gap {
    pub series: usize,
    pub at: f64,
    /// Why.
    pub text: String,
}

/// A published value.
#[derive(Clone, Debug)]
pub struct Mark {
    pub series: usize,
    /// Where across; `None` for a value that holds anywhere.
    pub at: Option<f64>,
    pub value: f64,
    pub text: String,
}

/// What stands in the place of a drawing for which there is nothing.
pub fn empty(why: &str) -> String {
    format!(r#"<p class="empty unavailable">{}</p>"#, escaped(why))
}

impl Figure {
    /// How many measured points it has.
    pub fn points(&self) -> usize {
        self.panels.iter().map(|panel| panel.points.len()).sum()
    }

    /// The smallest and largest of what is drawn: intervals and published values too, or medians alone.
    fn extent(&self, medians: bool) -> (f64, f64) {
        let ends = move |point: &Point| match medians {
            true => [point.value.median; 3],
            false => [point.value.low, point.value.median, point.value.high],
        };
        let published = |panel: &Panel| {
            panel.references.iter().filter(|_| !medians).map(|mark| mark.value).collect::<Vec<_>>()
        };
        let values =
            self.panels.iter().flat_map(|panel| panel.points.iter().flat_map(ends).chain(published(panel)));
        let usable = values.filter(|value| value.is_finite() && (!self.log || *value > 0.0));
        let extent = usable
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        match (extent.0.is_finite(), self.log) {
            (true, _) => extent,
            (false, true) => (1.0, 10.0),
            (false, false) => (0.0, 1.0),
        }
    }

    /// How a place is called.
    fn place(&self, at: f64) -> String {
        let tick = self.x.ticks.iter().find(|tick| tick.at == at);
        tick.map_or_else(|| crate::numbers::significant(at), |tick| tick.label.clone())
    }

    /// Legend and panels, as markup for a page that has [`look::definitions`] and the style of `crate::page`.
    pub fn drawing(&self) -> String {
        let mut markup = String::new();
        if self.kind == Kind::Lines {
            look::legend(&mut markup, self);
        }
        let scale = match self.kind {
            Kind::Lines => Scale::over(self.extent(false), self.log, false),
            _ => Scale::over(self.extent(false), self.log, true),
        };
        let _ = write!(markup, r#"<div class="panels">"#);
        for panel in &self.panels {
            markup.push_str("<div>");
            if !panel.title.is_empty() {
                let _ = write!(markup, "<h4>{}</h4>", escaped(&panel.title));
            }
            if panel.points.is_empty() && panel.references.is_empty() {
                let why = panel.gaps.first().map_or("nothing was measured here", |gap| &gap.text);
                markup.push_str(&empty(why));
            } else {
                match self.kind {
                    Kind::Lines => lines::panel(&mut markup, self, panel, &scale),
                    Kind::Bars => bars::panel(&mut markup, self, panel, &scale),
                    Kind::Heat => heat::panel(&mut markup, self, panel),
                }
            }
            markup.push_str("</div>");
        }
        markup.push_str("</div>");
        markup
    }

    /// The title, and what the panel is of.
    fn named(&self, panel: &Panel) -> String {
        let of = if panel.title.is_empty() { String::new() } else { format!(", {}", panel.title) };
        escaped(&format!("{}{of}", self.title))
    }

    /// What a reader who does not see it is told.
    fn described(&self, panel: &Panel) -> String {
        let (name, count) = (self.named(panel), panel.points.len());
        format!("<title>{name}</title><desc>{count} points; the table below has them all.</desc>")
    }
}
