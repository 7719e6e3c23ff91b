//! `tlab=auto`: whether it pays that new threads begin with small TLABs, tried in turn with HotSpot's.
//!
//! Small first TLABs save collections, and nothing else: eden is used up more slowly. What is saved may be much (a native thread that attaches for a
//! callback, 2 to 10 % of the time on two CPUs) or next to nothing (a thread for each HTTP request whose collections find nothing alive). They
//! cost refills, and cache: a thread that uses a third of each TLAB touches a third of eden between two collections, again and again; one
//! that uses all of it touches all of eden. So the share of time for which the collector has the threads stand still is measured with
//! both, phase by phase, and small ones stay only where they save [`LEAST_GAIN`] more than [`NS_FOR_BYTE`] of what is allocated: as a share
//! of the CPU time that the process used, since the threads that allocate lose that share, however many CPUs are idle beside them.
//!
//! Looked at when a collection ends, on the VM thread.

#![allow(clippy::disallowed_types, reason = "decided at collections, for all threads")]

use crate::clock::{Clock, Monotonic, Standstill, process_cpu_ns};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What hooks ask.
pub(crate) struct FirstTlabs {
    are_small: AtomicBool,
    /// None where new threads are not this agent's affair. Held for a moment, on the VM thread.
    watched: Option<Mutex<Watched>>,
}

struct Watched {
    pauses: Standstill,
    small: SmallFirst,
}

impl FirstTlabs {
    /// `grow`: whether threads may begin small at all.
    pub(crate) fn new(grow: bool) -> FirstTlabs {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let watched = Watched { pauses: Standstill::default(), small: SmallFirst::new(cpus) };
        FirstTlabs { are_small: AtomicBool::new(grow), watched: grow.then(|| Mutex::new(watched)) }
    }

    /// Whether new threads begin with small TLABs.
    #[inline(always)]
    pub(crate) fn are_small(&self) -> bool {
        // Relaxed: either way is a right one.
        self.are_small.load(Ordering::Relaxed)
    }

    fn watched(&self) -> Option<MutexGuard<'_, Watched>> {
        Some(self.watched.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A pause of the collector begins.
    pub(crate) fn pause_begins(&self) {
        if let Some(mut watched) = self.watched() {
            watched.pauses.begins();
        }
    }

    /// It ends. `on`: whether requests go through the buffers; what is seen meanwhile is not of these TLABs.
    /// `handed`: bytes handed out to threads so far.
    pub(crate) fn pause_ends(&self, on: bool, handed: impl Fn() -> u64) {
        let Some(mut watched) = self.watched() else { return };
        let Watched { pauses, small } = &mut *watched;
        pauses.ends();
        let are_small = match on {
            true => {
                let used = || Used { handed: handed(), cpu_ns: process_cpu_ns() };
                small.after_collection(Monotonic::now(), pauses.collections, pauses.ns, used)
            }
            false => small.forget(),
        };
        if are_small != self.are_small() {
            self.are_small.store(are_small, Ordering::Relaxed);
        }
    }
}

/// The share of time that has to be saved beyond what dense use costs.
const LEAST_GAIN: f64 = 0.005;
/// What dense use costs for each byte that is allocated, in nanoseconds of a CPU: a line from memory instead of the last cache, and refills. Tomcat with a
/// thread for each request or connection loses 0.1 to 0.2 (docs/decisions/growing-tlab.md).
const NS_FOR_BYTE: f64 = 0.2;
/// A phase is over after so many collections and so long ...
const LONG: [(u64, u64); 2] = [(16, 1_000 * MS), (2, 2_000 * MS)];
/// ... or, with HotSpot's TLABs, which bring more collections if they matter, after so long.
const LONGEST: u64 = 4_000 * MS;
/// A trial of HotSpot's TLABs is over after so many collections and so long where they lose [`DECISIVE`] times what small ones have to save: each of its
/// collections is one too many. Threads that live for a callback collect fifty times as often meanwhile, and a second of every fifteen would be
/// more than all other collections.
const SHORT: (u64, u64) = (8, 200 * MS);
const DECISIVE: f64 = 2.0;
const MS: u64 = 1_000_000;
/// Phases between two trials: after one that has changed something, twice as many after each that has not, and at most. The first trial is
/// made while a program starts, when much else takes time: it is soon repeated.
const HOLD: [u32; 2] = [2, 128];

/// What the process has used so far.
#[derive(Clone, Copy)]
pub(crate) struct Used {
    /// Bytes handed out to threads.
    handed: u64,
    /// Of all threads; `None` where nobody can tell.
    cpu_ns: Option<u64>,
}

/// What a phase began with.
#[derive(Clone, Copy)]
struct Phase {
    began_ns: u64,
    paused_ns: u64,
    collections: u64,
    used: Used,
}

#[derive(Clone, Copy)]
enum Stage {
    /// The other TLABs than those decided on.
    Trial,
    /// Those decided on, for so many phases until the next trial.
    Settled(u32),
}

pub(crate) struct SmallFirst {
    stage: Stage,
    /// In this phase.
    small: bool,
    /// What was decided last.
    decided: bool,
    phase: Option<Phase>,
    /// Of time, in the last phases with HotSpot's TLABs and with small ones.
    shares: [f64; 2],
    /// The least of the TLABs decided on, since they were.
    least: f64,
    /// What has to be saved, by what was allocated in the last phase with small ones: with HotSpot's, what is handed out is mostly unused.
    gain: f64,
    /// Phases between two trials.
    hold: u32,
    /// Those that the process may use.
    cpus: usize,
}

impl SmallFirst {
    /// Small, as long as nothing else was seen to be as good.
    pub(crate) const fn new(cpus: usize) -> SmallFirst {
        SmallFirst {
            stage: Stage::Settled(1),
            small: true,
            decided: true,
            phase: None,
            shares: [0.0; 2],
            least: 0.0,
            gain: LEAST_GAIN,
            hold: HOLD[0],
            cpus,
        }
    }

