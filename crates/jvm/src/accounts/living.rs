//! The accounts of living threads, read while threads come and go.
//!
//! HotSpot publishes a new list of threads for each that comes or goes, and keeps the order: one that goes is left out, one that
//! comes is the last. So a few threads' accounts are read at a time. They count if the list is still the same after that:
//! those threads were alive, and their memory was theirs. Otherwise what has been read of others stays, as long as they are on the new list.
//! With the sum of ended threads at the end, the whole lies between what it was when the reading began and what it is when it ends.

use super::{Account, Accounts};
use crate::os;
use std::time::Duration;

/// More threads than this are no list of threads.
const MOST_THREADS: u64 = 1 << 20;
/// A TLAB is never larger.
const LARGEST_TLAB: u64 = 1 << 40;
/// Bytes of a word of the heap, in which HotSpot counts waste.
const WORD: u64 = 8;
/// How often in succession the list may have changed.
const ATTEMPTS: usize = 8;
/// Threads that are read at a time: one system call for the latter, which reads up to 1024 words.
const FEWEST: usize = 8;
const MOST: usize = 1024 / 7;
/// For a thread that is off the list, and not yet in the sum of those that have ended.
const PAUSE: Duration = Duration::from_micros(100);

/// The threads' addresses at one moment, and the sum of those that had ended.
pub(super) struct List {
    pub(super) exited: u64,
    threads: Vec<usize>,
    at: usize,
}

/// What has been read, in the order of a list.
type Found = Vec<Option<Account>>;

impl Accounts {
    /// Living threads with their accounts, and the list that they are from. `None` where threads came and went too fast.
    pub(super) fn living(&self) -> Option<(List, Vec<(usize, Account)>)> {
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
                    unread.iter().zip(accounts).for_each(|(at, account)| found[*at] = Some(account));
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

    /// Whether it has not been replaced: a new one in its place in memory has another length, or more threads have ended.
    fn is_present(&self, list: &List) -> bool {
        let places = [self.list, list.at.wrapping_add(self.length), self.exited.unwrap_or(self.list)];
        self.words(places).is_some_and(|[at, length, exited]| {
            at as usize == list.at
                && (length & 0xffff_ffff) as usize == list.threads.len()
                && (self.exited.is_none() || exited == list.exited)
        })
    }

    /// The accounts of these threads. One whose TLAB changes all the time has its account without what it has used of a TLAB.
    fn of_threads(&self, threads: &[usize]) -> Option<Vec<Account>> {
        let mut accounts = vec![Account::default(); threads.len()];
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
    fn add(
        &self,
        threads: &[usize],
        some: &[usize],
        last: bool,
        accounts: &mut [Account],
    ) -> Option<Vec<usize>> {
        let [allocated, start, top, end] = self.fields;
        // Half a word: read as a whole one, whose other half is another counter.
        let refill_waste = self.refill_waste.unwrap_or(allocated);
        let forth_and_back = [allocated, start, top, end, refill_waste, start, allocated];
        let places: Vec<usize> = (some.iter())
            .flat_map(|at| forth_and_back.map(|field| threads[*at].wrapping_add(field)))
            .collect();
        let mut words = vec![0; places.len()];
        os::read_memory(self.pid, &places, &mut words).ok()?;
        let mut torn = Vec::new();
        for (at, words) in some.iter().zip(words.as_chunks::<7>().0) {
            let [before, start, top, end, wasted, again, after] = *words;
            let refill_waste = self.refill_waste.map(|_| (wasted & 0xffff_ffff) * WORD);
            if before == after && start == again {
                // A thread that gives its TLAB up clears the start first, when its account has it all: it may lose its CPU
                // right then, and the top without a start would be an address.
                let part = |from: u64, to: u64| {
                    to.checked_sub(from).filter(|bytes| start > 0 && *bytes < LARGEST_TLAB).unwrap_or(0)
                };
                let allocated = before.saturating_add(part(start, top));
                // One that gets its TLAB sets start, top and end in this order.
                let unused = if top >= start { part(top, end) } else { 0 };
                accounts[*at] = Account { allocated, unused, refill_waste };
            } else if last {
                accounts[*at] = Account { allocated: after, unused: 0, refill_waste };
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
        for (other, account) in older.by_ref() {
            if other == thread {
                *kept = *account;
                break;
            }
            gone = gone.saturating_add(account.map_or(0, |account| account.allocated));
        }
    }
    let rest = older.filter_map(|(_, account)| *account);
    (kept, rest.fold(gone, |sum, account| sum.saturating_add(account.allocated)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_of_a_thread_stays_as_long_as_the_thread() {
        let account = |allocated| Some(Account { allocated, ..Account::default() });
        let read = |bytes: [u64; 4]| bytes.map(account).to_vec();
        let (older, found) = ([10, 20, 30, 40], read([1, 2, 4, 8]));
        let of = |newer: &[usize]| carried((&older, &found), newer);
        assert_eq!(of(&older), (found.clone(), 0));
        assert_eq!(of(&[10, 30, 40, 50]), (vec![account(1), account(4), account(8), None], 2));
        // Another thread in the memory of one that has ended.
        assert_eq!(of(&[10, 30, 40, 20]), (vec![account(1), account(4), account(8), None], 2));
        assert_eq!(of(&[50, 60]), (vec![None, None], 15));
        assert_eq!(of(&[]), (vec![], 15));
        assert_eq!(carried((&older, &vec![None; 4]), &[20]), (vec![None], 0));
    }
}
