//! Tables that fit the terminal, plain text elsewhere.

use comfy_table::{ContentArrangement, Table};
use std::fmt::Write;

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
    let mut lines = vec![String::new()];
    for word in value.split_inclusive(' ') {
        let used = lines.last().map_or(0, |line| line.chars().count());
        if used > 0 && used + word.trim_end().chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(word);
        }
    }
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let label = if number == 0 { name } else { "" };
        let _ = writeln!(text, "{}", format!("{label:<LABEL$}{line}").trim_end());
    }
    text
}
