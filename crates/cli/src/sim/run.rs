//! `terrace sim run`.

use super::arguments::{BufferArguments, List, MachineArgument, ProgramArguments, counts, failed};
use super::page::{self, Contents};
use crate::format::Format;
use clap::Args;
use coherence::memory::{LineTraffic, Traffic};
use coherence::scenario::{Limit, Measured, Scenario};
use coherence::sweep;
use jvm::Result;
use jvm::size::format;
use present::figure::{Figure, Panel, Series};
use present::numbers::{count, share, three};
use present::table::{Table, columns};
use serde::Serialize;
use serde_json::json;

/// Lines that JSON tells of; 'terrace sim explain' has more.
const LINES: usize = 16;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  terrace sim run --machine thompson-nehalem --program cas --threads 1,2,4,8
  terrace sim run --machine paper-4x10x2 --program allocate --threads 40 --tlab 4k --levels core --core-size 512k
  terrace sim run --machine my-server.toml --program allocate --threads 64 --tlab growing --format json

The same options and the same --seed give the same output, byte for byte.")]
pub struct Run {
    #[command(flatten)]
    machine: MachineArgument,

    #[command(flatten)]
    program: ProgramArguments,

    #[command(flatten)]
    buffers: BufferArguments,

    /// Numbers of threads, separated by commas; each has its row.
    #[arg(long, value_name = "LIST", default_value = "1", value_parser = counts)]
    threads: List<u32>,

    /// Output format.
    #[arg(long, value_parser = Format::of(Format::ALL), default_value = "table", help_heading = "Output")]
    format: Format,
}

/// A row with what its lines did.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    measured: Measured,
    /// Over all lines. Times in picoseconds.
    traffic: LineTraffic,
    /// The most expensive lines. Times in picoseconds.
    lines: Vec<LineTraffic>,
}

impl Run {
    pub fn execute(&self) -> Result<()> {
        let machine = &self.machine.machine;
        let scenario =
            |threads: &u32| self.program.scenario(machine, *threads, self.buffers.tlab, self.buffers.levels);
        let scenarios = self.threads.0.iter().map(scenario).collect::<Result<Vec<Scenario>>>()?;
        let results = sweep::each(&scenarios, |_| (), |scenario| scenario.run(machine, 0));
        let results =
            results.into_iter().collect::<std::io::Result<Vec<_>>>().map_err(|error| failed(&error))?;
        if self.format == Format::Json {
            let rows: Vec<Row> = results.into_iter().map(row).collect();
            print!("{}", self.program.chance.json(machine, &json!({ "rows": rows }))?);
            return Ok(());
        }
        let rows: Vec<Measured> = results.into_iter().map(|(measured, _)| measured).collect();
        match self.format {
            Format::Csv => print!("{}", csv(&rows)),
            Format::Html => print!("{}", self.page(&scenarios, &rows)?),
            _ => {
                tables(&rows).iter().for_each(|(_, table)| print!("{}", table.text(columns())));
                println!("simulated on {} ({} CPUs), not measured", machine.name, machine.shape.cpus());
            }
        }
        Ok(())
    }

    fn page(&self, scenarios: &[Scenario], rows: &[Measured]) -> Result<String> {
        let machine = &self.machine.machine;
        let plot = |name: &str, value: &dyn Fn(&Measured) -> f64| {
            let point = |row: &Measured| page::point(0, row.threads, value(row), count(value(row)));
            let panel = Panel { points: rows.iter().map(point).collect(), ..Panel::default() };
            let figure = Figure { series: vec![Series::of(name)], panels: vec![panel], ..Figure::default() };
            page::by_threads(&format!("{name} by threads"), figure)
        };
        let plots = vec![
            plot(done_in(rows), &|row| row.per_second),
            plot("transfers / operation", &|row| row.transfers_per_operation),
        ];
        let contents = Contents { plots, tables: tables(rows), ..Contents::default() };
        let length = scenarios.first().map_or(0, |scenario| scenario.length);
        let meta = page::meta(machine, self.program.program.name(), length, self.program.chance.seed);
        page::page(format!("What threads do on {}", machine.name), meta, &contents)
    }
}

