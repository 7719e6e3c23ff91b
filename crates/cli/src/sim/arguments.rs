//! What is simulated: options that the commands share.

use crate::format::simulated;
use clap::{Args, ValueEnum};
use coherence::machine::{Machine, Picoseconds};
use coherence::programs::allocate::{Collector, Tlab};
use coherence::scenario::{Calls, DEFAULT_OBJECT, DEFAULT_WORK, Levels, Program, Scenario, Sizes};
use jvm::{Error, Result, size};
use serde::Serialize;

/// An eden that does not fill up within milliseconds.
const DEFAULT_EDEN: u64 = 4 << 30;
/// Long enough for hundreds of refills of each thread.
const DEFAULT_LENGTH: Picoseconds = 2_000_000_000;
/// A simulated second takes minutes.
const LONGEST: Picoseconds = 10_000_000_000_000;

/// A list with commas, as one option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T>(pub Vec<T>);

/// The machine.
#[derive(Args, Clone, Debug)]
pub struct MachineArgument {
    /// The machine: an included one ('terrace sim list' shows them) or a file in the format of docs/machines.md.
    #[arg(long, value_name = "NAME|FILE", value_parser = machine)]
    pub machine: Machine,
}

/// Everything but the machine and the buffers.
#[derive(Args, Clone, Debug)]
pub struct ProgramArguments {
    /// Program of the threads: add, xadd, cas (all increment one counter), allocate, or javac (as the workload allocates).
    #[arg(long, value_name = "NAME", value_parser = program)]
    pub program: Program,

    /// Object size in bytes [default: 64].
    #[arg(long, value_name = "BYTES", value_parser = object, help_heading = "Allocation")]
    pub object: Option<u32>,

    /// Cycles of work between two objects [default: 40].
    #[arg(long, value_name = "CYCLES", value_parser = cycles, help_heading = "Allocation")]
    pub work: Option<f64>,

    /// Eden; a collection takes no time and empties it [default: 4g].
    #[arg(long, value_name = "SIZE", value_parser = size::parse, help_heading = "Allocation")]
    pub eden: Option<u64>,

    #[command(flatten)]
    pub gc: CollectorArgument,

    #[command(flatten)]
    pub sizes: SizeArguments,

    #[command(flatten)]
    pub chance: ChanceArguments,
}

/// Who hands eden out.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Allocation")]
pub struct CollectorArgument {
    /// The collector whose eden is simulated: one top for all threads (parallel), regions and Heap_lock (g1), or a region per package
    /// (g1-numa, as with -XX:+UseNUMA).
    #[arg(long, value_enum, value_name = "NAME", default_value = "parallel")]
    pub gc: Gc,
}

/// Collectors whose eden is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Gc {
    Parallel,
    G1,
    G1Numa,
}

impl CollectorArgument {
    /// With the regions that HotSpot chooses for a heap.
    pub fn collector(self, heap: usize) -> Collector {
        match self.gc {
            Gc::Parallel => Collector::Parallel,
            Gc::G1 => Collector::g1(heap, false),
            Gc::G1Numa => Collector::g1(heap, true),
        }
    }
}

/// Sizes of buffers.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Allocation")]
pub struct SizeArguments {
    /// Size of a core's buffer [default: the agent's choice for this eden, 256k at most].
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub core_size: Option<u64>,

    /// Size of the buffer of cores that share an L3 cache [default: 8 core buffers].
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub l3_size: Option<u64>,

    /// Size of a package's buffer [default: 8 buffers of the level below].
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub package_size: Option<u64>,
}

/// Time and chance.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Simulation")]
pub struct ChanceArguments {
    /// Simulated time, such as 500us or 5ms [default: 2ms; plan: until a thread has allocated 2 MB].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub length: Option<Picoseconds>,

    /// Random seed: the same seed gives the same output.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Let the scheduler migrate threads between CPUs.
    #[arg(long)]
    pub unpinned: bool,
}

impl ChanceArguments {
    pub fn json(&self, machine: &Machine, rest: &impl Serialize) -> Result<String> {
        simulated(&machine.name, self.seed, !self.unpinned, rest)
    }
}

