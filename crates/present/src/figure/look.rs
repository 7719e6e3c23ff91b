//! How a series looks: hue and mark together, and a dash where hues come round again; published ones are hollow and dashed.

use super::Figure;
use super::svg::escaped;
use std::fmt::Write;

/// Hues of the style, and kinds of dashes.
const HUES: usize = 8;
const DASHES: usize = 4;

/// Marks around their place, four pixels to each side.
const MARKS: [&str; 6] = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.6-3.6h7.2v7.2h-7.2z",
    "M0-4.6L4.4 3.4h-8.8z",
    "M0-5L4.4 0L0 5L-4.4 0z",
    "M0 4.6L4.4-3.4h-8.8z",
    "M-4.4-1.4h3v-3h2.8v3h3v2.8h-3v3h-2.8v-3h-3z",
];

/// The marks, once for all drawings of a page.
pub fn definitions() -> String {
    let mut markup =
        r#"<svg width="0" height="0" aria-hidden="true" style="position:absolute"><defs>"#.to_owned();
    for (index, path) in MARKS.iter().enumerate() {
        let _ = write!(markup, r#"<path id="mark-{index}" d="{path}"/>"#);
    }
    markup.push_str(r#"<circle id="mark-small" r="2.2"/></defs></svg>"#);
    markup
}

pub struct Look {
    /// Hue, dash, and whether it is hollow.
    pub class: String,
    pub mark: usize,
}

impl Look {
    pub fn of(figure: &Figure, index: usize) -> Look {
        let series = &figure.series[index];
        let measured = if series.published { series.like } else { Some(index) };
        let nth = figure.series[..index].iter().filter(|other| other.published).count();
        let hue = measured.map_or("none".into(), |measured| format!("s{}", measured % HUES));
        let round = measured.map_or(0, |measured| measured / HUES % DASHES);
        let class = match (series.published, round) {
            (true, _) => format!("{hue} hollow"),
            (false, 0) => hue,
            (false, round) => format!("{hue} round r{round}"),
        };
        Look { class, mark: measured.unwrap_or(nth) % MARKS.len() }
    }
}

/// A legend, whose entries hide and show their lines where scripts are on.
pub fn legend(markup: &mut String, figure: &Figure) {
    markup.push_str(r#"<ul class="legend">"#);
    for (index, series) in figure.series.iter().enumerate() {
        let Look { class, mark } = Look::of(figure, index);
        let _ = write!(
            markup,
            r##"<li><button type="button" aria-pressed="true" data-series="{index}"><svg class="{class}" width="30" height="14" aria-hidden="true"><line class="curve" x2="30" y1="7" y2="7"/><use class="mark" href="#mark-{mark}" x="15" y="7"/></svg>{}</button></li>"##,
            escaped(&series.label)
        );
    }
    markup.push_str("</ul>");
}
