//! `core=auto`: what was seen of each level since it was last judged, and the size that it came to.
//!
//! Looked at when a collection ends, on the VM thread. Evidence is of whole cycles, from one collection's end to another's, and of one size:
//! whatever is asked for meanwhile, it begins again. The judgement is [`hab::adaptive`]'s.

use crate::clock::{Clock, Monotonic, Standstill};
use control::{Control, Decision};
use hab::Counter;
use hab::adaptive::{COLLECTIONS, HEAP_REFILL_NS, Observed, PROCESSOR_REFILL_NS, Size, Why};

/// A size moved by its bound is told of when it has changed by more than this fraction: G1's eden is another one after each collection.
const TOLD_FROM: usize = 4;

/// Counters at the end of a collection.
struct Since {
    at: u64,
    collections: u64,
    paused_ns: u64,
    waste: u64,
    /// Of each domain: refills; requests served, and past the buffers, each with their bytes.
    domains: Vec<[u64; 5]>,
}

/// What is looked at of a domain.
const LOOKED_AT: [Counter; 5] =
    [Counter::Refills, Counter::Buffers, Counter::BufferBytes, Counter::Direct, Counter::DirectBytes];

struct Level {
    size: Size,
    since: Option<Since>,
    /// Bytes of a buffer after the last collection.
    last: Option<usize>,
    /// The same, as they were told last.
    told: Option<usize>,
}

pub(crate) struct Adaptive {
    /// The threads' level first.
    levels: Vec<Level>,
    pauses: Standstill,
}

/// What an evaluation came to, and what it went by.
pub(crate) type Judgement = (Why, Observed);

impl Adaptive {
    pub(crate) fn new(levels: usize) -> Adaptive {
        let levels =
            (0..levels).map(|_| Level { size: Size::START, since: None, last: None, told: None }).collect();
        Adaptive { levels, pauses: Standstill::default() }
    }

    /// Bytes of a level's buffers, where the bound is `most`.
    pub(crate) fn bytes(&self, level: usize, most: usize) -> usize {
        self.levels.get(level).map_or(most, |level| level.size.bytes(most))
    }

    /// What has been seen counts no more. What was found stays: who comes back to adaptive sizes goes on from there.
    pub(crate) fn forget(&mut self) {
        for level in &mut self.levels {
            level.since = None;
            level.size = level.size.settled();
        }
    }

    pub(crate) fn pause_begins(&mut self) {
        self.pauses.begins();
    }

    pub(crate) fn pause_ends(&mut self) {
        self.pauses.ends();
    }

    /// Judges a level, if enough was seen of it.
    pub(crate) fn judge(
        &mut self,
        number: usize,
        eden: usize,
        most: usize,
        control: &Control,
    ) -> Option<Judgement> {
        // Whoever counts is on another core: not looked at before there can be enough.
        let collections =
            self.levels.get(number)?.since.as_ref().map(|since| self.pauses.collections - since.collections);
        if collections.is_some_and(|collections| collections < COLLECTIONS) {
            return None;
        }
        let now = self.now(number, control);
        let upmost = number + 1 == self.levels.len();
        let level = self.levels.get_mut(number)?;
        let Some(since) = &level.since else {
            level.since = Some(now);
            return None;
        };
        let (mut domains, mut sums) = (0, [0; 5]);
        for (now, then) in now.domains.iter().zip(&since.domains) {
            let counted: [u64; 5] = std::array::from_fn(|at| now[at].saturating_sub(then[at]));
            domains += u64::from(counted != [0; 5]);
            sums = std::array::from_fn(|at| u64::saturating_add(sums[at], counted[at]));
        }
        let [refills, served, served_bytes, past, past_bytes] = sums;
        let seen = Observed {
            collections: now.collections - since.collections,
            domains,
            refills,
            served: [served, served_bytes],
            past: [past, past_bytes],
            refill_ns: if upmost { HEAP_REFILL_NS } else { PROCESSOR_REFILL_NS },
            waste: now.waste.saturating_sub(since.waste),
            eden: eden as u64,
            pause_ns: now.paused_ns - since.paused_ns,
            elapsed_ns: now.at.saturating_sub(since.at),
        };
        if !seen.is_enough(most) {
            return None;
        }
        let (size, why) = level.size.next(most, &seen);
        level.size = size;
        level.since = Some(now);
        Some((why, seen))
    }

    fn now(&self, level: usize, control: &Control) -> Since {
        let domains = control.counters(level);
        let waste = domains.iter().map(|domain| domain.get(Counter::WasteCollection));
        Since {
            at: Monotonic::now(),
            collections: self.pauses.collections,
            paused_ns: self.pauses.ns,
            waste: waste.fold(0, u64::saturating_add),
            domains: domains.iter().map(|domain| LOOKED_AT.map(|counter| domain.get(counter))).collect(),
        }
    }

