//! How long the requests took that an observer has passed on (`levels=none,times=true`).

use crate::clock::Clock;
use crate::observe::settings;
use control::View;
use control::times::{BUCKETS, Kind, Times, Way, least};
use serde::Serialize;

/// The times of all domains, by what was asked for and how it was served.
#[derive(Clone, Debug, PartialEq)]
pub struct RefillTimes {
    ways: [[Taken; Way::ALL.len()]; Kind::ALL.len()],
}

impl RefillTimes {
    /// What an agent has timed so far; `None` if it does not, or by a clock that cannot be read here. The first call of a process
    /// takes 50 ms, see [`Clock::named`].
    pub fn read(view: &View) -> Option<RefillTimes> {
        if view.times().is_empty() {
            return None;
        }
        let clock = Clock::named(settings(view)["clock"].as_str()?)?;
        let ways = Kind::ALL.map(|kind| {
            Way::ALL.map(|way| {
                let domains = view.times().iter().map(|times| Taken::read(times, kind, way, clock));
                domains.fold(Taken::none(clock), |sum, domain| sum.and(&domain))
            })
        });
        Some(RefillTimes { ways })
    }

    /// What has been timed since an earlier reading.
    pub fn since(&self, earlier: &RefillTimes) -> RefillTimes {
        let each = |kind, way| self.of(kind, way).since(earlier.of(kind, way));
        RefillTimes { ways: Kind::ALL.map(|kind| Way::ALL.map(|way| each(kind, way))) }
    }

    pub fn of(&self, kind: Kind, way: Way) -> &Taken {
        &self.ways[kind as usize][way as usize]
    }

    pub fn summaries(&self) -> Summaries {
        let ways = |kind| {
            let [quick, region, collection] = Way::ALL.map(|way| self.of(kind, way).summary());
            Ways { all: self.all(kind).summary(), quick, region, collection }
        };
        Summaries { tlabs: ways(Kind::Tlab), objects: ways(Kind::Object) }
    }

    /// By whichever way.
    pub fn all(&self, kind: Kind) -> Taken {
        let [first, others @ ..] = &self.ways[kind as usize];
        others.iter().fold(first.clone(), |sum, way| sum.and(way))
    }
}

/// The times of one way. Where requests come often, one of so many is timed and stands for the others. Sums stop at the largest number, whatever an agent has written.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    clock: Clock,
    /// With those that are stood for.
    buckets: [u64; BUCKETS],
    /// In ticks.
    sum: u64,
    longest: u64,
    timed: u64,
    /// With those that none stands for yet.
    count: u64,
}

impl Taken {
    fn none(clock: Clock) -> Taken {
        Taken { clock, buckets: [0; BUCKETS], sum: 0, longest: 0, timed: 0, count: 0 }
    }

    fn read(times: &Times, kind: Kind, way: Way, clock: Clock) -> Taken {
        let histogram = times.of(kind, way);
        let passed = times.passed(kind, way);
        let buckets = std::array::from_fn(|bucket| histogram.count(bucket));
        let count = buckets.iter().copied().fold(passed, u64::saturating_add);
        let (sum, longest) = (histogram.sum(), histogram.longest());
        Taken { clock, buckets, sum, longest, timed: histogram.timed(), count }
    }

    fn and(&self, other: &Taken) -> Taken {
        Taken {
            clock: self.clock,
            buckets: std::array::from_fn(|at| self.buckets[at].saturating_add(other.buckets[at])),
            sum: self.sum.saturating_add(other.sum),
            longest: self.longest.max(other.longest),
            timed: self.timed.saturating_add(other.timed),
            count: self.count.saturating_add(other.count),
        }
    }

