//! Tables: for the terminal, as CSV, and for pages. Their cells are words; numbers are [`crate::numbers`]'s.

use comfy_table::presets::{ASCII_FULL, ASCII_FULL_CONDENSED};
use comfy_table::{ColumnConstraint, ContentArrangement, Width};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write;
use textwrap::{Options, WordSplitter};

const WIDEST: u16 = 100;
/// A blank on either side of a cell, and a rule.
const AROUND: usize = 3;

/// Columns to use: the terminal's, up to 100.
pub fn columns() -> u16 {
    let streams = [console::Term::stdout(), console::Term::stderr()];
    let size = streams.iter().find_map(console::Term::size_checked);
    size.map_or(WIDEST, |(_, columns)| columns).clamp(40, WIDEST)
}

/// Rows of the terminal to which standard output goes; `None` where it goes elsewhere.
pub fn rows() -> Option<u16> {
    console::Term::stdout().size_checked().map(|(rows, _)| rows)
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    pub columns: Vec<String>,
    /// So many columns name the row.
    pub names: usize,
    pub rows: Vec<Vec<String>>,
    /// What is the same in all rows.
    pub fixed: String,
}

impl Table {
    pub fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Table {
        Table { columns: columns.into_iter().map(Into::into).collect(), names: 1, ..Table::default() }
    }

    pub fn with(self, rows: impl IntoIterator<Item = Vec<String>>) -> Table {
        Table { rows: rows.into_iter().collect(), ..self }
    }

    pub fn push(&mut self, row: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    /// The width of each column when no cell is broken, and headings only between words.
    fn widths(&self) -> Vec<usize> {
        let longest = |words: &mut dyn Iterator<Item = &str>| words.map(|word| word.chars().count()).max();
        let column = |(index, name): (usize, &String)| {
            let cells = longest(&mut self.rows.iter().filter_map(|row| Some(row.get(index)?.as_str())));
            cells.max(longest(&mut name.split(' '))).unwrap_or(0)
        };
        self.columns.iter().enumerate().map(column).collect()
    }

    /// Whether rows fit without being broken.
    pub fn fits(&self, columns: u16) -> bool {
        let widths = self.widths();
        widths.iter().sum::<usize>() + AROUND * widths.len() < usize::from(columns)
    }

    /// As text that fits so many columns: rows close together, or where cells have to be broken with rules between them.
    pub fn text(&self, columns: u16) -> String {
        let mut text = comfy_table::Table::new();
        text.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
        text.set_header(&self.columns).add_rows(&self.rows);
        if self.fits(columns) {
            let least = self.widths().into_iter();
            text.set_constraints(
                least.map(|width| ColumnConstraint::LowerBoundary(Width::Fixed(width as u16 + 2))),
            );
            text.load_style(ASCII_FULL_CONDENSED);
        } else {
            text.load_style(ASCII_FULL);
        }
        format!("{text}\n")
    }

    /// For other programs: a line for the headings, and one for each row.
    pub fn csv(&self) -> String {
        let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
        for row in std::iter::once(&self.columns).chain(&self.rows) {
            // Into memory: nothing can fail.
            let _ = writer.write_record(row);
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

pub fn widest(text: &str) -> usize {
    let lines = text.lines().filter(|line| line.starts_with(['|', '+']));
    lines.map(|line| line.chars().count()).max().unwrap_or(0)
}

/// A name, and beside it a text broken into lines that fit.
pub fn labelled(name: &str, value: &str, columns: u16) -> String {
    const LABEL: usize = 20;
    indented(&format!("{name:<LABEL$}"), value, columns)
}

/// A text broken into lines that fit, the first behind `label`, the others below it.
pub fn indented(label: &str, value: &str, columns: u16) -> String {
    let indent = label.chars().count();
    let width = usize::from(columns).saturating_sub(indent).max(20);
    let mut text = String::new();
    for (number, line) in wrapped(value, width).iter().enumerate() {
        let label = if number == 0 { label } else { "" };
        let _ = writeln!(text, "{}", format!("{label:<indent$}{line}").trim_end());
    }
    text
}

/// Lines broken between words and nowhere else: paths and options can be copied.
pub fn wrapped(text: &str, width: usize) -> Vec<Cow<'_, str>> {
    textwrap::wrap(text, Options::new(width).break_words(false).word_splitter(WordSplitter::NoHyphenation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stay_whole_where_there_is_room() {
        let mut table = Table::new(["a heading that is long and may be broken", "time"]);
        table.push(["padded lines", "12.3 [12.1, 12.5] ns"]);
        assert!(table.fits(50) && !table.fits(30));
        let text = table.text(50);
        let whole = |line: &str| line.contains("padded lines") && line.contains("| 12.3 [12.1, 12.5] ns |");
        assert!(text.lines().any(whole), "{text}");
        let text = table.text(30);
        assert!((20..=30).contains(&widest(&text)), "{text}");
    }

    #[test]
    fn what_has_commas_quotes_and_lines_is_read_back() {
        let nasty = "a,\"b\"\nc </script> µ";
        let table = Table::new(["word", "number"]).with([vec![nasty.to_owned(), "1.5".to_owned()]]);
        let text = table.csv();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        assert_eq!(reader.headers().unwrap(), ["word", "number"].as_slice());
        assert_eq!(&reader.records().next().unwrap().unwrap()[0], nasty);
    }

    #[test]
    fn a_label_stays_beside_the_first_line_and_words_stay_whole() {
        let label = "              ";
        assert_eq!(
            labelled("remedy", "choose a path without one, such as /tmp/terrace-report.json", 45),
            format!(
                "remedy{label}choose a path without\n      {label}one, such as\n      {label}/tmp/terrace-report.json\n"
            )
        );
        assert_eq!(labelled("remedy", "", 80), "remedy\n");
    }
}
