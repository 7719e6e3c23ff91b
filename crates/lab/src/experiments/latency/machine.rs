//! This machine as a file for the simulator (`docs/machines.md`): its shape from the run's page of the machine, what accesses cost
//! from the cells of `latency`.

use crate::simulated::{Residency, measured, word};
use coherence::machine::Machine;
use experiment::machine::page::HostDescription;
use experiment::results::{Findings, Results};
use experiment::{MeasuredCell, Quantity};
use std::fmt::Write;

/// What a user is told who has not measured latencies.
const NO_LATENCY: &str = "latencies were not measured in this run, and the simulator needs this machine's own: run 'terrace lab run latency' too";
/// The command behind every measured number.
const COMMAND: &str = "terrace lab run latency";
/// The part of a locked instruction that is the store buffer's drain: on Haswell 15.4 of 19 cycles.
const DRAIN: f64 = 15.4 / 19.0;
/// Memory of another package over a package's own: 215 over 118 ns on two EPYC 9654.
const REMOTE_MEMORY: f64 = 1.8;

/// A measured number with the least and the most that was seen, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seen {
    value: f64,
    low: f64,
    high: f64,
}

/// The file's text.
///
/// # Errors
/// What is missing, with the remedy.
pub fn file(results: &Results) -> Result<String, String> {
    let latency = results.experiments.iter().find(|findings| findings.declaration.name == super::NAME);
    let latency = latency.ok_or(NO_LATENCY)?;
    let page = &results.machine;
    let shape = shape(&page.topology)?;
    let [l1, l2, l3] = cache_bytes(page)?;
    let mut text = String::new();
    let mut line = |words: String| {
        let _ = writeln!(text, "{words}");
    };
    line("# Written by 'terrace lab machine'. docs/machines.md describes the format; every number states its source.".into());
    line("# low and high are the least and the most that the run saw.".into());
    line(format!("title = {}", quoted(&format!("{}, {} CPUs, measured by the lab", page.model, page.cpus))));
    let (protocol, why) = protocol(&page.model);
    line(format!("protocol = \"{protocol}\" # assumed: {why}"));
    line(clock(latency, page, l1)?);
    line("\n[shape]".into());
    let names = ["packages", "clusters", "cores", "threads"];
    for (name, count) in names.into_iter().zip(shape) {
        line(format!("{name} = {count}"));
    }
    line("measured = \"the topology that the kernel shows, in the run's results\"".into());
    // Before the costs: a calibrated residency is appended to those.
    line("\n[memory]".into());
    let megabytes = rounded(l3 as f64 / 1e6);
    line(format!(
        "last_cache = {{ value = {megabytes}, unit = \"MB\", measured = \"the kernel's size of one last-level cache, in the run's results\" }}"
    ));
    line("\n[costs]".into());
    line(load(latency, "l1", 0, l1)?);
    line(load(latency, "l2", l1, l2)?);
    line(load(latency, "l3", l2, l3)?);
    line(load(latency, "memory_local", l3, 0)?);
    transfers(latency, shape, &mut line)?;
    let alone = |metric: &str| {
        let cells = cells(latency, "one thread");
        seen(cells, metric).ok_or_else(|| format!("{metric} was not measured: {NO_LATENCY}"))
    };
    let locked = alone("locked_ns")?;
    line(number("locked", locked, "uncontended lock xadd"));
    let why = "the same fraction of a locked instruction as on Haswell, 15.4 of 19 cycles";
    line(format!(
        "drain = {{ value = {}, unit = \"ns\", assumed = \"{why}\" }}",
        rounded(locked.value * DRAIN)
    ));
    line(number("store", alone("store_ns")?, "a rate: stores wait in a buffer"));
    Ok(text)
}

/// Reads such a file.
///
/// # Errors
/// What the simulator refuses, with the remedy.
pub fn parse(text: &str) -> Result<Machine, String> {
    Machine::parse(text, "this-machine").map_err(|error| {
        format!("the simulator rejects the measurements ({error}): measure again on a quieter machine with 'terrace lab run latency'")
    })
}

/// The file with a calibrated residency.
pub fn with_residency(text: &str, found: &Residency) -> String {
    let nanoseconds = found.residency as f64 / 1e3;
    let basis = quoted(&found.basis);
    format!("{text}residency = {{ value = {}, unit = \"ns\", calibrated = {basis} }}\n", rounded(nanoseconds))
}

