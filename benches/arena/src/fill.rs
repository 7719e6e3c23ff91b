//! Filling gigabytes on huge pages: the arena's blocks against plain memory, written by the same threads with the same stores.

use arena::{Arena, PageSize, Path, Policy};
use pages::{Mapping, Mappings, Pool};
use serde::Serialize;
use std::alloc::Layout;
use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

const BLOCK: usize = 64 << 10;
const WORDS: usize = BLOCK / 8;
/// What the arena's buffers may hold at the end beyond what was asked for: 4 MB for each core, and more.
const SLACK: usize = 256 << 20;

/// How memory is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Plain memory, ordinary stores.
    PlainOrdinary,
    /// Blocks of the arena, ordinary stores.
    ArenaOrdinary,
    /// Plain memory, stores past the caches.
    PlainStreaming,
    /// Blocks of the arena, stores past the caches.
    ArenaStreaming,
}

impl Way {
    /// In the order of a forward pass.
    pub const ALL: [Way; 4] =
        [Way::PlainOrdinary, Way::ArenaOrdinary, Way::ArenaStreaming, Way::PlainStreaming];

    /// As tables write it.
    pub const fn name(self) -> &'static str {
        match self {
            Way::PlainOrdinary => "plain memory, ordinary stores",
            Way::ArenaOrdinary => "arena, ordinary stores",
            Way::PlainStreaming => "plain memory, streaming stores",
            Way::ArenaStreaming => "arena, streaming stores",
        }
    }

    const fn streams(self) -> bool {
        matches!(self, Way::PlainStreaming | Way::ArenaStreaming)
    }

    const fn plain(self) -> bool {
        matches!(self, Way::PlainOrdinary | Way::PlainStreaming)
    }
}

/// What was found on one kind of pages.
#[derive(Clone, Debug, Serialize)]
pub struct Filled {
    /// The kind asked for.
    pub asked: String,
    /// What plain memory and the arena really lie on.
    pub obtained: [String; 2],
    /// Bytes written in a pass.
    pub bytes: usize,
    pub threads: usize,
    /// GB/s (10^9 bytes), by round.
    pub rounds: BTreeMap<Way, Vec<f64>>,
}

/// Whether explicit 2 MB pages for both sides are there, and if not why.
pub fn explicit_available(bytes: usize) -> Result<(), String> {
    let size = PageSize::TwoMegabytes;
    let pool = Pool::find(size).map_err(|error| error.to_string())?;
    pool.holds(size.pages_for(2 * bytes + SLACK)).map_err(|error| error.to_string())
}

/// Measures on one kind of pages for so long, in whole rounds.
pub fn measure(bytes: usize, policy: Policy, fewest: usize, length: Duration) -> Result<Filled, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let threads = crate::settings::cpus();
    let each = bytes / BLOCK / threads;
    let mut plain = Mapping::touched(bytes, policy).map_err(|error| text(&error))?;
    let before = Mappings::of_this_process().map_err(|error| text(&error))?.anonymous().huge();
    let mut arena = Arena::builder()
        .path(Path::Thread)
        .pages(policy)
        .reserve(bytes + SLACK)
        .pre_touch(true)
        .build()
        .map_err(|error| text(&error))?;
    let huge = Mappings::of_this_process().map_err(|error| text(&error))?.anonymous().huge() - before;
    let on_arena = format!("{} MB of {} MB on huge pages", huge >> 20, (bytes + SLACK) >> 20);
    let obtained = [plain.obtained().map_err(|error| text(&error))?.to_string(), on_arena];
    let mut rounds: BTreeMap<Way, Vec<f64>> = BTreeMap::new();
    let mut run = |way: Way| -> Result<f64, String> {
        let time = if way.plain() {
            let parts = plain.as_mut_slice().chunks_exact_mut(each * BLOCK);
            let places =
                parts.take(threads).map(|part| part.as_mut_ptr().expose_provenance()).collect::<Vec<_>>();
            fill(threads, each, way, |thread, block| Some(places[thread] + block * BLOCK))?
        } else {
            let time = {
                let arena = &arena;
                let layout = Layout::from_size_align(BLOCK, 64).map_err(|error| text(&error))?;
                fill(threads, each, way, |_, _| {
                    Some(arena.try_alloc_layout(layout).ok()?.as_ptr().expose_provenance())
                })?
            };
            arena.reset();
            time
        };
        Ok((threads * each * BLOCK) as f64 / 1e9 / time.as_secs_f64())
    };
    for way in Way::ALL {
        run(way)?;
    }
    let since = Instant::now();
    let mut done = 0;
    while done < fewest || since.elapsed() < length {
        let mut sums: BTreeMap<Way, f64> = BTreeMap::new();
        for way in Way::ALL.into_iter().chain(Way::ALL.into_iter().rev()) {
            *sums.entry(way).or_default() += run(way)? / 2.0;
        }
        for (way, sum) in sums {
            rounds.entry(way).or_default().push(sum);
        }
        done += 1;
    }
    Ok(Filled { asked: policy.to_string(), obtained, bytes: threads * each * BLOCK, threads, rounds })
}

