//! One line: who has it in which state, and from when to when.
//!
//! A line goes from owner to owner one after the other; who asks while it is on its way has to ask again. So the line's states are
//! those at the end of the last transfer, and each core's rights say from when to when it may read and write.

mod ways;

use super::holders::{Holders, NEVER, Rights};
use super::streams::Links;
use crate::constants;
use crate::machine::{Grid, Picoseconds};
use crate::protocol::{self, State, Supply};
use std::ops::Range;

/// What a core wants of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// To read it.
    Read,
    /// To write it.
    Write,
    /// To carry out a locked instruction on it.
    Lock,
}

/// What asking for a line comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The core may use its copy now.
    Now,
    /// The core has it, but from a later moment: another thread of the core asked for it, or carries out a locked instruction. A
    /// locked instruction has to ask again at that moment: others may take the line until then.
    Then(Picoseconds),
    /// The line sets out at once.
    Transfer(Transfer),
    /// The line is on its way to others, or held by one: whoever waits has to ask again at this moment.
    Busy(Picoseconds),
}

/// A line's way to a core, or the invalidation of all other copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// When the line set out: later than it was asked for if others were before.
    pub begin: Picoseconds,
    /// When the core may use it.
    pub end: Picoseconds,
    /// The core from which it came; `None`: from memory, or the core had a copy.
    pub from: Option<u32>,
    /// Whether the core that gave it had modified it (for a read: what Intel counts as HITM).
    pub modified: bool,
    /// Whether the core had a copy already and only had others invalidated.
    pub upgrade: bool,
    /// Whether memory got the modified line.
    pub written_back: bool,
}

/// How soon a locked instruction has to follow another one for both to count as one after the other.
fn window(grid: &Grid<'_>) -> Picoseconds {
    grid.cycles(constants::STREAK.value)
}

/// A line of 64 bytes.
#[derive(Clone, Debug)]
pub struct Line {
    /// The core that answers for it, and its state: never Shared or Invalid.
    answerer: Option<(u32, State)>,
    /// The other cores that have a copy, all Shared; a bit each, and whether there is one.
    shared: Vec<u64>,
    sharing: bool,
    /// The package whose memory it is in: that of its first user.
    home: u32,
    rights: Holders,
    /// Until when a locked instruction keeps the line: the core's other threads too.
    locked: Picoseconds,
    /// When the last core that carries out locked instructions got it.
    got: Picoseconds,
    /// When it may set out again.
    free: Picoseconds,
    /// When the last reader has got its copy: until then nobody writes.
    read: Picoseconds,
}

impl Line {
    /// A line that nobody has, in the memory of a package.
    pub fn new(grid: &Grid<'_>, home: u32) -> Line {
        let words = grid.cores().div_ceil(64) as usize;
        Line {
            answerer: None,
            shared: vec![0; words],
            sharing: false,
            home,
            rights: Holders::default(),
            locked: 0,
            got: 0,
            free: 0,
            read: 0,
        }
    }

    /// Makes it one that a core has just fetched for itself alone; what was before does not matter.
    pub fn renew(&mut self, grid: &Grid<'_>, core: u32) {
        self.answerer = Some((core, State::Exclusive));
        self.shared.fill(0);
        self.sharing = false;
        self.home = grid.package(core);
        self.rights.clear();
        *self.rights.of(core, grid.cores()) = Rights { core, read: (0, NEVER), write: (0, NEVER) };
        (self.locked, self.got, self.free, self.read) = (0, 0, 0, 0);
    }

    /// The state in a core's caches after all that was granted.
    pub fn state(&self, core: u32) -> State {
        match self.answerer {
            Some((answerer, state)) if answerer == core => state,
            _ if self.shared[core as usize / 64] >> (core % 64) & 1 != 0 => State::Shared,
            _ => State::Invalid,
        }
    }

    /// The core that answers for it.
    pub fn owner(&self) -> Option<u32> {
        self.answerer.map(|(answerer, _)| answerer)
    }

