//! Timing a kernel, alone or on several threads at once.

use statistics::median;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Runs a kernel in batches until `length` is over; seconds for each operation.
///
/// `kernel(n)` does n operations. The batch is so large that reading the clock is lost in it.
pub fn each(length: Duration, batch: u64, mut kernel: impl FnMut(u64)) -> f64 {
    let since = Instant::now();
    let mut operations = 0_u64;
    loop {
        kernel(batch);
        operations += batch;
        let passed = since.elapsed();
        if passed >= length {
            return passed.as_secs_f64() / operations as f64;
        }
    }
}

/// Runs a kernel in batches for `length`; nanoseconds for each operation in the median batch.
///
/// As [`each`], but of batches in which the thread did not run all the time, or was disturbed, nothing is seen unless they
/// are the most.
pub fn typical(length: Duration, batch: u64, mut kernel: impl FnMut(u64)) -> f64 {
    let since = Instant::now();
    let mut times = Vec::new();
    loop {
        let begin = Instant::now();
        kernel(batch);
        times.push(begin.elapsed().as_secs_f64() * 1e9 / batch as f64);
        if since.elapsed() >= length {
            return median(&times).unwrap_or(f64::NAN);
        }
    }
}

/// Runs `work(thread)` on `threads` threads that begin together; what each returned, in their order.
pub fn together<T: Send>(threads: u32, work: impl Fn(u32) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(threads as usize);
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|thread| {
                let (barrier, work) = (&barrier, &work);
                scope.spawn(move || {
                    barrier.wait();
                    work(thread)
                })
            })
            .collect();
        handles.into_iter().filter_map(|handle| handle.join().ok()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_counted() {
        let mut done = 0;
        let seconds = each(Duration::from_millis(5), 100, |n| done += n);
        assert!(done % 100 == 0 && seconds > 0.0 && seconds * done as f64 >= 0.005);
    }

    #[test]
    fn there_is_a_batch_however_short_the_time() {
        let mut done = 0;
        assert!(typical(Duration::ZERO, 100, |n| done += n).is_finite());
        assert_eq!(done, 100);
    }

    #[test]
    fn threads_begin_together_and_answer_in_order() {
        assert_eq!(together(3, |thread| thread * 10), [0, 10, 20]);
    }
}
