//! Tables that fit the terminal, plain text elsewhere.

use comfy_table::{ContentArrangement, Table};
use std::borrow::Cow;
use std::fmt::Write;
use textwrap::{Options, WordSplitter};

/// The widest that a table gets.
const WIDEST: u16 = 100;

/// Columns to use: the terminal's, up to 100.
pub fn columns() -> u16 {
    let streams = [console::Term::stdout(), console::Term::stderr()];
    let size = streams.iter().find_map(console::Term::size_checked);
    size.map_or(WIDEST, |(_, columns)| columns).clamp(40, WIDEST)
}

/// An empty table that fits.
pub fn table(columns: u16, header: &[&str]) -> Table {
    let mut table = Table::new();
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
    table.set_header(header.iter().copied());
    table
}

/// A table of words.
pub fn plain<const N: usize>(header: &[&str; N], rows: &[[String; N]], columns: u16) -> String {
    let mut lines = table(columns, header);
    for row in rows {
        lines.add_row(row.iter());
    }
    lines.to_string()
}

/// A name, and beside it a text broken into lines that fit.
pub fn labelled(name: &str, value: &str, columns: u16) -> String {
    const LABEL: usize = 20;
    let width = usize::from(columns).saturating_sub(LABEL).max(20);
    let mut text = String::new();
    for (number, line) in wrapped(value, width).iter().enumerate() {
        let label = if number == 0 { name } else { "" };
        let _ = writeln!(text, "{}", format!("{label:<LABEL$}{line}").trim_end());
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
