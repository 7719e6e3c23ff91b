//! What happened to each line: how often it moved, between whom, and what that cost.

use super::{Transfer, Want};
use crate::machine::Picoseconds;
use serde::Serialize;
use std::collections::BTreeMap;

/// Why a line moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A copy for reading.
    Read,
    /// For writing.
    Write,
    /// The core had a copy; all others were made invalid.
    Upgrade,
}

/// One move of a line.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Event {
    /// The line's number.
    pub line: u32,
    /// When it was asked for, when it set out, and when it arrived, in picoseconds.
    pub asked: Picoseconds,
    /// When it set out.
    pub begin: Picoseconds,
    /// When it arrived.
    pub end: Picoseconds,
    /// The core that had it; `None`: memory or copies.
    pub from: Option<u32>,
    /// The core that got it.
    pub to: u32,
    /// Why.
    pub kind: Kind,
}

/// What happened to one line. Times in picoseconds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LineTraffic {
    /// Its name.
    pub name: String,
    /// Accesses that found it where it was needed.
    pub hits: u64,
    /// Moves for reading.
    pub reads: u64,
    /// Moves for writing.
    pub writes: u64,
    /// Invalidations of other copies.
    pub upgrades: u64,
    /// Moves out of a cache that had modified it.
    pub modified: u64,
    /// Those of them for reading alone.
    pub modified_reads: u64,
    /// Moves by which memory got the modified line.
    pub written_back: u64,
    /// Compare and swaps that found another value.
    pub lost: u64,
    /// Time for which cores waited because the line was on its way to others.
    pub queued: Picoseconds,
    /// Time for which it was on its way.
    pub moving: Picoseconds,
    /// Time for which it could do nothing else: on its way, kept by the core to which it had come, or in a locked instruction. Counted
    /// once however many copies are: never more than has passed.
    pub occupied: Picoseconds,
    /// The last such time, which is not in that yet: from when and until when.
    #[serde(skip)]
    last: (Picoseconds, Picoseconds),
    /// Moves and their time by the two cores.
    #[serde(skip)]
    pub pairs: BTreeMap<(u32, u32), (u64, Picoseconds)>,
}

impl LineTraffic {
    /// From one moment to another it can do nothing else.
    fn occupy(&mut self, begin: Picoseconds, end: Picoseconds) {
        let (since, until) = self.last;
        if begin > until {
            self.occupied += until - since;
            self.last = (begin, end);
        } else {
            self.last.1 = until.max(end);
        }
    }

    /// What the line does after this moment has not passed.
    fn end(&mut self, end: Picoseconds) {
        let (since, until) = std::mem::take(&mut self.last);
        self.occupied += until.min(end).saturating_sub(since);
    }

    /// All moves.
    pub fn moves(&self) -> u64 {
        self.reads + self.writes + self.upgrades
    }

    /// What it cost all cores together.
    pub fn cost(&self) -> Picoseconds {
        self.queued + self.moving
    }
}

/// What happened to all lines.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Traffic {
    /// By line.
    pub lines: Vec<LineTraffic>,
    /// The first moves, one by one.
    pub events: Vec<Event>,
    /// How many of them are kept.
    #[serde(skip)]
    kept: usize,
}

impl Traffic {
    pub(super) fn new(kept: usize) -> Traffic {
        Traffic { lines: Vec::new(), events: Vec::new(), kept }
    }

    pub(super) fn add_line(&mut self, name: String) {
        self.lines.push(LineTraffic { name, ..LineTraffic::default() });
    }

    #[inline]
    pub(super) fn hit(&mut self, line: u32) {
        self.lines[line as usize].hits += 1;
    }

    /// A core keeps a line from one moment to another.
    #[inline]
    pub(super) fn kept(&mut self, line: u32, begin: Picoseconds, end: Picoseconds) {
        self.lines[line as usize].occupy(begin, end);
    }

    #[inline]
    pub(super) fn waited(&mut self, line: u32, time: Picoseconds) {
        self.lines[line as usize].queued += time;
    }

    pub(super) fn lost(&mut self, line: u32) {
        self.lines[line as usize].lost += 1;
    }

    pub(super) fn transfer(
        &mut self,
        number: u32,
        to: u32,
        asked: Picoseconds,
        transfer: Transfer,
        want: Want,
    ) {
        let Transfer { begin, end, from, modified, upgrade, written_back } = transfer;
        let line = &mut self.lines[number as usize];
        let write = want != Want::Read;
        let kind = match (write, upgrade) {
            (false, _) => Kind::Read,
            (true, false) => Kind::Write,
            (true, true) => Kind::Upgrade,
        };
        *match kind {
            Kind::Read => &mut line.reads,
            Kind::Write => &mut line.writes,
            Kind::Upgrade => &mut line.upgrades,
        } += 1;
        line.modified += u64::from(modified);
        line.modified_reads += u64::from(modified && !write);
        line.written_back += u64::from(written_back);
        line.moving += end - begin;
        line.occupy(begin, end);
        if self.kept > 0 {
            if let Some(from) = from {
                let pair = line.pairs.entry((from, to)).or_default();
                pair.0 += 1;
                pair.1 += end - begin;
            }
            if self.events.len() < self.kept {
                self.events.push(Event { line: number, asked, begin, end, from, to, kind });
            }
        }
    }

    /// Says of the transfer that has just set out when it was asked for, if it is one of those that are kept.
    pub(super) fn asked_before(&mut self, line: u32, to: u32, now: Picoseconds, asked: Picoseconds) {
        if let Some(event) = self.events.last_mut()
            && (event.line, event.to, event.begin) == (line, to, now)
        {
            event.asked = asked;
        }
    }

    /// Nothing happens after this moment.
    pub(super) fn end(&mut self, end: Picoseconds) {
        for line in &mut self.lines {
            line.end(end);
        }
    }

    /// The lines that cost most, most expensive first.
    pub fn dearest(&self) -> Vec<(usize, &LineTraffic)> {
        let mut lines: Vec<(usize, &LineTraffic)> = self.lines.iter().enumerate().collect();
        lines.sort_by_key(|(number, line)| (std::cmp::Reverse(line.cost()), *number));
        lines
    }

    /// The sum over all lines.
    pub fn total(&self) -> LineTraffic {
        let mut sum = LineTraffic { name: "all".into(), ..LineTraffic::default() };
        for line in &self.lines {
            sum.hits += line.hits;
            sum.reads += line.reads;
            sum.writes += line.writes;
            sum.upgrades += line.upgrades;
            sum.modified += line.modified;
            sum.modified_reads += line.modified_reads;
            sum.written_back += line.written_back;
            sum.lost += line.lost;
            sum.queued += line.queued;
            sum.moving += line.moving;
        }
        sum
    }
}
