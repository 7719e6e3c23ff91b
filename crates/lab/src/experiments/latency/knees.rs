//! Where the time for a load leaves its plateaus.

use statistics::Interval;

/// What was measured at a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub bytes: f64,
    pub time: Interval,
}

/// A cache as the machine tells it, and what the loads say of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knee {
    pub level: u32,
    pub cache_bytes: f64,
    /// Where loads from it take least.
    pub plateau: Point,
    /// Where loads take [`RISE`] times as long as on the plateau; `None` when they never do. From where they might to where they must,
    /// by the intervals of their times.
    pub at_bytes: Option<Interval>,
}

/// How much longer than on the plateau a load takes where the plateau ends.
const RISE: f64 = 1.3;

/// The knee of each cache (level, bytes), from points in ascending order of size.
///
/// A level's plateau is the least time between three times the level below, where that hardly helps any more (or the geometric
/// middle of the two, where that is less), and itself; the knee is the first size from there on at which a load takes [`RISE`] times as long, between
/// two measured sizes on the line through them in logarithms. A level without a point on its plateau is left out.
pub(super) fn knees(points: &[Point], caches: &[(u32, f64)]) -> Vec<Knee> {
    let mut below = points.first().map_or(1.0, |point| point.bytes);
    let mut knees = Vec::new();
    for &(level, cache_bytes) in caches {
        let from = (below * cache_bytes).sqrt().min(3.0 * below);
        below = cache_bytes;
        let on_plateau = (points.iter().enumerate())
            .filter(|(_, point)| (from..=cache_bytes).contains(&point.bytes))
            .min_by(|(_, a), (_, b)| a.time.median.total_cmp(&b.time.median));
        if let Some((index, plateau)) = on_plateau {
            let at_bytes = rise(&points[index..], &plateau.time);
            knees.push(Knee { level, cache_bytes, plateau: *plateau, at_bytes });
        }
    }
    knees
}

fn rise(points: &[Point], plateau: &Interval) -> Option<Interval> {
    let median = first_above(points, |time| time.median, plateau.median * RISE)?;
    let low = first_above(points, |time| time.high, plateau.low * RISE).unwrap_or(median).min(median);
    let high = first_above(points, |time| time.low, plateau.high * RISE).unwrap_or(f64::INFINITY).max(median);
    Some(Interval { median, low, high })
}

fn first_above(points: &[Point], time: fn(&Interval) -> f64, limit: f64) -> Option<f64> {
    points.windows(2).find(|pair| time(&pair[1].time) > limit).map(|pair| {
        let [before, after] = [time(&pair[0].time), time(&pair[1].time)];
        let share = ((limit / before).ln() / (after / before).ln()).clamp(0.0, 1.0);
        pair[0].bytes * (pair[1].bytes / pair[0].bytes).powf(share)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CACHES: [(u32, f64); 3] = [(1, 48.0 * 1024.0), (2, 1048576.0), (3, 32.0 * 1048576.0)];

    /// Steps that begin a little before `ends` and are over at twice the size.
    fn points(ends: [f64; 3]) -> Vec<Point> {
        let times = [1.0, 3.5, 12.0, 100.0];
        let mut bytes = 4096.0;
        let mut points = Vec::new();
        while bytes <= 256.0 * 1048576.0 {
            for step in [1.0, 1.5] {
                let bytes: f64 = bytes * step;
                let time = ends.iter().zip(times.windows(2)).fold(times[0], |time, (end, steps)| {
                    // From 0 to 1 between the end and twice of it.
                    let share = (bytes / end).log2().clamp(0.0, 1.0);
                    time + share * (steps[1] - steps[0])
                });
                points.push(Point { bytes, time: Interval::exactly(time) });
            }
            bytes *= 2.0;
        }
        points
    }

    /// Whether each knee is where the cache ends, within a factor of 2.
    fn fits(knees: &[Knee]) -> Vec<bool> {
        let ratio = |knee: &Knee| knee.at_bytes.unwrap().median / knee.cache_bytes;
        knees.iter().map(|knee| (0.5..=2.0).contains(&ratio(knee))).collect()
    }

    #[test]
    fn steps_at_the_caches_ends_are_found_there() {
        let knees = knees(&points(CACHES.map(|(_, bytes)| bytes)), &CACHES);
        assert_eq!(fits(&knees), [true; 3], "{knees:?}");
        let plateaus: Vec<f64> = knees.iter().map(|knee| knee.plateau.time.median).collect();
        assert_eq!(plateaus, [1.0, 3.5, 12.0]);
    }

    #[test]
    fn a_cache_that_is_smaller_than_told_is_noticed() {
        let knees = knees(&points([48.0 * 1024.0, 1048576.0, 6.0 * 1048576.0]), &CACHES);
        assert_eq!(fits(&knees), [true, true, false]);
        // Of what there is of it, the time is still the cache's.
        assert_eq!(knees[2].plateau.time.median, 12.0);
    }

    #[test]
    fn what_does_not_rise_has_no_knee() {
        let flat: Vec<Point> =
            [4096.0, 32768.0, 65536.0].map(|bytes| Point { bytes, time: Interval::exactly(1.0) }).into();
        let knees = knees(&flat, &CACHES);
        assert_eq!(knees.len(), 1);
        assert_eq!(knees[0].at_bytes, None);
        assert!(super::knees(&[], &CACHES).is_empty());
    }

    #[test]
    fn what_the_times_leave_open_is_open_of_the_knee() {
        let noisy = |point: Point| {
            let time = point.time.median;
            Point { time: Interval { median: time, low: time * 0.9, high: time * 1.1 }, ..point }
        };
        let exact = points(CACHES.map(|(_, bytes)| bytes));
        let noisy: Vec<Point> = exact.iter().copied().map(noisy).collect();
        for (exact, noisy) in knees(&exact, &CACHES).iter().zip(knees(&noisy, &CACHES)) {
            let (exact, noisy) = (exact.at_bytes.unwrap(), noisy.at_bytes.unwrap());
            assert_eq!(exact.low, exact.high);
            assert!(noisy.low < exact.median && exact.median < noisy.high, "{noisy:?}");
        }
    }
}
