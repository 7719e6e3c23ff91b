//! The page: one file with everything in it, that opens from a disk and asks no network for anything.
//!
//! Words and tables are made here and can be read without scripts; the plots are drawn by the scripts in `assets/` from the
//! results that the page carries (`<script id="results">`) and their structure (`<script id="figures">`).

use super::view::View;
use crate::results::Results;
use crate::{Error, Result};
use minijinja::value::Serde;
use minijinja::{Environment, Value, context};
use serde::Serialize;

const TEMPLATE: &str = include_str!("assets/index.html");
/// The style of our pages, for others that are to look alike.
pub const STYLE: &str = include_str!("assets/report.css");
const STYLES: [&str; 2] = [include_str!("assets/uplot/uPlot.min.css"), STYLE];
const UPLOT: &str = include_str!("assets/uplot/uPlot.iife.min.js");
const UPLOT_LICENSE: &str = include_str!("assets/uplot/LICENSE");
/// In the order in which they need each other.
const SCRIPTS: [&str; 6] = [
    include_str!("assets/base.js"),
    include_str!("assets/scale.js"),
    include_str!("assets/lines.js"),
    include_str!("assets/bars.js"),
    include_str!("assets/heat.js"),
    include_str!("assets/report.js"),
];

fn failed(why: &dyn std::fmt::Display) -> Error {
    Error::failed(format!(
        "the page cannot be made: {why}; results.json and the CSV files have all numbers; please report this defect"
    ))
}

/// JSON that can stand in a script element: no text in it can end the element.
fn embedded(data: &impl Serialize) -> Result<Value> {
    let json = serde_json::to_string(data).map_err(|why| failed(&why))?;
    Ok(Value::from_safe_string(json.replace('<', "\\u003c")))
}

pub fn page(results: &Results) -> Result<String> {
    let mut environment = Environment::new();
    // The name makes it HTML: everything is escaped that is not marked safe here.
    environment.add_template("index.html", TEMPLATE).map_err(|why| failed(&why))?;
    let template = environment.get_template("index.html").map_err(|why| failed(&why))?;
    let view = View::new(results);
    let context = context! {
        style => Value::from_safe_string(STYLES.concat()),
        uplot => Value::from_safe_string(UPLOT.to_owned()),
        uplot_license => UPLOT_LICENSE,
        scripts => Value::from_safe_string(SCRIPTS.concat()),
        results => embedded(results)?,
        figures => embedded(&view.figures())?,
        view => Value::from(Serde(&view)),
    };
    template.render(context).map_err(|why| failed(&why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
        text.split_once(start).unwrap().1.split_once(end).unwrap().0
    }

    #[test]
    fn the_page_carries_the_results_unharmed() {
        let results = fixture::results();
        let page = page(&results).unwrap();
        let json = between(&page, r#"<script type="application/json" id="results">"#, "</script>");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(json).unwrap(),
            serde_json::from_str::<serde_json::Value>(&serde_json::to_string(&results).unwrap()).unwrap()
        );
    }

    #[test]
    fn no_text_of_the_results_becomes_markup() {
        let page = page(&fixture::results()).unwrap();
        assert!(!page.contains("<script>alert"), "{NASTY}", NASTY = fixture::NASTY);
        assert!(page.contains("&lt;b&gt;µ ≤ 3 × 10⁷&lt;"), "unicode stays as it is");
    }

    #[test]
    fn it_loads_nothing() {
        let page = page(&fixture::results()).unwrap();
        for loader in ["<link", " src=", "@import", "url(", "fetch(", "XMLHttpRequest", "import("] {
            assert!(!page.contains(loader), "{loader}");
        }
        assert!(page.contains("The MIT License (MIT)") && page.contains("Leon Sorokin"));
    }

    #[test]
    fn it_says_what_every_reader_needs() {
        let results = fixture::results();
        let page = page(&results).unwrap();
        for findings in &results.experiments {
            let name = &findings.declaration.name;
            assert!(page.contains(&format!(r#"id="{name}""#)), "{name}");
        }
        for text in [
            "does not hold here",
            "cannot be told here",
            "published",
            "KVM",
            "6.1.0",
            "moved by up to",
            "+0.4 %",
        ] {
            assert!(page.contains(text), "{text}");
        }
    }
}
