//! What a description's file holds, and what is checked of it.

use super::error::abridged;
use super::number::{LONGEST_KEY, Quantity, Section, mismatch, origin, read};
use super::shape::{MOST_CPUS, MOST_OF_A_KIND};
use super::{Bandwidth, Costs, Distance, Figure, Machine, MachineError, Picoseconds, Protocol, Shape, Unit};
use serde::Deserialize;
use std::ops::Range;
use strum::VariantNames;
use toml::{Table, Value};

/// The largest file that is read, in bytes.
pub(super) const LARGEST: usize = 64 << 10;

const FORMAT: &str = "docs/machines.md describes the format";

/// The longest title, in characters.
const LONGEST_TITLE: usize = 200;

/// What the busy threads of a core do together over what one does alone, where the file does not say.
const TOGETHER: f64 = 1.25;

/// The sections. What is inside is read value by value, so that an error can name the key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    protocol: String,
    clock: Value,
    shape: Table,
    costs: Table,
    #[serde(default)]
    memory: Table,
    #[serde(default)]
    scheduler: Table,
}

/// The shape has one origin for all four numbers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShapeSection {
    packages: i64,
    clusters: i64,
    cores: i64,
    threads: i64,
    source: Option<String>,
    assumed: Option<String>,
    measured: Option<String>,
    calibrated: Option<String>,
}

/// Reads a description; `file` is its name in errors, `name` the machine's.
pub(super) fn parse(text: &str, file: &str, name: &str) -> Result<Machine, MachineError> {
    if text.len() > LARGEST {
        return Err(too_large(file));
    }
    let sections: File = toml::from_str(text)
        .map_err(|error| MachineError::new(file, &place(text, error.span()), error.message(), FORMAT))?;
    let title = title(file, sections.title)?;
    let protocol = sections.protocol.parse().map_err(|_| {
        let names = Protocol::VARIANTS.join(", ");
        MachineError::new(
            file,
            "protocol",
            format!("{:?} is unknown", sections.protocol),
            format!("write one of {names}"),
        )
    })?;
    // A clock's unit is GHz, so that no clock is needed to read it.
    let clock = read(file, "clock".into(), sections.clock, Quantity::Clock, 1.0)?;
    let clock_ghz = clock.value;
    let mut figures = vec![clock];
    let shape = shape(file, sections.shape, &mut figures)?;
    let section = Section::new(file, "costs", sections.costs, clock_ghz, &mut figures);
    let costs = costs(section, &shape)?;
    let section = Section::new(file, "memory", sections.memory, clock_ghz, &mut figures);
    let bandwidth = bandwidth(section, &shape)?;
    let section = Section::new(file, "scheduler", sections.scheduler, clock_ghz, &mut figures);
    let costs = scheduler(section, costs)?;
    Ok(Machine { name: name.into(), title, clock_ghz, protocol, shape, costs, bandwidth, figures })
}

/// The line, and the key there, of what `toml` complains of; nothing if that is the file as a whole.
fn place(text: &str, span: Option<Range<usize>>) -> String {
    let whole = |span: &Range<usize>| span.start == 0 && (span.is_empty() || span.end >= text.len());
    let Some(span) = span.filter(|span| !whole(span)) else {
        return String::new();
    };
    let before = text.get(..span.start).unwrap_or(text);
    let line = before.matches('\n').count();
    let key = text
        .lines()
        .nth(line)
        .and_then(|line| line.split_once('='))
        .map(|(key, _)| abridged(key.trim(), LONGEST_KEY));
    match key {
        Some(key) => format!("line {}, {key}", line + 1),
        None => format!("line {}", line + 1),
    }
}

pub(super) fn too_large(file: &str) -> MachineError {
    MachineError::new(
        file,
        "",
        format!("larger than {} KB", LARGEST >> 10),
        "a description is a few KB: is this the right file?",
    )
}

fn title(file: &str, title: String) -> Result<String, MachineError> {
    let wrong = if title.trim().is_empty() {
        "is empty"
    } else if title.chars().count() > LONGEST_TITLE {
        "is longer than 200 characters"
    } else if title.contains(char::is_control) {
        "holds control characters"
    } else {
        return Ok(title);
    };
    Err(MachineError::new(file, "title", wrong, "write one line that names the machine"))
}

