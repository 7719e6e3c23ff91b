//! Which line bounced, between whom, and what that cost.

use crate::machine::{Distance, Machine, Picoseconds};
use crate::memory::{LineTraffic, Traffic};
use crate::scenario::Measured;
use serde::Serialize;
use std::collections::BTreeMap;

/// So many pairs of cores are told of each line.
const PAIRS: usize = 5;
/// Below this share of all threads' time lines do not matter.
const LITTLE: f64 = 0.02;

/// What lines did in a simulation. Times in cycles of the cores' clock, summed over all cores.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// What dominates, in a sentence or some.
    pub verdict: String,
    /// Waiting for lines and moving them, over the time of all threads.
    pub share: f64,
    /// Lines of a kind together, most expensive first: all cores' buffers, say.
    pub groups: Vec<Bounced>,
    /// Single lines, most expensive first.
    pub lines: Vec<Bounced>,
}

/// What a line did, or several of a kind.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Bounced {
    /// Its name.
    pub name: String,
    /// How many lines this is.
    pub lines: u64,
    /// Moves for reading.
    pub reads: u64,
    /// Moves for writing.
    pub writes: u64,
    /// Invalidations of other copies.
    pub upgrades: u64,
    /// Moves out of a cache that had modified it.
    pub modified: u64,
    /// Compare and swaps that found another value.
    pub lost: u64,
    /// Time for which cores waited because it was on its way to others.
    pub queued_cycles: f64,
    /// Time for which it was on its way.
    pub moving_cycles: f64,
    /// Both, over the time of all threads.
    pub share: f64,
    /// Moves between cores by how far those are from each other: core, L3, package, machine (what they share).
    pub distances: BTreeMap<&'static str, u64>,
    /// The pairs of cores with most moves.
    pub pairs: Vec<Pair>,
}

/// Moves from one core to another.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    /// The core that had the line.
    pub from: u32,
    /// The core that got it.
    pub to: u32,
    /// How often.
    pub moves: u64,
    /// How long each took.
    pub cycles_each: f64,
    /// What the two share: core, L3, package or machine.
    pub shared: &'static str,
}

/// What two cores share.
const fn shared(distance: Distance) -> &'static str {
    match distance {
        Distance::SameCore => "core",
        Distance::SameCluster => "L3",
        Distance::SamePackage => "package",
        Distance::OtherPackage => "machine",
    }
}

impl Bounced {
    fn of(machine: &Machine, line: &LineTraffic, all_threads: f64) -> Bounced {
        let cycles = |time: Picoseconds| time as f64 * machine.clock_ghz / 1e3;
        let mut distances = BTreeMap::new();
        for ((from, to), (moves, _)) in &line.pairs {
            *distances.entry(shared(machine.shape.distance(*from, *to))).or_default() += moves;
        }
        let mut pairs: Vec<_> = line.pairs.iter().collect();
        pairs.sort_by_key(|((from, to), (moves, _))| (std::cmp::Reverse(*moves), *from, *to));
        let pair = |((from, to), (moves, time)): (&(u32, u32), &(u64, Picoseconds))| Pair {
            from: *from,
            to: *to,
            moves: *moves,
            cycles_each: cycles(*time) / *moves as f64,
            shared: shared(machine.shape.distance(*from, *to)),
        };
        Bounced {
            name: line.name.clone(),
            lines: 1,
            reads: line.reads,
            writes: line.writes,
            upgrades: line.upgrades,
            modified: line.modified,
            lost: line.lost,
            queued_cycles: cycles(line.queued),
            moving_cycles: cycles(line.moving),
            share: line.cost() as f64 / all_threads,
            distances,
            pairs: pairs.into_iter().take(PAIRS).map(pair).collect(),
        }
    }

