//! How large the buffers of each level are: what was asked for, the formula, or what is seen.
#![allow(clippy::disallowed_types, reason = "asked for by any thread, followed at collections")]

use crate::adaptive::Adaptive;
use control::size::MIN_BUFFER;
use control::{Asked, Control, Mode};
use hab::Shape;
use hab::sizing::{GROWN, LARGEST, Room, Wish};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the installation was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LevelWish {
    pub(crate) asked: Asked,
    pub(crate) domains: usize,
    /// Those for CPUs that turn up later among them.
    pub(crate) possible: usize,
}

/// How the levels are sized.
pub(crate) struct Sizes {
    /// For each level, the threads' level first.
    wishes: Vec<LevelWish>,
    /// The largest extent that the collector accepts, in bytes.
    pub(crate) largest_extent: usize,
    shape: Shape,
    /// Held for a moment, without a call into HotSpot: who waits for it waits for no safepoint.
    adaptive: Mutex<Adaptive>,
}

impl Sizes {
    pub(crate) fn new(wishes: Vec<LevelWish>, largest_extent: usize, shape: Shape) -> Sizes {
        let adaptive = Mutex::new(Adaptive::new(wishes.len()));
        Sizes { wishes, largest_extent, shape, adaptive }
    }

    /// What is asked for by now, for each level. Of what anybody may have written, only sizes count that an installation would have
    /// accepted.
    pub(crate) fn asked(&self, control: &Control) -> Vec<Asked> {
        let acceptable = |bytes: usize| bytes >= MIN_BUFFER && self.shape.floor(bytes) == bytes;
        let asked = |(level, wish): (usize, &LevelWish)| match control.asked(level) {
            Asked::Bytes(bytes) if !acceptable(bytes as usize) => wish.asked,
            Asked::Nothing => wish.asked,
            asked => asked,
        };
        self.wishes.iter().enumerate().map(asked).collect()
    }

    /// Whether any of them is not fixed.
    pub(crate) fn follows(&self, control: &Control) -> bool {
        self.asked(control).iter().any(|asked| !matches!(asked, Asked::Bytes(_)))
    }

    /// The levels' sizes in an eden of so many bytes. Of those that are adaptive: the most.
    fn limits(&self, eden: usize, asked: &[Asked]) -> Vec<usize> {
        let [formula, grown] = [LARGEST, GROWN].map(|largest| self.sizes(eden, asked, largest));
        // No level gives way to another's growth.
        if formula.iter().zip(&grown).all(|(formula, grown)| formula <= grown) { grown } else { formula }
    }

    /// The levels' sizes by the formula, those that are adaptive with at most `largest` bytes.
    fn sizes(&self, eden: usize, asked: &[Asked], largest: usize) -> Vec<usize> {
        let room = Room { eden, largest_extent: self.largest_extent, shape: self.shape };
        let wish = |(wish, asked): (&LevelWish, &Asked)| {
            let bytes = if let Asked::Bytes(bytes) = asked { Some(*bytes as usize) } else { None };
            let largest = if *asked == Asked::Auto { largest } else { LARGEST };
            Wish { asked: bytes, domains: wish.domains, possible: wish.possible, largest }
        };
        match self.wishes.iter().zip(asked).map(wish).collect::<Vec<_>>()[..] {
            [only] => room.sizes([only]).into(),
            [near, far] => room.sizes([near, far]).into(),
            _ => vec![],
        }
    }

    /// The sizes as they are asked for by now.
    pub(crate) fn as_asked(&self, eden: usize, control: &Control) -> Vec<usize> {
        let asked = self.asked(control);
        let limits = self.limits(eden, &asked);
        let mut adaptive = self.adaptive();
        // What has been seen was of other sizes.
        adaptive.forget();
        self.in_force(&adaptive, &asked, &limits)
    }

    /// The sizes after a collection, at whose safepoint this is called.
    pub(crate) fn after_collection(&self, eden: usize, control: &Control) -> Vec<usize> {
        let asked = self.asked(control);
        let limits = self.limits(eden, &asked);
        let follows: Vec<usize> = (0..asked.len()).filter(|level| asked[*level] == Asked::Auto).collect();
        let mut adaptive = self.adaptive();
        adaptive.pause_ends();
        if control.mode() != Mode::On {
            // What is seen meanwhile is not of these buffers.
            adaptive.forget();
            return self.in_force(&adaptive, &asked, &limits);
        }
        let judge = |level: &usize| adaptive.judge(*level, eden, limits[*level], control);
        let judgements: Vec<_> = follows.iter().map(judge).collect();
        let sizes = self.in_force(&adaptive, &asked, &limits);
        for (level, judgement) in follows.into_iter().zip(judgements) {
            adaptive.tell(level, (sizes[level], limits[level]), eden, judgement, control);
        }
        sizes
    }

    /// A pause of the collector begins.
    pub(crate) fn pause_begins(&self) {
        self.adaptive().pause_begins();
    }

    fn in_force(&self, adaptive: &Adaptive, asked: &[Asked], limits: &[usize]) -> Vec<usize> {
        let size = |(level, (asked, limit)): (usize, (&Asked, &usize))| match asked {
            Asked::Auto => self.shape.floor(adaptive.bytes(level, *limit)),
            _ => *limit,
        };
        asked.iter().zip(limits).enumerate().map(size).collect()
    }

    fn adaptive(&self) -> MutexGuard<'_, Adaptive> {
        self.adaptive.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(eden: usize, wishes: &[(Asked, usize)]) -> Vec<usize> {
        let asked: Vec<Asked> = wishes.iter().map(|(asked, _)| *asked).collect();
        let wishes = wishes.iter().map(|(asked, domains)| LevelWish {
            asked: *asked,
            domains: *domains,
            possible: *domains,
        });
        let shape = Shape { grain_shift: 3, min_remainder: 16 };
        Sizes::new(wishes.collect(), 1 << 30, shape).limits(eden, &asked)
    }

    #[test]
    fn only_what_follows_what_is_seen_may_grow() {
        assert_eq!(limits(1 << 30, &[(Asked::Auto, 2)]), [GROWN]);
        assert_eq!(limits(1 << 30, &[(Asked::Formula, 2)]), [LARGEST]);
        assert_eq!(limits(1 << 30, &[(Asked::Formula, 2), (Asked::Auto, 1)]), [LARGEST, GROWN]);
    }

    /// An eden that a collector makes small has no room for what was asked for in a large one, and has it again when it has grown.
    #[test]
    fn sizes_that_somebody_has_fixed_fit_the_present_eden() {
        let asked = [(Asked::Bytes(1 << 20), 64)];
        let [small, large] = [50 << 20, 1 << 30].map(|eden| limits(eden, &asked)[0]);
        assert_eq!(large, 1 << 20);
        assert!(small * 64 <= 50 << 20 >> 2, "{small}");
    }

    #[test]
    fn no_level_gives_way_to_the_growth_of_another() {
        let both = |asked| limits(64 << 20, &[(asked, 64), (asked, 1)]);
        assert_eq!(both(Asked::Auto), both(Asked::Formula));
    }
}