/// Has every thread take and write its blocks, then read them all; the time of taking and writing.
fn fill(
    threads: usize,
    each: usize,
    way: Way,
    take: impl Fn(usize, usize) -> Option<usize> + Sync,
) -> Result<Duration, String> {
    let barrier = Barrier::new(threads);
    let work = |thread: usize| {
        let mut blocks = Vec::with_capacity(each);
        barrier.wait();
        let start = Instant::now();
        for block in 0..each {
            let Some(at) = take(thread, block) else { break };
            let to = std::ptr::with_exposed_provenance_mut::<u64>(at);
            let value = (thread * each + block) as u64;
            // SAFETY: a block of so many words, aligned to 64 bytes, which this thread alone has.
            unsafe { if way.streams() { stream(to, value) } else { store(to, value) } };
            blocks.push(at);
        }
        let end = Instant::now();
        let right = blocks.len() == each
            && blocks.iter().enumerate().all(|(block, at)| {
                let from = std::ptr::with_exposed_provenance::<u64>(*at);
                // SAFETY: as above; all words were written, and this thread's own streaming stores are in order for it.
                let words = unsafe { std::slice::from_raw_parts(from, WORDS) };
                let value = (thread * each + block) as u64;
                words.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word))
                    == value.wrapping_mul(WORDS as u64)
            });
        right.then_some((start, end))
    };
    let work = &work;
    let spans: Vec<Option<(Instant, Instant)>> = thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        handles.into_iter().map(|handle| handle.join().ok().flatten()).collect()
    });
    let spans: Option<Vec<_>> = spans.into_iter().collect();
    let spans =
        spans.ok_or_else(|| format!("{}: no memory, or the words read are not those written", way.name()))?;
    let (start, end) = (spans.iter().map(|span| span.0).min(), spans.iter().map(|span| span.1).max());
    start.zip(end).map(|(start, end)| end - start).ok_or_else(|| "no threads".into())
}

/// # Safety
/// `to` points to a block.
#[inline(never)]
unsafe fn store(to: *mut u64, value: u64) {
    // SAFETY: as the caller vouches.
    unsafe { std::slice::from_raw_parts_mut(to, WORDS) }.fill(value);
}

/// # Safety
/// `to` points to a block, aligned to 64 bytes.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
unsafe fn stream(to: *mut u64, value: u64) {
    use std::arch::x86_64::{__m128i, _mm_set1_epi64x, _mm_sfence, _mm_stream_si128};
    let to = to.cast::<__m128i>();
    // SAFETY: as the caller vouches; every x86-64 processor has SSE2. The fence orders the stores before whatever follows, which
    // streaming stores need at their end.
    unsafe {
        let value = _mm_set1_epi64x(value.cast_signed());
        for number in 0..BLOCK / 16 {
            _mm_stream_si128(to.add(number), value);
        }
        _mm_sfence();
    }
}

/// Elsewhere there is no such store in the standard library: an ordinary one.
///
/// # Safety
/// As `store`.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn stream(to: *mut u64, value: u64) {
    // SAFETY: as the caller vouches.
    unsafe { store(to, value) }
}
