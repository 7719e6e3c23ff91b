//! Reading what an agent has written: from its memory while it lives, from a copy afterwards.
//!
//! Nothing that is read is trusted. The number of levels and domains is taken once, checked against the length of the mapping, and
//! never read again; any other word may have any value at any time.
#![allow(clippy::disallowed_types, reason = "the words are shared with another process")]

use crate::decisions::Decision;
use crate::header::{Asked, FORMAT, Header, MAGIC, Mode, State};
use crate::limits::{MAX_DOMAINS, MAX_LEVELS};
use crate::memory::{MOST_BYTES, Memory};
use crate::new_threads::NewThreads;
use crate::thread_waste::ThreadWaste;
use crate::times::Times;
use hab::{Counter, Counters};
use std::mem::size_of;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// What an agent has written, at this moment or when it ended.
pub struct View {
    pub(crate) memory: Memory,
    geometry: Geometry,
    pid: u32,
    /// The same as we know it.
    process: u32,
}

/// What is counted: domains of each level, and domains whose requests are timed.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// The number of domains of each level, at most [`MAX_LEVELS`] of them.
    pub levels: &'a [usize],
    /// The number of domains that have [`Times`].
    pub timed: usize,
}

impl<'a, const LEVELS: usize> From<&'a [usize; LEVELS]> for Counted<'a> {
    fn from(levels: &'a [usize; LEVELS]) -> Counted<'a> {
        Counted { levels, timed: 0 }
    }
}

impl<'a> From<&'a [usize]> for Counted<'a> {
    fn from(levels: &'a [usize]) -> Counted<'a> {
        Counted { levels, timed: 0 }
    }
}

/// Which counters there are, as checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Geometry {
    levels: usize,
    domains: [usize; MAX_LEVELS],
    timed: usize,
}

impl Geometry {
    /// For so many domains on each level, if there is room for all of them.
    pub(crate) fn new(Counted { levels, timed }: Counted<'_>) -> Option<Geometry> {
        let mut geometry = Geometry { levels: levels.len(), domains: [0; MAX_LEVELS], timed };
        if geometry.levels > MAX_LEVELS || levels.iter().chain([&timed]).any(|count| *count > MAX_DOMAINS) {
            return None;
        }
        geometry.domains[..levels.len()].copy_from_slice(levels);
        Some(geometry)
    }

    /// Where the counters of a level begin; of the level behind the last, where the times begin.
    fn counters_at(&self, level: usize) -> usize {
        size_of::<Header>() + self.domains[..level].iter().sum::<usize>() * size_of::<Counters>()
    }

    /// Where names of new threads begin.
    fn new_threads_at(&self) -> usize {
        self.counters_at(MAX_LEVELS) + self.timed * size_of::<Times>()
    }

    pub(crate) fn bytes(&self) -> usize {
        let of_threads = size_of::<NewThreads>() + size_of::<ThreadWaste>();
        self.new_threads_at() + if self.timed > 0 { of_threads } else { 0 }
    }
}

impl View {
    /// What a copy says.
    pub fn of_bytes(bytes: &[u8]) -> Option<View> {
        if bytes.len() < size_of::<Header>() || bytes.len() > MOST_BYTES {
            return None;
        }
        let memory = Memory::private(bytes.len()).ok()?;
        // SAFETY: the mapping has this length, is new, and does not overlap.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.base().as_ptr(), bytes.len()) };
        View::over(memory)
    }

    /// A view of memory that somebody else has filled, or means to: `None` if it is not ours, or of another version.
    pub(crate) fn over(memory: Memory) -> Option<View> {
        if memory.bytes() < size_of::<Header>() || memory.bytes() > MOST_BYTES {
            return None;
        }
        let mut view = View { memory, geometry: Geometry::default(), pid: 0, process: 0 };
        let header = view.header();
        // Acquire: pairs with the release that ends the making; the rest is in place.
        if header.magic.load(Ordering::Acquire) != u64::from_ne_bytes(MAGIC)
            || header.format.load(Ordering::Relaxed) != FORMAT
        {
            return None;
        }
        let count = |word: &AtomicU32| word.load(Ordering::Relaxed) as usize;
        let domains = header.domains.each_ref().map(count);
        let counted = Counted { levels: domains.get(..count(&header.levels))?, timed: count(&header.timed) };
        let geometry = Geometry::new(counted).filter(|geometry| geometry.bytes() <= view.memory.bytes())?;
        let pid = header.pid.load(Ordering::Relaxed);
        (view.geometry, view.pid, view.process) = (geometry, pid, pid);
        Some(view)
    }

