//! Who has which CPU: time slices, migrations, waiting.

use super::thread::{Number, Status, Thread};
use super::turns::{Turn, Who};
use super::{Step, World};
use crate::machine::Picoseconds;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::VecDeque;

/// One CPU.
#[derive(Debug, Default)]
pub(super) struct Cpu {
    running: Option<Number>,
    ready: VecDeque<Number>,
    /// When its last thread left it.
    left: Picoseconds,
}

impl World<'_> {
    pub(super) fn add_thread(&mut self, cpu: u32, pinned: bool) {
        let number = Number(self.threads.len() as u32);
        let random = Xoshiro256PlusPlus::seed_from_u64(self.random.next_u64());
        let mut thread = Thread::new(cpu, pinned, random);
        thread.migration = self.next_migration(&mut thread);
        self.threads.push(thread);
        self.unfinished += 1;
        self.make_ready(number, 0);
    }

    /// How much longer work takes on a CPU because of the core's other threads.
    #[inline]
    pub(super) fn share(&self, cpu: u32, now: Picoseconds) -> f64 {
        let threads = self.grid.machine.shape.threads;
        if threads == 1 {
            return 1.0;
        }
        let first = self.grid.core_of(cpu) * threads;
        let busy = (first..first + threads)
            .filter(|other| *other != cpu)
            .map(|other| &self.cpus[other as usize])
            .filter(|other| match other.running {
                // Who waits for a line needs nothing of the core.
                Some(number) => {
                    let thread = &self.threads[number.0 as usize];
                    !thread.blocked && thread.stalled <= now
                }
                None => other.left > now,
            })
            .count();
        self.grid.machine.slowdown(1 + busy as u32)
    }

    /// A moment after the thread's own, by chance.
    fn next_migration(&self, thread: &mut Thread) -> Picoseconds {
        let rate = self.grid.costs().migration_rate;
        if thread.pinned || rate <= 0.0 || self.cpus.len() < 2 {
            return Picoseconds::MAX;
        }
        // In (0, 1]: its logarithm is finite.
        let chance = ((thread.random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        // At least one moment later, so that it gets something done in between.
        thread.time.saturating_add(((-chance.ln() / rate * 1e12) as Picoseconds).max(1))
    }

    /// Has a parked thread go on from a moment on; one that has not parked yet will not.
    pub(super) fn wake(&mut self, number: Number, time: Picoseconds) {
        let thread = &mut self.threads[number.0 as usize];
        match thread.status {
            Status::Parked => self.make_ready(number, time),
            // One that waits for its CPU has its place there: a second one would have it run twice.
            Status::Ready | Status::Running | Status::Ended => thread.token = true,
        }
    }

    /// Gives a thread its CPU, or a place in the CPU's queue, from a moment on.
    fn make_ready(&mut self, number: Number, time: Picoseconds) {
        let thread = &mut self.threads[number.0 as usize];
        thread.time = thread.time.max(time);
        thread.status = Status::Ready;
        let cpu = thread.cpu as usize;
        self.cpus[cpu].ready.push_back(number);
        self.dispatch(cpu, time, 0);
    }

    /// Gives a CPU that has nobody to the first one who waits.
    fn dispatch(&mut self, cpu: usize, time: Picoseconds, switch: Picoseconds) {
        if self.cpus[cpu].running.is_none()
            && let Some(next) = self.cpus[cpu].ready.pop_front()
        {
            self.cpus[cpu].running = Some(next);
            let thread = &mut self.threads[next.0 as usize];
            thread.status = Status::Running;
            thread.time = thread.time.max(time + switch);
            thread.slice_end = thread.time + self.grid.costs().quantum;
            let turn = Turn::of(next, thread.time);
            self.turns.push(turn);
            // If the current thread woke it, it must not run on past it.
            self.horizon = self.horizon.min(turn);
        }
        self.set_interrupt(cpu);
    }

    /// Sets when the scheduler looks at a CPU's thread next.
    fn set_interrupt(&mut self, cpu: usize) {
        if let Some(running) = self.cpus[cpu].running {
            let waiting = !self.cpus[cpu].ready.is_empty();
            let thread = &mut self.threads[running.0 as usize];
            let slice = if waiting { thread.slice_end } else { Picoseconds::MAX };
            thread.interrupt = slice.min(thread.migration);
        }
    }

    /// Whether another thread has something to do before the current one's moment, or the scheduler has.
    pub(super) fn too_early(&self) -> bool {
        let thread = &self.threads[self.current.0 as usize];
        Turn::of(self.current, thread.time) > self.horizon || thread.interrupted()
    }

    /// The thread whose turn it is, and whose access, if it waits for one, has happened; `None` when nobody has a CPU. Accesses of threads
    /// that waited are carried out here and not by their coroutines: many come to waiting again, and a change of stacks for nothing
    /// takes longer than they do.
    pub(super) fn next_turn(&mut self) -> Option<Number> {
        loop {
            let number = self.pick()?;
            let Some((address, access)) = self.threads[number.0 as usize].pending else {
                return Some(number);
            };
            if self.granted(access) || self.access(address, access) == Step::Done {
                self.threads[number.0 as usize].pending = None;
                return Some(number);
            }
            self.suspended(number);
        }
    }

    /// The thread whose turn it is. Lines that nobody but stores of ended threads wait for stay where they are.
    fn pick(&mut self) -> Option<Number> {
        while self.unfinished > 0 {
            let turn = match self.own.take() {
                Some(own) => self.turns.exchange(own),
                None => self.turns.pop()?,
            };
            self.reach(turn.time());
            let number = match turn.who() {
                Who::Line(line) => {
                    self.serve(line, turn.time());
                    continue;
                }
                Who::Thread(number) => number,
            };
            let thread = &self.threads[number.0 as usize];
            if thread.status != Status::Running {
                continue;
            }
            // It was made to wait meanwhile.
            if thread.time > turn.time() {
                self.own = Some(Turn::of(number, thread.time));
                continue;
            }
            if thread.interrupted() && self.interrupted(number) {
                continue;
            }
            self.current = number;
            self.horizon = self.turns.first();
            return Some(number);
        }
        None
    }

    /// Something happens at a moment: never before what happened already.
    #[inline]
    pub(super) fn reach(&mut self, moment: Picoseconds) {
        debug_assert!(moment >= self.moment, "{moment} after {}", self.moment);
        self.moment = moment;
    }

    /// The scheduler looks at a thread; says whether it has to wait for another turn.
    fn interrupted(&mut self, number: Number) -> bool {
        let thread = &self.threads[number.0 as usize];
        let (now, cpu) = (thread.time, thread.cpu as usize);
        if now >= thread.slice_end && !self.cpus[cpu].ready.is_empty() {
            self.preemptions += 1;
            self.threads[number.0 as usize].status = Status::Ready;
            self.cpus[cpu].running = None;
            self.cpus[cpu].ready.push_back(number);
            self.dispatch(cpu, now, self.grid.costs().switch);
            return true;
        }
        if now >= thread.migration {
            self.migrate(number);
        }
        let cpu = self.threads[number.0 as usize].cpu as usize;
        self.set_interrupt(cpu);
        let thread = &self.threads[number.0 as usize];
        if thread.time > now {
            self.turns.push(Turn::of(number, thread.time));
            return true;
        }
        false
    }

    /// Moves a running thread to another CPU, by chance; whoever runs there comes here.
    fn migrate(&mut self, number: Number) {
        let mut thread = std::mem::replace(
            &mut self.threads[number.0 as usize],
            Thread::new(0, true, Xoshiro256PlusPlus::seed_from_u64(0)),
        );
        let (here, count) = (thread.cpu, self.cpus.len() as u64);
        let there = ((u64::from(here) + 1 + thread.random.next_u64() % (count - 1)) % count) as u32;
        let other = self.cpus[there as usize].running;
        let pinned = other.is_some_and(|other| self.threads[other.0 as usize].pinned);
        if !pinned {
            self.migrations += 1;
            thread.moved(there, self.grid.costs().switch);
        }
        thread.migration = self.next_migration(&mut thread);
        self.threads[number.0 as usize] = thread;
        if pinned {
            return;
        }
        self.cpus[there as usize].running = Some(number);
        self.cpus[here as usize].running = other;
        if let Some(other) = other {
            // Its turn is in the queue with its old time: `next_turn` puts it back.
            self.threads[other.0 as usize].moved(here, self.grid.costs().switch);
            self.set_interrupt(here as usize);
        } else {
            let time = self.threads[number.0 as usize].time;
            self.dispatch(here as usize, time, 0);
        }
    }

    /// A thread has given the simulation's processor back: its next turn, if it has one, is `own`.
    pub(super) fn suspended(&mut self, number: Number) {
        let thread = &self.threads[number.0 as usize];
        match thread.status {
            Status::Running if thread.blocked => {}
            Status::Running => self.own = Some(Turn::of(number, thread.time)),
            _ => self.left(number),
        }
    }

    /// A thread has ended.
    pub(super) fn ended(&mut self, number: Number) {
        self.threads[number.0 as usize].status = Status::Ended;
        self.unfinished -= 1;
        self.left(number);
    }

    fn left(&mut self, number: Number) {
        let thread = &self.threads[number.0 as usize];
        let (cpu, time) = (thread.cpu as usize, thread.time);
        if self.cpus[cpu].running == Some(number) {
            self.cpus[cpu].running = None;
            // Its clock may be ahead of the others': until then it was there for them.
            self.cpus[cpu].left = time;
        }
        self.dispatch(cpu, time, self.grid.costs().switch);
    }
}
