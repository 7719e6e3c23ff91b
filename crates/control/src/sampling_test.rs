use super::*;
use crate::times::{BUCKETS, Times, least};
use crate::{Control, Counted};
use proptest::prelude::*;

const PACE: Pace = Pace { ticks_apart: 10_000, begins_up_to: 32 };

fn control() -> Control {
    Control::anonymous(Counted { levels: &[1], timed: 1 }).unwrap()
}

/// Requests, each `apart` ticks after the one before, and as long as `ticks` says. Gives for what each was looked at.
fn run(times: &Times, number: u64, apart: u64, ticks: impl Fn(u64) -> (Way, u64)) -> Vec<Look> {
    let mut now = 1_000_000;
    let one = |request| {
        now += apart;
        let look = times.look(PACE);
        let (way, taken) = ticks(request);
        match look {
            Look::Timed => {
                times.record(Kind::Tlab, way, taken, true);
                times.follow(now, PACE);
            }
            Look::IfSlow if way != Way::Quick => times.record(Kind::Tlab, way, taken, true),
            _ => times.pass(Kind::Tlab, way, true),
        }
        look
    };
    (0..number).map(one).collect()
}

fn counted(times: &Times, way: Way) -> u64 {
    let histogram = times.of(Kind::Tlab, way);
    (0..BUCKETS).map(|bucket| histogram.count(bucket)).sum::<u64>() + times.passed(Kind::Tlab, way)
}

/// The bucket in which a share of them ends.
fn quantile(counts: &[u64], share: f64) -> usize {
    let rank = (counts.iter().sum::<u64>() as f64 * share).ceil() as u64;
    let mut below = 0;
    counts
        .iter()
        .position(|count| {
            below += count;
            below >= rank
        })
        .unwrap()
}

#[test]
fn rare_requests_are_all_timed() {
    let control = control();
    let times = &control.times()[0];
    let looks = run(times, 10_000, PACE.ticks_apart, |_| (Way::Quick, 100));
    assert!(looks.iter().all(|look| *look == Look::Timed));
    assert_eq!((times.of(Kind::Tlab, Way::Quick).timed(), times.passed(Kind::Tlab, Way::Quick)), (10_000, 0));
}

#[test]
fn frequent_requests_are_sampled_and_rare_ones_timed_again() {
    let control = control();
    let times = &control.times()[0];
    // 1,000 of them in the time between two that are timed.
    let looks = run(times, 1_000_000, PACE.ticks_apart / 1000, |_| (Way::Quick, 100));
    let timed = looks.iter().filter(|look| **look == Look::Timed).count();
    assert!((500..4000).contains(&timed), "{timed}");
    assert!(looks[1000..].contains(&Look::Counted));
    let looks = run(times, 20_000, PACE.ticks_apart * 10, |_| (Way::Quick, 100));
    assert!(looks[15_000..].iter().all(|look| *look == Look::Timed));
}

#[test]
fn samples_tell_what_timing_all_of_them_would() {
    // Lengths as of a real program: mostly short, some a hundred times as long, every 256th by a way of its own.
    let taken = |request: u64| {
        let random = request.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        match request % 256 {
            0 => (Way::Region, 20_000 + random % 20_000),
            _ if random.is_multiple_of(50) => (Way::Quick, 8_000 + random % 8_000),
            _ => (Way::Quick, 80 + random % 60),
        }
    };
    const NUMBER: u64 = 4_000_000;
    let control = control();
    let times = &control.times()[0];
    run(times, NUMBER, PACE.ticks_apart / 100, taken);
    let mut exact = [[0; BUCKETS]; 2];
    let mut sums = [0; 2];
    for request in 0..NUMBER {
        let (way, ticks) = taken(request);
        exact[way as usize][crate::times::bucket(ticks)] += 1;
        sums[way as usize] += ticks;
    }
    for way in [Way::Quick, Way::Region] {
        let (histogram, exact) = (times.of(Kind::Tlab, way), &exact[way as usize]);
        assert_eq!(counted(times, way), exact.iter().sum::<u64>(), "each is counted once");
        let share = histogram.timed() as f64 / exact.iter().sum::<u64>() as f64;
        assert!(share < 0.1, "{share}");
        let sampled: Vec<u64> = (0..BUCKETS).map(|bucket| histogram.count(bucket)).collect();
        for share in [0.1, 0.5, 0.9, 0.95, 0.995] {
            let (of_samples, of_all) = (quantile(&sampled, share), quantile(exact, share));
            assert!(
                of_samples.abs_diff(of_all) <= 1,
                "{way:?} {share}: {} for {}",
                least(of_samples),
                least(of_all)
            );
        }
        let ratio = histogram.sum() as f64 / sums[way as usize] as f64;
        assert!((ratio - 1.0).abs() < 0.1, "{way:?}: {ratio}");
    }
}

#[test]
fn slow_ways_are_all_timed_until_their_begin_costs_too_much() {
    let control = control();
    let times = &control.times()[0];
    // Three in the time between two: one in a few is passed over, and its begin is read.
    run(times, 100_000, PACE.ticks_apart / 3, |request| match request % 100 {
        0 => (Way::Collection, 1_000_000 + request),
        _ => (Way::Quick, 100),
    });
    let waited = times.of(Kind::Tlab, Way::Collection);
    assert_eq!((waited.timed(), waited.longest()), (1000, 1_099_900));
    assert!(times.of(Kind::Tlab, Way::Quick).timed() < 90_000);
}

proptest! {
    /// The memory is another process's, too.
    #[test]
    fn any_state_is_bearable(left: u32, every: u32, random: u64, last: u64, passed: u64, now: u64) {
        let control = control();
        let times = &control.times()[0];
        times.sampling().left.store(left, Ordering::Relaxed);
        times.sampling().every.store(every, Ordering::Relaxed);
        times.sampling().random.store(random, Ordering::Relaxed);
        times.sampling().last.store(last, Ordering::Relaxed);
        times.sampling().passed[0][0].store(passed, Ordering::Relaxed);
        for _ in 0..3 {
            times.look(PACE);
            times.pass(Kind::Tlab, Way::Quick, true);
            times.record(Kind::Tlab, Way::Quick, now, true);
            times.follow(now, PACE);
        }
        times.sampling().left.store(0, Ordering::Relaxed);
        prop_assert_eq!(times.look(PACE), Look::Timed);
        prop_assert!(times.sampling().left.load(Ordering::Relaxed) < 2 * MOST);
    }
}
