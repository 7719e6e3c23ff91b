//! Small segments of arenas that are no more, kept for the next ones: an arena for each request would otherwise be a few system calls and page
//! faults for each request.
//!
//! Each place holds the address of a mapping of its row's size, or 0. Whoever exchanges it for 0 owns it: no lock, as in `segments`.

use crate::ground::Ground;
use crate::piece::{FIRST, Piece};
use crate::primitive::{Ordering, Place};
use crate::watched;
use hab::Extent;
use pages::{Mapping, Policy};
use std::ptr::NonNull;

/// Sizes that are kept: 64 KB, and twice as much each, to 1 MB.
const ROWS: usize = 5;
/// Places of a row at most; two for each CPU are used.
const PLACES: usize = 64;

static KEPT: [[Place; PLACES]; ROWS] = [const { [const { Place::new(0) }; PLACES] }; ROWS];

fn row(len: usize) -> Option<&'static [Place]> {
    let row = (0..ROWS).find(|row| FIRST << row == len)?;
    let used = (2 * Ground::own().reach).clamp(4, PLACES);
    Some(&KEPT[row][..used])
}

/// The places of a row, the calling thread's CPU's first.
fn from_here(row: &[Place]) -> impl Iterator<Item = &Place> {
    let (before, first) = row.split_at(2 * Ground::own().source().current().0 as usize % row.len());
    first.iter().chain(before)
}

/// Memory of an earlier arena, if there is some of this length and kind.
pub(crate) fn take(len: usize, policy: Policy) -> Option<Piece> {
    if policy != Policy::Small {
        return None;
    }
    let base = from_here(row(len)?).find_map(|place| {
        // Relaxed: only a hint.
        if place.load(Ordering::Relaxed) == 0 {
            return None;
        }
        // Acquire: with the Release of `give`; what the earlier arena's threads did is over.
        NonNull::new(std::ptr::with_exposed_provenance_mut(place.swap(0, Ordering::Acquire)))
    })?;
    watched::free_to_use(Extent { start: base.addr().get(), bytes: len });
    // SAFETY: put there by `give`, and taken once.
    Some(Piece { mapping: unsafe { Mapping::from_raw(base, len, policy) }, used: true })
}

/// Keeps memory, or gives it back to the kernel.
pub(crate) fn give(mapping: Mapping) {
    let places = row(mapping.len()).filter(|_| mapping.policy() == Policy::Small);
    let Some(places) = places else { return };
    let (base, len, policy) = mapping.into_raw();
    let word = base.as_ptr().expose_provenance();
    let extent = Extent { start: word, bytes: len };
    watched::held(extent);
    let kept = from_here(places).any(|place| {
        // Release: see `take`.
        place.load(Ordering::Relaxed) == 0
            && place.compare_exchange(0, word, Ordering::Release, Ordering::Relaxed).is_ok()
    });
    if !kept {
        watched::free_to_use(extent);
        // SAFETY: given up just above, and published to nobody.
        drop(unsafe { Mapping::from_raw(base, len, policy) });
    }
}

/// Gives the memory back to the kernel that is kept for arenas to come (at most 4 MB for each CPU, 124 MB in all): how many bytes it was.
///
/// ```
/// drop(arena::Arena::new());
/// assert!(arena::trim() >= 64 << 10);
/// assert_eq!(arena::trim(), 0);
/// ```
pub fn trim() -> usize {
    let mut bytes = 0;
    for len in (0..ROWS).map(|row| FIRST << row) {
        while let Some(piece) = take(len, Policy::Small) {
            bytes += piece.mapping.len();
        }
    }
    bytes
}
