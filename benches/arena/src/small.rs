//! An arena for each request: made, filled with objects of 64 bytes, and dropped, again and again; by one thread and by one for each CPU.

use crate::settings::cpus;
use arena::{Arena, Path};
use serde::Serialize;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// What an arena is filled with, in bytes; 0: it is only made and dropped.
pub const SIZES: [usize; 6] = [0, 64, 1 << 10, 16 << 10, 128 << 10, 1 << 20];

/// Whose arenas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Maker {
    /// `Arena::new()`.
    Thread,
    /// With core buffers.
    Core,
    /// A [`arena::Local`] of a new arena.
    Local,
    /// `Arena::new()` where nothing is kept of earlier ones: all are alive at the same time.
    Unkept,
    Bumpalo,
    BumpScope,
    /// `blink_alloc::Blink`.
    Blink,
}

impl Maker {
    pub const ALL: [Maker; 7] = [
        Maker::Bumpalo,
        Maker::Thread,
        Maker::Local,
        Maker::Core,
        Maker::BumpScope,
        Maker::Blink,
        Maker::Unkept,
    ];

    /// As tables write it.
    pub const fn name(self) -> &'static str {
        match self {
            Maker::Thread => "arena, thread buffers",
            Maker::Core => "arena, core buffers",
            Maker::Local => "arena, a hold of one's own",
            Maker::Unkept => "arena, all alive at once",
            Maker::Bumpalo => "bumpalo",
            Maker::BumpScope => "bump-scope",
            Maker::Blink => "blink-alloc",
        }
    }
}

/// What was found for one size and number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct Small {
    /// Bytes of objects in each arena.
    pub bytes: usize,
    pub threads: usize,
    /// Nanoseconds for each arena and CPU; the same position is the same round.
    pub rounds: BTreeMap<Maker, Vec<f64>>,
}

/// One request.
#[inline(always)]
fn fill(objects: usize, mut alloc: impl FnMut([u64; 8]) -> *const u64) {
    for number in 0..objects as u64 {
        black_box(alloc([number; 8]));
    }
}

fn request(maker: Maker, objects: usize) {
    match maker {
        Maker::Thread | Maker::Unkept => {
            let arena = Arena::new();
            fill(objects, |value| arena.alloc(value).as_ptr());
            black_box(&arena);
        }
        Maker::Core => {
            let Ok(arena) = Arena::builder().path(Path::Core).build() else { return };
            fill(objects, |value| arena.alloc(value).as_ptr());
            black_box(&arena);
        }
        Maker::Local => {
            let arena = Arena::new();
            let local = arena.local();
            fill(objects, |value| local.alloc(value).as_ptr());
            black_box(&arena);
        }
        Maker::Bumpalo => {
            let bump = bumpalo::Bump::new();
            fill(objects, |value| bump.alloc(value).as_ptr());
            black_box(&bump);
        }
        Maker::BumpScope => {
            let bump: bump_scope::Bump = bump_scope::Bump::new();
            fill(objects, |value| bump.alloc(value).as_ptr());
            black_box(&bump);
        }
        Maker::Blink => {
            let blink = blink_alloc::Blink::new();
            fill(objects, |value| blink.put(value).as_ptr());
            black_box(&blink);
        }
    }
}

/// So many requests; what they took.
fn requests(maker: Maker, objects: usize, count: usize) -> Duration {
    if maker == Maker::Unkept {
        arena::trim();
        let since = Instant::now();
        let mut all = Vec::with_capacity(count);
        for _ in 0..count {
            let arena = Arena::new();
            fill(objects, |value| arena.alloc(value).as_ptr());
            all.push(arena);
        }
        drop(all);
        return since.elapsed();
    }
    let since = Instant::now();
    (0..count).for_each(|_| request(maker, objects));
    since.elapsed()
}

/// Nanoseconds for each arena, of so many threads at the same time.
fn pass(maker: Maker, objects: usize, threads: usize, count: usize) -> f64 {
    let barrier = Barrier::new(threads);
    let longest = thread::scope(|scope| {
        let work = || {
            barrier.wait();
            requests(maker, objects, count)
        };
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        handles.into_iter().filter_map(|handle| handle.join().ok()).max()
    });
    longest.unwrap_or_default().as_secs_f64() * 1e9 / count as f64
}

/// Measures all sizes, in rounds that go through all makers and back.
pub fn measure(rounds: usize, bytes_of_a_pass: usize) -> Vec<Small> {
    let mut threads = vec![1];
    if cpus() > 1 {
        threads.push(cpus());
    }
    let mut found = Vec::new();
    for bytes in SIZES {
        for &threads in &threads {
            let objects = bytes / 64;
            // A few milliseconds each; what is all alive at once is little memory.
            let count = (bytes_of_a_pass / bytes.max(4 << 10)).clamp(8, 2000);
            let mut small = Small { bytes, threads, rounds: BTreeMap::new() };
            for maker in Maker::ALL {
                pass(maker, objects, threads, count);
            }
            for _ in 0..rounds {
                let mut sums: BTreeMap<Maker, f64> = BTreeMap::new();
                for maker in Maker::ALL.into_iter().chain(Maker::ALL.into_iter().rev()) {
                    *sums.entry(maker).or_default() += pass(maker, objects, threads, count) / 2.0;
                }
                for (maker, nanoseconds) in sums {
                    small.rounds.entry(maker).or_default().push(nanoseconds);
                }
            }
            found.push(small);
        }
    }
    found
}
