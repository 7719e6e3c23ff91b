//! What the threads of a running JVM have allocated, read from HotSpot's own accounts in its memory: exact to the byte, at any
//! moment, and at no cost to the program.
//!
//! The agent's settings tell where the accounts are. A thread's account is brought up to date when its TLAB is retired; what
//! it has used of the present one lies between the TLAB's start and top, and is added here.

use crate::os;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// More threads than this are no list of threads.
const MOST_THREADS: u64 = 1 << 20;
/// A TLAB is never larger.
const LARGEST_TLAB: u64 = 1 << 40;
/// The list of threads may change while it is read; then it is read again.
const ATTEMPTS: usize = 8;

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

    /// Bytes that all threads have allocated since the start. `None` when they cannot be read: the process has ended, or its
    /// memory may not be read by us.
    pub fn read(&mut self) -> Option<u64> {
        let sum = (0..ATTEMPTS).find_map(|_| self.attempt())?;
        // A thread that ends while we read may be missing in one reading and be there in the next, never the other way round.
        self.highest = self.highest.max(sum);
        Some(self.highest)
    }

    /// As [`Accounts::read`], again and again for so long at most: where thousands of threads a second come and go, the list of threads
    /// has often changed while it was read.
    pub fn read_within(&mut self, limit: Duration) -> Option<u64> {
        let since = Instant::now();
        loop {
            let sum = self.read();
            if sum.is_some() || since.elapsed() >= limit || !os::is_running(self.pid) {
                return sum;
            }
        }
    }

    fn words<const N: usize>(&self, addresses: [usize; N]) -> Option<[u64; N]> {
        let mut words = [0; N];
        os::read_memory(self.pid, &addresses, &mut words).ok().map(|()| words)
    }

    /// Bytes that each living thread has allocated, by the address of HotSpot's structure of it. `None` as of [`Accounts::read`].
    pub fn of_each(&self) -> Option<BTreeMap<usize, u64>> {
        (0..ATTEMPTS).find_map(|_| self.living()).map(|(seen, _)| seen)
    }

    /// As [`Accounts::of_each`], again and again for so long at most.
    pub fn of_each_within(&self, limit: Duration) -> Option<BTreeMap<usize, u64>> {
        let since = Instant::now();
        loop {
            let each = self.of_each();
            if each.is_some() || since.elapsed() >= limit || !os::is_running(self.pid) {
                return each;
            }
        }
    }

    fn attempt(&mut self) -> Option<u64> {
        let (seen, exited) = self.living()?;
        let living: u64 = seen.values().sum();
        if self.exited.is_none() {
            self.remember(seen);
            return Some(living + self.gone);
        }
        Some(living + exited)
    }

    /// The living threads' accounts, and the sum of ended ones'. `None` where threads came or went meanwhile.
    fn living(&self) -> Option<(BTreeMap<usize, u64>, u64)> {
        let exited = || self.exited.map_or(Some(0), |at| self.words([at]).map(|[sum]| sum));
        let (before, [list]) = (exited()?, self.words([self.list])?);
        let list = list as usize;
        let [length, threads] =
            self.words([list.checked_add(self.length)?, list.checked_add(self.threads)?])?;
        // `_length` is an unsigned int.
        let length = Some(length & 0xffff_ffff).filter(|length| *length <= MOST_THREADS)? as usize;
        let slots: Vec<usize> = (0..length).map(|slot| (threads as usize).wrapping_add(8 * slot)).collect();
        let mut addresses = vec![0; length];
        os::read_memory(self.pid, &slots, &mut addresses).ok()?;
        let mut seen = BTreeMap::new();
        let mut torn: Vec<usize> = addresses.iter().map(|thread| *thread as usize).collect();
        for attempt in 0..ATTEMPTS {
            torn = self.add(&torn, attempt + 1 == ATTEMPTS, &mut seen)?;
            if torn.is_empty() {
                break;
            }
        }
        if self.words([self.list])?[0] as usize != list || exited()? != before {
            return None;
        }
        Some((seen, before))
    }

    /// Reads the accounts of `threads`, each forth and back: a thread that has got a new TLAB in between shows another start or another
    /// account, and what it seems to have used of the TLAB would be the distance of two TLABs. Gives those for which that happened
    /// back, or, the `last` time, takes their accounts without what they have used of a TLAB.
    fn add(&self, threads: &[usize], last: bool, seen: &mut BTreeMap<usize, u64>) -> Option<Vec<usize>> {
        let [allocated, start, top] = self.fields;
        let forth_and_back = [allocated, start, top, start, allocated];
        let places: Vec<usize> = (threads.iter())
            .flat_map(|thread| forth_and_back.map(|field| thread.wrapping_add(field)))
            .collect();
        let mut words = vec![0; places.len()];
        os::read_memory(self.pid, &places, &mut words).ok()?;
        let mut torn = Vec::new();
        for (thread, account) in threads.iter().zip(words.as_chunks::<5>().0) {
            let [before, start, top, again, after] = *account;
            if before == after && start == again {
                // A thread that gives its TLAB up clears the start first, when its account has it all: it may lose its CPU
                // right then, and the top without a start would be an address.
                let used =
                    top.checked_sub(start).filter(|used| start > 0 && *used < LARGEST_TLAB).unwrap_or(0);
                seen.insert(*thread, before.saturating_add(used));
            } else if last {
                seen.insert(*thread, after);
            } else {
                torn.push(*thread);
            }
        }
        Some(torn)
    }

    /// Threads that are gone had what they had when they were last seen. An account that has shrunk is that of a new thread.
    fn remember(&mut self, seen: BTreeMap<usize, u64>) {
        for (thread, bytes) in &self.seen {
            if seen.get(thread).is_none_or(|now| now < bytes) {
                self.gone += bytes;
            }
        }
        self.seen = seen;
    }
}

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
        assert_eq!(accounts.of_each(), Some(each));
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
