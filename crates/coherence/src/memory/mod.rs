//! The simulated memory: which line a word is on, and what happened to each line.

mod holders;
mod line;
mod streams;
mod traffic;

pub use line::{Answer, Line, Transfer, Want};
pub use streams::{Carried, Links, Streamed};
pub use traffic::{Event, Kind, LineTraffic, Traffic};

use crate::machine::{Grid, Machine, Picoseconds};
use rustc_hash::FxHashMap;
use std::ops::Range;
use streams::Streams;

/// Log2 of a line's bytes.
const LINE_SHIFT: u32 = 6;

/// All lines that were touched.
#[derive(Debug)]
pub struct Memory {
    index: FxHashMap<usize, u32>,
    /// Lines that were asked for last, by their lowest bits: a program asks for few again and again.
    recent: Box<[(usize, u32); RECENT]>,
    lines: Vec<Line>,
    names: Vec<(Range<usize>, String)>,
    traffic: Traffic,
    streams: Streams,
    /// The lines of objects, and the traffic's entry for all of them.
    objects: Vec<Option<(usize, Line)>>,
    objects_line: Option<u32>,
}

/// So many lines are found without the index.
const RECENT: usize = 128;

/// So many lines of objects are known at a time; an object is long done with when a later one has its place.
const OBJECT_LINES: usize = 4096;

impl Memory {
    /// A machine's empty memory; of its transfers the first `events` are kept one by one.
    pub fn new(machine: &Machine, events: usize) -> Memory {
        Memory {
            index: FxHashMap::default(),
            recent: Box::new([(usize::MAX, 0); RECENT]),
            lines: Vec::new(),
            names: Vec::new(),
            traffic: Traffic::new(events),
            streams: Streams::new(machine),
            objects: vec![None; OBJECT_LINES],
            objects_line: None,
        }
    }

    /// Whether two words are on one line.
    #[inline]
    pub const fn same_line(one: usize, other: usize) -> bool {
        one >> LINE_SHIFT == other >> LINE_SHIFT
    }

    /// Names the lines of a range of addresses that are touched from now on; where ranges overlap the first name holds.
    pub fn name(&mut self, addresses: Range<usize>, name: String) {
        self.names.push((addresses, name));
    }

    /// What happened to the lines until the end, and what the ways to memory carried.
    pub fn into_results(mut self, end: Picoseconds) -> (Traffic, Streamed) {
        self.traffic.end(end);
        (self.traffic, self.streams.carried())
    }

    /// From now on what cores [`produce`](Memory::produce) goes to memory, with so many bytes on the way for each of theirs: to that
    /// of their own package if it is `local`, to that of all otherwise.
    pub const fn stream(&mut self, traffic: f64, local: bool) {
        self.streams.set(traffic, local);
    }

    /// Whether it does.
    pub fn streaming(&self) -> bool {
        self.streams.any()
    }

    /// A core begins to write so many bytes of new objects; says when the last of them has gone all its ways.
    pub fn produce(&mut self, grid: &Grid<'_>, core: u32, bytes: f64, now: Picoseconds) -> Picoseconds {
        self.streams.write(grid, core, bytes, now)
    }

    /// The lines touched so far.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    #[inline]
    fn line(&mut self, grid: &Grid<'_>, address: usize, core: u32) -> u32 {
        let tag = address >> LINE_SHIFT;
        let (known, line) = self.recent[tag % RECENT];
        if known == tag {
            return line;
        }
        let line = match self.index.get(&tag) {
            Some(line) => *line,
            None => self.touch(grid, address, core),
        };
        self.recent[tag % RECENT] = (tag, line);
        line
    }

    #[cold]
    #[inline(never)]
    fn touch(&mut self, grid: &Grid<'_>, address: usize, core: u32) -> u32 {
        let line = self.lines.len() as u32;
        self.index.insert(address >> LINE_SHIFT, line);
        self.lines.push(Line::new(grid, grid.package(core)));
        let name = self.names.iter().find(|(addresses, _)| addresses.contains(&address));
        let name = name.map_or_else(|| format!("line {line}"), |(_, name)| name.clone());
        self.traffic.add_line(name);
        line
    }

    /// A core wants something of a word at a moment; see [`Line::ask`]. Gives the line's number too.
    #[inline]
    pub fn ask(
        &mut self,
        grid: &Grid<'_>,
        address: usize,
        core: u32,
        want: Want,
        now: Picoseconds,
    ) -> (u32, Answer) {
        let line = self.line(grid, address, core);
        (line, self.ask_line(grid, line, core, want, now))
    }

    /// The same for a line that is known.
    #[inline]
    pub fn ask_line(
        &mut self,
        grid: &Grid<'_>,
        line: u32,
        core: u32,
        want: Want,
        now: Picoseconds,
    ) -> Answer {
        let asked = &mut self.lines[line as usize];
        let answer = asked.ask(grid, self.streams.links(now), core, want, now);
        let leaves = asked.leaves();
        match answer {
            // It asks again.
            Answer::Then(_) if want == Want::Lock => {}
            Answer::Now | Answer::Then(_) => {
                self.traffic.hit(line);
                if want == Want::Lock {
                    self.traffic.kept(line, now, leaves.max(now + grid.costs().locked));
                }
            }
            Answer::Transfer(transfer) => {
                self.traffic.transfer(line, core, now, transfer, want);
                self.traffic.kept(line, transfer.end, leaves.max(transfer.end));
            }
            Answer::Busy(_) => {}
        }
        answer
    }

    /// Adds to a line's traffic how long somebody waited for it to be free.
    #[inline]
    pub fn waited(&mut self, line: u32, time: Picoseconds) {
        self.traffic.waited(line, time);
    }

    /// The transfer to a core that has just set out was asked for before.
    pub fn asked_before(&mut self, line: u32, core: u32, now: Picoseconds, asked: Picoseconds) {
        self.traffic.asked_before(line, core, now, asked);
    }

    /// A core writes into a new object at an address of the simulated heap; says when the store has reached the cache. A line that
    /// nobody has written to since the heap came to it was prefetched.
    pub fn write_object(
        &mut self,
        grid: &Grid<'_>,
        address: usize,
        core: u32,
        now: Picoseconds,
    ) -> Picoseconds {
        let tag = address >> LINE_SHIFT;
        let (known, line) =
            self.objects[tag % OBJECT_LINES].get_or_insert_with(|| (!tag, Line::new(grid, 0)));
        if *known != tag {
            *known = tag;
            line.renew(grid, core);
        }
        // The store waits in its buffer until the line is free.
        let mut begin = now;
        let answer = loop {
            match line.ask(grid, self.streams.links(now), core, Want::Write, begin) {
                Answer::Busy(free) => begin = free,
                answer => break answer,
            }
        };
        let number = *self.objects_line.get_or_insert_with(|| {
            self.lines.push(Line::new(grid, 0));
            self.traffic.add_line("new objects".into());
            self.lines.len() as u32 - 1
        });
        match answer {
            Answer::Transfer(transfer) => {
                self.traffic.waited(number, begin - now);
                self.traffic.transfer(number, core, now, transfer, Want::Write);
                transfer.end
            }
            Answer::Then(time) => time,
            Answer::Now | Answer::Busy(_) => {
                self.traffic.hit(number);
                now
            }
        }
    }

    /// Says that a compare and swap on a word found another value.
    pub fn lost(&mut self, address: usize) {
        if let Some(line) = self.index.get(&(address >> LINE_SHIFT)) {
            self.traffic.lost(*line);
        }
    }
}
