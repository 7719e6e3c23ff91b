//! Refills that took long, one by one, for recordings of the JDK's Flight Recorder.
//!
//! | part | what it is |
//! |---|---|
//! | `ring` | records on their way to who reads them |
//! | `watch` | what is looked at when a refill begins and ends |
//! | `java` | what `terrace.jar` calls |
//! | `watched` | a level's source, whose answers are timed |
//!
//! Nothing is timed until somebody asks: up to then a slow path has one relaxed load more, and the fast path nothing. Observers
//! (`levels=none,times=true`) time anyway, and hand on what they have timed.
#![allow(clippy::disallowed_types, reason = "whether refills are recorded is a word that all threads read")]

mod java;
mod ring;
mod watch;
mod watched;

use ring::Ring;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
pub(crate) use watch::Watch;
pub(crate) use watched::Watched;

/// Words of a record, for those who read them: [`Refill::words`].
pub(crate) const WORDS: usize = 7;
/// Records that wait for being read, at most: 1 MB of memory, from the first time that they are asked for.
const RECORDS: usize = 1 << 14;
/// No refill is recorded.
const NONE: u64 = u64::MAX;

/// Nanoseconds that a refill takes at least to be recorded.
static LEAST: AtomicU64 = AtomicU64::new(NONE);
static RECORDED: AtomicPtr<Ring<WORDS>> = AtomicPtr::new(std::ptr::null_mut());
/// Who reads. Also held when the ring is made.
static READER: Mutex<()> = Mutex::new(());

/// Who got the bytes, or who gave them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A level, by its number from the threads' on.
    Level(u8),
    Thread,
    Heap,
}

impl Place {
    fn number(self) -> u64 {
        match self {
            Place::Level(level) => u64::from(level),
            Place::Thread => 0xfe,
            Place::Heap => 0xff,
        }
    }
}

/// How HotSpot's heap served it, as far as this can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    Unknown = 0,
    /// The lock of the heap was taken for it; whether somebody else had it is not known.
    Lock = 1,
    /// A pause of the collector began meanwhile: a thread on its way would have held it back, so it was waiting.
    Collection = 2,
}

/// One refill.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refill {
    /// `CLOCK_MONOTONIC`.
    pub(crate) start_ns: u64,
    pub(crate) took_ns: u64,
    pub(crate) from: Place,
    pub(crate) to: Place,
    /// Whether `to` handed on a request that its buffers could not serve, instead of refilling one.
    pub(crate) direct: bool,
    pub(crate) waited: Waited,
    /// 0 if there was nothing to be had.
    pub(crate) bytes: u64,
    /// Address of HotSpot's thread, the field `eetop` of `java.lang.Thread`.
    pub(crate) thread: u64,
}

impl Refill {
    fn words(&self, os_thread: u32, cpu: u32) -> [u64; WORDS] {
        let kind = self.to.number()
            | self.from.number() << 8
            | (self.waited as u64) << 16
            | u64::from(self.direct) << 24;
        let Refill { start_ns, took_ns, bytes, thread, .. } = *self;
        [start_ns, took_ns, bytes, kind, thread, u64::from(os_thread), u64::from(cpu)]
    }
}

/// Whether refills are recorded.
#[inline(always)]
pub(crate) fn are_wanted() -> bool {
    // Relaxed: a refill near the change may be recorded or not; who records looks for the ring with Acquire.
    LEAST.load(Ordering::Relaxed) != NONE
}

/// From now on refills that take at least so long are recorded; with `None` none are.
pub(crate) fn want(least_ns: Option<u64>) {
    let _reader = READER.lock().unwrap_or_else(PoisonError::into_inner);
    if least_ns.is_some() && RECORDED.load(Ordering::Relaxed).is_null() {
        let ring = Box::leak(Box::new(Ring::new(RECORDS)));
        // Release: who finds the ring finds it whole.
        RECORDED.store(ring, Ordering::Release);
    }
    LEAST.store(least_ns.map_or(NONE, |least| least.min(NONE - 1)), Ordering::Relaxed);
}

fn ring() -> Option<&'static Ring<WORDS>> {
    // Acquire: pairs with the Release in `want`.
    // SAFETY: null, or leaked there.
    unsafe { RECORDED.load(Ordering::Acquire).as_ref() }
}

/// Records a refill, if it took long enough. On the thread that it was for.
#[cold]
#[inline(never)]
pub(crate) fn record(refill: &Refill) {
    // Relaxed: as in `are_wanted`.
    if refill.took_ns >= LEAST.load(Ordering::Relaxed)
        && let Some(ring) = ring()
    {
        ring.write(refill.words(os_thread(), cpu()));
    }
}

/// The kernel's number of this thread.
fn os_thread() -> u32 {
    thread_local! {
        static NUMBER: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
    }
    if NUMBER.get() == 0 {
        // Not `gettid`, which glibc has only since 2.30.
        // SAFETY: the call takes nothing and always succeeds.
        NUMBER.set(unsafe { libc::syscall(libc::SYS_gettid) } as u32);
    }
    NUMBER.get()
}

/// The CPU's number in the system, whatever the levels' domains go by.
fn cpu() -> u32 {
    // SAFETY: no preconditions. It fails where the kernel has no such call; no Linux with a JVM lacks it.
    unsafe { libc::sched_getcpu() }.max(0) as u32
}

/// Hands out records, the oldest first, as many as there are and fit; says how many.
pub(crate) fn take(into: &mut [[u64; WORDS]]) -> usize {
    let _reader = READER.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(ring) = ring() else { return 0 };
    let mut taken = 0;
    for (place, record) in into.iter_mut().zip(std::iter::from_fn(|| ring.read())) {
        *place = record;
        taken += 1;
    }
    taken
}

/// Records that found no room since the JVM's start.
pub(crate) fn lost() -> u64 {
    ring().map_or(0, Ring::lost)
}
