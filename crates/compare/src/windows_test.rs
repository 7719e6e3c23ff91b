use super::*;
use crate::measure::Amount;
use control::{Control, State};
use hab::Counter;
use statistics::bootstrap;
use statistics::trimmed::{standard_error, student, trimmed};

fn plan(seed: u64) -> WindowPlan {
    WindowPlan {
        a: Way::from(Mode::On),
        b: Way::from(Mode::Off),
        window: Duration::from_millis(100),
        skip: Duration::from_millis(5),
        duration: Duration::from_secs(20),
        precision: None,
        seed,
    }
}

/// A process on a clock of its own: 3 bytes a microsecond with buffers, 2 without, on a machine that gets slower.
#[derive(Default)]
struct Simulated {
    now: Duration,
    mode: Option<Mode>,
    bytes: f64,
    /// How much longer everything takes, as a factor less 1.
    late: u32,
    ends_at: Option<Duration>,
    order: Vec<Mode>,
    marks: Vec<Option<(usize, usize)>>,
}

impl Subject for Simulated {
    fn switch(&mut self, Way { mode, .. }: Way) {
        self.mode = Some(mode);
        self.order.push(mode);
    }

    fn mark(&mut self, window: Option<(usize, usize)>) -> Result<()> {
        self.marks.push(window);
        Ok(())
    }

    fn wait(&mut self, time: Duration) {
        let time = time * (1 + self.late);
        self.now += time;
        let slower = 1.0 - self.now.as_secs_f64() / 50.0;
        let rate = if self.mode == Some(Mode::On) { 3.0 } else { 2.0 };
        self.bytes += time.as_micros() as f64 * rate * slower;
    }

    fn counts(&mut self) -> Result<Counts> {
        Ok(Counts {
            at: self.now,
            bytes: Some(self.bytes as u64),
            cpu: Some(2 * self.now),
            ..Counts::default()
        })
    }

    fn ended(&mut self) -> Result<bool> {
        Ok(self.ends_at.is_some_and(|end| self.now >= end))
    }
}

#[test]
fn neighbours_are_compared_so_a_drifting_machine_does_not_matter() {
    let mut subject = Simulated::default();
    let pairs = run(&mut subject, &plan(1), |_| {}).unwrap();
    assert_eq!(pairs.len(), 50);
    let ratios: Vec<f64> = pairs
        .iter()
        .map(|pair| Amount::Bytes.rate(&pair.a).unwrap() / Amount::Bytes.rate(&pair.b).unwrap())
        .collect();
    let found = bootstrap(&ratios, 1).unwrap();
    assert!((1.49..1.51).contains(&found.median), "{found:?}");
}

#[test]
fn the_order_is_random_within_pairs_and_the_seeds() {
    let order = |seed| {
        let mut subject = Simulated::default();
        run(&mut subject, &plan(seed), |_| {}).unwrap();
        subject.order
    };
    let first = order(1);
    assert!(
        first.chunks(4).all(|block| block[0] == block[3] && block[1] == block[2] && block[0] != block[1])
    );
    let on_outside: Vec<bool> = first.chunks(4).map(|block| block[0] == Mode::On).collect();
    assert!(on_outside.chunks_exact(2).all(|two| two[0] != two[1]), "a drift that levels off cancels out");
    let on_first = on_outside.iter().step_by(2).filter(|outside| **outside).count();
    assert!((4..22).contains(&on_first), "{on_first} of 25");
    assert_eq!(first, order(1));
    assert_ne!(first, order(2));
}

#[test]
fn each_window_is_marked_with_its_block_and_side_from_skip_to_end() {
    let mut subject = Simulated::default();
    run(&mut subject, &plan(1), |_| {}).unwrap();
    assert!(subject.marks.chunks(2).all(|window| window[0].is_some() && window[1].is_none()));
    let marked: Vec<(usize, usize)> = subject.marks.iter().copied().flatten().collect();
    let side = |mode| usize::from(mode == Mode::Off);
    let expected: Vec<(usize, usize)> =
        subject.order.iter().enumerate().map(|(number, mode)| (number / 4, side(*mode))).collect();
    assert_eq!(marked, expected);
}

#[test]
fn a_process_that_ends_early_gives_the_pairs_that_were_whole() {
    let mut subject = Simulated { ends_at: Some(Duration::from_millis(2550)), ..Simulated::default() };
    assert_eq!(run(&mut subject, &plan(1), |_| {}).unwrap().len(), 6);
    let mut subject = Simulated { ends_at: Some(Duration::from_millis(1300)), ..Simulated::default() };
    let error = run(&mut subject, &plan(1), |_| {}).unwrap_err().to_string();
    assert!(error.contains("only 3 pairs") && error.contains("--duration"), "{error}");
}

