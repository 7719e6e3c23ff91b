//! `terrace sim explain`.

mod timeline;

use super::arguments::{BufferArguments, MachineArgument, ProgramArguments, failed, one_count, time};
use super::page;
use crate::format::Format;
use clap::Args;
use coherence::explain::{Bounced, Explanation};
use coherence::machine::Picoseconds;
use coherence::scenario::Measured;
use jvm::{Error, Result};
use present::numbers::{count, percent, share};
use present::table::{self, Table};
use serde::Serialize;
use std::path::PathBuf;

/// Moves that are kept one by one, to have a window of them: some 100 MB at most.
const KEPT: usize = 1 << 21;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  terrace sim explain --machine thompson-nehalem --program cas --threads 4
  terrace sim explain --machine epyc-9654-2x96 --program allocate --threads 96 --tlab 4k
  terrace sim explain --machine epyc-9654-2x96 --program allocate --threads 96 --tlab 4k --levels core --timeline moves.html

A line's cost is the time that cores waited for it plus the time that it was in transit, summed over all cores; plain stores wait
in the store buffer and not in the thread, so the shares may add up to more than 100 %.")]
pub struct Explain {
    #[command(flatten)]
    machine: MachineArgument,

    #[command(flatten)]
    program: ProgramArguments,

    #[command(flatten)]
    buffers: BufferArguments,

    /// Threads.
    #[arg(long, value_name = "N", default_value = "2", value_parser = one_count)]
    threads: u32,

    /// Lines to show, most expensive first.
    #[arg(long, value_name = "N", default_value_t = 10)]
    lines: usize,

    /// Write a page to FILE that shows each move, with a row for each core.
    #[arg(long, value_name = "FILE", help_heading = "Timeline")]
    timeline: Option<PathBuf>,

    /// Start of the timeline [default: half of the length].
    #[arg(long, value_name = "TIME", value_parser = time, requires = "timeline", help_heading = "Timeline")]
    from: Option<Picoseconds>,

    /// Length of the timeline, up to 2000 moves [default: 250 moves].
    #[arg(long, value_name = "TIME", value_parser = time, requires = "timeline", help_heading = "Timeline")]
    window: Option<Picoseconds>,

    /// Output format.
    #[arg(long, value_parser = Format::of(Format::BOTH), default_value = "table", help_heading = "Output")]
    format: Format,
}

#[derive(Serialize)]
struct Output<'a> {
    #[serde(flatten)]
    explanation: &'a Explanation,
    measured: &'a Measured,
}

impl Explain {
    pub fn execute(&self) -> Result<()> {
        let machine = &self.machine.machine;
        let scenario =
            self.program.scenario(machine, self.threads, self.buffers.tlab, self.buffers.levels)?;
        page::writable("--timeline", self.timeline.as_deref())?;
        let kept = if self.timeline.is_some() { KEPT } else { 1 };
        let (measured, traffic) = scenario.run(machine, kept).map_err(|error| failed(&error))?;
        let mut explanation = Explanation::of(machine, &measured, &traffic);
        if let Some(path) = &self.timeline {
            let from = self.from.unwrap_or(scenario.length / 2);
            if self.from.is_some_and(|from| from >= scenario.length) {
                return Err(Error::usage("--from is beyond the end; use less than --length"));
            }
            let window = timeline::Window::of(&traffic, from, self.window, KEPT)?;
            page::write("--timeline", path, &timeline::page(machine, &scenario, &explanation, &window)?)?;
        }
        explanation.lines.truncate(self.lines);
        if self.format == Format::Json {
            let output = Output { explanation: &explanation, measured: &measured };
            print!("{}", self.program.chance.json(machine, &output)?);
            return Ok(());
        }
        let columns = table::columns();
        print!("{}", lines(&explanation.lines).text(columns));
        print!("{}", pairs(&explanation.lines, columns));
        println!("{}", table::wrapped(&explanation.verdict, usize::from(columns)).join("\n"));
        println!(
            "{} operations/s; simulated on {} ({} CPUs), not measured",
            count(measured.per_second),
            machine.name,
            machine.shape.cpus()
        );
        if let Some(path) = &self.timeline {
            println!("written: {}", path.display());
        }
        Ok(())
    }
}

/// Lines: what moved and what it cost.
pub fn lines(lines: &[Bounced]) -> Table {
    let row = |line: &Bounced| {
        let mostly =
            line.mostly().map_or("-".into(), |(what, share)| format!("{what} {}", percent(share, 0)));
        vec![
            line.name.clone(),
            share(line.share),
            count(line.queued_cycles),
            count(line.moving_cycles),
            count(line.reads as f64),
            count(line.writes as f64),
            count(line.upgrades as f64),
            count(line.modified as f64),
            count(line.lost as f64),
            mostly,
        ]
    };
    Table::new([
        "line",
        "of all threads' time",
        "cycles waiting",
        "cycles moving",
        "reads",
        "writes",
        "upgrades",
        "modified",
        "lost",
        "mostly in one",
    ])
    .with(lines.iter().map(row))
}

/// The pairs of the most expensive line.
fn pairs(lines: &[Bounced], columns: u16) -> String {
    let Some(first) = lines.first().filter(|line| !line.pairs.is_empty()) else { return String::new() };
    let header = [
        format!("{}: from", first.name),
        "to".into(),
        "moves".into(),
        "cycles each".into(),
        "share a".into(),
    ];
    let row = |pair: &coherence::explain::Pair| {
        vec![
            format!("core {}", pair.from),
            format!("core {}", pair.to),
            count(pair.moves as f64),
            format!("{:.0}", pair.cycles_each),
            pair.shared.to_owned(),
        ]
    };
    Table::new(header).with(first.pairs.iter().map(row)).text(columns)
}
