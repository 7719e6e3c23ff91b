//! Every number of the model that belongs to no machine: what it is, how sure it is, and since when.
//!
//! docs/simulator.md shows this table, and a test holds it to it.

/// When rules and constants were frozen: what is called blind in `published.toml` was looked at after that, and nothing was changed for it.
pub const FROZEN: &str = "2026-11-23";

/// When they were frozen again, after a rule had been added for what is called seen there, and the links' queues had been extended to lines.
pub const FROZEN_AGAIN: &str = "2026-11-25";

/// Where a constant is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// Measured on the machine of this project's measurements.
    Measured,
    /// Published, or HotSpot's own source.
    Published,
    /// A guess.
    Assumed,
    /// Chosen so that a published figure comes out, which is no prediction any more.
    Calibrated,
}

/// One constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    /// What it is.
    pub name: &'static str,
    /// Its value, in `unit`.
    pub value: f64,
    /// Of the value and its range.
    pub unit: &'static str,
    /// The least and the most that is thought possible; the value itself where nothing else is.
    pub range: (f64, f64),
    /// How it is known.
    pub from: From,
    /// The command, the place, the reason, or the figure.
    pub why: &'static str,
    /// Year and month.
    pub since: &'static str,
    /// The command that measures it on the machine at hand and prints it beside this value; empty where there is none. The value stays
    /// what it is: the register is the same for all machines.
    pub command: &'static str,
}

macro_rules! constants {
    ($($(#[$doc:meta])* $key:ident: $name:literal, $value:literal $unit:literal [$low:literal, $high:literal], $from:ident $why:literal, $since:literal, $command:literal;)*) => {
        $($(#[$doc])* pub const $key: Constant = Constant {
            name: $name, value: $value, unit: $unit, range: ($low, $high), from: From::$from, why: $why, since: $since, command: $command,
        };)*
        /// All of them.
        pub const ALL: &[Constant] = &[$($key),*];
    };
}

constants! {
    /// What a refill of a thread's buffer takes besides its accesses: the call into the virtual machine and back.
    REFILL: "a refill, without its memory accesses", 386.0 "cycles" [170.0, 570.0],
        Measured "`alloc` on Parallel 25 with buffers: from the difference between TLABs of 1 and 4 KB, less an exchange; 20 JVMs, 386 [302, 570] (an earlier measurement: 170)", "2026-11", "terrace lab run constants";
    /// What a request to the heap takes besides its accesses and the refill.
    HEAP: "a request to the heap, without its memory accesses", 100.0 "cycles" [30.0, 200.0],
        Assumed "some calls and a safepoint check in collectedHeap.cpp", "2026-11", "terrace lab run constants";
    /// What a request to G1's heap takes more.
    G1_REQUEST: "the same with G1, in addition", 100.0 "cycles" [30.0, 300.0],
        Assumed "G1Allocator and the region's block offset table add work", "2026-11", "terrace lab run constants";
    /// How long G1 holds `Heap_lock` for a new allocation region.
    G1_REGION: "Heap_lock held for a new region of G1", 4000.0 "cycles" [1000.0, 20000.0],
        Assumed "a region is retired, taken from a list and put into the collection set", "2026-11", "";
    /// Work for each byte of a new object.
    BYTE: "work per byte of an object", 0.2 "cycles" [0.1, 0.4],
        Assumed "zeroing and first writes at about 5 bytes per cycle", "2026-11", "terrace lab run constants";
    /// The loop around an increment.
    LOOP: "the loop around an increment", 1.0 "cycles" [0.0, 2.0],
        Assumed "a decrement and a branch in addition to the locked instruction", "2026-11", "";
    /// What a load of a word takes more right after the thread's own locked instruction on it.
    AFTER_LOCK: "a load right after the thread's own compare-and-swap", 8.0 "cycles" [4.0, 12.0],
        Calibrated "Downs 2020, Skylake, `cas add` on one core: 12.0 ns at 2.6 GHz", "2026-11", "";
    /// How soon a locked instruction has to follow another one for a streak.
    STREAK: "back-to-back locked instructions, at most apart", 2.0 "cycles" [1.0, 4.0],
        Calibrated "Thompson 2011, Nehalem: `lock xadd` levels off", "2026-10", "";
    /// A line that comes over a link waits for so many lines of each core at most.
    UNDER_WAY: "lines that a core has under way at most", 16.0 "lines" [10.0, 24.0],
        Assumed "10 to 16 line fill buffers in Intel's cores, some 24 in AMD's", "2026-11", "";
    /// HotSpot's target for refills of a thread between collections.
    TARGET_REFILLS: "refills per thread between collections", 50.0 "refills" [50.0, 50.0],
        Published "HotSpot: threadLocalAllocBuffer.cpp, 100 / (2 x TLABWasteTargetPercent)", "2026-10", "";
    /// A request that leaves more than this part of a buffer is served elsewhere.
    WASTE_FRACTION: "fraction of a TLAB that may be given up", 64.0 "parts" [64.0, 64.0],
        Published "HotSpot: TLABRefillWasteFraction", "2026-10", "";
    /// What a pause takes whatever lives.
    PAUSE: "a young collection without survivors", 1.0 "ms" [0.19, 3.0],
        Assumed "safepoint, roots, and starting the workers; one worker, one thread and 64 MB: 0.21 [0.19, 0.22]", "2026-11", "terrace lab run constants";
    /// What a pause takes for each thread that has to stop.
    PAUSE_THREAD: "additional pause per thread", 2.0 "us" [0.5, 10.0],
        Assumed "a stack to walk and a TLAB to retire", "2026-11", "terrace lab run constants";
    /// What a worker copies in a second.
    COPY: "copying rate of a worker", 0.5 "GB/s" [0.2, 1.0],
        Assumed "objects of a few dozen bytes, each with one or two misses", "2026-11", "";
    /// What survives a collection where nothing is said.
    SURVIVORS: "survivors of a collection", 0.02 "of eden" [0.005, 0.1],
        Assumed "most objects die young", "2026-11", "";
}

impl From {
    /// As shown.
    pub const fn name(self) -> &'static str {
        match self {
            From::Measured => "measured",
            From::Published => "published",
            From::Assumed => "assumed",
            From::Calibrated => "calibrated",
        }
    }
}

/// The table as docs/simulator.md has it.
pub fn markdown() -> String {
    let mut text = String::from(
        "| constant | value | range | | basis | since | measured here by |\n|---|---|---|---|---|---|---|\n",
    );
    for constant in ALL {
        let (low, high) = constant.range;
        let range = if low == high { "exact".into() } else { format!("{low} to {high}") };
        let Constant { name, value, unit, from, why, since, command, .. } = constant;
        let command = if command.is_empty() { "-".into() } else { format!("`{command}`") };
        text.push_str(&format!(
            "| {name} | {value} {unit} | {range} | {} | {why} | {since} | {command} |\n",
            from.name()
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_is_within_its_range_and_says_why() {
        for constant in ALL {
            let (low, high) = constant.range;
            assert!(low <= constant.value && constant.value <= high, "{constant:?}");
            assert!(constant.why.len() > 10 && constant.since.starts_with("2026-"), "{constant:?}");
        }
    }

    #[test]
    fn the_documentation_has_them_all() {
        let page = include_str!("../../../docs/simulator.md");
        for when in [FROZEN, FROZEN_AGAIN] {
            assert!(page.contains(when), "docs/simulator.md has to say when the model was frozen");
        }
        assert!(page.contains(&markdown()), "docs/simulator.md has to have this table:\n{}", markdown());
    }
}
