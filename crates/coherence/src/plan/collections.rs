//! What collections cost: how often eden is used up, and how long everybody stops.

use crate::constants;
use crate::machine::Machine;
use crate::ranges::{End, end_of, unknown};
use serde::Serialize;

/// What is collected, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Young {
    /// Eden in bytes.
    pub eden: f64,
    /// Bytes of it that a collection finds in buffers and nobody can use: half of all that is held, as buffers are on average half used.
    pub unused: f64,
    /// Bytes that survive and are copied.
    pub survivors: f64,
    /// Threads that have to stop.
    pub threads: u32,
    /// What stopping and copying take.
    pub pauses: Pauses,
}

/// What stopping and copying take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pauses {
    /// A collection without survivors, in milliseconds.
    pub fixed: f64,
    /// What it takes more for each thread, in microseconds.
    pub thread: f64,
    /// What a worker copies, in GB/s.
    pub copy: f64,
}

impl Default for Pauses {
    fn default() -> Pauses {
        let [fixed, thread, copy] = [constants::PAUSE, constants::PAUSE_THREAD, constants::COPY];
        Pauses { fixed: fixed.value, thread: thread.value, copy: copy.value }
    }
}

/// The part of eden that survives a collection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Survivors {
    /// From 0 to 1.
    pub share: f64,
    /// Whether somebody knows it of the program: the assumption for any program is much less sure.
    pub stated: bool,
}

impl Default for Survivors {
    fn default() -> Survivors {
        Survivors { share: constants::SURVIVORS.value, stated: false }
    }
}

impl Survivors {
    /// As stated.
    pub const fn stated(share: f64) -> Survivors {
        Survivors { share, stated: true }
    }

    /// At an end of its range; no more than all of eden survives.
    pub(super) fn vary(&mut self, end: End) {
        let assumed = constants::SURVIVORS;
        let by = if self.stated { unknown(end) } else { end_of(assumed, end) / assumed.value };
        self.share = (self.share * by).min(1.0);
    }
}

/// Collections of a program that goes on for long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Collections {
    /// How many there are in a second.
    pub per_second: f64,
    /// How long one takes, in seconds.
    pub pause: f64,
    /// The part of the time for which everybody stops.
    pub share: f64,
}

/// At least this part of eden is there for objects: HotSpot would not let buffers have more.
const LEAST: f64 = 0.1;

/// Threads that collect: HotSpot takes all CPUs up to 8, and five of eight from there on.
fn workers(cpus: u32) -> f64 {
    f64::from(if cpus <= 8 { cpus } else { 8 + (cpus - 8) * 5 / 8 })
}

impl Young {
    /// How long a collection takes, in seconds.
    pub fn pause(&self, machine: &Machine) -> f64 {
        let workers = workers(machine.shape.cpus());
        // Each byte is read and written, and what is written was read for it.
        let memory = machine.bandwidth.channels * f64::from(machine.shape.packages) / 3.0;
        let copied = (self.pauses.copy * 1e9 * workers).min(memory);
        let threads = f64::from(self.threads) * self.pauses.thread * 1e-6 / workers;
        self.pauses.fixed * 1e-3 + threads + self.survivors / copied
    }

    /// Collections where so many bytes in a second are allocated while nobody stops.
    pub fn collections(&self, machine: &Machine, bytes_per_second: f64) -> Collections {
        let pause = self.pause(machine);
        let usable = (self.eden - self.unused).max(LEAST * self.eden);
        let between = usable / bytes_per_second;
        let share = pause / (pause + between);
        Collections { per_second: 1.0 / (pause + between), pause, share }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::Options;
    use crate::programs::allocate::{self, Allocation, Collector, Domain, Hierarchy, Mutator, Rank, Tlab};

    #[test]
    fn by_hand() {
        let mut machine = Machine::named("opsian-haswell").unwrap();
        machine.bandwidth.channels = 99e9;
        let young = Young { eden: 1e9, unused: 2e8, survivors: 8e6, threads: 40, pauses: Pauses::default() };
        // 1 ms, 40 threads of 2 us and 8 MB at 0.5 GB/s, both by 8 workers.
        let pause = 1e-3 + 1e-5 + 2e-3;
        assert!((young.pause(&machine) - pause).abs() < 1e-9);
        let collections = young.collections(&machine, 8e8);
        assert!((collections.per_second - 1.0 / (1.0 + pause)).abs() < 1e-9);
        assert!((collections.share - pause / (1.0 + pause)).abs() < 1e-9);
        // Memory that is slower than the workers.
        machine.bandwidth.channels = 6e9;
        assert!((young.pause(&machine) - (1e-3 + 1e-5 + 4e-3)).abs() < 1e-9);
        assert_eq!([1, 8, 16, 192].map(workers), [1.0, 8.0, 13.0, 123.0]);
    }

    #[test]
    fn stated_survivors_vary_by_a_fifth_and_never_exceed_eden() {
        let at = |mut survivors: Survivors, end| {
            survivors.vary(end);
            survivors.share
        };
        let assumed = End::BOTH.map(|end| at(Survivors::default(), end));
        assert!((assumed[0] - 0.005).abs() < 1e-9 && (assumed[1] - 0.1).abs() < 1e-9, "{assumed:?}");
        let stated = End::BOTH.map(|end| at(Survivors::stated(0.5), end));
        assert!((stated[0] - 0.4).abs() < 1e-9 && (stated[1] - 0.6).abs() < 1e-9, "{stated:?}");
        assert_eq!(at(Survivors::stated(0.9), End::High), 1.0);
    }

    /// The same rate as in a simulation in which threads do stop for each collection.
    #[test]
    fn as_if_every_collection_were_simulated() {
        let mut machine = Machine::named("opsian-haswell").unwrap();
        // Small edens stay in the cache, the large one would not.
        machine.bandwidth.channels = 99e9;
        let (eden, threads) = (4 << 20, 4);
        let run = |eden, pause, length| {
            let allocation = Allocation {
                tlab: Tlab::Bytes(16 << 10),
                hierarchy: Hierarchy::Levels(vec![Rank { domain: Domain::Core, bytes: 256 << 10 }]),
                eden,
                collector: Collector::Parallel,
                mutator: Mutator::constant(64, 100.0, 0.0),
                refill_cycles: 170.0,
                heap_cycles: 100.0.into(),
                pause,
            };
            let options = Options { threads, pinned: true, seed: 1, length, events: 0 };
            allocate::run(&machine, &allocation, &options).unwrap()
        };
        let rate = run(1 << 34, 0, 5_000_000_000).run.per_second() * 64.0;
        let held = f64::from(threads) * f64::from((16 << 10) + (256 << 10));
        let young = Young {
            eden: eden as f64,
            unused: held / 2.0,
            survivors: 0.0,
            threads,
            pauses: Pauses::default(),
        };
        let expected = young.collections(&machine, rate);
        let stopped = run(eden, (young.pause(&machine) * 1e12) as u64, 40_000_000_000);
        let (found, seconds) = (stopped.collections as f64, stopped.run.length as f64 * 1e-12);
        assert!(found > 10.0);
        let ratio = found / seconds / expected.per_second;
        assert!((0.9..1.15).contains(&ratio), "{ratio}: {found} in {seconds} s, {expected:?}");
    }
}
