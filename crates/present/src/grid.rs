//! Rows that are close together and, where the terminal has room, are not broken.

use crate::table::table;
use comfy_table::presets::ASCII_FULL_CONDENSED;
use comfy_table::{ColumnConstraint, Width};

/// A blank on either side, and a rule.
const AROUND: usize = 3;

fn longest<'a>(words: impl Iterator<Item = &'a str>) -> usize {
    words.map(|word| word.chars().count()).max().unwrap_or(0)
}

/// The width of each column when no cell is broken, and headings only between words.
fn widths(header: &[String], rows: &[Vec<String>]) -> Vec<usize> {
    let column = |(index, name): (usize, &String)| {
        let cells = longest(rows.iter().filter_map(|row| row.get(index)).map(String::as_str));
        cells.max(longest(name.split(' ')))
    };
    header.iter().enumerate().map(column).collect()
}

/// Whether rows fit without being broken.
pub fn fits(columns: u16, header: &[String], rows: &[Vec<String>]) -> bool {
    let widths = widths(header, rows);
    widths.iter().sum::<usize>() + AROUND * widths.len() < usize::from(columns)
}

/// The rows as text that fits so many columns.
pub fn grid(columns: u16, header: &[String], rows: Vec<Vec<String>>) -> String {
    let mut grid = table(columns, &header.iter().map(String::as_str).collect::<Vec<_>>());
    grid.load_style(ASCII_FULL_CONDENSED);
    if fits(columns, header, &rows) {
        let least = widths(header, &rows).into_iter();
        grid.set_constraints(
            least.map(|width| ColumnConstraint::LowerBoundary(Width::Fixed(width as u16 + 2))),
        );
    }
    for row in rows {
        grid.add_row(row);
    }
    format!("{grid}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn rows_stay_whole_where_there_is_room() {
        let header = texts(&["a heading that is long and may be broken", "time"]);
        let rows = vec![texts(&["padded lines", "12.3 [12.1, 12.5] ns"])];
        assert!(fits(50, &header, &rows) && !fits(30, &header, &rows));
        let text = grid(50, &header, rows.clone());
        assert!(
            text.lines()
                .any(|line| line.contains("padded lines") && line.contains("| 12.3 [12.1, 12.5] ns |")),
            "{text}"
        );
        let text = grid(30, &header, rows);
        assert!(text.lines().all(|line| line.chars().count() <= 30), "{text}");
    }
}
