//! The page: one file with everything in it, also the results themselves (`<script id="results">`), for whoever has nothing but the page.

use super::view::View;
use crate::{Error, Result};
use experiment::results::Results;
use present::page::Page;

const BODY: &str = include_str!("assets/body.html");

fn failed(why: &dyn std::fmt::Display) -> Error {
    Error::failed(format!(
        "the page cannot be created: {why}; results.json and the CSV files have all numbers; please report this bug"
    ))
}

pub fn page(results: &Results) -> Result<String> {
    let view = View::new(results).map_err(|why| failed(&why))?;
    let page = Page {
        brand: "Terrace lab",
        title: format!("{}, {}", results.machine.model, view.started),
        heading: "What allocation costs on this machine".into(),
        meta: format!(
            "{} · {} CPUs · {} · {} run of {}",
            results.machine.model,
            results.machine.cpus,
            view.started,
            results.effort.name(),
            view.duration
        ),
        footer: format!(
            "terrace {} · {} · 95 % intervals: of medians by bootstrap, of means over JVMs by Student's t.",
            results.terrace, view.started
        ),
        version: &results.terrace,
        style: "",
    };
    page.render(BODY, &view).map_err(|why| failed(&why))
}
#[cfg(test)]
mod tests {
    use super::*;
    use lab::fixture;

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
            "inconclusive here",
            "published",
            "KVM",
            "6.1.0",
            "drifted by up to",
            "+0.4 %",
        ] {
            assert!(page.contains(text), "{text}");
        }
    }
}
