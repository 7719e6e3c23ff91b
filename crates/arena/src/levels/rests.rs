//! What buffers hold at a checkpoint.
//!
//! A return to the checkpoint takes back what lies beyond the reserve's position, and the buffers' rests lie before it. So a rest at the
//! reserve's top is given back to the reserve first, and then the one that ends where that began: a thread's buffer is cut from a core's,
//! a core's from a processor's. What lies elsewhere (another core has refilled since) is set aside, untouched until the return.

use super::{Levels, Nearest, Upper};
use crate::reserve::Position;
use hab::{Access, Extent, Level, Source, State};

/// What a buffer held when it was set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    is_processors: bool,
    /// The buffer's place in its level.
    place: usize,
    extent: Extent,
}

impl Rest {
    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }
}

impl Levels {
    /// Empties all buffers, and the calling thread's, which holds `own`: gives back to the reserve what lies at its top, but nothing before
    /// `floor`, and gives the rests of all others. The caller is alone.
    pub(crate) fn set_aside(&self, mut own: Option<Extent>, floor: Position) -> Vec<Rest> {
        loop {
            let mut changed = false;
            self.each_rest(|rest| {
                if self.give_back(rest.extent, floor) {
                    self.take_out(rest);
                    changed = true;
                }
            });
            if own.is_some_and(|own| self.give_back(own, floor)) {
                own = None;
                changed = true;
            }
            if !changed {
                break;
            }
        }
        let mut rests = Vec::new();
        self.each_rest(|rest| {
            self.take_out(rest);
            rests.push(rest);
        });
        // What the thread's buffer was cut from still begins behind it, if no other thread has taken something of it since.
        if let Some(own) = own
            && let Some(rest) = rests.iter_mut().find(|rest| rest.extent.start == own.end())
            && own.bytes + rest.extent.bytes <= self.most()
        {
            rest.extent = Extent { start: own.start, bytes: own.bytes + rest.extent.bytes };
        }
        rests
    }

    /// Makes buffers hold what they held; they are empty. The caller is alone.
    pub(crate) fn put_back(&self, rests: &[Rest]) {
        for rest in rests {
            let Rest { is_processors, place, extent } = *rest;
            match (&self.nearest, self.upper()) {
                (_, Upper::Processor(level, _)) if is_processors => {
                    level.give_tail(place, extent);
                }
                (Nearest::Sequences(buffers, _), _) => buffers.put_in(place, extent),
                (Nearest::Exchange(level, _), _) => {
                    level.give_tail(place, extent);
                }
                (Nearest::Upper(_), _) => {}
            }
        }
    }

    /// Whether these were the reserve's last bytes and lie behind `floor`: then they are no more.
    fn give_back(&self, extent: Extent, floor: Position) -> bool {
        let before = self.reserve().position().offset().checked_sub(extent.bytes);
        before.is_some_and(|before| before >= floor.offset()) && self.reserve().take_back(extent)
    }

    fn take_out(&self, rest: Rest) {
        let Rest { is_processors, place, extent } = rest;
        match (&self.nearest, self.upper()) {
            (_, Upper::Processor(level, _)) if is_processors => {
                level.take_tail(place);
            }
            (Nearest::Sequences(buffers, _), _) => buffers.take_out(place, extent.bytes),
            (Nearest::Exchange(level, _), _) => {
                level.take_tail(place);
            }
            (Nearest::Upper(_), _) => {}
        }
    }

    fn each_rest(&self, mut hear: impl FnMut(Rest)) {
        if let Upper::Processor(level, _) = self.upper() {
            tails(level).for_each(|(place, extent)| hear(Rest { is_processors: true, place, extent }));
        }
        let mut hear = |(place, extent)| hear(Rest { is_processors: false, place, extent });
        match &self.nearest {
            Nearest::Upper(_) => {}
            Nearest::Sequences(buffers, _) => buffers.rests().for_each(&mut hear),
            Nearest::Exchange(level, _) => tails(level).for_each(&mut hear),
        }
    }

    /// The largest extent that a buffer's word can say, in bytes.
    fn most(&self) -> usize {
        super::SHAPE.max_buffer()
    }
}

fn tails<A: Access, S: Source>(level: &Level<'static, A, S>) -> impl Iterator<Item = (usize, Extent)> {
    level.states().enumerate().filter_map(|(place, state)| match state {
        State::Free(extent) => Some((place, extent)),
        State::Empty | State::Refilling => None,
    })
}
