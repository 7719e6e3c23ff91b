//! The accounts of living threads, read while threads come and go.
//!
//! HotSpot publishes a new list of threads for each that comes or goes, and keeps the order: one that goes is left out, one that
//! comes is the last. So a few threads' accounts are read at a time. They count if the list is still the same after that:
//! those threads were alive, and their memory was theirs. Otherwise what has been read of others stays, as long as they are on the new list.
//! With the sum of ended threads at the end, the whole lies between what it was when the reading began and what it is when it ends.

use super::Accounts;
use crate::os;
use std::time::Duration;

/// More threads than this are no list of threads.
const MOST_THREADS: u64 = 1 << 20;
/// A TLAB is never larger.
const LARGEST_TLAB: u64 = 1 << 40;
/// How often in succession the list may have changed.
const ATTEMPTS: usize = 8;
/// Threads that are read at a time: one system call for the latter.
const FEWEST: usize = 8;
const MOST: usize = 200;
/// For a thread that is off the list, and not yet in the sum of those that have ended.
const PAUSE: Duration = Duration::from_micros(100);

/// The threads' addresses at one moment, and the sum of those that had ended.
pub(super) struct List {
    pub(super) exited: u64,
    threads: Vec<usize>,
    at: usize,
}

/// What has been read, in the order of a list.
type Found = Vec<Option<u64>>;

impl Accounts {
    /// Living threads with their accounts, and the list that they are from. `None` where threads came and went too fast.
    pub(super) fn living(&self) -> Option<(List, Vec<(usize, u64)>)> {
        let mut list = self.list_again()?;
        let mut found: Found = vec![None; list.threads.len()];
        // What threads that left had is in the sum of those that have ended, sooner or later.
        let mut due = list.exited;
        let (mut failures, mut at_a_time) = (0, MOST);
        loop {
            let unread = (0..found.len()).filter(|at| found[*at].is_none()).take(at_a_time);
            let unread: Vec<usize> = unread.collect();
            if unread.is_empty() && (list.exited >= due || self.exited.is_none()) {
                let accounts = list.threads.iter().copied().zip(found.into_iter().flatten()).collect();
                return Some((list, accounts));
            }
            let threads: Vec<usize> = unread.iter().map(|at| list.threads[*at]).collect();
            match self.of_threads(&threads).filter(|_| self.is_present(&list)) {
                Some(accounts) if !unread.is_empty() => {
                    unread.iter().zip(accounts).for_each(|(at, bytes)| found[*at] = Some(bytes));
                    (failures, at_a_time) = (0, (2 * at_a_time).min(MOST));
                    continue;
                }
                Some(_) => std::thread::sleep(PAUSE),
                None => at_a_time = (at_a_time / 2).max(FEWEST),
            }
            failures += 1;
            if failures == ATTEMPTS {
                return None;
            }
            let newer = self.list_again()?;
            let (kept, gone) = carried((&list.threads, &found), &newer.threads);
            due = due.max(list.exited) + gone;
            (list, found) = (newer, kept);
        }
    }

    fn list_again(&self) -> Option<List> {
        (0..ATTEMPTS).find_map(|_| self.list())
    }

    /// `None` where it was replaced meanwhile.
    fn list(&self) -> Option<List> {
        let [at, exited] = self.words([self.list, self.exited.unwrap_or(self.list)])?;
        let at = at as usize;
        let [length, threads] = self.words([at.checked_add(self.length)?, at.checked_add(self.threads)?])?;
        // `_length` is an unsigned int.
        let length = Some(length & 0xffff_ffff).filter(|length| *length <= MOST_THREADS)? as usize;
        let mut addresses = vec![0; length];
        os::read_array(self.pid, threads as usize, &mut addresses).ok()?;
        let threads = addresses.into_iter().map(|thread| thread as usize).collect();
        let list = List { exited: self.exited.map_or(0, |_| exited), threads, at };
        self.is_present(&list).then_some(list)
    }

