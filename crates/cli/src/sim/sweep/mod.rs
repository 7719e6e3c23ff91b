//! `terrace sim sweep`.

mod chart;
mod show;

use present::table;
use super::arguments::{List, MachineArgument, ProgramArguments, counts, failed, several_levels, tlabs};
use super::page;
use super::progress::Progress;
use jvm::{Error, Result};
use clap::Args;
use coherence::programs::allocate::Tlab;
use coherence::scenario::Levels;
use coherence::sweep::{self, Cell, Point};
use serde::Serialize;
use std::path::PathBuf;

/// Simulate a grid of threads, thread buffers and levels: what the levels buy, as in the paper's Figure 2.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  terrace sim sweep --machine paper-4x10x2 --program allocate
  terrace sim sweep --machine epyc-9654-2x96 --program allocate --threads 1,8,96,192 --tlab 1k,4k --levels core,core+l3
  terrace sim sweep --machine assumed-2x256 --program allocate --threads 512 --csv grid.csv --html grid.html

Speed-ups are over 'none' with the same threads and TLABs; it is simulated too if it is not in the list.")]
pub struct Sweep {
    #[command(flatten)]
    machine: MachineArgument,

    #[command(flatten)]
    program: ProgramArguments,

    /// Threads, with commas [default: 1, 2, 4, ... and all CPUs of the machine].
    #[arg(long, value_name = "LIST", value_parser = counts)]
    threads: Option<List<u32>>,

    /// Threads' buffers, with commas: none, growing or sizes.
    #[arg(long, value_name = "LIST", value_parser = tlabs, default_value = "1k,4k,16k,growing", help_heading = "Allocation")]
    tlab: List<Tlab>,

    /// Levels, with commas: none, core, core+l3, core+package, l3, package, core+l3+package.
    #[arg(long, value_name = "LIST", value_parser = several_levels, default_value = "none,core,l3,core+l3", help_heading = "Allocation")]
    levels: List<Levels>,

    /// JSON with everything instead of a table.
    #[arg(long)]
    json: bool,

    /// Write the grid as CSV there as well.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Write the grid as a page there as well: plots and all numbers, in one file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// What JSON has.
#[derive(Serialize)]
struct Output<'a> {
    simulated: bool,
    machine: &'a str,
    seed: u64,
    pinned: bool,
    cells: &'a [Cell],
}

impl Sweep {
    /// The grid: TLABs, then levels, then threads.
    fn points(&self) -> Result<Vec<Point>> {
        let machine = &self.machine.machine;
        if !self.program.program.allocates() {
            return Err(Error::usage(format!(
                "--program {} has no buffers to compare; use --program allocate, or terrace sim run --threads LIST",
                self.program.program.name()
            )));
        }
        let mut all = self.levels.0.clone();
        if !all.contains(&Levels::NONE) {
            all.insert(0, Levels::NONE);
        }
        let doubling = || {
            let cpus = machine.shape.cpus();
            let mut counts: Vec<u32> =
                (0..).map(|power| 1 << power).take_while(|count| *count < cpus).collect();
            counts.push(cpus);
            counts
        };
        let threads = self.threads.as_ref().map_or_else(doubling, |list| list.0.clone());
        let mut points = Vec::new();
        for &tlab in &self.tlab.0 {
            for &levels in &all {
                let mut program = self.program.clone();
                program.sizes = self.program.sizes.only(&all, levels)?;
                for &count in &threads {
                    let scenario = program.scenario(machine, count, Some(tlab), Some(levels))?;
                    points.push(Point { tlab, levels, scenario });
                }
            }
        }
        Ok(points)
    }

    /// Does it.
    pub fn execute(&self) -> Result<()> {
        let machine = &self.machine.machine;
        let points = self.points()?;
        page::writable("--csv", self.csv.as_deref())?;
        page::writable("--html", self.html.as_deref())?;
        let progress = Progress::new();
        let cells = sweep::grid(machine, &points, |count| progress.done(count, points.len()))
            .map_err(|error| failed(&error))?;
        drop(progress);
        if let Some(path) = &self.csv {
            page::write("--csv", path, &show::csv(&cells)?)?;
        }
        if let Some(path) = &self.html {
            let length = points.first().map_or(0, |point| point.scenario.length);
            let view = show::View::new(machine, &cells, length, self.program.chance.seed);
            page::write("--html", path, &page::page(include_str!("../assets/sweep.html"), &view)?)?;
        }
        if self.json {
            let (seed, pinned) = (self.program.chance.seed, !self.program.chance.unpinned);
            let output = Output { simulated: true, machine: &machine.name, seed, pinned, cells: &cells };
            println!("{}", super::json(&output)?);
            return Ok(());
        }
        print!("{}", show::text(&cells, table::columns()));
        println!("none: objects/s; the others: speed-up over none with the same TLAB and threads.");
        println!("simulated on {} ({} CPUs), not measured", machine.name, machine.shape.cpus());
        for path in [&self.csv, &self.html].into_iter().flatten() {
            println!("written: {}", path.display());
        }
        Ok(())
    }
}
