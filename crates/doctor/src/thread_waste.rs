//! Which threads leave parts of their TLABs unused: what HotSpot counts of all threads together, divided among them by looks at each one's TLAB.
//!
//! What is left in a TLAB when a collection comes is what was left at the last look before it, on average over many. What was given up at refills
//! HotSpot counts for each thread up to the next collection. Both are parts of sums that are known; only the proportions come from these looks.

use crate::evidence::{Allocation, Group};
use jvm::accounts::Account;
use jvm::thread_dump::JavaThread;
use std::collections::BTreeMap;

/// By the address of HotSpot's structure of a thread, in bytes.
type ByThread = BTreeMap<usize, f64>;

#[derive(Default)]
pub(crate) struct ThreadWaste {
    /// Collections that had come when all threads were looked at last, and what was seen.
    seen: Option<(u64, BTreeMap<usize, Account>)>,
    at_collection: ByThread,
    at_refill: ByThread,
}

impl ThreadWaste {
    /// All threads, when so many collections had come that retire TLABs.
    pub(crate) fn add(&mut self, collections: u64, now: BTreeMap<usize, Account>) {
        if let Some((before, threads)) = &self.seen {
            for (thread, account) in &now {
                // An account of less is that of another thread, which has got the address since.
                let Some(had) = threads.get(thread).filter(|had| had.allocated <= account.allocated) else {
                    self.at_collection.remove(thread);
                    self.at_refill.remove(thread);
                    continue;
                };
                let is_same_cycle = *before == collections;
                if !is_same_cycle {
                    *self.at_collection.entry(*thread).or_default() += had.unused as f64;
                }
                if let Some(wasted) = account.refill_waste {
                    let counted = had.refill_waste.filter(|_| is_same_cycle).unwrap_or(0);
                    *self.at_refill.entry(*thread).or_default() += wasted.saturating_sub(counted) as f64;
                }
            }
        }
        self.seen = Some((collections, now));
    }

    /// Divides what was counted among the groups; `threads`: who they are.
    pub(crate) fn divide(&self, groups: &mut [Group], threads: &[JavaThread], allocation: &Allocation) {
        for group in groups {
            let members = || threads.iter().filter(|thread| thread.group() == group.name);
            let part = |of: &ByThread, counted: f64| {
                let all: f64 = of.values().sum();
                let own =
                    members().filter_map(|thread| of.get(&usize::try_from(thread.id).ok()?)).sum::<f64>();
                (all > 0.0).then(|| counted * own / all)
            };
            group.waste_collection = part(&self.at_collection, allocation.waste_collection);
            group.waste_refill = part(&self.at_refill, allocation.waste_refill);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(name: &str, id: u64) -> JavaThread {
        JavaThread {
            name: name.into(),
            number: id,
            id,
            allocated: None,
            exactly: None,
            cpu: 0.0,
            elapsed: 9.0,
            outermost: None,
        }
    }

    fn look<const N: usize>(accounts: [(usize, [u64; 3]); N]) -> BTreeMap<usize, Account> {
        let account =
            |[allocated, unused, wasted]: [u64; 3]| Account { allocated, unused, refill_waste: Some(wasted) };
        accounts.into_iter().map(|(thread, words)| (thread, account(words))).collect()
    }

    fn divided(waste: &ThreadWaste) -> Vec<[Option<f64>; 2]> {
        let group = |name: &str| Group { name: name.into(), ..Group::default() };
        let mut groups = vec![group("idle-N"), group("busy-N")];
        let threads = [thread("idle-1", 1), thread("busy-1", 2), thread("busy-2", 3)];
        let allocation =
            Allocation { waste_collection: 1000.0, waste_refill: 100.0, ..Allocation::default() };
        waste.divide(&mut groups, &threads, &allocation);
        groups.iter().map(|group| [group.waste_collection, group.waste_refill]).collect()
    }

    #[test]
    fn who_holds_a_tlab_when_a_collection_comes_has_wasted_it() {
        let mut waste = ThreadWaste::default();
        assert_eq!(divided(&waste), [[None; 2]; 2], "nobody has looked");
        waste.add(7, look([(1, [10, 900, 0]), (2, [10, 500, 8]), (3, [10, 300, 0])]));
        waste.add(7, look([(1, [10, 600, 0]), (2, [90, 100, 16]), (3, [10, 300, 0])]));
        assert_eq!(divided(&waste), [[None, Some(0.0)], [None, Some(100.0)]], "no collection came");
        waste.add(8, look([(1, [10, 0, 0]), (2, [95, 700, 0]), (3, [20, 700, 24])]));
        // 8 by the second one, and 24 by the third after the collection.
        assert_eq!(divided(&waste), [[Some(600.0), Some(0.0)], [Some(400.0), Some(100.0)]]);
    }

    #[test]
    fn a_thread_in_the_place_of_another_has_wasted_nothing_yet() {
        let mut waste = ThreadWaste::default();
        waste.add(1, look([(1, [90, 300, 8]), (2, [10, 100, 0])]));
        waste.add(2, look([(1, [95, 300, 8]), (2, [20, 100, 0])]));
        waste.add(3, look([(1, [5, 300, 8]), (2, [30, 100, 0])]));
        assert_eq!(divided(&waste)[0], [Some(0.0), None]);
        assert_eq!(divided(&waste)[1], [Some(1000.0), None]);
        // Threads that have ended, and that no group has, keep their part.
        waste.add(4, look([(1, [15, 300, 8]), (2, [40, 100, 0]), (9, [40, 100, 0])]));
        waste.add(5, look([(2, [50, 100, 0]), (9, [40, 100, 0])]));
        assert_eq!(divided(&waste)[1], [Some(500.0), Some(0.0)]);
    }
}
