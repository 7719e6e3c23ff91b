//! Which threads leave parts of their TLABs unused: what HotSpot counts of all threads together, divided among them by looks at each one's TLAB.
//!
//! What is left in a TLAB when a collection comes is what was left at the last look before it, where looks come several times between two collections: at
//! a random moment a thread that allocates little has often no TLAB yet. What was given up at refills HotSpot counts for each thread up to the next
//! collection. Both are parts of sums that are known; only the proportions come from these looks.

use crate::evidence::{Allocation, Group};
use jvm::accounts::Account;
use jvm::thread_dump::JavaThread;
use std::collections::BTreeMap;

/// Looks between two collections, at least: the last one of four is in the last quarter.
const LOOKS_IN_A_CYCLE: u64 = 4;

/// Bytes that were left when collections came, and at refills.
type Left = [f64; 2];

fn add(sum: &mut Left, more: Left) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

#[derive(Default)]
pub(crate) struct ThreadWaste {
    /// Collections that had come when all threads were looked at last, and what was seen.
    seen: Option<(u64, BTreeMap<usize, Account>)>,
    /// How often they were looked at, and how many collections came from the first look to the last.
    looks: u64,
    collections: u64,
    /// By the address of HotSpot's structure of a thread.
    of_threads: BTreeMap<usize, Left>,
    /// Of threads whose address another has got.
    of_gone: Left,
}

impl ThreadWaste {
    /// All threads, when so many collections had come that retire TLABs.
    pub(crate) fn add(&mut self, collections: u64, now: BTreeMap<usize, Account>) {
        if let Some((before, threads)) = self.seen.take() {
            let is_same_cycle = before == collections;
            for (thread, account) in &now {
                // An account of less is that of another thread, which has got the address since.
                let Some(had) = threads.get(thread).filter(|had| had.allocated <= account.allocated) else {
                    add(&mut self.of_gone, self.of_threads.remove(thread).unwrap_or_default());
                    continue;
                };
                let counted = had.refill_waste.filter(|_| is_same_cycle).unwrap_or(0);
                let given_up = account.refill_waste.unwrap_or(0).saturating_sub(counted);
                let left = if is_same_cycle { 0 } else { had.unused };
                add(self.of_threads.entry(*thread).or_default(), [left as f64, given_up as f64]);
            }
            self.looks += 1;
            self.collections += collections.saturating_sub(before);
        }
        self.seen = Some((collections, now));
    }

    /// Divides what was counted among the groups; `threads`: who they are.
    pub(crate) fn divide(&self, groups: &mut [Group], threads: &[JavaThread], allocation: &Allocation) {
        let mut all = self.of_gone;
        self.of_threads.values().for_each(|left| add(&mut all, *left));
        if self.collections * LOOKS_IN_A_CYCLE > self.looks {
            all[0] = 0.0;
        }
        let mut of_groups: BTreeMap<String, Left> = BTreeMap::new();
        for thread in threads {
            let left = usize::try_from(thread.id).ok().and_then(|id| self.of_threads.get(&id));
            add(of_groups.entry(thread.group()).or_default(), left.copied().unwrap_or_default());
        }
        for group in groups {
            let own = of_groups.get(&group.name).copied().unwrap_or_default();
            let part =
                |which: usize, counted: f64| (all[which] > 0.0).then(|| counted * own[which] / all[which]);
            group.waste_collection = part(0, allocation.waste_collection);
            group.waste_refill = part(1, allocation.waste_refill);
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

    /// So often at the same moment that looks are dense enough.
    fn again<const N: usize>(waste: &mut ThreadWaste, collections: u64, accounts: [(usize, [u64; 3]); N]) {
        for _ in 0..LOOKS_IN_A_CYCLE {
            waste.add(collections, look(accounts));
        }
    }

    #[test]
    fn who_holds_a_tlab_when_a_collection_comes_has_wasted_it() {
        let mut waste = ThreadWaste::default();
        assert_eq!(divided(&waste), [[None; 2]; 2], "nobody has looked");
        again(&mut waste, 7, [(1, [10, 900, 0]), (2, [10, 500, 8]), (3, [10, 300, 0])]);
        again(&mut waste, 7, [(1, [10, 600, 0]), (2, [90, 100, 16]), (3, [10, 300, 0])]);
        assert_eq!(divided(&waste), [[None, Some(0.0)], [None, Some(100.0)]], "no collection came");
        again(&mut waste, 8, [(1, [10, 0, 0]), (2, [95, 700, 0]), (3, [20, 700, 24])]);
        // 8 by the second one, and 24 by the third after the collection.
        assert_eq!(divided(&waste), [[Some(600.0), Some(0.0)], [Some(400.0), Some(100.0)]]);
    }

    #[test]
    fn looks_that_are_too_rare_say_nothing_of_collections() {
        let mut waste = ThreadWaste::default();
        for collections in 0..8 {
            waste.add(collections, look([(1, [10, 600, 0]), (2, [10, 400, 8])]));
        }
        assert_eq!(divided(&waste), [[None, Some(0.0)], [None, Some(100.0)]]);
    }

    #[test]
    fn threads_that_have_ended_keep_their_part() {
        let mut waste = ThreadWaste::default();
        again(&mut waste, 1, [(1, [90, 300, 8]), (2, [10, 100, 8])]);
        again(&mut waste, 2, [(1, [95, 300, 8]), (2, [20, 100, 8])]);
        assert_eq!(divided(&waste)[1], [Some(250.0), Some(50.0)]);
        // Another one in the place of the first, which has wasted nothing yet.
        again(&mut waste, 2, [(1, [5, 300, 8]), (2, [30, 100, 8])]);
        assert_eq!(divided(&waste), [[Some(0.0), Some(0.0)], [Some(250.0), Some(50.0)]]);
        // And one that no group has.
        again(&mut waste, 2, [(2, [40, 100, 8]), (9, [40, 100, 0])]);
        again(&mut waste, 3, [(2, [50, 100, 0]), (9, [40, 100, 0])]);
        assert_eq!(divided(&waste)[1][0], Some(1000.0 * 200.0 / 600.0));
    }
}
