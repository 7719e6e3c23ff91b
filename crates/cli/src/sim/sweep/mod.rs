//! `terrace sim sweep`.

mod show;

use super::arguments::{List, MachineArgument, ProgramArguments, counts, failed, several_levels, tlabs};
use super::page;
use crate::format::Format;
use clap::{Args, ValueEnum};
use coherence::programs::allocate::Tlab;
use coherence::scenario::Levels;
use coherence::sweep::{self, Cell, Point};
use jvm::{Error, Result};
use present::steps::Steps;
use present::table;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  terrace sim sweep --machine paper-4x10x2 --program allocate
  terrace sim sweep --machine epyc-9654-2x96 --program allocate --threads 1,8,96,192 --tlab 1k,4k --levels core,core+l3
  terrace sim sweep --machine my-server.toml --program allocate --threads 512 --out grid.csv --out grid.html

Speed-ups are over 'none' with the same threads and TLABs; it is simulated too if it is not in the list.")]
pub struct Sweep {
    #[command(flatten)]
    machine: MachineArgument,

    #[command(flatten)]
    program: ProgramArguments,

    /// Numbers of threads, separated by commas [default: 1, 2, 4, ... and all CPUs of the machine].
    #[arg(long, value_name = "LIST", value_parser = counts)]
    threads: Option<List<u32>>,

    /// Thread buffers, separated by commas: none, growing or sizes.
    #[arg(long, value_name = "LIST", value_parser = tlabs, default_value = "1k,4k,16k,growing", help_heading = "Allocation")]
    tlab: List<Tlab>,

    /// Levels, separated by commas: none, core, core+l3, core+package, l3, package, core+l3+package.
    #[arg(long, value_name = "LIST", value_parser = several_levels, default_value = "none,core,l3,core+l3", help_heading = "Allocation")]
    levels: List<Levels>,

    /// Output format.
    #[arg(long, value_parser = Format::of(Format::ALL), default_value = "table", help_heading = "Output")]
    format: Format,

    /// Also write the grid to FILE.json, FILE.csv or FILE.html (a page with plots and all numbers); may be repeated.
    #[arg(long, value_name = "FILE", value_parser = OutFile::parse, help_heading = "Output")]
    out: Vec<OutFile>,
}

/// A file whose name says what it is written as.
#[derive(Clone, Debug)]
struct OutFile {
    path: PathBuf,
    format: Format,
}

impl OutFile {
    fn parse(text: &str) -> Result<OutFile> {
        let path = PathBuf::from(text);
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        let format = Format::from_str(end, false).ok().filter(|format| *format != Format::Table);
        let format = format.ok_or_else(|| {
            Error::usage(format!(
                "'{text}': the name must end in .json, .csv or .html, which selects the format"
            ))
        })?;
        Ok(OutFile { path, format })
    }
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

    pub fn execute(&self) -> Result<()> {
        let machine = &self.machine.machine;
        let points = self.points()?;
        for file in &self.out {
            page::writable("--out", Some(&file.path))?;
        }
        let progress = Steps::begin();
        let cells = sweep::grid(machine, &points, |count| progress.done(count, points.len()))
            .map_err(|error| failed(&error))?;
        drop(progress);
        for file in &self.out {
            page::write("--out", &file.path, &self.render(file.format, &points, &cells)?)?;
        }
        print!("{}", self.render(self.format, &points, &cells)?);
        if self.format == Format::Table {
            for file in &self.out {
                println!("written: {}", file.path.display());
            }
        }
        Ok(())
    }

    fn render(&self, format: Format, points: &[Point], cells: &[Cell]) -> Result<String> {
        let machine = &self.machine.machine;
        Ok(match format {
            Format::Table => format!(
                "{}none: objects/s; the others: speed-up over none with the same TLAB and threads.\n\
                 In brackets: what it is bound by.\n\
                 simulated on {} ({} CPUs), not measured\n",
                show::text(cells, table::columns()),
                machine.name,
                machine.shape.cpus()
            ),
            Format::Json => self.program.chance.json(machine, &json!({ "cells": cells }))?,
            Format::Csv => show::csv(cells),
            Format::Html => {
                let length = points.first().map_or(0, |point| point.scenario.length);
                show::page(machine, cells, length, self.program.chance.seed)?
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_by_its_name_what_it_holds() {
        let of = |name: &str| OutFile::parse(name).ok().map(|file| file.format);
        assert_eq!(
            ["x.json", "a/grid.csv", "x.html"].map(of),
            [Format::Json, Format::Csv, Format::Html].map(Some)
        );
        assert_eq!(["x.table", "csv", "x.txt"].map(of), [None; 3]);
    }
}
