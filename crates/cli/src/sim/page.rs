//! Pages of simulations: what the commands' tables tell, with plots.

use coherence::machine::{Machine, Picoseconds};
use jvm::{Error, Result};
use present::figure::{Axis, Figure, Point, Tick};
use present::page::Page;
use present::table::Table;
use serde::Serialize;
use statistics::Interval;
use std::path::Path;

/// What such a page shows.
#[derive(Default, Serialize)]
pub struct Contents {
    pub question: String,
    pub answer: String,
    pub plots: Vec<Plot>,
    /// With their captions.
    pub tables: Vec<(&'static str, Table)>,
}

#[derive(Serialize)]
pub struct Plot {
    pub title: String,
    pub caption: String,
    pub drawing: String,
}

/// A value at a number of threads; a simulation has no interval.
pub fn point(series: usize, threads: u32, median: f64, text: String) -> Point {
    let value = Interval { median, low: median, high: median };
    Point { series, at: f64::from(threads), value, text, values: 1 }
}

/// A plot over threads, which are doubled as a rule.
pub fn by_threads(title: &str, mut figure: Figure) -> Plot {
    let mut threads = Vec::new();
    for panel in &mut figure.panels {
        panel.points.sort_by(|a, b| a.series.cmp(&b.series).then(a.at.total_cmp(&b.at)));
        threads.extend(panel.points.iter().map(|point| point.at));
    }
    threads.sort_by(f64::total_cmp);
    threads.dedup();
    let tick = |at: f64| Tick { at, label: at.to_string(), number: true };
    let ticks = threads.into_iter().map(tick).collect();
    figure.x = Axis { name: "threads".into(), log: true, ticks, ..Axis::default() };
    figure.title = title.into();
    Plot { title: title.into(), caption: String::new(), drawing: figure.drawing() }
}

/// What was simulated, on a line.
pub fn meta(machine: &Machine, program: &str, length: Picoseconds, seed: u64) -> String {
    let milliseconds = length as f64 * 1e-9;
    format!("{} · program {program} · {milliseconds} ms simulated, seed {seed}", machine.title)
}

/// A page with a heading and what was simulated.
pub fn page(heading: String, meta: String, contents: &Contents) -> Result<String> {
    let version = env!("CARGO_PKG_VERSION");
    let page = Page {
        brand: "Terrace sim",
        title: heading.clone(),
        heading,
        meta,
        footer: format!(
            "Simulated by terrace {version}, not measured. The same options and the same seed give the same page."
        ),
        style: include_str!("assets/sim.css"),
        version,
    };
    page.render(include_str!("assets/body.html"), contents).map_err(|why| {
        Error::failed(format!(
            "the page cannot be created: {why}; --format json has all numbers; please report this defect"
        ))
    })
}

pub fn write(option: &str, path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|error| {
        Error::usage(format!("{option} {}: {error}; specify a writable file", path.display()))
    })
}

/// Found out before minutes of simulating, not after. What is there stays for now, and nothing new does.
pub fn writable(option: &str, path: Option<&Path>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    let existed = path.exists();
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(path);
    opened.map(drop).map_err(|error| {
        Error::usage(format!("{option} {}: {error}; specify a writable file", path.display()))
    })?;
    if !existed {
        // If it stays it is empty, and soon written.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}
