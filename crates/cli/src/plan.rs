//! `terrace plan`: which buffers to use on a machine that may not be at hand.

mod map;
mod rate;
mod show;

use crate::format::{Format, json};
use crate::sim::arguments::{
    ChanceArguments, CollectorArgument, MachineArgument, cycles, failed, object, one_count,
};
use crate::sim::machine::assumed;
use crate::sim::page;
use crate::sim::run::bound;
use clap::Args;
use coherence::plan::map::{EDENS, POOLS};
use coherence::plan::{self, BufferPlan, Pauses, Request, Survivors};
use coherence::scenario::{Calls, DEFAULT_OBJECT, DEFAULT_WORK, Program};
use jvm::size;
use jvm::{Error, Result};
use present::numbers::human;
use present::steps::Steps;
use present::table::{columns, labelled};
use serde::Serialize;
use show::{decides, hangs_on, how_sure, kept, options, table, words};
use std::path::PathBuf;

/// G1's smallest regions have 1 MB, and nothing larger than half a region is handed out at once.
const SMALLEST_G1_EXTENT: u64 = 512 << 10;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  terrace plan --machine epyc-9654-2x96 --threads 192 --heap 32g
  terrace plan --machine my-server.toml --threads 64 --heap 8g --object 48 --work 120
  terrace plan --machine epyc-9654-2x96 --threads 2000 --heap 32g --eden 1g --rate 5g
  terrace plan --machine paper-4x10x2 --threads 40 --heap 4g --eden 2g --format json
  terrace plan --machine epyc-9654-2x96 --map                          where buffers pay: threads x eden
  terrace plan --machine graviton3-64 --map --work 400 --out map.html

The best is the least memory in buffers of all that are at most 2 % slower than the
fastest; it is recommended only if it beats HotSpot's own TLABs over the whole range of all
numbers. It is a simulation, from the machine's description (terrace sim machine NAME):
measure on the machine itself, with terrace compare, before you rely on it.")]
pub struct PlanCommand {
    #[command(flatten)]
    machine: MachineArgument,

    /// Threads that allocate [required without --map].
    #[arg(long, value_name = "N", value_parser = one_count, required_unless_present = "map")]
    threads: Option<u32>,

    /// The Java heap (-Xmx) [default: four times eden; required without --eden and --map].
    #[arg(long, value_name = "SIZE", value_parser = size::parse, required_unless_present_any = ["map", "eden"])]
    heap: Option<u64>,

    /// Map where buffers pay off: threads (up to pools of 5,000) by eden (64 MB to 64 GB).
    #[arg(long)]
    map: bool,

    /// Also write the map as an HTML page.
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    out: Option<PathBuf>,

    /// Eden [default: a quarter of the heap, Parallel's initial size].
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    eden: Option<u64>,

    #[command(flatten)]
    gc: CollectorArgument,

    /// Bytes that survive a collection [default: 2 % of eden].
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    survivors: Option<u64>,

    /// Object size in bytes [default: 64].
    #[arg(long, value_name = "BYTES", value_parser = object, conflicts_with = "profile", help_heading = "Program")]
    object: Option<u32>,

    /// Cycles of work between two objects [default: 40, an allocation-intensive program].
    #[arg(long, value_name = "CYCLES", value_parser = cycles, conflicts_with = "profile", help_heading = "Program")]
    work: Option<f64>,

    /// What all threads together allocate in a second while nothing stops them, instead of --work: 5g is 5 GB/s.
    #[arg(long, value_name = "SIZE", value_parser = size::parse, conflicts_with_all = ["profile", "work", "map"], help_heading = "Program")]
    rate: Option<u64>,

    /// Objects and work as recorded from a real program.
    #[arg(long, value_name = "NAME", value_parser = profile, help_heading = "Program")]
    profile: Option<Program>,

    #[command(flatten)]
    chance: ChanceArguments,

    /// Output format.
    #[arg(long, value_parser = Format::of(Format::BOTH), default_value = "table", help_heading = "Output")]
    format: Format,
}

/// Parallel's eden is a quarter of the heap that it starts with.
const EDENS_OF_HEAP: u64 = 4;

fn profile(name: &str) -> Result<Program> {
    let recorded = |program: &Program| program.allocates() && !program.has_object();
    name.parse().ok().filter(recorded).ok_or_else(|| {
        let known: Vec<&str> =
            Program::ALL.iter().filter(|program| recorded(program)).map(|program| program.name()).collect();
        let remedy = if known.is_empty() {
            "none is shipped; use --object and --work".to_owned()
        } else {
            format!("choose one of {}", known.join(", "))
        };
        Error::usage(format!("unknown profile '{name}'; {remedy}"))
    })
}

#[derive(Serialize)]
struct Output<'a> {
    simulated: bool,
    machine: &'a str,
    threads: u32,
    heap_bytes: u64,
    eden_bytes: u64,
    seed: u64,
    pinned: bool,
    /// What to start java with; with the agent's folder in place of PATH.
    options: String,
    /// Numbers of the machine that are guesses.
    assumed: Vec<String>,
    #[serde(flatten)]
    plan: &'a BufferPlan,
}