    fn add(&mut self, other: &Bounced) {
        self.lines += other.lines;
        self.reads += other.reads;
        self.writes += other.writes;
        self.upgrades += other.upgrades;
        self.modified += other.modified;
        self.lost += other.lost;
        self.queued_cycles += other.queued_cycles;
        self.moving_cycles += other.moving_cycles;
        self.share += other.share;
        for (name, moves) in &other.distances {
            *self.distances.entry(name).or_default() += moves;
        }
        self.pairs.extend(other.pairs.iter().cloned());
        self.pairs.sort_by_key(|pair| (std::cmp::Reverse(pair.moves), pair.from, pair.to));
        self.pairs.truncate(PAIRS);
    }

    /// All moves.
    pub const fn moves(&self) -> u64 {
        self.reads + self.writes + self.upgrades
    }

    /// What its moves between cores mostly were: what the cores share, and how many of all moves between cores that were.
    pub fn mostly(&self) -> Option<(&'static str, f64)> {
        let all: u64 = self.distances.values().sum();
        let most = self.distances.iter().max_by_key(|(_, moves)| **moves)?;
        Some((most.0, *most.1 as f64 / all as f64))
    }
}

/// A line's kind: its name without the number of its domain.
pub fn kind(name: &str) -> String {
    match name.split_once(": ") {
        Some((domain, part)) => {
            let word = domain.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
            format!("{word}: {part}")
        }
        None if name.starts_with("line ") => "other lines".into(),
        None => name.into(),
    }
}

impl Explanation {
    /// Of what a simulation that kept events left behind; without them distances and pairs are empty.
    pub fn of(machine: &Machine, measured: &Measured, traffic: &Traffic) -> Explanation {
        let all_threads = measured.seconds * 1e12 * f64::from(measured.threads);
        let lines: Vec<Bounced> = (traffic.dearest().into_iter())
            .filter(|(_, line)| line.moves() > 0)
            .map(|(_, line)| Bounced::of(machine, line, all_threads))
            .collect();
        let mut groups: Vec<Bounced> = Vec::new();
        for line in &lines {
            let name = kind(&line.name);
            match groups.iter_mut().find(|group| group.name == name) {
                Some(group) => group.add(line),
                None => groups.push(Bounced { name, ..line.clone() }),
            }
        }
        groups.sort_by(|one, other| other.share.total_cmp(&one.share));
        let share = lines.iter().map(|line| line.share).sum();
        let mut verdict = verdict(machine, measured, &groups, share);
        if let Some(limit) = measured.roofline.first() {
            verdict.push_str(&format!(" Bound by: {} ({}).", limit.bound, percent(limit.used.min(1.0))));
        }
        Explanation { verdict, share, groups, lines }
    }
}

fn percent(share: f64) -> String {
    format!("{:.*} %", usize::from(share < 0.1), share * 100.0)
}

fn verdict(machine: &Machine, measured: &Measured, groups: &[Bounced], share: f64) -> String {
    let Some(first) = groups.first().filter(|_| share >= LITTLE) else {
        return format!(
            "No line matters: waiting for lines and moving them takes {} of the threads' time.",
            percent(share)
        );
    };
    let of_all = first.share / share;
    let cycles = first.queued_cycles + first.moving_cycles;
    let name =
        if first.lines > 1 { format!("{} ({} lines)", first.name, first.lines) } else { first.name.clone() };
    let mut text = format!(
        "'{name}' dominates: {} of the threads' time, {} of the cost of all lines; {} of it is waiting for the line.",
        percent(first.share),
        percent(of_all),
        percent(first.queued_cycles / cycles),
    );
    if let Some((what, part)) = first.mostly() {
        let nanoseconds = first.moving_cycles / first.moves() as f64 / machine.clock_ghz;
        let between = match what {
            "core" => "inside a core",
            "L3" => "between cores that share an L3",
            "package" => "between L3 domains of a package",
            _ => "between packages",
        };
        text.push_str(&format!(
            " {} of its moves between cores are {between}; a move takes {nanoseconds:.1} ns on average.",
            percent(part)
        ));
    }
    if measured.retries_per_success >= 0.1 {
        text.push_str(&format!(
            " {:.1} compare-and-swaps fail for each that succeeds.",
            measured.retries_per_success
        ));
    }
    if let Some(advice) = advice(&first.name, measured) {
        text.push(' ');
        text.push_str(advice);
    }
    text
}

