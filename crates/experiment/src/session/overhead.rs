//! What the harness adds to what it measures: the time of a kernel through it, over the time of a bare loop.

use crate::native::time;
use statistics::{Interval, bootstrap};
use std::hint::black_box;
use std::time::{Duration, Instant};

const PAIRS: usize = 24;
const LENGTH: Duration = Duration::from_millis(8);
/// As native experiments use it: some microseconds of work for each look at the clock.
const BATCH: u64 = 10_000;

fn kernel(state: &mut u64, count: u64) {
    for _ in 0..count {
        *state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

/// The ratio of neighbouring pairs, in turn first one and first the other.
pub fn measure() -> Option<Interval> {
    let mut state = 1;
    // As many operations as fit into the length: the bare loop must not look at the clock.
    let once = time::each(LENGTH, BATCH, |count| kernel(&mut state, count));
    let operations = (LENGTH.as_secs_f64() / once) as u64;
    let mut ratios = Vec::new();
    for pair in 0..PAIRS {
        let mut through = 0.0;
        let mut bare = 0.0;
        for second in [false, true] {
            if (pair % 2 == 0) == second {
                through = time::each(LENGTH, BATCH, |count| kernel(&mut state, count));
            } else {
                let since = Instant::now();
                kernel(&mut state, operations);
                bare = since.elapsed().as_secs_f64() / operations as f64;
            }
        }
        ratios.push(through / bare);
    }
    bootstrap(&ratios, 1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_measured() {
        let found = super::measure().unwrap();
        assert!(found.low <= found.median && found.median <= found.high && found.low > 0.0);
    }
}