    /// A view of new, zeroed memory, with its header made.
    pub(crate) fn begin(memory: Memory, geometry: Geometry, inode: u64, descriptor: u32) -> View {
        let pid = std::process::id();
        let view = View { memory, geometry, pid, process: pid };
        let header = view.header();
        header.format.store(FORMAT, Ordering::Relaxed);
        header.pid.store(pid, Ordering::Relaxed);
        header.inode.store(inode, Ordering::Relaxed);
        header.descriptor.store(descriptor, Ordering::Relaxed);
        for (slot, count) in header.domains.iter().zip(geometry.domains) {
            slot.store(count as u32, Ordering::Relaxed);
        }
        header.levels.store(geometry.levels as u32, Ordering::Relaxed);
        header.timed.store(geometry.timed as u32, Ordering::Relaxed);
        // Release, and last: a reader takes memory without it for one that is still being made.
        header.magic.store(u64::from_ne_bytes(MAGIC), Ordering::Release);
        view
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: the mapping is page-aligned and at least a header long (checked by `over`, and by `begin`'s caller), lives as long
        // as `self`, cannot be truncated, and has atomics only, for which every bit pattern is valid.
        unsafe { self.memory.base().cast::<Header>().as_ref() }
    }

    /// Which counters there are.
    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Where the living memory is: its inode number and its descriptor in the process. `None` if it never could be shared.
    pub(crate) fn living(&self) -> Option<(u64, u32)> {
        let header = self.header();
        let inode = header.inode.load(Ordering::Relaxed);
        (inode != 0).then(|| (inode, header.descriptor.load(Ordering::Relaxed)))
    }

    /// The JVM's process ID, as it knows it itself: in its own PID namespace.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The JVM's process ID as we know it, if its memory was found in a process; otherwise [`View::pid`].
    pub fn process(&self) -> u32 {
        self.process
    }

    pub(crate) fn found_in(self, process: u32) -> View {
        View { process, ..self }
    }

    /// Number of levels that have counters.
    pub fn levels(&self) -> usize {
        self.geometry.levels
    }

    /// The counters of a level, one for each domain; empty for a level that is not there.
    pub fn counters(&self, level: usize) -> &[Counters] {
        if level >= self.geometry.levels {
            return &[];
        }
        let start = self.geometry.counters_at(level);
        // SAFETY: inside the mapping (the geometry was checked against its length, and is our own copy), aligned to 128 because
        // header and counters are multiples of 128 on a page boundary, made of atomics only, and alive as long as `self`.
        unsafe {
            std::slice::from_raw_parts(
                self.memory.base().as_ptr().add(start).cast::<Counters>().cast_const(),
                self.geometry.domains[level],
            )
        }
    }

    /// The times of requests, one for each domain of the threads' level; empty if none are taken.
    pub fn times(&self) -> &[Times] {
        let start = self.geometry.counters_at(MAX_LEVELS);
        // SAFETY: as in `counters`: the blocks before are multiples of 128, too.
        unsafe {
            std::slice::from_raw_parts(
                self.memory.base().as_ptr().add(start).cast::<Times>().cast_const(),
                self.geometry.timed,
            )
        }
    }

    /// Threads that have asked for their first TLAB, by name; `None` where requests are not timed.
    pub fn new_threads(&self) -> Option<&NewThreads> {
        // SAFETY: inside the mapping, whose length has room for them where requests are timed; the rest as in `counters`.
        let of = |at| unsafe { self.memory.base().add(at).cast::<NewThreads>().as_ref() };
        (self.geometry.timed > 0).then(|| of(self.geometry.new_threads_at()))
    }

    /// What threads leave unused of their TLABs; `None` where requests are not timed.
    pub fn thread_waste(&self) -> Option<&ThreadWaste> {
        let at = self.geometry.new_threads_at() + size_of::<NewThreads>();
        // SAFETY: as in `new_threads`, which is a multiple of 128 bytes, too.
        let of = || unsafe { self.memory.base().add(at).cast::<ThreadWaste>().as_ref() };
        (self.geometry.timed > 0).then(of)
    }

    /// Gives the memory of counters, times and what is known of threads back; they are 0 then.
    pub(crate) fn release_counters(&self) {
        self.memory.release(self.geometry.counters_at(0));
    }

    /// The sum of one counter over all levels and domains.
    pub fn total(&self, counter: Counter) -> u64 {
        (0..self.levels())
            .flat_map(|level| self.counters(level))
            .fold(0, |sum: u64, domain| sum.saturating_add(domain.get(counter)))
    }

    /// What the agent is doing; `None` for a number that this version does not know.
    pub fn state(&self) -> Option<State> {
        // Acquire: the texts written before the state was stored are seen.
        State::from_number(self.header().state.load(Ordering::Acquire))
    }

    /// Which way requests go.
    #[inline(always)]
    pub fn mode(&self) -> Mode {
        // Relaxed: a request near the switch may go either way, both are right.
        match self.header().mode.load(Ordering::Relaxed) {
            1 => Mode::On,
            2 => Mode::Bound,
            _ => Mode::Off,
        }
    }

    /// Whether the agent is to withdraw.
    #[inline(always)]
    pub fn is_to_withdraw(&self) -> bool {
        // Relaxed: nothing depends on when it is seen.
        self.header().withdrawal.load(Ordering::Relaxed) != 0
    }

    /// Seconds for which the agent stays without a renewal; 0 where it has no lease.
    #[inline(always)]
    pub fn lease(&self) -> u32 {
        // Relaxed: nothing depends on when it is seen.
        self.header().lease.load(Ordering::Relaxed)
    }

    /// How often the lease was renewed.
    pub fn renewals(&self) -> u64 {
        // Relaxed: as above.
        self.header().renewals.load(Ordering::Relaxed)
    }

    /// Whether the lease has run out: from some moment on buffers are off, and the agent is gone with the next occasion. Whoever has counted looks afterwards.
    pub fn has_lapsed(&self) -> bool {
        // Relaxed: nothing that was written before is read by it.
        self.header().lapsed.load(Ordering::Relaxed) != 0
    }

    /// How often sizes were asked for.
    pub fn asked_number(&self) -> u32 {
        // Acquire: pairs with the release in `Control::ask_for_sizes`.
        self.header().asked_number.load(Ordering::Acquire)
    }

    /// Whether the agent has looked at the last sizes that were asked for.
    #[inline(always)]
    pub fn has_taken_sizes(&self) -> bool {
        // Acquire: pairs with the release in `Control::take_sizes`; what is in force is seen.
        self.header().taken_number.load(Ordering::Acquire) == self.asked_number()
    }

    /// The size that was asked for since installation for a level.
    pub fn asked(&self, level: usize) -> Asked {
        let word = self.header().asked.get(level);
        word.map_or(Asked::Nothing, |word| Asked::from_word(word.load(Ordering::Relaxed)))
    }

    /// Bytes of a buffer of a level in force; 0 if there is none.
    pub fn size(&self, level: usize) -> u64 {
        self.header().sizes.get(level).map_or(0, |size| size.load(Ordering::Relaxed))
    }

    /// How often adaptive sizes have changed.
    pub fn changed(&self) -> u64 {
        self.header().decisions.changed()
    }

    /// The last of these changes, the oldest first.
    pub fn changes(&self) -> Vec<Decision> {
        self.header().decisions.changes()
    }

    /// The last evaluation of a level whose size is adaptive.
    pub fn latest_decision(&self, level: usize) -> Option<Decision> {
        self.header().decisions.latest(level)
    }

    /// Pauses of the collector that JVMTI has announced (GarbageCollectionStart). A collection may have several (Shenandoah), and
    /// some pauses belong to none (G1's Remark and Cleanup).
    pub fn pauses(&self) -> u64 {
        self.header().pauses.load(Ordering::Relaxed)
    }

    /// Bytes of most new threads' first TLAB, as they were at the last collection; 0 where the agent leaves that to HotSpot.
    pub fn first_tlab(&self) -> u64 {
        self.header().first_tlab.load(Ordering::Relaxed)
    }

    /// Times that HotSpot has made the heap parsable (`ensure_parsability`): for collections, heap walks and verification alike.
    pub fn parsability(&self) -> u64 {
        self.header().parsability.load(Ordering::Relaxed)
    }

    /// The settings in force, as JSON text; empty while the agent is starting.
    pub fn settings(&self) -> String {
        read(&self.header().settings, &self.header().settings_bytes)
    }

    /// The message; empty if there is none. That a lease has run out comes before what the agent has written, and goes when the lease is ended: it is
    /// no text in the memory, which several threads would have to write and take back.
    pub fn message(&self) -> String {
        let written = read(&self.header().message, &self.header().message_bytes);
        let lapsed = match self.lease() {
            seconds @ 1.. if self.has_lapsed() => {
                format!(
                    "the agent withdraws because the command that had installed it has not been heard of for {seconds} s"
                )
            }
            _ => return written,
        };
        if written.is_empty() { lapsed } else { format!("{lapsed}; {written}") }
    }
}

/// A text as it stands there: cut at the area's end, and without what would control a terminal.
fn read(area: &[AtomicU8], bytes: &AtomicU32) -> String {
    // Acquire: pairs with the release in `write`.
    let bytes = bytes.load(Ordering::Acquire) as usize;
    let text: Vec<u8> = area.iter().take(bytes).map(|byte| byte.load(Ordering::Relaxed)).collect();
    String::from_utf8_lossy(&text)
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

/// Writes a text, and publishes it by its length. Longer text is cut.
pub(crate) fn write(area: &[AtomicU8], bytes: &AtomicU32, text: &str) {
    let mut length = text.len().min(area.len());
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    for (slot, byte) in area.iter().zip(text.bytes()).take(length) {
        slot.store(byte, Ordering::Relaxed);
    }
    // Release: whoever sees the length sees the text.
    bytes.store(length as u32, Ordering::Release);
}

#[cfg(test)]
#[path = "view_test.rs"]
mod tests;