    /// Writes down what a level was judged to be, and how its size has changed.
    pub(crate) fn tell(
        &mut self,
        number: usize,
        (bytes, most): (usize, usize),
        eden: usize,
        judgement: Option<Judgement>,
        control: &Control,
    ) {
        let Some(level) = self.levels.get_mut(number) else { return };
        let told = *level.told.get_or_insert(bytes);
        let last = level.last.replace(bytes).unwrap_or(bytes);
        let moved = Observed { eden: eden as u64, ..Observed::default() };
        let (why, seen) = judgement.unwrap_or((Why::Bound, moved));
        let pause = control.pauses();
        let decision = Decision {
            level: number,
            pause,
            from: last as u64,
            to: bytes as u64,
            most: most as u64,
            why,
            seen,
        };
        if judgement.is_some() {
            control.note_decision(&decision);
        }
        let change = match why {
            Why::Refills | Why::Waste => Some(decision),
            _ if bytes.abs_diff(told) > told / TOLD_FROM => {
                Some(Decision { from: told as u64, why: Why::Bound, seen: moved, ..decision })
            }
            _ => None,
        };
        if let Some(change) = change {
            level.told = Some(bytes);
            control.note_change(&change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDEN: usize = 13 << 20;
    const MOST: usize = 200 << 10;

    /// A cycle: refills and rests in each of the first `domains` domains, a pause of so many nanoseconds.
    fn cycle(
        adaptive: &mut Adaptive,
        control: &Control,
        domains: usize,
        rest: u64,
        pause_ns: u64,
    ) -> Option<Judgement> {
        for domain in &control.counters(0)[..domains] {
            domain.add(Counter::Refills, 32);
            domain.add(Counter::WasteCollection, rest);
        }
        adaptive.pauses.began = Monotonic::now().checked_sub(pause_ns);
        adaptive.pause_ends();
        control.count_pause();
        let judgement = adaptive.judge(0, EDEN, MOST, control);
        adaptive.tell(0, (adaptive.bytes(0, MOST), MOST), EDEN, judgement, control);
        judgement
    }

    /// So many cycles of two domains, with what was judged at each. Pauses are long beside anything that may keep this thread from its CPU.
    fn cycles(adaptive: &mut Adaptive, control: &Control, cycles: usize) -> Vec<Option<Judgement>> {
        (0..cycles).map(|_| cycle(adaptive, control, 2, 100 << 10, 10_000_000_000)).collect()
    }

    #[test]
    fn what_is_seen_over_whole_cycles_is_judged() {
        let (control, mut adaptive) = (Control::anonymous(&[8]).unwrap(), Adaptive::new(1));
        let judgements = cycles(&mut adaptive, &control, 17);
        // The first has nothing to be compared with; two domains leave sixteen rests in eight collections.
        let judged: Vec<usize> = (0..17).filter(|at| judgements[*at].is_some()).collect();
        assert_eq!(judged, [8, 16]);
        let (why, seen) = judgements[8].unwrap();
        assert_eq!((why, seen.collections, seen.domains, seen.refills), (Why::Once, 8, 2, 512));
        assert_eq!((seen.waste, seen.refill_ns, seen.eden), (1600 << 10, HEAP_REFILL_NS, EDEN as u64));
        assert!(seen.pause_ns >= 80_000_000_000, "{seen:?}");
        assert_eq!((judgements[16].unwrap().0, adaptive.bytes(0, MOST)), (Why::Waste, MOST / 2));
        let changes = control.changes();
        let [change] = changes[..] else { panic!("{changes:?}") };
        assert_eq!((change.pause, change.from, change.to), (17, MOST as u64, MOST as u64 / 2));
        assert_eq!(control.latest_decision(0), Some(change));
    }

    #[test]
    fn what_is_asked_for_meanwhile_ends_the_evidence_but_not_the_size() {
        let (control, mut adaptive) = (Control::anonymous(&[8]).unwrap(), Adaptive::new(1));
        cycles(&mut adaptive, &control, 17);
        adaptive.forget();
        assert_eq!(adaptive.bytes(0, MOST), MOST / 2);
        let judged = cycles(&mut adaptive, &control, 16).into_iter().flatten();
        assert_eq!(judged.map(|(why, _)| why).collect::<Vec<_>>(), [Why::Once]);
    }

    #[test]
    fn a_bound_that_moves_is_told_when_it_has_moved_far() {
        let (control, mut adaptive) = (Control::anonymous(&[8]).unwrap(), Adaptive::new(1));
        for bytes in [MOST, MOST - 8, MOST + 8, MOST * 3 / 4, MOST / 2, MOST / 2 + 8, MOST] {
            adaptive.tell(0, (bytes, MOST), EDEN, None, &control);
        }
        let told: Vec<(u64, u64, Why)> =
            control.changes().iter().map(|change| (change.from, change.to, change.why)).collect();
        let most = MOST as u64;
        assert_eq!(told, [(most, most / 2, Why::Bound), (most / 2, most, Why::Bound)]);
        assert_eq!(control.latest_decision(0), None);
    }
}
