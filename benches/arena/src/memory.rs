//! Memory that many threads hold which allocate little.
//!
//! Each contestant is measured in a process of its own, so that none finds memory that another one left: all threads are started and
//! wait; what is resident then is the start. They allocate and write, and wait again. All on small pages: a huge one would be
//! resident as a whole.

use crate::contestants::{Contestant, Malloc};
use crate::settings;
use crate::with_malloc;
use arena::Arena;
use serde::{Deserialize, Serialize};
use std::alloc::Layout;
use std::process::Command;
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;

pub const THREADS: usize = 1000;
/// Objects of each thread.
const OBJECTS: usize = 16;
/// Words of an object.
const WORDS: usize = 8;
/// Stacks: nothing here needs more.
const STACK: usize = 64 << 10;

/// What one process found, in bytes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Held {
    /// Taken from the arena's reserve; of the others nobody tells.
    pub used: Option<u64>,
    /// What became resident while the threads allocated, their own stacks included.
    pub resident: u64,
}

/// Who is measured: `Floor` allocates nothing, which shows what the threads themselves need.
pub fn contestants() -> impl Iterator<Item = Contestant> {
    Contestant::ALL
        .iter()
        .copied()
        .filter(|one| !matches!(one, Contestant::Bumpalo | Contestant::NoPrefetch | Contestant::Local))
}

/// Measures one contestant in a process of its own.
pub fn in_a_process(contestant: Contestant) -> Result<Held, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = settings::on_small_pages(Command::new(program).args(["--memory-of", contestant.name()]))
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("{contestant}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("{contestant}: {error}"))
}

/// Measures one contestant in this process.
pub fn here(contestant: Contestant) -> Result<Held, String> {
    let arena = contestant.arena().map_err(|error| error.to_string())?;
    let barrier = Barrier::new(THREADS + 1);
    let sum = Mutex::new(0_u64);
    let layout = Layout::new::<[u64; WORDS]>();
    let take = |arena: Option<&Arena>| match arena {
        Some(arena) => arena.try_alloc_layout(layout).map_or(std::ptr::null_mut(), |at| at.as_ptr()),
        None => with_malloc!(contestant, |library| library.take(layout), else std::ptr::null_mut()),
    };
    let live = || {
        let mut objects = [std::ptr::null_mut::<u64>(); OBJECTS];
        barrier.wait();
        barrier.wait();
        if contestant != Contestant::Floor {
            for (number, place) in objects.iter_mut().enumerate() {
                let at = take(arena.as_ref()).cast::<u64>();
                if at.is_null() {
                    end("no memory");
                }
                for word in 0..WORDS {
                    // SAFETY: an object of so many words, which nobody else has.
                    unsafe { at.add(word).write((number * WORDS + word) as u64) };
                }
                *place = at;
            }
        }
        barrier.wait();
        // The measuring thread looks now.
        barrier.wait();
        let own: u64 = objects
            .iter()
            .filter(|at| !at.is_null())
            // SAFETY: as above, and all of its words were written.
            .map(|at| (0..WORDS).map(|word| unsafe { at.add(word).read() }).sum::<u64>())
            .sum();
        *sum.lock().unwrap_or_else(PoisonError::into_inner) += own;
    };
    let held = thread::scope(|scope| {
        for _ in 0..THREADS {
            let thread = thread::Builder::new().stack_size(STACK);
            if let Err(error) = thread.spawn_scoped(scope, live) {
                end(&format!("{THREADS} threads: {error}; raise the limit of processes"));
            }
        }
        barrier.wait();
        // All are there, with their stacks touched, and wait again.
        let before = resident();
        barrier.wait();
        barrier.wait();
        let after = resident();
        let used = arena.as_ref().map(|arena| arena.stats().used_bytes as u64);
        barrier.wait();
        Ok::<Held, String>(Held { used, resident: after?.saturating_sub(before?) })
    })?;
    let words = (OBJECTS * WORDS) as u64;
    let right = if contestant == Contestant::Floor { 0 } else { THREADS as u64 * (words * (words - 1) / 2) };
    let found = *sum.lock().unwrap_or_else(PoisonError::into_inner);
    if found == right {
        Ok(held)
    } else {
        Err(format!("{contestant}: the words sum up to {found}, not {right}"))
    }
}

/// Ends the process, since the other threads wait for this one.
fn end(why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(1)
}

/// Resident bytes of this process, counted page by page.
fn resident() -> Result<u64, String> {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").map_err(|error| error.to_string())?;
    text.lines()
        .find_map(|line| line.strip_prefix("Rss:")?.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok())
        .map(|kilobytes| kilobytes << 10)
        .ok_or_else(|| "/proc/self/smaps_rollup has no Rss".into())
}
