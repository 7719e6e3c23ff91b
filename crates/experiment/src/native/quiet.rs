//! Measuring again what another program disturbed.

use super::pin::thread_cpu;
use std::time::Instant;

/// A thread that had less of its CPU's time was disturbed; the rest is the kernel's own.
pub const ENOUGH: f64 = 0.9;
/// How often something is measured at most.
const ATTEMPTS: usize = 4;

/// What was measured, and which share of its CPU's time the thread had meanwhile: of several threads the least share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shared<T> {
    /// What was measured.
    pub value: T,
    /// 1 when nothing else ran on that CPU, or the kernel does not tell.
    pub share: f64,
}

impl<T> Shared<T> {
    /// Whether it was measured without a disturbance.
    pub fn undisturbed(&self) -> bool {
        self.share >= ENOUGH
    }
}

/// Does `work`, which does not wait, on the calling thread.
pub fn shared<T>(work: impl FnOnce() -> T) -> Shared<T> {
    let (since, before) = (Instant::now(), thread_cpu());
    let value = work();
    let (wall, after) = (since.elapsed().as_secs_f64(), thread_cpu());
    let used = before.zip(after).map(|(before, after)| after.saturating_sub(before).as_secs_f64());
    Shared { value, share: used.filter(|_| wall > 0.0).map_or(1.0, |used| used / wall) }
}

/// Measures until nothing disturbs, at most [`ATTEMPTS`] times; otherwise what was disturbed least.
pub fn quietest<T>(mut measure: impl FnMut() -> Shared<T>) -> Shared<T> {
    let mut best = measure();
    for _ in 1..ATTEMPTS {
        if best.undisturbed() {
            break;
        }
        let next = measure();
        if next.share > best.share {
            best = next;
        }
    }
    best
}

/// What is said where not all could be measured without a disturbance.
pub const DISTURBED: &str =
    "other programs ran on the CPUs of the measuring threads: stop them and measure again";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_disturbed_attempt_counts() {
        let shares = |shares: &[f64]| {
            let mut attempts = shares.iter().enumerate();
            let mut measured = 0;
            let best = quietest(|| {
                measured += 1;
                let (value, share) = attempts.next().unwrap();
                Shared { value, share: *share }
            });
            (best.value, measured)
        };
        assert_eq!(shares(&[0.95]), (0, 1));
        assert_eq!(shares(&[0.5, 0.99]), (1, 2));
        assert_eq!(shares(&[0.5, 0.8, 0.3, 0.7]), (1, 4));
    }

    #[test]
    fn a_sleeping_thread_does_not_have_its_cpu() {
        let slept = shared(|| std::thread::sleep(std::time::Duration::from_millis(20)));
        assert!(!slept.undisturbed());
    }
}