    fn since(&self, earlier: &Taken) -> Taken {
        let buckets: [u64; BUCKETS] =
            std::array::from_fn(|at| self.buckets[at].saturating_sub(earlier.buckets[at]));
        // A maximum that has not grown since is of no use: then the end of the last bucket that did.
        let last = buckets.iter().rposition(|count| *count > 0);
        let bound = match last {
            Some(last) if last + 1 < BUCKETS => self.longest.min(least(last + 1) - 1),
            Some(_) => self.longest,
            None => 0,
        };
        let longest = if self.longest > earlier.longest { self.longest } else { bound };
        Taken {
            clock: self.clock,
            buckets,
            sum: self.sum.saturating_sub(earlier.sum),
            longest,
            timed: self.timed.saturating_sub(earlier.timed),
            count: self.count.saturating_sub(earlier.count),
        }
    }

    /// All of them: exact.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Of these, how many were timed.
    pub fn timed(&self) -> u64 {
        self.timed
    }

    /// Those that were timed, and those that they stand for.
    fn stood_for(&self) -> u64 {
        self.buckets.iter().copied().fold(0, u64::saturating_add)
    }

    pub fn total_ns(&self) -> u64 {
        match self.stood_for() {
            0 => 0,
            known if known == self.count => self.clock.ns(self.sum),
            // What none stands for yet took what the others did.
            known => (self.clock.ns(self.sum) as f64 * (self.count as f64 / known as f64)) as u64,
        }
    }

    /// The sum of those that took no longer than `most`: what takes longer without a lock has lost its CPU meanwhile.
    pub fn total_within_ns(&self, most: u64) -> u64 {
        let each = |bucket: usize| self.clock.ns(least(bucket).midpoint(least(bucket + 1)));
        let inside = (0..BUCKETS).map(|bucket| (self.buckets[bucket], each(bucket)));
        inside
            .filter(|(_, time)| *time <= most)
            .fold(0, |sum, (count, time)| sum.saturating_add(count.saturating_mul(time)))
    }

    /// The longest that was timed. Since an earlier reading, of which it was a longer one: to the end of its bucket, a quarter more at most.
    pub fn max_ns(&self) -> u64 {
        self.clock.ns(self.longest)
    }

    /// The time that a share (0 to 1) of them does not exceed, to a quarter of it; `None` of none.
    pub fn percentile_ns(&self, share: f64) -> Option<u64> {
        let count = self.stood_for();
        let rank = ((count as f64 * share.clamp(0.0, 1.0)).ceil() as u64).clamp(1, count.max(1));
        let mut below = 0_u64;
        for (bucket, inside) in self.buckets.iter().copied().enumerate().filter(|(_, inside)| *inside > 0) {
            if below.saturating_add(inside) >= rank {
                let (from, to) = (least(bucket) as f64, least(bucket + 1) as f64);
                let ticks = from + (to - from) * ((rank - below) as f64 - 0.5) / inside as f64;
                return Some(self.clock.ns((ticks as u64).min(self.longest.max(least(bucket)))));
            }
            below = below.saturating_add(inside);
        }
        None
    }

    pub fn summary(&self) -> Summary {
        let percentile = |share| self.percentile_ns(share).unwrap_or(0);
        Summary {
            count: self.count(),
            timed: self.timed(),
            total_ns: self.total_ns(),
            p50_ns: percentile(0.5),
            p99_ns: percentile(0.99),
            max_ns: self.max_ns(),
        }
    }
}

