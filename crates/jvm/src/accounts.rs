//! What the threads of a running JVM have allocated, read from HotSpot's own accounts in its memory: exact to the byte, at any
//! moment, and at no cost to the program.
//!
//! The agent's settings tell where the accounts are. A thread's account is brought up to date when its TLAB is retired; what
//! it has used of the present one lies between the TLAB's start and top, and is added here.

mod living;

use crate::os;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

pub struct Accounts {
    pid: u32,
    list: usize,
    length: usize,
    threads: usize,
    fields: [usize; 3],
    /// Where the sum of ended threads is; `None` in a JVM that does not keep it where we find it.
    exited: Option<usize>,
    /// For such a JVM: what threads had when they were last seen, and the sum of those that are gone.
    seen: BTreeMap<usize, u64>,
    gone: u64,
    highest: u64,
}

impl Accounts {
    /// From the settings that the agent of this process has written. `None` when it did not say.
    pub fn from_settings(pid: u32, settings: &Value) -> Option<Accounts> {
        let accounts = settings.get("accounts")?;
        let number = |name: &str| accounts.get(name)?.as_u64().map(|number| number as usize);
        Some(Accounts {
            pid,
            list: number("list")?,
            length: number("length")?,
            threads: number("threads")?,
            fields: [number("allocated")?, number("tlab_start")?, number("tlab_top")?],
            exited: number("exited").filter(|address| *address > 0),
            seen: BTreeMap::new(),
            gone: 0,
            highest: 0,
        })
    }

    /// Bytes that all threads have allocated since the start. `None` when they cannot be read: the process has ended, its memory may not be
    /// read by us, or threads came and went too fast.
    pub fn read(&mut self) -> Option<u64> {
        let (list, living) = self.living()?;
        let sum = living.iter().map(|(_, bytes)| bytes).fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
        let ended = match self.exited {
            Some(_) => list.exited,
            None => self.remember(living.into_iter().collect()),
        };
        // A thread that ends while we read may be missing in one reading and be there in the next, never the other way round.
        self.highest = self.highest.max(sum.saturating_add(ended));
        Some(self.highest)
    }

    /// As [`Accounts::read`], again and again for so long at most.
    pub fn read_within(&mut self, limit: Duration) -> Option<u64> {
        let since = Instant::now();
        loop {
            let sum = self.read();
            if sum.is_some() || self.is_given_up(since, limit) {
                return sum;
            }
        }
    }

    /// Bytes that each living thread has allocated, by the address of HotSpot's structure of it. `None` as of [`Accounts::read`], which is tried
    /// again and again for so long at most.
    pub fn of_each_within(&self, limit: Duration) -> Option<BTreeMap<usize, u64>> {
        let since = Instant::now();
        loop {
            let each = self.living();
            if each.is_some() || self.is_given_up(since, limit) {
                return each.map(|(_, living)| living.into_iter().collect());
            }
        }
    }

    /// Whether it is of no use to try again: there is no time left, or nothing can be read at all.
    fn is_given_up(&self, since: Instant, limit: Duration) -> bool {
        since.elapsed() >= limit || !os::is_running(self.pid) || self.words([self.list]).is_none()
    }

    fn words<const N: usize>(&self, addresses: [usize; N]) -> Option<[u64; N]> {
        let mut words = [0; N];
        os::read_memory(self.pid, &addresses, &mut words).ok().map(|()| words)
    }

    /// What threads had that are gone: what each had when it was last seen. An account that has shrunk is that of a new thread.
    fn remember(&mut self, seen: BTreeMap<usize, u64>) -> u64 {
        for (thread, bytes) in &self.seen {
            if seen.get(thread).is_none_or(|now| now < bytes) {
                self.gone += bytes;
            }
        }
        self.seen = seen;
        self.gone
    }
}

