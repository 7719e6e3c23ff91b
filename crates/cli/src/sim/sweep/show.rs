//! A grid as tables, CSV, and what its page shows.

use super::chart::{self, Series};
use coherence::machine::{Machine, Picoseconds};
use coherence::sweep::Cell;
use jvm::size::format;
use jvm::{Error, Result};
use present::grid::grid;
use present::numbers::count;
use serde::Serialize;

/// Columns of threads in one table: more do not fit a terminal.
const MOST_COLUMNS: usize = 8;

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

/// The levels with their sizes.
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
        let mut rows = Vec::new();
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
                rows.push(row);
            }
        }
        text.push_str(&grid(columns, &header, rows));
    }
    text
}

fn value(cell: &Cell) -> String {
    match cell.speed_up {
        Some(speed_up) if cell.levels != "none" => {
            format!("{speed_up:.*} x", if speed_up < 99.95 { 2 } else { 0 })
        }
        _ => count(cell.measured.per_second),
    }
}

/// A line for each cell, numbers in full.
pub fn csv(cells: &[Cell]) -> Result<String> {
    let failed = |why: &dyn std::fmt::Display| {
        Error::failed(format!("the CSV cannot be made: {why}; --format json has the same numbers"))
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = [
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
    ];
    writer.write_record(header).map_err(|why| failed(&why))?;
    for cell in cells {
        let Some(buffers) = &cell.measured.buffers else { continue };
        let record = [
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
        ];
        writer.write_record(record).map_err(|why| failed(&why))?;
    }
    let bytes = writer.into_inner().map_err(|why| failed(&why))?;
    String::from_utf8(bytes).map_err(|why| failed(&why))
}

#[derive(Serialize)]
struct Panel {
    name: String,
    svg: String,
}

/// What the page shows.
#[derive(Serialize)]
pub struct View {
    heading: String,
    meta: String,
    series: Vec<&'static str>,
    panels: Vec<Panel>,
    header: [&'static str; 8],
    rows: Vec<[String; 8]>,
}

impl View {
    pub fn new(machine: &Machine, cells: &[Cell], length: Picoseconds, seed: u64) -> View {
        let levels = unique(cells.iter().map(|cell| cell.levels));
        let panel = |name: String| {
            let line = |(colour, levels): (usize, &&'static str)| Series {
                name: (*levels).into(),
                colour,
                points: (cells.iter())
                    .filter(|cell| tlab(cell) == name && cell.levels == *levels)
                    .filter_map(|cell| Some((cell.measured.threads, cell.speed_up?)))
                    .collect(),
            };
            let mut series: Vec<Series> = levels.iter().enumerate().map(line).collect();
            for line in &mut series {
                line.points.sort_unstable_by_key(|(threads, _)| *threads);
            }
            Panel { svg: chart::svg(&series), name }
        };
        let row = |cell: &Cell| {
            let buffers = cell.measured.buffers.as_ref();
            [
                tlab(cell),
                if cell.levels == "none" {
                    "none".into()
                } else {
                    format!("{}: {}", cell.levels, sizes(cell))
                },
                cell.measured.threads.to_string(),
                count(cell.measured.per_second),
                cell.speed_up.map(|speed_up| format!("{speed_up:.2}")).unwrap_or_default(),
                buffers.map(|buffers| count(buffers.heap_requests_per_second)).unwrap_or_default(),
                buffers.map(|buffers| buffers.collections.to_string()).unwrap_or_default(),
                buffers.map(|buffers| present::numbers::human(buffers.held_bytes as f64)).unwrap_or_default(),
            ]
        };
        View {
            heading: format!("What levels of buffers buy on {}", machine.name),
            meta: format!(
                "{} · program {} · {} ms simulated, seed {seed}",
                machine.title,
                cells.first().map_or("", |cell| cell.measured.program),
                length as f64 * 1e-9
            ),
            panels: tlabs(cells).into_iter().map(panel).collect(),
            series: levels,
            header: [
                "TLAB",
                "levels",
                "threads",
                "objects/s",
                "speed-up",
                "heap requests/s",
                "collections",
                "held in buffers",
            ],
            rows: cells.iter().map(row).collect(),
        }
    }
}