/// One choice of buffers.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Allocation")]
pub struct BufferArguments {
    /// Thread buffers: none, growing (HotSpot's own strategy) or a size [default: growing].
    #[arg(long, value_name = "none|growing|SIZE", value_parser = tlab)]
    pub tlab: Option<Tlab>,

    /// Buffers between threads and heap: none, core, core+l3, core+package, l3, package or core+l3+package [default: none].
    #[arg(long, value_name = "LEVELS", value_parser = levels)]
    pub levels: Option<Levels>,
}

impl ProgramArguments {
    /// Refuses what this program has no use for.
    fn check(&self, buffers: bool) -> Result<()> {
        let name = self.program.name();
        let sizes = &self.sizes;
        let given = [
            ("--tlab and --levels", buffers),
            ("--eden", self.eden.is_some()),
            ("--core-size", sizes.core_size.is_some()),
            ("--l3-size", sizes.l3_size.is_some()),
            ("--package-size", sizes.package_size.is_some()),
        ];
        if !self.program.allocates()
            && let Some((option, _)) = given.into_iter().find(|(_, given)| *given)
        {
            return Err(Error::usage(format!(
                "--program {name} allocates nothing: leave {option} out, or use --program allocate"
            )));
        }
        if !self.program.has_object() && (self.object.is_some() || self.work.is_some()) {
            return Err(Error::usage(format!(
                "--program {name} has no --object and no --work; leave them out, or use --program allocate"
            )));
        }
        Ok(())
    }

    /// One simulation.
    pub fn scenario(
        &self,
        machine: &Machine,
        threads: u32,
        tlab: Option<Tlab>,
        levels: Option<Levels>,
    ) -> Result<Scenario> {
        self.check(tlab.is_some() || levels.is_some())?;
        let eden = self.eden.unwrap_or(DEFAULT_EDEN) as usize;
        let levels = levels.unwrap_or(Levels::NONE);
        self.sizes.belong_to(&[levels])?;
        let scenario = Scenario {
            program: self.program,
            threads,
            tlab: tlab.unwrap_or(Tlab::Growing),
            hierarchy: self.sizes.sizes().hierarchy(levels, machine, eden),
            eden,
            collector: self.gc.collector(4 * eden),
            object: self.object.unwrap_or(DEFAULT_OBJECT),
            work: self.work.unwrap_or(DEFAULT_WORK),
            calls: Calls::default(),
            pinned: !self.chance.unpinned,
            seed: self.chance.seed,
            length: self.chance.length.unwrap_or(DEFAULT_LENGTH),
        };
        scenario.check().map_err(Error::usage)?;
        Ok(scenario)
    }
}

impl SizeArguments {
    /// As the simulator wants them.
    pub fn sizes(&self) -> Sizes {
        let bytes = |size: Option<u64>| size.map(|size| size as usize);
        Sizes { core: bytes(self.core_size), l3: bytes(self.l3_size), package: bytes(self.package_size) }
    }

    /// Refuses the size of a level that none of these has.
    fn belong_to(&self, levels: &[Levels]) -> Result<()> {
        let given = [("core", self.core_size), ("l3", self.l3_size), ("package", self.package_size)];
        for (name, _) in given.into_iter().filter(|(_, size)| size.is_some()) {
            if !levels.iter().any(|levels| levels.name().split('+').any(|level| level == name)) {
                return Err(Error::usage(format!(
                    "--{name}-size has no meaning without {name} buffers; add them with --levels {name}"
                )));
            }
        }
        Ok(())
    }

    /// The sizes that some levels have, for a sweep over several; a size that no levels have is refused.
    pub fn only(&self, all: &[Levels], levels: Levels) -> Result<SizeArguments> {
        self.belong_to(all)?;
        let has = |name: &str| levels.name().split('+').any(|level| level == name);
        Ok(SizeArguments {
            core_size: self.core_size.filter(|_| has("core")),
            l3_size: self.l3_size.filter(|_| has("l3")),
            package_size: self.package_size.filter(|_| has("package")),
        })
    }
}

/// A simulation that there was no memory for.
pub fn failed(error: &std::io::Error) -> Error {
    Error::failed(format!("the simulation: {error}; use fewer --threads"))
}

pub fn machine(name: &str) -> Result<Machine> {
    Machine::named(name).map_err(|error| Error::usage(error.to_string()))
}