#[cfg(test)]
#[path = "accounts/living_test.rs"]
mod living_test;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A list of two threads, as HotSpot lays it out, in our own memory.
    struct Heap {
        threads: [[u64; 3]; 2],
        pointers: [usize; 2],
        list: [usize; 2],
        head: usize,
        exited: u64,
    }

    fn heap() -> Box<Heap> {
        let mut heap = Box::new(Heap {
            threads: [[1000, 5000, 5016], [200, 0, 0]],
            pointers: [0; 2],
            list: [2, 0],
            head: 0,
            exited: 7,
        });
        heap.pointers = [heap.threads[0].as_ptr() as usize, heap.threads[1].as_ptr() as usize];
        heap.list[1] = heap.pointers.as_ptr() as usize;
        heap.head = heap.list.as_ptr() as usize;
        heap
    }

    fn settings(heap: &Heap, exited: usize) -> Value {
        json!({ "accounts": { "list": std::ptr::from_ref(&heap.head) as usize, "length": 0, "threads": 8, "allocated": 0,
            "tlab_start": 8, "tlab_top": 16, "exited": exited } })
    }

    #[test]
    #[allow(clippy::disallowed_types, reason = "plays a JVM that writes while its memory is read")]
    fn a_thread_that_gets_new_tlabs_all_the_time_never_seems_to_have_used_their_distance() {
        use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
        let mut heap = heap();
        let mut accounts = Accounts::from_settings(std::process::id(), &settings(&heap, 0)).unwrap();
        let done = AtomicBool::new(false);
        let first = heap.threads[0].as_mut_ptr().expose_provenance();
        // SAFETY: the words of the first thread, which live as long as `heap` and are accessed as atomics only from here on.
        let word = |at: usize| unsafe {
            AtomicU64::from_ptr(std::ptr::with_exposed_provenance_mut::<u64>(first).wrapping_add(at))
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut bytes = 1000;
                while !done.load(Ordering::Relaxed) {
                    // Retired, and a new TLAB far away.
                    bytes += 16;
                    word(0).store(bytes, Ordering::Release);
                    for at in [1, 2] {
                        word(at).store(1 << 30 | bytes << 12, Ordering::Release);
                    }
                    word(2).fetch_add(16, Ordering::Release);
                }
            });
            for _ in 0..10_000 {
                let read = accounts.read();
                let limit = word(0).load(Ordering::Acquire) + 16 + 200;
                assert!(read.is_none_or(|bytes| bytes <= limit), "{read:?} of {limit}");
            }
            done.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn accounts_tlabs_and_ended_threads_are_summed() {
        let mut heap = heap();
        let exited = std::ptr::from_ref(&heap.exited) as usize;
        let mut accounts = Accounts::from_settings(std::process::id(), &settings(&heap, exited)).unwrap();
        assert_eq!(accounts.read(), Some(1000 + 16 + 200 + 7));
        let each = BTreeMap::from([(heap.pointers[0], 1016), (heap.pointers[1], 200)]);
        assert_eq!(accounts.of_each_within(Duration::ZERO), Some(each));
        std::hint::black_box(&mut heap).threads[0][2] = 5100;
        assert_eq!(accounts.read(), Some(1000 + 100 + 200 + 7));
        // Never backwards.
        std::hint::black_box(&mut heap).threads[0] = [1000, 0, 0];
        assert_eq!(accounts.read(), Some(1000 + 100 + 200 + 7));
    }

    #[test]
    fn a_thread_that_is_giving_its_tlab_up_has_used_nothing_of_the_next() {
        let mut heap = heap();
        heap.threads[0] = [1000, 0, 0x6_8000_0000];
        let mut accounts = Accounts::from_settings(std::process::id(), &settings(&heap, 0)).unwrap();
        assert_eq!(accounts.read(), Some(1200));
    }

    #[test]
    fn where_ended_threads_are_not_kept_they_are_remembered() {
        let mut heap = heap();
        let mut accounts = Accounts::from_settings(std::process::id(), &settings(&heap, 0)).unwrap();
        assert_eq!(accounts.read(), Some(1216));
        std::hint::black_box(&mut heap).list[0] = 1;
        assert_eq!(accounts.read(), Some(1216), "the second one has ended");
        std::hint::black_box(&mut heap).threads[1] = [50, 0, 0];
        std::hint::black_box(&mut heap).list[0] = 2;
        assert_eq!(accounts.read(), Some(1266), "another one in its place");
        std::hint::black_box(&mut heap).threads[0] = [3, 0, 0];
        assert_eq!(accounts.read(), Some(1269));
    }

    #[test]
    fn memory_that_cannot_be_read_is_no_number() {
        let heap = heap();
        let settings = settings(&heap, 0);
        assert_eq!(Accounts::from_settings(0x3fff_fff0, &settings).unwrap().read(), None);
        assert!(Accounts::from_settings(1, &Value::Null).is_none());
        let nowhere = json!({ "accounts": { "list": 8, "length": 0, "threads": 8, "allocated": 0, "tlab_start": 8, "tlab_top": 16 } });
        assert_eq!(Accounts::from_settings(std::process::id(), &nowhere).unwrap().read(), None);
    }
}
