//! What a round is, drawn from the seed and its number.

use jvm::jdk::Jdk;
use statistics::Random;
use std::process::{Command, Stdio};

/// A collector with buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Garbage {
    pub name: &'static str,
    flags: &'static [&'static str],
    /// What lets it check the heap; dear for the ones that do it beside the program.
    verify: &'static [&'static str],
}

const VERIFY: &[&str] = &["-XX:+VerifyBeforeGC", "-XX:+VerifyAfterGC"];
/// Everything that HotSpot calls diagnostic or experimental.
const UNLOCK: [&str; 2] = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+UnlockExperimentalVMOptions"];

pub const COLLECTORS: [Garbage; 6] = [
    Garbage { name: "Serial", flags: &["-XX:+UseSerialGC"], verify: VERIFY },
    Garbage { name: "Parallel", flags: &["-XX:+UseParallelGC"], verify: VERIFY },
    Garbage { name: "G1", flags: &["-XX:+UseG1GC"], verify: VERIFY },
    Garbage { name: "Shenandoah", flags: &["-XX:+UseShenandoahGC"], verify: &["-XX:+ShenandoahVerify"] },
    Garbage {
        name: "Shenandoah generational",
        flags: &["-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"],
        verify: &["-XX:+ShenandoahVerify"],
    },
    Garbage { name: "Epsilon", flags: &["-XX:+UseEpsilonGC"], verify: &[] },
];

impl Garbage {
    /// Whether a JDK was built with it: the JVM itself is asked.
    fn is_in(&self, jdk: &Jdk) -> bool {
        let mut command = Command::new(jdk.java());
        command.args(UNLOCK).args(self.flags).args(["-Xmx64m", "-version"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

/// A collector on a JDK.
#[derive(Clone, Debug)]
pub struct Cell {
    pub jdk: Jdk,
    pub garbage: Garbage,
}

impl Cell {
    pub fn name(&self) -> String {
        format!("{} {}", self.garbage.name, self.jdk.feature)
    }

    /// All that these JDKs have.
    pub fn all(jdks: &[Jdk]) -> Vec<Cell> {
        let of = |garbage: Garbage| {
            let has = jdks.iter().filter(move |jdk| garbage.is_in(jdk)).cloned();
            has.map(move |jdk| Cell { jdk, garbage })
        };
        COLLECTORS.into_iter().flat_map(of).collect()
    }
}

/// One JVM.
#[derive(Debug)]
pub struct RoundPlan {
    pub cell: Cell,
    /// The agent's options.
    pub options: String,
    pub flags: Vec<String>,
    /// The program's arguments: threads, seed, most bytes, objects after which a thread ends, most words of an array.
    pub arguments: [String; 5],
    /// Whether the mode can be `bound`.
    pub has_bound: bool,
    /// The number of levels.
    pub levels: usize,
}

impl RoundPlan {
    /// The round with this number: all cells in turn.
    pub fn new(cells: &[Cell], number: u64, random: &mut Random) -> RoundPlan {
        let cell = cells[(number % cells.len() as u64) as usize].clone();
        let levels = random.one(&["core", "processor", "core+processor"]);
        // Small TLABs give the refills that a soak is after; with `auto` they grow, and new threads' first ones are tried.
        let tlab = random.one(&["1k", "1k", "2k", "auto"]);
        let core = random.one(&["16k", "32k", "64k", "60008", "auto", "formula"]);
        let processor = random.one(&["128k", "256k", "512k", "auto", "formula"]);
        let has_bound = random.below(2) == 0;
        let options = format!(
            "levels={levels},core={core},processor={processor},tlab={tlab},bound={has_bound},exact=true,control=control,\
             report=report.json"
        );
        let is_epsilon = cell.garbage.name == "Epsilon";
        let young = random.one(&["16m", "48m", "96m"]);
        let mut flags: Vec<&str> = UNLOCK.to_vec();
        flags.extend(cell.garbage.flags);
        flags.extend([
            "-XX:+EnableDynamicAgentLoading",
            "-XX:-CreateCoredumpOnCrash",
            "-XX:ErrorFile=hs_err.log",
        ]);
        // Checked in two rounds of three: a checked heap is a slow one, and what a soak looks for may need a fast one.
        if random.below(3) > 0 {
            flags.extend(cell.garbage.verify);
        }
        let mut flags: Vec<String> = flags.into_iter().map(str::to_owned).collect();
        let heap = match cell.garbage.name {
            "Epsilon" => "-Xmx3g",
            // With 64 threads and 256 MB a stock JVM runs out of memory, too: threads are faster than its collector.
            "Shenandoah generational" => "-Xmx512m",
            _ => "-Xmx256m",
        };
        flags.push(heap.into());
        if matches!(cell.garbage.name, "Serial" | "Parallel") {
            flags.push(format!("-Xmn{young}"));
        }
        let threads = random.one(&[2, 4, 16, 64]);
        let most = if is_epsilon { 2_u64 << 30 } else { 1 << 50 };
        // Threads that live as long as the JVM, and ones that come and go.
        let life = random.one(&["0", "0", "2000", "50000"]);
        // Arrays that no TLAB holds, up to ones that fit no tail of a buffer.
        let largest = random.one(&["4000", "4000", "26000"]);
        let seed = random.below(1 << 20).to_string();
        let arguments = [threads.to_string(), seed, most.to_string(), life.into(), largest.into()];
        let levels = levels.split('+').count();
        RoundPlan { cell, options, flags, arguments, has_bound, levels }
    }
}
