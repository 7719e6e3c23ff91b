//! Pages of simulations: what the commands' tables tell, with plots.

use coherence::machine::{Machine, Picoseconds};
use jvm::{Error, Result};
use present::page::Page;
use present::table::Table;
use serde::Serialize;
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
            "the page cannot be made: {why}; --format json has all numbers; please report this defect"
        ))
    })
}

/// Writes a file that an option names.
pub fn write(option: &str, path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|error| {
        Error::usage(format!("{option} {}: {error}; name a file that can be written", path.display()))
    })
}

/// Found out before minutes of simulating, not after. What is there stays for now, and nothing new does.
pub fn writable(option: &str, path: Option<&Path>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    let existed = path.exists();
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(path);
    opened.map(drop).map_err(|error| {
        Error::usage(format!("{option} {}: {error}; name a file that can be written", path.display()))
    })?;
    if !existed {
        // If it stays it is empty, and soon written.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}