/// Each window takes five times as long as planned.
#[test]
fn a_busy_machine_gives_the_fewest_pairs_all_the_same() {
    let pairs = |window: u64, duration: u64| {
        let plan = WindowPlan {
            window: Duration::from_millis(window),
            duration: Duration::from_millis(duration),
            ..plan(1)
        };
        let mut subject = Simulated { late: 4, ..Simulated::default() };
        run(&mut subject, &plan, |_| {}).map(|pairs| pairs.len())
    };
    assert_eq!(pairs(100, 2000).unwrap(), FEWEST);
    // A duration that has no room for them is the user's mistake, and is over when it is over.
    assert!(pairs(100, 1000).unwrap_err().to_string().contains("--duration"));
}

/// A real control file, and an agent that writes it on a clock of its own.
struct Shared(Control, Duration);

impl Subject for Shared {
    fn switch(&mut self, Way { mode, .. }: Way) {
        self.0.set_mode(mode);
    }

    fn wait(&mut self, time: Duration) {
        self.1 += time;
        for _ in 0..time.as_micros() / 200 {
            match self.0.mode() {
                Mode::On => self.0.counters(0)[0].add(Counter::BufferBytes, 2000),
                _ => self.0.counters(0)[0].add(Counter::PassedBytes, 1000),
            }
        }
    }

    fn counts(&mut self) -> Result<Counts> {
        Ok(Counts { at: self.1, bytes: Some(jvm::observe::served(&self.0, false)), ..Counts::default() })
    }

    fn ended(&mut self) -> Result<bool> {
        Ok(self.0.state() == Some(State::Ended))
    }
}

#[test]
fn an_agent_twice_as_fast_with_buffers_is_found_to_be() {
    let mut shared = Shared(Control::anonymous(&[1]).unwrap(), Duration::ZERO);
    let pairs = run(&mut shared, &plan(3), |_| {}).unwrap();
    let ratios: Vec<f64> = pairs
        .iter()
        .filter_map(|pair| Some(Amount::Bytes.rate(&pair.a)? / Amount::Bytes.rate(&pair.b)?))
        .collect();
    let found = bootstrap(&ratios, 3).unwrap();
    assert!(found.low > 1.99 && found.high < 2.01, "{found:?}");
}

#[test]
fn precision_ends_it_before_the_time_is_over() {
    let mut subject = Simulated::default();
    let plan = WindowPlan { precision: Some(Precision(0.05)), ..plan(1) };
    let pairs = run(&mut subject, &plan, |_| {}).unwrap();
    assert!(pairs.len() >= 12 && pairs.len() < 50, "{}", pairs.len());
    let never = WindowPlan { precision: None, ..plan };
    assert_eq!(run(&mut Simulated::default(), &never, |_| {}).unwrap().len(), 50);
}

/// How often the interval of a ratio of 1 holds it, of 1000 measurements of so many blocks. `drift` says how fast everything goes in the next window.
fn coverage(blocks: usize, mut drift: impl FnMut(usize, f64) -> f64) -> f64 {
    let mut random = Random::new(8);
    // The sum of 12 uniform numbers is nearly normal, with deviation 1.
    let mut normal = || (0..12).map(|_| random.below(1 << 30) as f64 / f64::from(1 << 30)).sum::<f64>() - 6.0;
    let mut covered = 0;
    for seed in 0..1000 {
        let mut order = Order::new(seed);
        let ratios: Vec<f64> = (0..blocks)
            .map(|block| {
                let a_outside = order.next_has_a_outside();
                let speeds: Vec<f64> = (0..4)
                    .map(|window| (drift(4 * block + window, normal()) + 0.02 * normal()).exp())
                    .collect();
                let outside_to_inside = (speeds[0] + speeds[3]) / (speeds[1] + speeds[2]);
                if a_outside { outside_to_inside.ln() } else { -outside_to_inside.ln() }
            })
            .collect();
        let found = trimmed(&ratios).unwrap();
        covered += u32::from(found.mean.abs() <= student(found.freedom) * standard_error(&found.influence));
    }
    f64::from(covered) / 1000.0
}

/// Two blocks share an order, and the error takes them for independent: that is right while everything drifts, and too cautious where a place in the
/// block matters.
#[test]
fn blocks_are_independent_enough() {
    for blocks in [12, 20, 50] {
        let mut walk = 0.0;
        let found = [
            ("nothing", coverage(blocks, |_, _| 0.0)),
            ("a start", coverage(blocks, |at, _| 0.6 * (-(at as f64) / 8.0).exp())),
            ("a slow start", coverage(blocks, |at, _| 0.6 * (-(at as f64) / 60.0).exp())),
            ("a rhythm", coverage(blocks, |at, _| 0.05 * (at as f64 * 0.46 + 1.0).sin())),
            (
                "a random walk",
                coverage(blocks, |_, step| {
                    walk = 0.95 * walk + 0.03 * step;
                    walk
                }),
            ),
        ];
        for (drift, covered) in found {
            // Three standard deviations of a share of 1000 below and above 0.95; of few trimmed values somewhat less.
            assert!((0.91..0.975).contains(&covered), "{blocks} blocks, {drift}: {covered}");
        }
        let place = coverage(blocks, |at, _| if at % 4 == 0 { 0.04 } else { 0.0 });
        assert!(place > 0.975, "{blocks} blocks: {place}");
    }
}