    /// What was seen of this phase counts no more: it begins again, a trial with what was decided on before. Whether new threads begin small
    /// from now on.
    pub(crate) fn forget(&mut self) -> bool {
        self.phase = None;
        if let Stage::Trial = self.stage {
            (self.small, self.stage) = (self.decided, Stage::Settled(1));
        }
        self.small
    }

    /// A collection has ended at `now_ns`; since the beginning of time it was the `collections`th, and the threads stood still for `paused_ns`.
    /// `used` is asked at the ends of phases only: the CPU time of many threads takes a while. Whether new threads begin small from now on.
    pub(crate) fn after_collection(
        &mut self,
        now_ns: u64,
        collections: u64,
        paused_ns: u64,
        used: impl Fn() -> Used,
    ) -> bool {
        let now = || Phase { began_ns: now_ns, paused_ns, collections, used: used() };
        let Some(begun) = self.phase else {
            self.phase = Some(now());
            return self.small;
        };
        let took = now_ns.saturating_sub(begun.began_ns);
        let seen = |(enough, long)| took >= long && collections - begun.collections >= enough;
        let share = (paused_ns - begun.paused_ns) as f64 / took.max(1) as f64;
        let clear = matches!(self.stage, Stage::Trial)
            && !self.small
            && share - self.shares[1] >= DECISIVE * self.gain;
        if seen(LONG[usize::from(self.small)]) || (clear && seen(SHORT)) || (!self.small && took >= LONGEST) {
            let now = now();
            if self.small {
                self.gain = LEAST_GAIN + self.dense(took, begun.used, now.used);
            }
            self.phase_ends(share);
            self.phase = Some(now);
        }
        self.small
    }

    /// What dense use cost from one moment to another, `took` later, as a share of the CPU time of that phase: what is idle loses nothing, and
    /// makes up for nothing.
    fn dense(&self, took: u64, begun: Used, now: Used) -> f64 {
        let most = took as f64 * self.cpus as f64;
        let cpu = now.cpu_ns.zip(begun.cpu_ns).map_or(most, |(now, begun)| now.saturating_sub(begun) as f64);
        let ns = now.handed.saturating_sub(begun.handed) as f64 * NS_FOR_BYTE;
        ns / cpu.min(most).max(1.0)
    }