/// A line for each number of threads, numbers in full.
fn csv(rows: &[Measured]) -> String {
    let columns = [
        "threads",
        "per_second",
        "retries_per_success",
        "transfers_per_operation",
        "line_share",
        "bound_by",
        "bound_used",
    ];
    let row = |row: &Measured| {
        let rest = [row.per_second, row.retries_per_success, row.transfers_per_operation, row.line_share];
        let limit = row.roofline.first();
        let bound = [
            limit.map(|limit| limit.bound.to_string()).unwrap_or_default(),
            limit.map(|limit| limit.used.to_string()).unwrap_or_default(),
        ];
        std::iter::once(row.threads.to_string())
            .chain(rest.map(|number| number.to_string()))
            .chain(bound)
            .collect()
    };
    Table::new(columns).with(rows.iter().map(row)).csv()
}

fn done_in(rows: &[Measured]) -> &'static str {
    if rows.iter().any(|row| row.buffers.is_some()) { "objects/s" } else { "operations/s" }
}

fn row((measured, traffic): (Measured, Traffic)) -> Row {
    let dearest = traffic.dearest().into_iter().filter(|(_, line)| line.cost() > 0);
    let lines = dearest.take(LINES).map(|(_, line)| line.clone()).collect();
    Row { measured, traffic: traffic.total(), lines }
}

/// What is used most, and how much of it.
pub fn bound(limit: &Limit) -> String {
    format!("{} ({})", limit.bound, share(limit.used.min(1.0)))
}

/// What was done, and for programs that allocate another one of their buffers.
fn tables(rows: &[Measured]) -> Vec<(&'static str, Table)> {
    let header = [
        "threads",
        done_in(rows),
        "a thread",
        "retries / success",
        "transfers / operation",
        "time on lines",
        "bound by",
    ];
    let done = |row: &Measured| {
        vec![
            row.threads.to_string(),
            count(row.per_second),
            count(row.per_second_per_thread),
            three(row.retries_per_success),
            three(row.transfers_per_operation),
            share(row.line_share),
            row.roofline.first().map_or_else(String::new, bound),
        ]
    };
    let mut tables = vec![("What was done", Table::new(header).with(rows.iter().map(done)))];
    if rows.iter().all(|row| row.buffers.is_none()) {
        return tables;
    }
    let header = [
        "threads",
        "TLAB",
        "refills",
        "heap requests",
        "collections",
        "level",
        "foreign",
        "stolen",
        "passed on",
    ];
    let mut lines = Vec::new();
    for row in rows {
        let Some(buffers) = &row.buffers else { continue };
        let tlab = match (buffers.tlab.as_str(), buffers.tlab_bytes) {
            ("growing", bytes) => format!("growing: {}k", bytes.div_ceil(1 << 10)),
            (name, _) => name.to_owned(),
        };
        let counted =
            [buffers.refills, buffers.heap_requests, buffers.collections].map(|number| count(number as f64));
        let mut line = vec![row.threads.to_string(), tlab];
        line.extend(counted);
        let levels = buffers.levels.iter().map(|level| {
            let shares = [level.foreign_share, level.stolen_share, level.direct_share].map(share);
            let mut cells = vec![format!("{} {}", level.name, format(level.bytes))];
            cells.extend(shares);
            cells
        });
        let mut levels: Vec<Vec<String>> = levels.collect();
        if levels.is_empty() {
            levels.push(vec!["none".into(), "-".into(), "-".into(), "-".into()]);
        }
        for (number, level) in levels.into_iter().enumerate() {
            let front = if number == 0 { line.clone() } else { vec![String::new(); line.len()] };
            lines.push([front, level].concat());
        }
    }
    tables.push(("The buffers", Table::new(header).with(lines)));
    tables
}
