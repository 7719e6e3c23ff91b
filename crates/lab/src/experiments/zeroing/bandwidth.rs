//! How fast this machine writes to memory.

use super::kernels::non_temporal;
use experiment::native::quiet::{Shared, shared};
use experiment::native::time::together;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Writes `region` (several times the largest cache, every page touched) by `threads` threads at once, around the caches, over and
/// over for `length`; bytes for each second of all threads together.
pub fn write(region: &mut [u8], threads: u32, length: Duration) -> Shared<f64> {
    let rates = in_parts(region, threads, |part| {
        let since = Instant::now();
        let mut written = 0;
        // In pieces, so that all threads stop at about the same time however large their parts are.
        loop {
            for piece in part.chunks_mut(1 << 20) {
                non_temporal(piece);
                written += piece.len();
                let passed = since.elapsed();
                if passed >= length {
                    return written as f64 / passed.as_secs_f64();
                }
            }
        }
    });
    Shared { value: rates.value.iter().sum(), share: rates.share }
}

/// Runs `work` on `threads` threads that begin together, each with a part of `region` of its own. One thread is the calling one.
pub fn in_parts<T: Send>(
    region: &mut [u8],
    threads: u32,
    work: impl Fn(&mut [u8]) -> T + Sync,
) -> Shared<Vec<T>> {
    if threads <= 1 {
        let done = shared(|| work(region));
        return Shared { value: vec![done.value], share: done.share };
    }
    let part = (region.len() / threads as usize).max(1);
    // Each thread takes its own part out of its slot; the locks are never contended.
    let parts: Vec<Mutex<&mut [u8]>> = region.chunks_exact_mut(part).map(Mutex::new).collect();
    let done = together(threads, |thread| {
        let mut part = parts.get(thread as usize)?.lock().unwrap_or_else(PoisonError::into_inner);
        Some(shared(|| work(&mut part)))
    });
    let done: Vec<Shared<T>> = done.into_iter().flatten().collect();
    let share = done.iter().map(|one| one.share).fold(1.0, f64::min);
    Shared { value: done.into_iter().map(|one| one.value).collect(), share }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_threads_part_is_written() {
        let mut memory = vec![1; 3 << 20];
        assert!(write(&mut memory, 3, Duration::from_millis(20)).value > 0.0);
        assert!(memory.iter().all(|byte| *byte == 0));
    }
}
