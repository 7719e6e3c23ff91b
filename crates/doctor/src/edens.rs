//! What collectors take from one collection to the next, in the JVM that was watched and in those in which a remedy was tried.
//!
//! Collectors choose eden by what they see, and JVMs that share CPUs, or begin anew, see something else. An expectation is relative to the JVM that was
//! watched, a trial to the JVMs beside it: where these have another eden, the two are not of the same thing.

use crate::evidence::Evidence;
use compare::result::{Side, Sides};
use present::numbers::human;

/// Edens that differ by less are the same: what one collection finds in use varies.
const SAME: f64 = 1.1;

/// Bytes that were used up from one collection to the next, whatever brought it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Edens {
    watched: f64,
    with_remedy: f64,
    without: f64,
}

impl Edens {
    /// `None` where too few collections came to tell.
    pub(crate) fn of(evidence: &Evidence, sides: &Sides) -> Option<Edens> {
        Some(Edens {
            watched: evidence.bytes_for_collection()?,
            with_remedy: of_side(&sides.a)?,
            without: of_side(&sides.b)?,
        })
    }

    /// Collections with the remedy for the same work, relative to the JVM that was watched.
    pub(crate) fn collections(&self) -> f64 {
        self.watched / self.with_remedy
    }

    /// That the JVMs beside those with the remedy were no longer like the one that was watched, if so.
    pub(crate) fn note(&self) -> Option<String> {
        let factor = self.without / self.watched;
        (!(1.0 / SAME..=SAME).contains(&factor)).then(|| {
            format!(
                "JVMs without it used up {} from one collection to the next, the one that was watched {}: relative to that one, collections are {:.3}",
                human(self.without),
                human(self.watched),
                self.collections()
            )
        })
    }
}

fn of_side(side: &Side) -> Option<f64> {
    let count = side.collections.filter(|count| *count > 0)?;
    side.heap_used.filter(|bytes| *bytes > 0.0).map(|bytes| bytes / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As of `alloc` with G1: four times the eden that was watched, beside JVMs whose heap had grown meanwhile.
    #[test]
    fn a_trial_beside_another_eden_is_set_beside_the_one_that_was_watched() {
        let grown = Edens { watched: 256e6, with_remedy: 1024e6, without: 307e6 };
        assert_eq!(grown.collections(), 0.25);
        assert_eq!(
            grown.note().unwrap(),
            "JVMs without it used up 307 MB from one collection to the next, the one that was watched 256 MB: relative to that one, \
             collections are 0.250"
        );
        assert!(Edens { without: 200e6, ..grown }.note().is_some(), "a smaller one differs, too");
        for alike in [240e6, 256e6, 280e6] {
            assert_eq!(Edens { without: alike, ..grown }.note(), None);
        }
    }

    #[test]
    fn too_few_collections_tell_nothing() {
        let with = |collections: u64| {
            let mut evidence = Evidence::default();
            evidence.eden.collections = Some(collections);
            evidence.allocation = Some(crate::evidence::Allocation { used: 1e9, ..Default::default() });
            evidence.bytes_for_collection()
        };
        assert_eq!((with(4), with(5)), (None, Some(2e8)));
    }
}
