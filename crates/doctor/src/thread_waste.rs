//! Which threads leave parts of their TLABs unused: what HotSpot counts of all threads together, divided among them by what the agent has seen of each one's TLAB when collections
//! began.
//!
//! The agent looks at many collections, not at each one; the sums are HotSpot's own, and only the proportions come from it.

use crate::evidence::{Allocation, Group};
use control::View;
use control::thread_waste::Left;
use jvm::thread_dump::JavaThread;
use std::collections::BTreeMap;

/// What the agent has seen so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadWaste {
    /// By the address of HotSpot's structure of a thread.
    threads: BTreeMap<u64, Left>,
    all: Left,
}

impl ThreadWaste {
    /// `None` of an agent that does not look at threads.
    pub(crate) fn read(view: &View) -> Option<ThreadWaste> {
        let waste = view.thread_waste()?;
        Some(ThreadWaste { threads: waste.threads().collect(), all: waste.all() })
    }

    /// Divides what was counted since an `earlier` reading among the groups; `threads`: who they are.
    pub(crate) fn divide(
        &self,
        earlier: &ThreadWaste,
        groups: &mut [Group],
        threads: &[JavaThread],
        allocation: &Allocation,
    ) {
        let all = since(self.all, earlier.all);
        let mut of_groups: BTreeMap<String, Left> = BTreeMap::new();
        for thread in threads {
            let sum = of_groups.entry(thread.group()).or_default();
            // A smaller sum than before is that of a thread that has got the address since.
            let before = earlier.threads.get(&thread.id).copied().unwrap_or_default();
            let own = self.threads.get(&thread.id).map_or(Left::default(), |now| since(*now, before));
            sum.at_collection = sum.at_collection.saturating_add(own.at_collection);
            sum.at_refills = sum.at_refills.saturating_add(own.at_refills);
        }
        let part = |counted: f64, own: u64, all: u64| {
            (all > 0).then(|| counted * (own as f64 / all as f64).min(1.0))
        };
        for group in groups {
            let own = of_groups.get(&group.name).copied().unwrap_or_default();
            group.waste_collection = part(allocation.waste_collection, own.at_collection, all.at_collection);
            group.waste_refill = part(allocation.waste_refill, own.at_refills, all.at_refills);
        }
    }
}

fn since(now: Left, before: Left) -> Left {
    let more = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now);
    Left {
        at_collection: more(now.at_collection, before.at_collection),
        at_refills: more(now.at_refills, before.at_refills),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters_test;

    fn seen(all: [u64; 2], threads: &[(u64, [u64; 2])]) -> ThreadWaste {
        let left = |[at_collection, at_refills]: [u64; 2]| Left { at_collection, at_refills };
        let threads = threads.iter().map(|(thread, words)| (*thread, left(*words))).collect();
        ThreadWaste { threads, all: left(all) }
    }

    fn divided(now: &ThreadWaste, earlier: &ThreadWaste) -> Vec<[Option<f64>; 2]> {
        let group = |name: &str| Group { name: name.into(), ..Group::default() };
        let mut groups = vec![group("idle-N"), group("busy-N")];
        let thread = |name, id| JavaThread { id, ..counters_test::thread(name, id, 9.0, "a.B.run") };
        let threads = [thread("idle-1", 1), thread("busy-1", 2), thread("busy-2", 3)];
        let allocation =
            Allocation { waste_collection: 1000.0, waste_refill: 100.0, ..Allocation::default() };
        now.divide(earlier, &mut groups, &threads, &allocation);
        groups.iter().map(|group| [group.waste_collection, group.waste_refill]).collect()
    }

    #[test]
    fn what_was_counted_is_divided_as_it_was_seen() {
        let none = ThreadWaste::default();
        assert_eq!(divided(&none, &none), [[None; 2]; 2], "nobody has looked");
        let earlier = seen([500, 10], &[(1, [400, 0]), (2, [100, 10])]);
        assert_eq!(divided(&earlier, &earlier), [[None; 2]; 2], "no collection came");
        let now = seen([1500, 50], &[(1, [1000, 0]), (2, [200, 40]), (3, [200, 0]), (9, [100, 10])]);
        // A tenth is of one that no dump has met.
        assert_eq!(divided(&now, &earlier), [[Some(600.0), Some(0.0)], [Some(300.0), Some(75.0)]]);
    }

    #[test]
    fn another_thread_at_the_same_address_begins_anew() {
        let earlier = seen([900, 0], &[(1, [900, 0])]);
        let now = seen([1000, 0], &[(1, [100, 0])]);
        assert_eq!(divided(&now, &earlier)[0], [Some(1000.0), None]);
    }
}
