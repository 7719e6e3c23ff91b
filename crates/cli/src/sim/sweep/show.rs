//! A grid as tables, CSV, and what its page shows.

use crate::sim::page::{self, Contents};
use crate::sim::run::bound;
use coherence::machine::{Machine, Picoseconds};
use coherence::sweep::Cell;
use jvm::Result;
use jvm::size::format;
use present::figure::{Figure, Panel, Series};
use present::numbers::{count, human, times};
use present::table::Table;

/// Columns of threads in one table: more do not fit a terminal.
const MOST_COLUMNS: usize = 8;
/// From this speed-up on a linear axis would show nothing of what is near 1.
const LOGARITHMIC: f64 = 8.0;

/// The TLABs in the order of the grid.
fn tlabs(cells: &[Cell]) -> Vec<String> {
    unique(cells.iter().map(tlab))
}

fn tlab(cell: &Cell) -> String {
    cell.measured.buffers.as_ref().map(|buffers| buffers.tlab.clone()).unwrap_or_default()
}

fn unique<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut known = Vec::new();
    for one in all {
        if !known.contains(&one) {
            known.push(one);
        }
    }
    known
}

fn sizes(cell: &Cell) -> String {
    let levels = cell.measured.buffers.iter().flat_map(|buffers| &buffers.levels);
    levels.map(|level| format!("{} {}", level.name, format(level.bytes))).collect::<Vec<_>>().join(", ")
}

/// Tables: a row for TLAB and levels, a column for a number of threads.
pub fn text(cells: &[Cell], columns: u16) -> String {
    let threads = unique(cells.iter().map(|cell| cell.measured.threads));
    let levels = unique(cells.iter().map(|cell| cell.levels));
    let mut text = String::new();
    for part in threads.chunks(MOST_COLUMNS) {
        let mut header = vec!["TLAB".to_owned(), "levels \\ threads".to_owned()];
        header.extend(part.iter().map(u32::to_string));
        let mut table = Table::new(header);
        for name in tlabs(cells) {
            for (number, levels) in levels.iter().enumerate() {
                let mut row =
                    vec![if number == 0 { name.clone() } else { String::new() }, (*levels).to_owned()];
                for threads in part {
                    let cell = cells.iter().find(|cell| {
                        tlab(cell) == name && cell.levels == *levels && cell.measured.threads == *threads
                    });
                    row.push(cell.map(value).unwrap_or_default());
                }
                table.push(row);
            }
        }
        text.push_str(&table.text(columns));
    }
    text
}

fn value(cell: &Cell) -> String {
    let value = match cell.speed_up {
        Some(speed_up) if cell.levels != "none" => times(speed_up),
        _ => count(cell.measured.per_second),
    };
    match cell.measured.roofline.first() {
        Some(limit) => format!("{value} ({})", limit.bound),
        None => value,
    }
}

/// A line for each cell, numbers in full.
pub fn csv(cells: &[Cell]) -> String {
    let mut table = Table::new([
        "tlab",
        "levels",
        "threads",
        "tlab_bytes",
        "sizes",
        "objects_per_second",
        "speed_up",
        "heap_requests_per_second",
        "retries_per_success",
        "transfers_per_operation",
        "line_share",
        "collections",
        "held_bytes",
        "bound_by",
        "bound_used",
    ]);
    for cell in cells {
        let Some(buffers) = &cell.measured.buffers else { continue };
        let limit = cell.measured.roofline.first();
        table.push([
            buffers.tlab.clone(),
            cell.levels.to_owned(),
            cell.measured.threads.to_string(),
            buffers.tlab_bytes.to_string(),
            sizes(cell),
            cell.measured.per_second.to_string(),
            cell.speed_up.map(|speed_up| speed_up.to_string()).unwrap_or_default(),
            buffers.heap_requests_per_second.to_string(),
            cell.measured.retries_per_success.to_string(),
            cell.measured.transfers_per_operation.to_string(),
            cell.measured.line_share.to_string(),
            buffers.collections.to_string(),
            buffers.held_bytes.to_string(),
            limit.map(|limit| limit.bound.to_string()).unwrap_or_default(),
            limit.map(|limit| limit.used.to_string()).unwrap_or_default(),
        ]);
    }
    table.csv()
}

/// Speed-ups by threads: a panel for each TLAB, a line for each choice of levels.
fn figure(cells: &[Cell]) -> Figure {
    let levels = unique(cells.iter().map(|cell| cell.levels));
    let panel = |name: String| {
        let point = |cell: &Cell| {
            let series = levels.iter().position(|levels| *levels == cell.levels)?;
            let speed_up = cell.speed_up.filter(|_| tlab(cell) == name)?;
            Some(page::point(series, cell.measured.threads, speed_up, times(speed_up)))
        };
        Panel {
            points: cells.iter().filter_map(point).collect(),
            title: format!("TLAB {name}"),
            ..Panel::default()
        }
    };
    let speed_ups = cells.iter().filter_map(|cell| cell.speed_up);
    Figure {
        unit: "x".into(),
        log: speed_ups.fold(0.0, f64::max) >= LOGARITHMIC,
        base: Some(1.0),
        series: levels.iter().map(|levels| Series::of(*levels)).collect(),
        panels: tlabs(cells).into_iter().map(panel).collect(),
        ..Figure::default()
    }
}

fn numbers(cells: &[Cell]) -> Table {
    let row = |cell: &Cell| {
        let buffers = cell.measured.buffers.as_ref();
        let levels = match cell.levels {
            "none" => "none".into(),
            levels => format!("{levels}: {}", sizes(cell)),
        };
        vec![
            tlab(cell),
            levels,
            cell.measured.threads.to_string(),
            count(cell.measured.per_second),
            cell.speed_up.map(times).unwrap_or_default(),
            buffers.map(|buffers| count(buffers.heap_requests_per_second)).unwrap_or_default(),
            buffers.map(|buffers| buffers.collections.to_string()).unwrap_or_default(),
            buffers.map(|buffers| human(buffers.held_bytes as f64)).unwrap_or_default(),
            cell.measured.roofline.first().map(bound).unwrap_or_default(),
        ]
    };
    let columns = [
        "TLAB",
        "levels",
        "threads",
        "objects/s",
        "speed-up",
        "heap requests/s",
        "collections",
        "held in buffers",
        "bound by",
    ];
    Table { names: 3, ..Table::new(columns) }.with(cells.iter().map(row))
}

/// The grid as a page.
pub fn page(machine: &Machine, cells: &[Cell], length: Picoseconds, seed: u64) -> Result<String> {
    let contents = Contents {
        question: "Objects per second relative to the same thread buffers without levels. Above 1, the levels pay off.".into(),
        plots: vec![page::by_threads("Speed-up by threads", figure(cells))],
        tables: vec![("The grid", numbers(cells))],
        ..Contents::default()
    };
    let program = cells.first().map_or("", |cell| cell.measured.program);
    let meta = page::meta(machine, program, length, seed);
    page::page(format!("What levels of buffers gain on {}", machine.name), meta, &contents)
}
