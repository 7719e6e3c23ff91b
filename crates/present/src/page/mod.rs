//! Pages: one file each, that opens from a disk and asks no network for anything.

use crate::figure::look;
use minijinja::value::Serde;
use minijinja::{Environment, Error, Value, context};
use serde::Serialize;

const FRAME: &str = include_str!("assets/frame.html");
const STYLES: [&str; 2] = [include_str!("assets/page.css"), include_str!("assets/figure.css")];
const SCRIPT: &str = include_str!("assets/page.js");

/// What stands around the contents.
#[derive(Clone, Debug, Default)]
pub struct Page<'a> {
    /// Which of our commands made it.
    pub brand: &'a str,
    /// For the window's title, behind the brand.
    pub title: String,
    pub heading: String,
    pub meta: String,
    pub footer: String,
    /// Rules that only this page needs.
    pub style: &'a str,
    /// The version of terrace that made it.
    pub version: &'a str,
}

impl Page<'_> {
    /// The page, with its contents' template and what that shows as `view`. Text is escaped; drawings are marked safe in the template.
    pub fn render(self, body: &str, view: &impl Serialize) -> Result<String, Error> {
        let text = FRAME.replace("[[body]]", body);
        let mut environment = Environment::new();
        // The name makes it HTML: everything is escaped that is not marked safe.
        environment.add_template("page.html", &text)?;
        environment.get_template("page.html")?.render(context! {
            style => Value::from_safe_string([STYLES[0], STYLES[1], self.style].concat()),
            script => Value::from_safe_string(SCRIPT.to_owned()),
            marks => Value::from_safe_string(look::definitions()),
            brand => self.brand,
            title => self.title,
            heading => self.heading,
            meta => self.meta,
            footer => self.footer,
            version => self.version,
            view => Value::from(Serde(view)),
        })
    }
}
