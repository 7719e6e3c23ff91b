//! Times of operations in windows. The program keeps them apart by the number of the stretch of time that it is told of: a side, and one of a
//! few groups of blocks, so that the groups' scatter gives the interval.
//!
//! An operation belongs to the window in which it began, wherever it ends: none is lost for its length. What runs after the window's end runs on
//! the other side, half of it where an operation is as long as a window; times of more than half a window are no evidence. A pause for a collection falls to the side whose window it met, not to the
//! one whose garbage it was for: what buffers do to collections is not in these times.

use jvm::workload::Stretch;
use serde::{Deserialize, Serialize};
use statistics::Interval;
use statistics::trimmed::geometric;
use std::time::Duration;

/// Of neighbouring blocks each is of another group: a drift is in all of them.
const GROUPS: usize = 8;
/// So many operations have to be beyond a percentile in each group: it would be the time of a single one otherwise.
pub const BEYOND: f64 = 10.0;

/// The number of a window's stretch: of 0 is none.
pub(crate) fn stretch(block: usize, side: usize) -> u64 {
    (1 + 2 * (block % GROUPS) + side) as u64
}

/// Ratios of side a over side b; `null` where too few operations were beyond a percentile, or it is longer than half a window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub p50: Option<Interval>,
    pub p99: Option<Interval>,
    pub p999: Option<Interval>,
}

impl Latency {
    /// Of windows of this length. `None` where the program tells no stretches apart.
    pub fn of(stretches: &[Stretch], window: Duration) -> Option<Latency> {
        let longest = window.as_secs_f64() * 1e3 / 2.0;
        let of = |share: f64, time: fn(&Stretch) -> f64| {
            let find = |number| stretches.iter().find(|one| one.number == number);
            let ratio = |group| {
                let [a, b] = [0, 1].map(|side| find(stretch(group, side)));
                let (a, b) = (a?, b?);
                let beyond = share * a.operations.min(b.operations);
                let fit = [a, b].iter().all(|one| time(one) > 0.0 && time(one) <= longest);
                (beyond >= BEYOND && fit).then(|| time(a) / time(b))
            };
            let ratios: Option<Vec<f64>> = (0..GROUPS).map(ratio).collect();
            geometric(&ratios?)
        };
        (!stretches.is_empty()).then(|| Latency {
            p50: of(0.5, |one| one.p50_ms),
            p99: of(0.01, |one| one.p99_ms),
            p999: of(0.001, |one| one.p999_ms),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_give_ratios_with_an_interval_where_operations_are_enough() {
        let stretches: Vec<Stretch> = (0..2 * GROUPS)
            .map(|number| {
                let (block, side) = (number / 2, number % 2);
                let slower =
                    if side == 0 { 1.1 } else { 1.0 } * (1.0 + 0.001 * (block % 3) as f64 * side as f64);
                Stretch {
                    number: stretch(block, side),
                    operations: 2_000.0,
                    p50_ms: 1.0,
                    p99_ms: 3.0 * slower,
                    p999_ms: 9.0,
                }
            })
            .collect();
        let window = Duration::from_millis(100);
        let found = Latency::of(&stretches, window).unwrap();
        assert_eq!(found.p50.unwrap().median, 1.0);
        let p99 = found.p99.unwrap();
        assert!(p99.low > 1.09 && p99.high < 1.11 && p99.low < p99.high, "{p99:?}");
        assert_eq!(found.p999, None, "two operations beyond it are none");
        let short = Latency::of(&stretches, Duration::from_millis(6)).unwrap();
        assert_eq!((short.p50.map(|p50| p50.median), short.p99), (Some(1.0), None), "half a window is 3 ms");
        assert_eq!(Latency::of(&stretches[1..], window).unwrap().p50, None, "a group lacks a side");
        assert_eq!(Latency::of(&[], window), None);
        assert_eq!(stretch(GROUPS + 1, 1), stretch(1, 1));
    }
}
