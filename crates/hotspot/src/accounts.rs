//! HotSpot's own accounts of what threads have allocated: where they are, for whoever may read this process's memory, and at safepoints what they say.
//!
//! A thread's account (`Thread::_allocated_bytes`) is brought up to date when its TLAB is retired; what it has used of the present one lies between
//! the TLAB's start and top. The accounts of threads that have ended are added up (`ThreadService::_exited_allocated_bytes`).

use crate::structs::{Structs, peek};
use crate::version::{Feature, Since};
use crate::{Error, WORD};

/// `ThreadsSMRSupport::_java_thread_list`.
pub(crate) const THREAD_LIST: &str = "_ZN17ThreadsSMRSupport17_java_thread_listE";

/// Offsets of `ThreadsList::_length` and `_threads` where HotSpot's table does not tell them: as in threadSMR.hpp.
const UNTOLD: Since<Option<(usize, usize)>> = Since(&[(11, Some((0, 16))), (17, None)]);

/// Addresses in this process, and offsets in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accounts {
    /// `ThreadsSMRSupport::_java_thread_list`: the address of the pointer to the present list.
    pub list: usize,
    /// `ThreadsList::_length`, an `unsigned int`.
    pub length: usize,
    /// `ThreadsList::_threads`, a pointer to pointers to threads.
    pub threads: usize,
    /// `Thread::_allocated_bytes`, 64 bits.
    pub allocated: usize,
    /// `ThreadLocalAllocBuffer::_start`, from the thread's own address.
    pub tlab_start: usize,
    /// `ThreadLocalAllocBuffer::_top`, from the thread's own address.
    pub tlab_top: usize,
    /// `ThreadLocalAllocBuffer::_end`, from the thread's own address: behind the last word that is to be used.
    pub tlab_end: usize,
    /// `ThreadLocalAllocBuffer::_refill_waste`, from the thread's own address: 32 bits, words left in TLABs that were given up for a new one since the last
    /// collection. 0 in a JVM that calls it otherwise.
    pub tlab_refill_waste: usize,
    /// The address of `ThreadService::_exited_allocated_bytes`; 0 where it was not found.
    pub exited: usize,
}

/// A thread's account and its TLAB, in bytes, and addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Of HotSpot's own structure of the thread.
    pub thread: usize,
    /// Allocated before the present TLAB.
    pub allocated: u64,
    /// 0 where it has no TLAB.
    pub tlab_start: usize,
    /// Used of it.
    pub tlab_used: usize,
    /// Not yet used of it: up to the next sample where a tool samples allocations (`SampledObjectAlloc`).
    pub tlab_left: usize,
    /// Left in TLABs that were given up for a new one since the last collection.
    pub refill_waste: u64,
}

impl Accounts {
    /// How many threads there are.
    ///
    /// # Safety
    /// At a safepoint, whose thread holds `Threads_lock` until it ends: no thread begins or ends meanwhile.
    pub unsafe fn count(&self) -> usize {
        // SAFETY: HotSpot's table and symbols say what is where, and the list stays as long as the safepoint.
        unsafe { peek::<u32>(peek::<usize>(self.list) + self.length) as usize }
    }

    /// The account of each thread.
    ///
    /// # Safety
    /// As for [`Accounts::count`], until the iterator has been dropped.
    pub unsafe fn each(&self) -> impl Iterator<Item = Account> {
        // SAFETY: as in `count`.
        let (threads, length) =
            unsafe { (peek::<usize>(peek::<usize>(self.list) + self.threads), self.count()) };
        (0..length).map(move |at| {
            // SAFETY: as above: a pointer to pointers to threads.
            let thread = unsafe { peek::<usize>(threads + at * size_of::<usize>()) };
            // SAFETY: a living thread, whose fields are at these offsets.
            let word = |offset: usize| unsafe { peek::<usize>(thread + offset) };
            let [start, top, end] = [self.tlab_start, self.tlab_top, self.tlab_end].map(word);
            let refill_waste = match self.tlab_refill_waste {
                0 => 0,
                // SAFETY: as above; half a word.
                offset => unsafe { u64::from(peek::<u32>(thread + offset)) * WORD as u64 },
            };
            Account {
                thread,
                allocated: word(self.allocated) as u64,
                tlab_start: start,
                tlab_used: if start > 0 { top.saturating_sub(start) } else { 0 },
                tlab_left: if start > 0 { end.saturating_sub(top) } else { 0 },
                refill_waste,
            }
        })
    }