/// What would make a line matter less.
fn advice(name: &str, measured: &Measured) -> Option<&'static str> {
    let levels = measured.buffers.as_ref().map_or(&[][..], |buffers| &buffers.levels[..]);
    let thread_buffers = measured.buffers.as_ref().is_some_and(|buffers| buffers.tlab_bytes > 0);
    Some(match name {
        "counter" => "One counter per core would not move between cores.",
        "heap: top" | "heap: end" if levels.is_empty() => {
            "Every refill goes here: core buffers (--levels core) or larger TLABs avoid that."
        }
        "heap: top" | "heap: end" => {
            "The last level's buffers are used up too often: larger ones, or another level, help."
        }
        "L3: buffers" | "package: buffers" if levels.first().is_none_or(|level| level.name != "core") => {
            "All cores of a domain share it: core buffers below it keep refills on the core."
        }
        "L3: buffers" | "package: buffers" => "Larger core buffers refill from it less often.",
        "core: buffers" | "core: counters" => {
            "Core buffers are private to a core unless threads migrate or steal: larger buffers and pinned threads help."
        }
        "L3: counters" | "package: counters" => {
            "Reduce the requests to that level: add core buffers, or enlarge them."
        }
        "new objects" if !thread_buffers => {
            "Objects of several threads share lines: thread buffers keep them apart."
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::allocate::{Collector, Hierarchy, Tlab};
    use crate::scenario::{Calls, Levels, Program, Scenario, Sizes};

    fn explained(program: Program, threads: u32, levels: Levels) -> Explanation {
        let machine = Machine::named("paper-4x10x2").unwrap();
        let hierarchy = Sizes::default().hierarchy(levels, &machine, 1 << 30);
        assert_eq!(hierarchy == Hierarchy::None, levels == Levels::NONE);
        let tlab = Tlab::Bytes(1024);
        let (object, work, pinned, seed, length) = (64, 40.0, true, 1, 100_000_000);
        let scenario = Scenario {
            program,
            threads,
            tlab,
            hierarchy,
            eden: 1 << 30,
            collector: Collector::Parallel,
            object,
            work,
            calls: Calls::default(),
            pinned,
            seed,
            length,
        };
        let (measured, traffic) = scenario.run(&machine, 1).unwrap();
        Explanation::of(&machine, &measured, &traffic)
    }

    #[test]
    fn a_counter_is_blamed() {
        let explanation = explained(Program::ExchangeAdd, 20, Levels::NONE);
        assert!(explanation.verdict.starts_with("'counter' dominates"), "{}", explanation.verdict);
        let counter = &explanation.lines[0];
        assert!(counter.share > 0.8 && counter.queued_cycles > counter.moving_cycles);
        let between: u64 = counter.distances.values().sum();
        assert!(between > 0 && between <= counter.moves());
        assert!(counter.pairs.len() == PAIRS && counter.pairs[0].moves >= counter.pairs[4].moves);
    }

    #[test]
    fn the_heap_is_blamed_until_there_are_core_buffers() {
        let without = explained(Program::Allocate, 40, Levels::NONE);
        assert!(
            without.verdict.contains("'heap: top' dominates") && without.verdict.contains("--levels core")
        );
        let with = explained(Program::Allocate, 10, Levels::CORE);
        assert!(with.share < without.share, "{}", with.verdict);
        let cores = with.groups.iter().find(|group| group.name == "core: buffers").unwrap();
        assert_eq!(cores.lines % 10, 0, "one for each core, or more");
    }

    #[test]
    fn one_thread_has_nothing_to_explain() {
        let explanation = explained(Program::Add, 1, Levels::NONE);
        assert!(explanation.verdict.starts_with("No line matters"), "{}", explanation.verdict);
    }

    #[test]
    fn kinds_are_names_without_numbers() {
        assert_eq!(kind("core 12: buffers"), "core: buffers");
        assert_eq!(kind("heap: top"), "heap: top");
        assert_eq!(kind("line 7"), "other lines");
        assert_eq!(kind("new objects"), "new objects");
    }
}