impl PlanCommand {
    pub fn execute(&self) -> Result<()> {
        let machine = &self.machine.machine;
        let own = [
            self.threads.is_some(),
            self.heap.is_some(),
            self.eden.is_some(),
            self.survivors.is_some(),
            self.chance.length.is_some(),
        ];
        if self.map && own.contains(&true) {
            return Err(Error::usage(
                "--map sets its own --threads, --heap, --eden, --survivors and --length; leave them out",
            ));
        }
        if self.out.is_some() && !self.map {
            return Err(Error::usage("--out writes the page of a map; add --map, or redirect the output"));
        }
        // A map has its own.
        let threads = self.threads.unwrap_or(1);
        let around = |eden: u64| eden.saturating_mul(EDENS_OF_HEAP);
        let heap = self.heap.or(self.eden.map(around)).unwrap_or(4 << 30);
        let eden = self.eden.unwrap_or(heap / EDENS_OF_HEAP);
        if eden > heap {
            let heap = size::format(heap);
            return Err(Error::usage(format!("--eden is larger than --heap {heap}; use a smaller one")));
        }
        if let Some(survivors) = self.survivors.filter(|survivors| *survivors > eden) {
            return Err(Error::usage(format!(
                "--survivors {}: more than the eden of {} that is collected; specify at most that",
                size::format(survivors),
                size::format(eden)
            )));
        }
        let request = Request {
            program: self.profile.unwrap_or(Program::Allocate),
            object: self.object.unwrap_or(DEFAULT_OBJECT),
            work: self.asked_work(threads)?,
            threads,
            eden: eden as usize,
            collector: self.gc.collector(heap as usize),
            survivors: self
                .survivors
                .map_or(Survivors::default(), |bytes| Survivors::stated(bytes as f64 / eden as f64)),
            pauses: Pauses::default(),
            calls: Calls::default(),
            pinned: !self.chance.unpinned,
            seed: self.chance.seed,
            length: self.chance.length,
        };
        request.check().map_err(Error::usage)?;
        let progress = Steps::begin();
        if self.map {
            return self.draw(&request, progress);
        }
        let plan = plan::plan(machine, &request, |done, all| progress.done(done, all))
            .map_err(|error| failed(&error))?;
        drop(progress);
        let guesses = assumed(machine);
        if self.format == Format::Json {
            let output = Output {
                simulated: true,
                machine: &machine.name,
                threads,
                heap_bytes: heap,
                eden_bytes: eden,
                seed: request.seed,
                pinned: request.pinned,
                options: options(&plan.recommended)?,
                assumed: guesses,
                plan: &plan,
            };
            print!("{}", json(&output)?);
            return Ok(());
        }
        let columns = columns();
        print!("{}", table(&plan, columns));
        let chosen = &plan.recommended;
        let line = |name: &str, text: &str| print!("{}", labelled(name, text, columns));
        line("recommended", &words(chosen));
        line("", &kept(chosen, &plan.chains[0], eden));
        if let Some(limit) = &chosen.limit {
            line("bound by", &format!("{}; {}", bound(limit), decides(limit.bound)));
        }
        line("confidence", &how_sure(&plan));
        if let Some(sure) = &plan.sure {
            line("depends on", &hangs_on(sure));
        }
        line("start java with", &options(chosen)?);
        let largest = [chosen.core_bytes, chosen.l3_bytes].into_iter().flatten().max();
        if largest.is_some_and(|bytes| bytes > SMALLEST_G1_EXTENT) {
            line(
                "with G1",
                "a buffer is at most half a region: choose -XX:G1HeapRegionSize of twice the largest buffer",
            );
        }
        let of = machine.figures.len();
        line(
            "note",
            &format!(
                "simulated, not measured, from the description of {}, in which {} of {of} numbers are assumed: {}.",
                machine.name,
                guesses.len(),
                guesses.join(", ")
            ),
        );
        Ok(())
    }

    /// Cycles of work between two objects, as asked for or such that all threads allocate so much in a second if they never wait.
    fn asked_work(&self, threads: u32) -> Result<f64> {
        let Some(rate) = self.rate else { return Ok(self.work.unwrap_or(DEFAULT_WORK)) };
        let machine = &self.machine.machine;
        let object = self.object.unwrap_or(DEFAULT_OBJECT);
        rate::work(machine, object, threads, rate as f64).ok_or_else(|| {
            Error::usage(format!(
                "--rate {}: {threads} threads allocate at most {} of objects of {object} bytes per second on {}; specify less",
                size::format(rate),
                human(rate::most(machine, object, threads)),
                machine.name
            ))
        })
    }

    fn draw(&self, request: &Request, progress: Steps) -> Result<()> {
        let machine = &self.machine.machine;
        page::writable("--out", self.out.as_deref())?;
        let cpus = machine.shape.cpus();
        let mut threads: Vec<u32> = [cpus.div_ceil(8), cpus].into_iter().chain(POOLS).collect();
        threads.sort_unstable();
        threads.dedup();
        let places = plan::map::map(machine, request, &threads, &EDENS, |done, all| progress.done(done, all))
            .map_err(|error| failed(&error))?;
        drop(progress);
        if let Some(path) = &self.out {
            let meta = page::meta(machine, request.program.name(), 0, request.seed);
            page::write("--out", path, &map::html(machine, &places, meta)?)?;
        }
        if self.format == Format::Json {
            print!(
                "{}",
                json(&serde_json::json!({ "simulated": true, "machine": machine.name, "places": places }))?
            );
        } else {
            print!("{}", map::text(machine, &places, columns()));
        }
        Ok(())
    }
}