/// Packages, clusters in each, cores in each, threads in each; from `2 CPUs, 2 cores, 1 cache, 1 package, 1 node`.
fn shape(topology: &str) -> Result<[u32; 4], String> {
    let count = |name: &str| {
        topology.split(", ").find_map(|part| {
            let (count, word) = part.split_once(' ')?;
            (word == name || word.strip_suffix('s') == Some(name)).then(|| count.parse::<u32>().ok())?
        })
    };
    let unknown =
        || format!("'{topology}' does not state packages, caches and cores: run the experiments again");
    let numbers = [count("package"), count("cache"), count("core"), count("CPU")];
    let mut before = 1;
    let mut shape = [1; 4];
    for (place, number) in shape.iter_mut().zip(numbers) {
        let number = number.filter(|number| *number > 0).ok_or_else(unknown)?;
        if number % before != 0 {
            return Err(format!(
                "the topology is not uniform ({topology}), as the simulator requires: widen the CPU affinity"
            ));
        }
        *place = number / before;
        before = number;
    }
    Ok(shape)
}

/// Sizes in bytes of the first, second and last cache.
fn cache_bytes(page: &HostDescription) -> Result<[u64; 3], String> {
    let of = |level: u32| {
        let mut caches = page.caches.iter().filter(|cache| cache.kind != "Instruction");
        let found = caches.find(|cache| cache.level == level).map(|cache| cache.bytes);
        found.ok_or_else(|| {
            format!("the kernel reports no cache of level {level} here, which the simulator needs")
        })
    };
    Ok([of(1)?, of(2)?, of(3)?])
}

/// Which protocol a processor is known for.
fn protocol(model: &str) -> (&'static str, &'static str) {
    if model.contains("AMD") || model.contains("EPYC") {
        ("moesi", "AMD's")
    } else if model.contains("Intel") || model.contains("Xeon") {
        ("mesif", "Intel's")
    } else {
        ("mesi", "what all have in common")
    }
}

/// The cells of a kind of measurement.
fn cells<'a>(latency: &'a Findings, measurement: &'a str) -> impl Iterator<Item = &'a MeasuredCell> {
    latency.cells.iter().filter(move |cell| word(cell, "measurement") == Some(measurement))
}

/// All values of a metric in these cells together, each repetition: the range is what a transfer may take, not what a round comes to.
fn seen<'a>(cells: impl Iterator<Item = &'a MeasuredCell>, metric: &str) -> Option<Seen> {
    let mut all = Vec::new();
    for cell in cells {
        all.extend(cell.single_values(metric).iter().copied().filter(|value| *value > 0.0));
    }
    let value = statistics::median(&all)?;
    let low = all.iter().copied().fold(value, f64::min);
    let high = all.iter().copied().fold(value, f64::max);
    Some(Seen { value, low, high })
}

/// The cell of random loads that stands for a level: it holds more than `from` bytes, and little enough of `to` (0 for memory) for
/// other programs and page tables to have room; on huge pages where there are any.
fn level(latency: &Findings, from: u64, to: u64) -> Option<(&MeasuredCell, f64)> {
    let known = |cell: &MeasuredCell| cell.metrics.get("ns").and_then(Quantity::interval).is_some();
    let mut found: Vec<(&MeasuredCell, f64)> = cells(latency, "random loads")
        .filter(|cell| known(cell))
        .filter_map(|cell| Some((cell, cell.parameters.get("size")?.number()?)))
        .filter(|(_, size)| *size > 1.5 * from as f64 && (to == 0 || *size <= to as f64 / 2.0))
        .collect();
    found.sort_by(|(a, of_a), (b, of_b)| {
        of_a.total_cmp(of_b).then((word(a, "pages") == Some("huge")).cmp(&(word(b, "pages") == Some("huge"))))
    });
    // Beyond the last cache the largest is the purest; in a cache an eighth is well inside.
    let roomy = found.iter().rev().find(|(_, size)| to == 0 || *size <= to as f64 / 8.0);
    let least = found.first().map(|(_, size)| *size);
    roomy.or_else(|| found.iter().rev().find(|(_, size)| Some(*size) == least)).copied()
}