/// For people and JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Summaries {
    pub tlabs: Ways,
    pub objects: Ways,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Ways {
    pub all: Summary,
    pub quick: Summary,
    pub region: Summary,
    pub collection: Summary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub count: u64,
    /// Of these, how many were timed; they stand for the others.
    pub timed: u64,
    pub total_ns: u64,
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Control, Counted};

    fn control() -> Control {
        let control = Control::anonymous(Counted { levels: &[2], timed: 2 }).unwrap();
        control.set_settings(r#"{"clock":"monotonic"}"#);
        control
    }

    #[test]
    fn times_of_all_domains_are_added() {
        let control = control();
        for ticks in 1..=100 {
            control.times()[ticks as usize % 2].record(Kind::Tlab, Way::Quick, ticks, true);
        }
        control.times()[0].record(Kind::Tlab, Way::Collection, 5_000_000, true);
        let times = RefillTimes::read(&control).unwrap();
        let quick = times.of(Kind::Tlab, Way::Quick);
        assert_eq!((quick.count(), quick.total_ns(), quick.max_ns()), (100, 5050, 100));
        for (share, exact) in [(0.5, 50), (0.99, 99), (1.0, 100), (0.01, 1)] {
            let found = quick.percentile_ns(share).unwrap();
            assert!(found.abs_diff(exact) * 4 <= exact && found <= 100, "{share}: {found} for {exact}");
        }
        let all = times.all(Kind::Tlab);
        assert_eq!((all.count(), all.total_ns(), all.max_ns()), (101, 5_005_050, 5_000_000));
        let none = times.of(Kind::Object, Way::Quick);
        assert_eq!((none.count(), none.percentile_ns(0.5), none.max_ns()), (0, None, 0));
    }

    #[test]
    fn those_that_are_passed_over_are_counted_and_stood_for() {
        let control = control();
        let times = &control.times()[0];
        for _ in 0..9 {
            times.pass(Kind::Tlab, Way::Quick, true);
        }
        times.record(Kind::Tlab, Way::Quick, 100, true);
        times.record(Kind::Tlab, Way::Quick, 200, true);
        let earlier = RefillTimes::read(&control).unwrap();
        let quick = earlier.of(Kind::Tlab, Way::Quick);
        assert_eq!((quick.count(), quick.timed(), quick.total_ns()), (11, 2, 1200));
        assert!(quick.percentile_ns(0.9).unwrap() < 128, "{:?}", quick.percentile_ns(0.9));
        // None stands for these yet.
        times.pass(Kind::Tlab, Way::Quick, true);
        let later = RefillTimes::read(&control).unwrap();
        assert_eq!(later.of(Kind::Tlab, Way::Quick).total_ns(), 1200 * 12 / 11);
        let since = later.since(&earlier);
        let since = since.of(Kind::Tlab, Way::Quick);
        assert_eq!((since.count(), since.timed(), since.total_ns()), (1, 0, 0));
    }

    #[test]
    fn what_came_since() {
        let control = control();
        let record = |ticks| control.times()[0].record(Kind::Object, Way::Region, ticks, false);
        record(1_000_000);
        record(100);
        let earlier = RefillTimes::read(&control).unwrap();
        record(100);
        record(200);
        let later = RefillTimes::read(&control).unwrap().since(&earlier);
        let since = later.of(Kind::Object, Way::Region);
        assert_eq!((since.count(), since.total_ns()), (2, 300));
        assert!((200..=250).contains(&since.max_ns()), "{}", since.max_ns());
        record(2_000_000);
        let later = RefillTimes::read(&control).unwrap().since(&earlier);
        assert_eq!(later.of(Kind::Object, Way::Region).max_ns(), 2_000_000);
    }

    #[test]
    fn an_agent_without_times_or_with_an_unknown_clock_has_none() {
        assert_eq!(RefillTimes::read(&Control::anonymous(&[1]).unwrap()), None);
        let control = control();
        control.set_settings(r#"{"clock":"sundial"}"#);
        assert_eq!(RefillTimes::read(&control), None);
    }

    #[test]
    fn any_numbers_are_bearable() {
        let control = control();
        for _ in 0..2 {
            control.times()[0].record(Kind::Tlab, Way::Quick, u64::MAX, false);
            control.times()[1].record(Kind::Tlab, Way::Quick, u64::MAX - 7, false);
        }
        let times = RefillTimes::read(&control).unwrap();
        let mut worst = times.all(Kind::Tlab);
        (worst.buckets, worst.count) = ([u64::MAX; BUCKETS], u64::MAX);
        for share in [f64::NAN, -1.0, 0.0, 0.5, 1.0, 7.0] {
            assert!(worst.percentile_ns(share).is_some());
        }
        assert_eq!((worst.count(), worst.since(&times.all(Kind::Tlab)).longest), (u64::MAX, u64::MAX));
        let nothing = Taken { longest: 0, sum: 0, count: 0, ..worst.clone() };
        assert!(nothing.since(&worst).count() == 0 && nothing.percentile_ns(0.5).is_some());
    }
}