    /// Whether a thread has no TLAB.
    ///
    /// # Safety
    /// As for [`Accounts::count`], since `account` was read.
    pub unsafe fn is_retired(&self, account: &Account) -> bool {
        // SAFETY: the thread lives as long as the safepoint.
        unsafe { peek::<usize>(account.thread + self.tlab_start) == 0 }
    }

    /// Finds them; `list` and `exited` are those symbols' addresses, if there are such.
    pub(crate) fn of(
        structs: &Structs,
        feature: Feature,
        list: Option<usize>,
        exited: Option<usize>,
    ) -> Result<Accounts, Error> {
        let (list, length, threads) = match (list, UNTOLD.in_version(feature).flatten()) {
            (Some(list), Some((length, threads))) => (list, length, threads),
            _ => (
                structs.static_field("ThreadsSMRSupport", "_java_thread_list")?,
                structs.offset("ThreadsList", "_length")?,
                structs.offset("ThreadsList", "_threads")?,
            ),
        };
        let tlab = structs.offset("Thread", "_tlab")?;
        Ok(Accounts {
            list,
            length,
            threads,
            allocated: structs.offset("Thread", "_allocated_bytes")?,
            tlab_start: tlab + structs.offset("ThreadLocalAllocBuffer", "_start")?,
            tlab_top: tlab + structs.offset("ThreadLocalAllocBuffer", "_top")?,
            tlab_end: tlab + structs.offset("ThreadLocalAllocBuffer", "_end")?,
            tlab_refill_waste: (structs.offset("ThreadLocalAllocBuffer", "_refill_waste"))
                .map_or(0, |offset| tlab + offset),
            exited: exited.unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread as [`ACCOUNTS`] has it.
    #[repr(C)]
    struct Thread {
        allocated: u64,
        tlab: [usize; 3],
        refill_waste: [u32; 2],
    }

    const ACCOUNTS: Accounts = Accounts {
        list: 0,
        length: 0,
        threads: 8,
        allocated: 0,
        tlab_start: 8,
        tlab_top: 16,
        tlab_end: 24,
        tlab_refill_waste: 32,
        exited: 0,
    };

    #[test]
    fn what_threads_have_left_is_between_top_and_end() {
        let threads = [
            Thread { allocated: 1000, tlab: [4096, 4196, 8192], refill_waste: [3, 7] },
            Thread { allocated: 200, tlab: [0, 0, 8192], refill_waste: [0, 7] },
        ];
        let addresses = threads.each_ref().map(|thread| std::ptr::from_ref(thread) as usize);
        let list = [7_usize << 32 | 2, addresses.as_ptr() as usize];
        let head = list.as_ptr() as usize;
        let accounts = Accounts { list: (&raw const head) as usize, ..ACCOUNTS };
        let account = |thread, allocated, tlab_start, [tlab_used, tlab_left]: [usize; 2], refill_waste| {
            Account { thread: addresses[thread], allocated, tlab_start, tlab_used, tlab_left, refill_waste }
        };
        let expected = [account(0, 1000, 4096, [100, 3996], 24), account(1, 200, 0, [0, 0], 0)];
        // SAFETY: a list of two threads, all of which live to the end.
        unsafe {
            assert_eq!(accounts.count(), 2);
            assert_eq!(accounts.each().collect::<Vec<_>>(), expected);
            assert_eq!(expected.each_ref().map(|account| accounts.is_retired(account)), [false, true]);
            let without = Accounts { tlab_refill_waste: 0, ..accounts };
            assert!(without.each().all(|account| account.refill_waste == 0));
        }
    }
}