fn load(latency: &Findings, key: &str, from: u64, to: u64) -> Result<String, String> {
    let lacking =
        || format!("no loads were measured for {key}: run 'terrace lab run latency' without --only");
    let (cell, size) = level(latency, from, to).ok_or_else(lacking)?;
    let seen = seen(std::iter::once(cell), "ns").ok_or_else(lacking)?;
    let pages = word(cell, "pages").unwrap_or("unknown");
    let what = format!("random loads from {} on {pages} pages", jvm::size::format(size as u64));
    Ok(number(key, seen, &what))
}

/// Cycles over nanoseconds of the same loads; or what the kernel says.
fn clock(latency: &Findings, page: &HostDescription, l1: u64) -> Result<String, String> {
    let cell = level(latency, 0, l1).map(|(cell, _)| cell);
    let of = |metric: &str| cell.and_then(|cell| measured(cell, metric)).map(|interval| interval.median);
    if let Some((cycles, nanoseconds)) = of("cycles").zip(of("ns")) {
        let value = rounded(cycles / nanoseconds);
        let text = format!("{COMMAND}: cycles over ns of a load from the first cache");
        return Ok(format!("clock = {{ value = {value}, unit = \"GHz\", measured = \"{text}\" }}"));
    }
    let megahertz = page.clock_mhz.ok_or("the core's clock is not known here, which the simulator needs")?;
    let value = rounded(megahertz / 1e3);
    Ok(format!("clock = {{ value = {value}, unit = \"GHz\", measured = \"the kernel's cpu MHz\" }}"))
}

/// What two CPUs share, as `latency` says it; the key; and whether the shape has such a distance.
fn transfers(
    latency: &Findings,
    [packages, clusters, cores, threads]: [u32; 4],
    line: &mut impl FnMut(String),
) -> Result<(), String> {
    let wanted = [
        ("a core", "sibling", threads > 1, false),
        ("the last cache", "transfer_cluster", cores > 1, true),
        ("a package", "transfer_package", clusters > 1, true),
        ("the machine", "transfer_remote", packages > 1, true),
    ];
    for (relation, key, there, needed) in wanted {
        if !there {
            continue;
        }
        let pairs = cells(latency, "line transfer").filter(|cell| word(cell, "relation") == Some(relation));
        match seen(pairs, "transfer_ns") {
            Some(seen) => line(number(key, seen, &format!("CPUs that share {relation}"))),
            None if needed => {
                return Err(format!(
                    "no transfer between CPUs that share {relation} was measured: {NO_LATENCY}"
                ));
            }
            None => {}
        }
    }
    if packages > 1 {
        let memory = level(latency, 0, 0).and_then(|(cell, _)| measured(cell, "ns"));
        let value = memory.map_or(0.0, |memory| rounded(memory.median * REMOTE_MEMORY));
        let why = "1.8 times the package's own, as on two EPYC 9654";
        line(format!("memory_remote = {{ value = {value}, unit = \"ns\", assumed = \"{why}\" }}"));
    }
    Ok(())
}

/// A line of the file, in nanoseconds.
fn number(key: &str, seen: Seen, what: &str) -> String {
    // Rounded alike, they stay in order.
    let [value, low, high] = [seen.value, seen.low, seen.high].map(rounded);
    format!(
        "{key} = {{ value = {value}, unit = \"ns\", low = {low}, high = {high}, measured = \"{COMMAND}: {what}\" }}"
    )
}

/// Four digits: more says nothing.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// A text as a TOML string on one line.
fn quoted(text: &str) -> String {
    let plain: String = text.chars().filter(|letter| !letter.is_control()).take(180).collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_read_from_the_words_of_the_page() {
        assert_eq!(shape("2 CPUs, 2 cores, 1 cache, 1 package, 1 node"), Ok([1, 1, 2, 1]));
        let text = "512 CPUs, 256 cores, 32 caches, 2 packages, 2 nodes, quota 8 CPUs";
        assert_eq!(shape(text), Ok([2, 16, 8, 2]));
        assert!(shape("3 CPUs, 2 cores, 1 cache, 1 package, 1 node").unwrap_err().contains("uniform"));
        assert!(shape("nothing").unwrap_err().contains("again"));
    }

    #[test]
    fn texts_of_others_stay_in_their_quotes() {
        assert_eq!(quoted("a \"b\" \\ c\n"), "\"a \\\"b\\\" \\\\ c\"");
        assert_eq!(rounded(61.04999), 61.05);
    }
}