    #[cfg(debug_assertions)]
    fn sharers(&self) -> impl Iterator<Item = u32> + '_ {
        self.shared.iter().enumerate().flat_map(|(word, bits)| {
            let mut bits = *bits;
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros())?;
                bits &= bits - 1;
                Some(word as u32 * 64 + bit)
            })
        })
    }

    /// Whether one of these cores is Shared. Word by word: with hundreds of cores each reader asks.
    #[inline]
    fn any_shared(&self, cores: Range<u32>) -> bool {
        if !self.sharing {
            return false;
        }
        let (from, to) = (cores.start as usize, cores.end as usize);
        (from / 64..to.div_ceil(64)).any(|word| {
            let after = u64::MAX << from.saturating_sub(word * 64);
            let before = u64::MAX >> (word * 64 + 64).saturating_sub(to);
            self.shared[word] & after & before != 0
        })
    }

    fn set_shared(&mut self, core: u32) {
        self.sharing = true;
        self.shared[core as usize / 64] |= 1 << (core % 64);
    }

    /// A core wants something of the line at a moment. Moments never go back.
    #[inline]
    pub fn ask(
        &mut self,
        grid: &Grid<'_>,
        links: &mut Links,
        core: u32,
        want: Want,
        now: Picoseconds,
    ) -> Answer {
        let rights = self.rights.of(core, grid.cores());
        let (from, until) = if want == Want::Read { rights.read } else { rights.write };
        let locked = if want == Want::Lock { self.locked } else { 0 };
        let first = from.max(now).max(locked);
        // `from` of one without rights is never.
        if first < until {
            if want == Want::Lock && first > now {
                return Answer::Then(first);
            }
            if want != Want::Read
                && let Some((_, state)) = &mut self.answerer
            {
                // An Exclusive line becomes Modified without anybody hearing of it.
                *state = State::Modified;
            }
            if want == Want::Lock {
                self.keep(grid, first);
                self.locked = first + grid.costs().locked;
            }
            if want == Want::Read {
                // A load comes between locked instructions: see `keep`.
                self.got = 0;
            }
            return if first == now { Answer::Now } else { Answer::Then(first) };
        }
        let free = if want == Want::Read { self.free } else { self.free.max(self.read) };
        if free > now {
            Answer::Busy(free)
        } else {
            Answer::Transfer(self.fetch(grid, links, core, want, now))
        }
    }

    /// On a machine with streaks a core keeps a line while its locked instructions on it follow each other at once, but not longer than
    /// that. A load in between lets others in.
    #[inline]
    fn keep(&mut self, grid: &Grid<'_>, first: Picoseconds) {
        let streak = grid.costs().streak;
        if streak > 0 && first <= self.locked + window(grid) && self.got > 0 && first < self.got + streak {
            self.free = self.free.max(first + grid.costs().locked + window(grid));
        }
    }

    /// When it may set out again, if it is on its way to a core or held by one.
    #[inline]
    pub const fn leaves(&self) -> Picoseconds {
        self.free
    }

    /// Whether it is on its way to a core, or held by one.
    pub fn moving(&self, now: Picoseconds) -> bool {
        self.free > now
    }

    #[cold]
    #[inline(never)]
    fn fetch(
        &mut self,
        grid: &Grid<'_>,
        links: &mut Links,
        core: u32,
        want: Want,
        now: Picoseconds,
    ) -> Transfer {
        if want == Want::Read {
            let way = self.way(grid, links, core, now);
            self.fetch_for_reading(grid, core, now, way)
        } else {
            // The data's way, if it has none.
            let own = self.state(core) != State::Invalid;
            let way = if own { 0 } else { self.way(grid, links, core, now) };
            self.fetch_for_writing(grid, core, want, now, way)
        }
    }

    fn fetch_for_reading(
        &mut self,
        grid: &Grid<'_>,
        core: u32,
        begin: Picoseconds,
        way: Picoseconds,
    ) -> Transfer {
        let answerer = self.answerer.filter(|(answerer, _)| *answerer != core);
        let others = self.any_shared(0..core) || self.any_shared(core + 1..grid.cores());
        let end = begin + way;
        let state = answerer.map_or(State::Invalid, |(_, state)| state);
        let after = protocol::read(grid.machine.protocol, state, others);
        if let Some((answerer, _)) = answerer {
            let rights = self.rights.of(answerer, grid.cores());
            rights.write.1 = rights.write.1.min(begin);
        }
        self.answerer = None;
        match (answerer, after.answerer) {
            (Some((answerer, _)), State::Shared) => self.set_shared(answerer),
            (Some((answerer, _)), State::Owned) => self.answerer = Some((answerer, State::Owned)),
            _ => {}
        }
        match after.reader {
            State::Shared => self.set_shared(core),
            state => self.answerer = Some((core, state)),
        }
        let rights = self.rights.of(core, grid.cores());
        rights.read = (end, NEVER);
        rights.write = if after.reader.alone() { (end, NEVER) } else { (NEVER, NEVER) };
        self.read = self.read.max(end);
        // While a core's only copy is fetched everybody waits; copies of what is shared already are handed out side by side.
        if state.alone() || after.reader.alone() {
            self.free = end;
        }
        self.check(core);
        Transfer {
            begin,
            end,
            from: answerer.map(|(answerer, _)| answerer),
            modified: matches!(state, State::Modified | State::Owned),
            upgrade: false,
            written_back: after.written_back,
        }
    }

    fn fetch_for_writing(
        &mut self,
        grid: &Grid<'_>,
        core: u32,
        want: Want,
        begin: Picoseconds,
        way: Picoseconds,
    ) -> Transfer {
        let answerer = self.answerer.filter(|(answerer, _)| *answerer != core);
        let before = answerer.map_or(State::Invalid, |(_, state)| state);
        let after = protocol::write(self.state(core), before);
        let upgrade = after.supply == Supply::Own;
        // The way of the invalidation to the farthest copy.
        let mut invalidation = 0;
        if let Some((answerer, _)) = answerer {
            invalidation = self.invalidate(grid, answerer, core, begin);
        }
        let words = if std::mem::take(&mut self.sharing) { self.shared.len() } else { 0 };
        for word in 0..words {
            let mut bits = std::mem::take(&mut self.shared[word]);
            while bits != 0 {
                let other = word as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                if other != core {
                    invalidation = invalidation.max(self.invalidate(grid, other, core, begin));
                }
            }
        }
        let end = begin + way.max(invalidation);
        self.answerer = Some((core, after.writer));
        let rights = self.rights.of(core, grid.cores());
        if !upgrade {
            rights.read = (end, NEVER);
        }
        rights.write = (end, NEVER);
        self.free = end + grid.costs().residency;
        if want == Want::Lock {
            self.locked = end + grid.costs().locked;
            // From the instruction's read to its write: what is left of its cost without the draining.
            let write = end + grid.costs().locked.saturating_sub(grid.costs().drain);
            self.free = self.free.max(write);
            self.got = end;
            if grid.costs().streak > 0 {
                self.free = self.free.max(self.locked + window(grid));
            }
        }
        self.check(core);
        Transfer {
            begin,
            end,
            from: answerer.map(|(answerer, _)| answerer),
            modified: after.supply == Supply::Modified,
            upgrade,
            written_back: after.written_back,
        }
    }

    /// Takes a core's copy away for a writer; how long the writer waits for that.
    fn invalidate(&mut self, grid: &Grid<'_>, other: u32, core: u32, begin: Picoseconds) -> Picoseconds {
        let rights = self.rights.of(other, grid.cores());
        rights.read.1 = rights.read.1.min(begin);
        rights.write.1 = rights.write.1.min(begin);
        self.transfer(grid, other, core)
    }

    /// Not more than one Modified or Exclusive copy, and none beside it; nobody reads while another may write. Only the core that has
    /// just got rights is held against the others: theirs have not grown, and all pairs of 1,024 cores take too long.
    #[cfg(debug_assertions)]
    fn check(&self, core: u32) {
        if let Some((answerer, state)) = self.answerer {
            assert!(!matches!(state, State::Shared | State::Invalid), "the answerer is {state:?}");
            assert!(!state.alone() || self.sharers().next().is_none(), "{state:?} beside Shared");
            assert!(!self.sharers().any(|sharer| sharer == answerer), "Shared and {state:?} at once");
        }
        let apart = |one: (Picoseconds, Picoseconds), other: (Picoseconds, Picoseconds)| {
            one.0.max(other.0) >= one.1.min(other.1)
        };
        let all = self.rights.all();
        let Some(new) = all.iter().find(|rights| rights.core == core) else { return };
        for other in all.iter().filter(|other| other.core != core) {
            let alone = apart(new.write, other.read) && apart(new.write, other.write);
            assert!(alone && apart(new.read, other.write), "{new:?} beside {other:?}");
        }
    }

    #[cfg(not(debug_assertions))]
    #[expect(clippy::unused_self, reason = "checks in debug builds")]
    fn check(&self, _core: u32) {}
}