fn shape(file: &str, table: Table, figures: &mut Vec<Figure>) -> Result<Shape, MachineError> {
    const KEY: &str = "shape";
    let remedy = r#"write packages, clusters (in a package), cores (in a cluster), threads (in a core), and one origin"#;
    let section: ShapeSection =
        Value::Table(table).try_into().map_err(|error| mismatch(file, KEY, &error, remedy))?;
    let origin = origin(file, KEY, [section.source, section.assumed, section.measured, section.calibrated])?;
    let mut factor = |name: &str, value: i64| {
        let key = format!("{KEY}.{name}");
        let within = u32::try_from(value).ok().filter(|value| (1..=MOST_OF_A_KIND).contains(value));
        let Some(within) = within else {
            let remedy = format!("write a whole number from 1 to {MOST_OF_A_KIND}");
            return Err(MachineError::new(file, &key, format!("{value} is out of bounds"), remedy));
        };
        let (value, unit, origin) = (f64::from(within), Unit::Count, origin.clone());
        figures.push(Figure { key, value, unit, origin, low: None, high: None });
        Ok(within)
    };
    let shape = Shape {
        packages: factor("packages", section.packages)?,
        clusters: factor("clusters", section.clusters)?,
        cores: factor("cores", section.cores)?,
        threads: factor("threads", section.threads)?,
    };
    let cpus: u64 =
        [shape.packages, shape.clusters, shape.cores, shape.threads].into_iter().map(u64::from).product();
    if cpus > MOST_CPUS {
        let remedy = format!("describe a machine with at most {MOST_CPUS}");
        return Err(MachineError::new(file, KEY, format!("{cpus} CPUs are too many"), remedy));
    }
    Ok(shape)
}

/// Reads the costs; what belongs to the scheduler is left out.
fn costs(mut section: Section<'_>, shape: &Shape) -> Result<Costs, MachineError> {
    let time = Quantity::Time;
    let l1 = section.required("l1", time)?;
    let hit = (l1 / 1e3, Unit::Nanoseconds);
    let l2 = section.required("l2", time)?;
    let l3 = section.required("l3", time)?;
    let sibling = section.or_assume("sibling", time, hit, "threads of a core share its first cache")?;
    let has = |distance, text| shape.has(distance).then_some(text);
    let cluster =
        section.wanted("transfer_cluster", has(Distance::SameCluster, "a cluster has several cores"))?;
    let package =
        section.wanted("transfer_package", has(Distance::SamePackage, "a package has several clusters"))?;
    let other = has(Distance::OtherPackage, "there are several packages");
    let remote = section.wanted("transfer_remote", other)?;
    let home_remote = section.optional("home_remote", time)?;
    let memory_local = section.required("memory_local", time)?;
    let memory_remote = section.wanted("memory_remote", other)?;
    let locked = section.required("locked", time)?;
    let drain = section.required("drain", time)?;
    let store = section.required("store", time)?;
    let why = "processors of the last fifteen years hold 32 to 72";
    let store_buffer = section.or_assume("store_buffer", Quantity::Places, (48.0, Unit::Entries), why)?;
    let ratio = Quantity::Ratio;
    let work_scale = section.or_assume("work_scale", ratio, (1.0, Unit::Ratio), "no scaling is known")?;
    let threads = f64::from(shape.threads);
    let shared = if shape.threads > 1 { threads / TOGETHER } else { 1.0 };
    let why =
        "a core's busy threads together do 1.25 times the work of one: usual for two threads; exact for one";
    let sibling_work = section.or_assume("sibling_work", ratio, (shared, Unit::Ratio), why)?;
    let none = (0.0, Unit::Nanoseconds);
    let residency =
        section.or_assume("residency", Quantity::TimeOrNone, none, "a line is handed over at once")?;
    let streak = section.or_assume(
        "streak",
        Quantity::TimeOrNone,
        none,
        "a line is handed over after one locked instruction",
    )?;

    let file = section.file();
    if !(1.0..=threads).contains(&sibling_work) {
        let wrong = format!("{sibling_work} is out of bounds");
        let remedy = format!(
            "write from 1 (each works as if alone) to {threads} (they take turns), the number of threads in a core"
        );
        return Err(MachineError::new(file, "costs.sibling_work", wrong, remedy));
    }
    let near_to_far = [
        ("costs.transfer_cluster", cluster.filter(|_| shape.has(Distance::SameCluster))),
        ("costs.transfer_package", package.filter(|_| shape.has(Distance::SamePackage))),
        ("costs.transfer_remote", remote.filter(|_| shape.has(Distance::OtherPackage))),
    ];
    let mut before: Option<(&str, f64)> = None;
    for (key, cost) in near_to_far {
        let Some(cost) = cost else { continue };
        in_order(file, before, (key, cost), "a more distant core cannot be cheaper: correct one of them")?;
        before = Some((key, cost));
    }
    let levels = [
        ("costs.l1", Some(l1)),
        ("costs.l2", Some(l2)),
        ("costs.l3", Some(l3)),
        ("costs.memory_local", Some(memory_local)),
        ("costs.memory_remote", memory_remote.filter(|_| shape.has(Distance::OtherPackage))),
    ];
    for pair in levels.windows(2) {
        let [(near, least), (key, Some(cost))] = *pair else { continue };
        let before = least.map(|least| (near, least));
        in_order(
            file,
            before,
            (key, cost),
            "what is farther from the core cannot be cheaper: correct one of them",
        )?;
    }
    if let (Some(home), Some(package)) = (home_remote, package.filter(|_| shape.has(Distance::SamePackage))) {
        let remedy = "a home in another package cannot make a transfer cheaper: correct one of them";
        in_order(file, Some(("costs.transfer_package", package)), ("costs.home_remote", home), remedy)?;
    }
    let part = "the drain is part of the locked instruction: correct one of them";
    in_order(file, Some(("costs.drain", drain)), ("costs.locked", locked), part)?;
    section.end()?;

    let or_none = |cost: Option<f64>| cost.map_or(0, picoseconds);
    Ok(Costs {
        l1: picoseconds(l1),
        l2: picoseconds(l2),
        l3: picoseconds(l3),
        sibling: picoseconds(sibling),
        transfer_cluster: or_none(cluster),
        transfer_package: or_none(package),
        transfer_remote: or_none(remote),
        home_remote: home_remote.map(picoseconds),
        memory_local: picoseconds(memory_local),
        memory_remote: or_none(memory_remote),
        locked: picoseconds(locked),
        drain: picoseconds(drain),
        store: picoseconds(store),
        store_buffer: store_buffer as u32,
        work_scale,
        sibling_work,
        residency: picoseconds(residency),
        streak: picoseconds(streak),
        quantum: 0,
        migration_rate: 0.0,
        switch: 0,
    })
}