fn known(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

pub fn program(name: &str) -> Result<Program> {
    name.parse().map_err(|_| {
        let known = known(Program::ALL.iter().map(|program| program.name()));
        Error::usage(format!("unknown program '{name}'; choose one of {known}"))
    })
}

fn levels(name: &str) -> Result<Levels> {
    Levels::named(name).ok_or_else(|| {
        let known = known(Levels::ALL.into_iter().map(Levels::name));
        Error::usage(format!("unknown levels '{name}'; choose one of {known}"))
    })
}

fn tlab(text: &str) -> Result<Tlab> {
    match text {
        "none" => Ok(Tlab::None),
        "growing" => Ok(Tlab::Growing),
        _ => match size::parse(text) {
            // Whole grains, and room for an object.
            Ok(bytes) if (256..=32 << 20).contains(&bytes) => Ok(Tlab::Bytes(bytes as usize & !7)),
            Ok(_) => {
                Err(Error::usage(format!("'{text}' is not a valid thread buffer; use 256 bytes to 32m")))
            }
            Err(_) => Err(Error::usage(format!(
                "'{text}' is not a valid thread buffer; use none, growing or a size such as 4k"
            ))),
        },
    }
}

pub fn object(text: &str) -> Result<u32> {
    (text.parse().ok().filter(|bytes| (8..=1 << 20).contains(bytes))).ok_or_else(|| {
        Error::usage(format!("'{text}' is not a valid object size; use 8 to 1048576 bytes, such as 64"))
    })
}

pub fn cycles(text: &str) -> Result<f64> {
    (text.parse().ok().filter(|cycles| (1.0..=1e9).contains(cycles))).ok_or_else(|| {
        Error::usage(format!("'{text}' is not a valid number of cycles; use 1 to 1000000000, such as 40"))
    })
}

pub fn one_count(text: &str) -> Result<u32> {
    (text.parse().ok().filter(|number| *number > 0)).ok_or_else(|| {
        Error::usage(format!("'{text}' is not a valid number of threads; use 1 or more, such as 1,2,4"))
    })
}

fn list<T: PartialEq>(text: &str, one: impl Fn(&str) -> Result<T>) -> Result<List<T>> {
    let mut values = Vec::new();
    for part in text.split(',') {
        let value = one(part.trim())?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Ok(List(values))
}

/// `1,2,4`
pub fn counts(text: &str) -> Result<List<u32>> {
    list(text, one_count)
}

/// `none,4k`
pub fn tlabs(text: &str) -> Result<List<Tlab>> {
    list(text, tlab)
}

/// `none,core`
pub fn several_levels(text: &str) -> Result<List<Levels>> {
    list(text, levels)
}

/// `500us`, `2ms`: simulated time, with its unit.
pub fn time(text: &str) -> Result<Picoseconds> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ns" => 1e3,
        "us" => 1e6,
        "ms" => 1e9,
        "s" => 1e12,
        _ => 0.0,
    };
    let time = digits.parse::<f64>().ok().filter(|time| time.is_finite()).map_or(0.0, |time| time * unit);
    if (1e3..=LONGEST as f64).contains(&time) {
        Ok(time as Picoseconds)
    } else {
        Err(Error::usage(format!(
            "'{text}' is not a valid simulated time; use 1ns to 10s with its unit, such as 2ms"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_need_a_unit() {
        assert_eq!(time("2ms").unwrap(), 2_000_000_000);
        assert_eq!(time("1.5us").unwrap(), 1_500_000);
        for text in ["", "2", "ms", "-1ms", "0ms", "11s", "1h", "nan", "2 ms "] {
            assert!(time(text).unwrap_err().to_string().contains("such as 2ms"), "{text}");
        }
    }

    #[test]
    fn lists_have_each_value_once() {
        assert_eq!(counts("1,2, 4,2").unwrap().0, [1, 2, 4]);
        assert!(counts("1,,2").is_err() && counts("0").is_err() && counts("").is_err());
        assert_eq!(tlabs("none,4k,4096").unwrap().0, [Tlab::None, Tlab::Bytes(4096)]);
        assert_eq!(several_levels("core+l3,none").unwrap().0, [Levels::CORE_L3, Levels::NONE]);
    }
}