    /// Whether it has not been replaced: a new one in its place in memory has another length, or more threads have ended. Where their sum is not found, one of the same
    /// length is taken for it.
    fn is_present(&self, list: &List) -> bool {
        let places = [self.list, list.at.wrapping_add(self.length), self.exited.unwrap_or(self.list)];
        self.words(places).is_some_and(|[at, length, exited]| {
            at as usize == list.at
                && (length & 0xffff_ffff) as usize == list.threads.len()
                && (self.exited.is_none() || exited == list.exited)
        })
    }

    /// The accounts of these threads. One whose TLAB changes all the time has its account without what it has used of a TLAB.
    fn of_threads(&self, threads: &[usize]) -> Option<Vec<u64>> {
        let mut accounts = vec![0; threads.len()];
        let mut torn: Vec<usize> = (0..threads.len()).collect();
        for attempt in 0..ATTEMPTS {
            torn = self.add(threads, &torn, attempt + 1 == ATTEMPTS, &mut accounts)?;
            if torn.is_empty() {
                break;
            }
        }
        Some(accounts)
    }

    /// Reads the accounts of `some` of the threads, each forth and back: a thread that has got a new TLAB in between shows another start or another
    /// account, and what it seems to have used of the TLAB would be the distance of two TLABs. Gives those for which that happened
    /// back, or, the `last` time, takes their accounts without what they have used of a TLAB.
    fn add(&self, threads: &[usize], some: &[usize], last: bool, accounts: &mut [u64]) -> Option<Vec<usize>> {
        let [allocated, start, top] = self.fields;
        let forth_and_back = [allocated, start, top, start, allocated];
        let places: Vec<usize> = (some.iter())
            .flat_map(|at| forth_and_back.map(|field| threads[*at].wrapping_add(field)))
            .collect();
        let mut words = vec![0; places.len()];
        os::read_memory(self.pid, &places, &mut words).ok()?;
        let mut torn = Vec::new();
        for (at, account) in some.iter().zip(words.as_chunks::<5>().0) {
            let [before, start, top, again, after] = *account;
            if before == after && start == again {
                // A thread that gives its TLAB up clears the start first, when its account has it all: it may lose its CPU
                // right then, and the top without a start would be an address.
                let used =
                    top.checked_sub(start).filter(|used| start > 0 && *used < LARGEST_TLAB).unwrap_or(0);
                accounts[*at] = before.saturating_add(used);
            } else if last {
                accounts[*at] = after;
            } else {
                torn.push(*at);
            }
        }
        Some(torn)
    }
}

/// What has been read of threads that are on the newer list, too, and the sum of those that are not. A thread in the memory of one that has ended is
/// at another place of the list.
fn carried((older, found): (&[usize], &Found), newer: &[usize]) -> (Found, u64) {
    let mut older = older.iter().zip(found);
    let mut kept = vec![None; newer.len()];
    let mut gone = 0_u64;
    for (thread, kept) in newer.iter().zip(&mut kept) {
        for (other, bytes) in older.by_ref() {
            if other == thread {
                *kept = *bytes;
                break;
            }
            gone = gone.saturating_add(bytes.unwrap_or(0));
        }
    }
    let rest = older.filter_map(|(_, bytes)| *bytes).fold(gone, u64::saturating_add);
    (kept, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_of_a_thread_stays_as_long_as_the_thread() {
        let read = |bytes: [u64; 4]| bytes.map(Some).to_vec();
        let (older, found) = ([10, 20, 30, 40], read([1, 2, 4, 8]));
        let of = |newer: &[usize]| carried((&older, &found), newer);
        assert_eq!(of(&older), (found.clone(), 0));
        assert_eq!(of(&[10, 30, 40, 50]), (vec![Some(1), Some(4), Some(8), None], 2));
        // Another thread in the memory of one that has ended.
        assert_eq!(of(&[10, 30, 40, 20]), (vec![Some(1), Some(4), Some(8), None], 2));
        assert_eq!(of(&[50, 60]), (vec![None, None], 15));
        assert_eq!(of(&[]), (vec![], 15));
        assert_eq!(carried((&older, &vec![None; 4]), &[20]), (vec![None], 0));
    }
}