    fn phase_ends(&mut self, share: f64) {
        self.shares[usize::from(self.small)] = share;
        match self.stage {
            Stage::Trial => self.decide(),
            Stage::Settled(left) => {
                // With HotSpot's TLABs: as little time is lost as would have to be saved; or much more than when they were decided on.
                let (hopeless, changed) = (share < LEAST_GAIN, share > self.least + 2.0 * LEAST_GAIN);
                self.least = self.least.min(share);
                match self.small {
                    false if hopeless => {}
                    false if changed => self.try_other(),
                    _ if left <= 1 => self.try_other(),
                    _ => self.stage = Stage::Settled(left - 1),
                }
            }
        }
    }

    fn try_other(&mut self) {
        (self.small, self.stage) = (!self.small, Stage::Trial);
    }

    fn decide(&mut self) {
        let small = self.shares[0] - self.shares[1] >= self.gain;
        let [least, most] = HOLD;
        self.hold = if self.decided == small { (self.hold * 2).min(most) } else { least };
        (self.small, self.decided, self.stage) = (small, small, Stage::Settled(self.hold));
        self.least = self.shares[usize::from(small)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPUS: usize = 2;

    /// Milliseconds from one collection to the next, with HotSpot's TLABs and with small ones; microseconds of each; bytes allocated in a second.
    type Kind = ([u64; 2], u64, u64);

    /// A program as it goes on.
    struct Program {
        first: SmallFirst,
        now: u64,
        /// CPUs that it keeps busy.
        busy: u64,
        paused: u64,
        collections: u64,
        /// Milliseconds in which new threads began small.
        small: u64,
        trials: u32,
    }

    impl Program {
        fn new() -> Program {
            Program::on(CPUS, CPUS as u64)
        }

        fn on(cpus: usize, busy: u64) -> Program {
            let first = SmallFirst::new(cpus);
            Program { first, now: 0, busy, paused: 0, collections: 0, small: 0, trials: 0 }
        }

        fn run(&mut self, seconds: u64, (every_ms, pause_us, rate): Kind) -> bool {
            let (end, mut small) = (self.now + seconds * 1000 * MS, self.first.small);
            (self.small, self.trials) = (0, 0);
            while self.now < end {
                let ms = every_ms[usize::from(small)];
                self.now += ms * MS;
                self.small += if small { ms } else { 0 };
                self.paused += pause_us * 1000;
                self.collections += 1;
                let used =
                    Used { handed: self.now / 1_000_000_000 * rate, cpu_ns: Some(self.now * self.busy) };
                let next = self.first.after_collection(self.now, self.collections, self.paused, || used);
                self.trials += u32::from(next != small);
                small = next;
            }
            small
        }
    }

    /// As 14,000 callbacks a second on two CPUs.
    const CALLBACKS: Kind = ([16, 500], 500, 75_000_000);
    /// As 10,000 requests a second.
    const REQUESTS: Kind = ([78, 217], 950, 210_000_000);

    #[test]
    fn small_ones_stay_where_they_save_collections_that_cost() {
        let mut program = Program::new();
        assert!(program.run(600, CALLBACKS));
        assert!(program.small >= 590_000, "{} ms of 600,000", program.small);
    }

    #[test]
    fn a_trial_that_is_clear_is_short() {
        // As 14,000 callbacks a second by JNI alone: a tenth of the time, or next to nothing.
        let mut program = Program::new();
        assert!(program.run(20, ([16, 1000], 1600, 75_000_000)));
        assert!(program.trials >= 4, "{} trials", program.trials);
        let hotspots = program.now / MS - program.small;
        assert!(hotspots <= 200 * u64::from(program.trials), "{hotspots} ms, {} trials", program.trials);
        // Just enough to stay: no sooner than otherwise.
        let mut program = Program::new();
        assert!(program.run(20, ([80, 2000], 1600, 75_000_000)));
        let hotspots = program.now / MS - program.small;
        assert!(hotspots >= 1_000, "{hotspots} ms, {} trials", program.trials);
    }

    #[test]
    fn hotspots_stay_where_collections_cost_little() {
        let mut program = Program::new();
        assert!(!program.run(600, REQUESTS));
        // 1.2 % of the time might be saved, and is tried, less and less often.
        assert!(program.small < 20_000 && program.trials < 20, "{} ms, {}", program.small, program.trials);
        // 0.4 % is not worth a trial.
        assert!(!program.run(600, ([250, 600], 1000, 210_000_000)));
        assert_eq!((program.small, program.trials), (0, 0));
    }

    #[test]
    fn what_dense_use_costs_is_a_share_of_the_time_that_is_used() {
        // One thread that is busy: 3 % of its time might be saved, 4.4 % would be lost, however many CPUs are idle.
        let one = ([30, 1000], 900, 220_000_000);
        for cpus in [1, 2, 64] {
            let mut program = Program::on(cpus, 1);
            assert!(!program.run(600, one), "small ones on {cpus} CPUs");
            assert!(program.small < 30_000, "{} ms of 600,000 on {cpus} CPUs", program.small);
        }
        // The same on 64 busy ones costs each a 64th.
        assert!(Program::on(64, 64).run(600, one));
        // No more CPU time than there can be, and all of it where nobody can tell.
        let first = SmallFirst::new(CPUS);
        let used = |handed, cpu_ns| Used { handed, cpu_ns };
        let second = 1_000 * MS;
        for (cpu_ns, share) in [(Some(second / 10), 0.4), (Some(90 * second), 0.02), (None, 0.02)] {
            let begun = used(0, cpu_ns.map(|_| 0));
            let dense = first.dense(second, begun, used(200_000_000, cpu_ns));
            assert!((dense - share).abs() < 1e-9, "{dense} of {cpu_ns:?} ns");
        }
    }

    #[test]
    fn small_ones_come_back_soon_when_they_pay() {
        let mut program = Program::new();
        program.run(100, REQUESTS);
        assert!(program.run(100, CALLBACKS));
        assert!(program.small >= 94_000, "{} ms of 100,000", program.small);
    }

    #[test]
    fn what_was_decided_while_the_program_started_is_soon_tried_again() {
        let mut program = Program::new();
        assert!(program.run(10, CALLBACKS));
        assert!(!program.run(10, REQUESTS), "still what the start had shown");
    }

    #[test]
    fn collections_that_small_ones_do_not_save_are_tried_less_and_less() {
        let mut program = Program::new();
        // 5 % of the time, whatever new threads get.
        assert!(!program.run(10_000, ([20, 20], 1000, 100_000_000)));
        assert!(
            program.trials < 200 && program.small < 200_000,
            "{} trials, {} ms",
            program.trials,
            program.small
        );
    }

    #[test]
    fn rare_collections_decide_nothing_before_there_are_some() {
        let mut program = Program::new();
        assert!(
            program.run(20, ([10_000, 10_000], 100_000, 100_000_000)),
            "one in ten seconds: three are not there yet"
        );
        assert!(!program.run(60, ([10_000, 10_000], 100_000, 100_000_000)));
    }

    #[test]
    fn what_is_forgotten_decides_nothing() {
        let mut program = Program::new();
        for _ in 0..200 {
            program.run(1, REQUESTS);
            program.first.forget();
        }
        assert!(program.first.small, "no phase was ever long enough");
        // Trials of a second: what small ones save is no more than they have to, and half as much again.
        let kind = ([32, 500], 500, 75_000_000);
        let until = |program: &mut Program, small| (0..100).any(|_| program.run(1, kind) == small);
        assert!(until(&mut program, false), "no trial");
        assert!(program.first.forget(), "a trial that was cut short decides nothing");
        assert!(until(&mut program, false) && until(&mut program, true), "no other trial");
    }
}
