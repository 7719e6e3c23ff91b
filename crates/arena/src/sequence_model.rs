//! Restartable sequences under loom: a kernel that moves threads between CPUs, and sequences as steps that it does not interrupt.
//!
//! A CPU runs one thread at a time, and the kernel comes between two threads of a CPU: so steps on the same CPU are ordered, and see
//! what earlier ones wrote. A lock for each CPU says so. It is not held by the store that publishes a refilled buffer, nor by loads
//! outside sequences, which see no more than their memory orders promise.

use crate::primitive::{Atomic64, Ordering};
use crate::slot::{Slot, Taken, cut};
use loom::sync::Mutex;
use loom::sync::atomic::AtomicUsize;
use std::cell::Cell;

loom::thread_local! {
    /// Which of the kernel's threads this one is.
    static ME: Cell<usize> = Cell::new(0);
}

/// What the kernel knows.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// The CPU of each thread; changed with the lock of the CPU that the thread leaves.
    places: Vec<AtomicUsize>,
    cpus: Vec<Mutex<()>>,
    /// Whether a sequence is begun again after a migration; a kernel that does not is a control.
    restarts: bool,
}

/// As the real one: copied into whatever makes sequences.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area(&'static Kernel);

/// As the real one.
pub(crate) fn find(_: &topology::Places) -> Result<Area, &'static str> {
    Err("under loom only the model's kernel has areas")
}

#[cfg_attr(not(test), allow(dead_code, reason = "the scenarios' side"))]
impl Area {
    /// A machine of so many CPUs whose threads begin on these.
    pub(crate) fn new(cpus: usize, places: &[usize], restarts: bool) -> Area {
        Area(Box::leak(Box::new(Kernel {
            places: places.iter().map(|&cpu| AtomicUsize::new(cpu)).collect(),
            cpus: (0..cpus).map(|_| Mutex::new(())).collect(),
            restarts,
        })))
    }

    /// The calling thread is this one from now on.
    pub(crate) fn run_as(self, thread: usize) {
        ME.with(|me| me.set(thread));
    }

    /// Moves a thread, at whatever moment loom chooses.
    pub(crate) fn migrate(self, thread: usize, to: usize) {
        let from = self.place(thread);
        let left = self.0.cpus[from].lock().unwrap();
        self.0.places[thread].store(to, Ordering::Relaxed);
        drop(left);
    }

    fn place(self, thread: usize) -> usize {
        // An addition of nothing, because a plain load would hide interleavings from loom (see `primitive`).
        self.0.places[thread].fetch_add(0, Ordering::Relaxed)
    }

    /// A sequence: all of it on the CPU that it is told.
    fn step<T>(self, sequence: impl Fn(usize) -> T) -> T {
        let me = ME.with(Cell::get);
        loop {
            let cpu = self.place(me);
            if !self.0.restarts {
                return sequence(cpu);
            }
            let alone = self.0.cpus[cpu].lock().unwrap();
            if self.place(me) == cpu {
                let outcome = sequence(cpu);
                drop(alone);
                return outcome;
            }
        }
    }
}

/// As the real one.
pub(crate) fn is_inlined(_: Area) -> bool {
    true
}

/// As the real one.
pub(crate) fn cpu(area: Area) -> Option<u32> {
    Some(area.place(ME.with(Cell::get)) as u32)
}

/// As the real one.
///
/// # Safety
/// As for the real one; here nothing can go wrong but what loom finds.
pub(crate) unsafe fn take(area: Area, slots: &[Slot], grains: u64) -> Taken {
    // SAFETY: the caller's promise.
    unsafe { take_aligned(area, slots, grains, 0) }
}

/// As the real one.
///
/// # Safety
/// As for [`take`].
pub(crate) unsafe fn take_aligned(area: Area, slots: &[Slot], grains: u64, gap: u64) -> Taken {
    area.step(|cpu| {
        let Some(slot) = slots.get(cpu) else { return Taken::Short };
        // Acquire on both processors. Relaxed below, as on aarch64: the lock is the kernel between two threads of a CPU.
        let word = slot.words[0].load(Ordering::Acquire);
        let Some(new) = cut(word, grains, gap) else { return Taken::Short };
        slot.words[0].store(new, Ordering::Relaxed);
        Taken::Done(word)
    })
}

/// As the real one.
///
/// # Safety
/// As for [`take`].
pub(crate) unsafe fn take_by_any(area: Area, slots: &[Slot], grains: u64, gap: u64) -> Taken {
    // SAFETY: the caller's promise.
    unsafe { take_aligned(area, slots, grains, gap) }
}

/// As the real one.
///
/// # Safety
/// As for [`take`].
pub(crate) unsafe fn replace(area: Area, word: &Atomic64, cpu: u32, old: u64, new: u64) -> bool {
    area.step(|now| {
        let same = now == cpu as usize && word.load(Ordering::Acquire) == old;
        if same {
            word.store(new, Ordering::Relaxed);
        }
        same
    })
}
