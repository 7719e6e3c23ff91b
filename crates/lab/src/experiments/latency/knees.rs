//! Where the time for a load leaves its plateaus.

/// What was measured at a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub bytes: f64,
    /// Time for a load.
    pub time: f64,
}

/// A cache as the machine tells it, and what the loads say of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knee {
    pub level: u32,
    pub cache_bytes: f64,
    /// The time for a load from it.
    pub plateau: f64,
    /// Where loads take 30 % longer than on the plateau; `None` when they never do.
    pub at_bytes: Option<f64>,
}

impl Knee {
    /// Whether it is where the cache ends, within a factor of 2.
    pub fn fits(&self) -> Option<bool> {
        let ratio = self.at_bytes? / self.cache_bytes;
        Some((0.5..=2.0).contains(&ratio))
    }
}

/// How much longer than on the plateau a load takes where the plateau ends.
pub(super) const RISE: f64 = 1.3;

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
            .min_by(|(_, a), (_, b)| a.time.total_cmp(&b.time));
        if let Some((index, lowest)) = on_plateau {
            let at_bytes = first_above(&points[index..], lowest.time * RISE);
            knees.push(Knee { level, cache_bytes, plateau: lowest.time, at_bytes });
        }
    }
    knees
}

fn first_above(points: &[Point], limit: f64) -> Option<f64> {
    points.windows(2).find(|pair| pair[1].time > limit).map(|pair| {
        let [before, after] = [pair[0], pair[1]];
        let share = (limit / before.time).ln() / (after.time / before.time).ln();
        before.bytes * (after.bytes / before.bytes).powf(share)
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
                points.push(Point { bytes, time });
            }
            bytes *= 2.0;
        }
        points
    }

    #[test]
    fn steps_at_the_caches_ends_are_found_there() {
        let knees = knees(&points(CACHES.map(|(_, bytes)| bytes)), &CACHES);
        assert_eq!(knees.len(), 3);
        assert!(knees.iter().all(|knee| knee.fits() == Some(true)), "{knees:?}");
        let plateaus: Vec<f64> = knees.iter().map(|knee| knee.plateau).collect();
        assert_eq!(plateaus, [1.0, 3.5, 12.0]);
    }

    #[test]
    fn a_cache_that_is_smaller_than_told_is_noticed() {
        let knees = knees(&points([48.0 * 1024.0, 1048576.0, 6.0 * 1048576.0]), &CACHES);
        let fits: Vec<_> = knees.iter().map(Knee::fits).collect();
        assert_eq!(fits, [Some(true), Some(true), Some(false)]);
        // Of what there is of it, the time is still the cache's.
        assert_eq!(knees[2].plateau, 12.0);
    }

    #[test]
    fn what_does_not_rise_has_no_knee() {
        let flat: Vec<Point> = [4096.0, 32768.0, 65536.0].map(|bytes| Point { bytes, time: 1.0 }).into();
        let knees = knees(&flat, &CACHES);
        assert_eq!(knees.len(), 1);
        assert_eq!((knees[0].at_bytes, knees[0].fits()), (None, None));
        assert!(super::knees(&[], &CACHES).is_empty());
    }
}
