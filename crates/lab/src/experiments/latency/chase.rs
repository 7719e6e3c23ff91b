//! A chase of pointers: every load needs the one before, and no prefetcher guesses where it goes.

use crate::{Error, Result};
use pages::{Mapping, Obtained, Policy};
use statistics::Random;

/// Bytes of a line. Where lines are longer (Apple's), a chase touches every line twice.
pub const LINE: usize = 64;

/// Loads in a pass of the loop.
const PASS: u64 = 16;

/// Lines of memory, each with the address of another one, all of them in one cycle in random order.
///
/// The order is random over all of them, so that the next line is on another page, most often.
pub struct Ring {
    mapping: Mapping,
    lines: usize,
    /// The line that is loaded next.
    at: usize,
}

/// A random permutation that is a single cycle, by Sattolo's algorithm (1986): what follows `i` is `next[i]`, and whoever
/// follows meets every number before the first one again. A shuffle would have short cycles, which fit a smaller cache.
pub fn cycle(length: u32, random: &mut Random) -> Vec<u32> {
    let mut next: Vec<u32> = (0..length).collect();
    for last in (1..next.len()).rev() {
        next.swap(last, random.below(last));
    }
    next
}

impl Ring {
    /// So many bytes, rounded down to whole lines, on pages of a kind.
    pub fn new(bytes: usize, policy: Policy, seed: u64) -> Result<Ring> {
        let lines = (bytes / LINE).max(1);
        let count = u32::try_from(lines).map_err(|_| Error::failed("a chase has less than 2^32 lines"))?;
        let mut mapping = Mapping::new(lines * LINE, policy)?;
        mapping.touch()?;
        let base = mapping.as_mut_ptr().expose_provenance();
        let next = cycle(count, &mut Random::new(seed));
        for (line, next) in mapping.as_mut_slice().chunks_exact_mut(LINE).zip(next) {
            let address = base + next as usize * LINE;
            line[..size_of::<usize>()].copy_from_slice(&address.to_ne_bytes());
        }
        Ok(Ring { mapping, lines, at: base })
    }

    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Bytes that are mapped for it: whole pages.
    pub fn mapped_bytes(&self) -> usize {
        self.mapping.len()
    }

    /// The pages that it is really on.
    pub fn obtained(&self) -> Result<Obtained> {
        Ok(self.mapping.obtained()?)
    }

    /// The line that is loaded next, counted from 0.
    #[cfg(test)]
    fn position(&self) -> usize {
        (self.at - self.mapping.as_ptr().addr()) / LINE
    }

    /// Goes on for so many loads, a multiple of 16.
    pub fn follow(&mut self, loads: u64) {
        debug_assert!(loads.is_multiple_of(PASS));
        // SAFETY: `at` is the address of a line of our mapping, and so is what every line begins with.
        self.at = unsafe { follow(self.at, loads / PASS) };
    }
}

/// Loads an address from an address, 16 times a pass; the last one.
///
/// # Safety
///
/// At `at`, aligned for it, is an address of exposed memory for which the same is true.
#[inline(never)]
unsafe fn follow(mut at: usize, passes: u64) -> usize {
    for _ in 0..passes {
        for _ in 0..PASS {
            // SAFETY: the caller's promise. Volatile: no load may be left out.
            at = unsafe { std::ptr::with_exposed_provenance::<usize>(at).read_volatile() };
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_is_one_cycle() {
        for length in [1, 2, 3, 64, 1000] {
            let next = cycle(length, &mut Random::new(u64::from(length)));
            let mut at = 0;
            for step in 1..=length {
                at = next[at as usize];
                assert_eq!(at == 0, step == length, "{length}: back after {step}");
            }
        }
    }

    #[test]
    fn seeds_give_orders_of_their_own() {
        let order = |seed| cycle(100, &mut Random::new(seed));
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }

    #[test]
    fn a_chase_meets_every_line_once_a_round() {
        for policy in [Policy::Small, Policy::Transparent] {
            if policy.available(1 << 16).is_err() {
                continue;
            }
            let mut ring = Ring::new(1 << 16, policy, 7).unwrap();
            assert_eq!((ring.lines(), ring.position()), (1024, 0));
            let mut met = vec![0; ring.lines() / PASS as usize];
            for (step, line) in met.iter_mut().enumerate() {
                assert_eq!(ring.position() == 0, step == 0);
                ring.follow(PASS);
                *line = ring.position();
            }
            assert_eq!(ring.position(), 0);
            met.sort_unstable();
            met.dedup();
            assert_eq!(met.len(), ring.lines() / PASS as usize);
        }
    }

    #[test]
    fn most_steps_lead_to_another_page() {
        let next = cycle(64 * 64, &mut Random::new(3));
        let stay = next.iter().enumerate().filter(|(at, next)| at / 64 == **next as usize / 64).count();
        assert!(stay < next.len() / 16, "{stay} of {} stay on their page", next.len());
    }

    #[test]
    fn what_is_mapped_is_told() {
        let ring = Ring::new(100 << 10, Policy::Small, 1).unwrap();
        assert!(ring.mapped_bytes() >= 100 << 10);
        assert_eq!(ring.obtained().unwrap().huge(), 0);
    }
}
