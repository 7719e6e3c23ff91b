//! Pages of simulations: one file each, in the style of the lab's pages, that asks no network for anything.

use jvm::{Error, Result};
use minijinja::value::Serde;
use minijinja::{Environment, Value, context};
use serde::Serialize;
use std::path::Path;

const FRAME: &str = include_str!("assets/frame.html");
const STYLE: &str = include_str!("assets/sim.css");
const SCRIPT: &str = include_str!("assets/sim.js");

fn failed(why: &dyn std::fmt::Display) -> Error {
    Error::failed(format!(
        "the page cannot be made: {why}; --format json has all numbers; please report this defect"
    ))
}

/// A page from the template of its body, which stands in `frame.html`, and what it shows there as `view`: also its `heading` and
/// `meta`. Text is escaped; what is named `svg` is markup of ours.
pub fn page(body: &str, view: &impl Serialize) -> Result<String> {
    let text = FRAME.replace("[[body]]", body);
    let mut environment = Environment::new();
    // The name makes it HTML: everything is escaped that is not marked safe.
    environment.add_template("page.html", &text).map_err(|why| failed(&why))?;
    let template = environment.get_template("page.html").map_err(|why| failed(&why))?;
    let context = context! {
        style => Value::from_safe_string([::lab::report::html::STYLE, STYLE].concat()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        version => env!("CARGO_PKG_VERSION"),
        view => Value::from(Serde(view)),
    };
    template.render(context).map_err(|why| failed(&why))
}

/// Text that cannot become markup, for pictures that are made here.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