/// What memory and links carry. Without them it is what is usual for so many cores.
fn bandwidth(mut section: Section<'_>, shape: &Shape) -> Result<Bandwidth, MachineError> {
    let gigabytes = |value: f64| (value, Unit::GigabytesPerSecond);
    let (cluster_cores, cores) = (f64::from(shape.cores), f64::from(shape.cores * shape.clusters));
    let bandwidth = Quantity::Bandwidth;
    let why = "a core alone: limited by its outstanding misses at the latency of memory";
    let core = section.or_assume("core", bandwidth, gigabytes(15.0), why)?;
    let why = "servers from 2009 to 2023 have 3 to 6 GB/s of memory bandwidth per core";
    let channels = section.or_assume("channels", bandwidth, gigabytes((5.0 * cores).max(10.0)), why)?;
    let why = "no bandwidth of a cluster is known: as much as its cores request";
    let cluster = section.or_assume("cluster", bandwidth, gigabytes(core * cluster_cores), why)?;
    let why = "a package's links have half the bandwidth of its channels";
    let link = section.or_assume("link", bandwidth, gigabytes(channels / 2.0), why)?;
    let why = "new lines are read before they are written, and written back when they leave the cache";
    let traffic = section.or_assume("traffic", Quantity::Ratio, (2.0, Unit::Ratio), why)?;
    let why = "2 MB per core of the cluster";
    let last_cache =
        section.or_assume("last_cache", Quantity::Capacity, (2.0 * cluster_cores, Unit::Megabytes), why)?;
    section.end()?;
    let bytes = |gigabytes: f64| gigabytes * 1e9;
    Ok(Bandwidth {
        core: bytes(core),
        cluster: bytes(cluster),
        channels: bytes(channels),
        link: bytes(link),
        traffic,
        last_cache: last_cache * 1e6,
    })
}

/// Adds the scheduler's costs. Without them it is Linux's, with what is usual there.
fn scheduler(mut section: Section<'_>, costs: Costs) -> Result<Costs, MachineError> {
    let quantum = (4.0, Unit::Milliseconds);
    let quantum =
        section.or_assume("quantum", Quantity::Time, quantum, "a tick of a Linux kernel at 250 Hz")?;
    let none = (0.0, Unit::PerSecond);
    let still = "with no imbalance the Linux load balancer has no reason to move a thread";
    let migration_rate = section.or_assume("migration_rate", Quantity::Rate, none, still)?;
    let switch = (2000.0, Unit::Nanoseconds);
    let switch =
        section.or_assume("switch", Quantity::Time, switch, "a context switch takes 1 to 3 us on Linux")?;
    section.end()?;
    Ok(Costs { quantum: picoseconds(quantum), migration_rate, switch: picoseconds(switch), ..costs })
}

fn in_order(
    file: &str,
    before: Option<(&str, f64)>,
    (key, cost): (&str, f64),
    remedy: &str,
) -> Result<(), MachineError> {
    match before {
        Some((name, least)) if cost < least => {
            let nanoseconds = |picoseconds: f64| picoseconds / 1e3;
            let wrong =
                format!("{:.3} ns is less than {name}, {:.3} ns", nanoseconds(cost), nanoseconds(least));
            Err(MachineError::new(file, key, wrong, remedy))
        }
        _ => Ok(()),
    }
}

/// The limits have been checked: it is positive, and less than a second.
fn picoseconds(base: f64) -> Picoseconds {
    base.round() as Picoseconds
}

#[cfg(test)]
#[path = "file_test.rs"]
mod tests;
