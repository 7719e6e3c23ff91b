use super::*;
use crate::estimate::{estimate, half_width};
use crate::evidence::{self, Evidence};
use crate::measure::Amount;
use crate::windows::Order;
use jvm::counts::Counts;
use statistics::Random;

fn time(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn span(from: f64, to: f64) -> Span {
    let at = |seconds| Counts {
        at: time(seconds),
        operations: Some((seconds * 1e6) as u64),
        application_cpu: Some(time(2.0 * seconds)),
        ..Counts::default()
    };
    Span { from: at(from), to: at(to) }
}

const WINDOW: f64 = 0.2;

/// Blocks without gaps, from 0 on, and the side of each window.
fn blocks(count: usize, seed: u64) -> (Vec<Block>, Vec<bool>) {
    let (mut order, mut sides) = (Order::new(seed), Vec::new());
    let block = |number: usize| {
        let outside = order.next_has_a_outside();
        sides.extend([outside, !outside, !outside, outside]);
        let window = |index: usize| {
            let from = (4 * number + index) as f64 * WINDOW;
            span(from, from + WINDOW)
        };
        let (around, between) = ([window(0), window(3)], [window(1), window(2)]);
        if outside { Block { a: around, b: between } } else { Block { a: between, b: around } }
    };
    ((0..count).map(block).collect(), sides)
}

/// On two CPUs whose speed wanders by a fifth within seconds; see `calls_at`.
fn calls(sides: &[bool], cost: f64, random: &mut Random) -> Vec<Call> {
    let phase = random.below(1 << 30) as f64 / f64::from(1 << 30);
    calls_at(|now| 1.0 + 0.2 * (now + 10.0 * phase).sin(), sides, cost, random)
}

/// Eight threads that call one after the other, at a speed that depends on the time; on side a the same work takes `cost` times as much. Kinds
/// differ by a factor of three; one in fifty takes ten times as long.
fn calls_at(speed: impl Fn(f64) -> f64, sides: &[bool], cost: f64, random: &mut Random) -> Vec<Call> {
    let mut uniform = || random.below(1 << 30) as f64 / f64::from(1 << 30);
    let end = sides.len() as f64 * WINDOW;
    let mut calls = Vec::new();
    for _ in 0..8 {
        let mut now = -0.3 * uniform();
        while now < end {
            let kind = (28.0 * uniform()) as u32;
            let mut left = 0.04 * (0.5 + f64::from(kind) / 28.0) * (0.8 + 0.4 * uniform());
            left *= if uniform() < 0.02 { 10.0 } else { 1.0 };
            let (begin, mut cpu) = (now, 0.0);
            while left > 0.0 {
                now += 0.004;
                cpu += 0.001;
                let side = sides.get((now.max(0.0) / WINDOW) as usize).copied().unwrap_or_default();
                left -= 0.001 * speed(now) / if side { cost } else { 1.0 };
            }
            if begin >= 0.0 {
                calls.push(Call { kind, begin: time(begin), end: time(now), cpu: time(cpu) });
            }
        }
    }
    calls
}

#[test]
fn by_hand() {
    // One call sees a alone, one b alone, two both alike; on a a call takes twice the time, half of it in half and half.
    let block = Block { a: [span(0.0, 1.0), span(3.0, 4.0)], b: [span(1.0, 2.0), span(2.0, 3.0)] };
    let call =
        |begin: f64, end: f64, cpu: f64| Call { kind: 0, begin: time(begin), end: time(end), cpu: time(cpu) };
    let both = 2_f64.sqrt();
    let calls = [call(0.2, 0.8, 2.0), call(1.2, 1.8, 1.0), call(0.5, 1.5, both), call(2.5, 3.5, both)];
    let found = of_blocks(&[block], &calls, &[]).unwrap();
    assert!((found[0].moved / found[0].weight - 2_f64.ln()).abs() < 1e-9, "{found:?}");
    // Stopped for half of its time on a, the third call has run on b for two thirds.
    let stop = Stop { from: time(0.5), to: time(0.75), collection: true };
    let seen = observations(&[block], &calls, &[stop]);
    assert!((seen[2].exposure - 1.0 / 3.0).abs() < 1e-9);
    assert_eq!(of_blocks(&[block], &calls[1..], &[]), None, "too few");
    let outside = Call { end: time(4.5), ..calls[3] };
    assert_eq!(
        observations(&[block], &[outside], &[]).len(),
        0,
        "what ran after the last window is not known"
    );
}

#[test]
fn calls_longer_than_windows_tell_three_percent() {
    let (mut covered, mut sum, runs) = (0, 0.0, 60);
    for seed in 0..runs {
        let mut random = Random::new(100 + seed);
        let (blocks, sides) = blocks(56, seed);
        let calls = calls(&sides, 1.04, &mut random);
        let evidence = Evidence { stops: None, steps: Some(calls) };
        let found = estimate(&evidence::pairs(&blocks, &evidence), Amount::Operations).unwrap();
        let cpu = found.per_application_second.unwrap();
        assert!(half_width(&cpu) < 0.03, "{cpu:?}");
        covered += usize::from((cpu.low..=cpu.high).contains(&(1.0 / 1.04)));
        sum += cpu.median.ln();
    }
    // 0.95 of 60, three standard deviations of a share of 60 below it.
    assert!(covered >= 52, "{covered} of {runs} intervals hold the truth");
    let mean = (sum / runs as f64).exp();
    assert!((mean * 1.04 - 1.0).abs() < 0.004, "{mean}");
}

/// Hundred and twenty-eight threads that take turns of 3 ms on two CPUs, whose speed depends on the time; a step takes a tenth of a millisecond to one. On
/// side a the same work takes `cost` times as much.
fn steps_at(speed: impl Fn(f64) -> f64, sides: &[bool], cost: f64, random: &mut Random) -> Vec<Call> {
    const TURN: f64 = 0.003;
    let mut uniform = || random.below(1 << 30) as f64 / f64::from(1 << 30);
    let end = sides.len() as f64 * WINDOW;
    let mut steps = Vec::new();
    for _ in 0..2 {
        // Of each thread its step: kind, begin, CPU time so far, what is left.
        let mut next = |at: f64| {
            let kind = (200.0 * uniform()) as u32;
            let length = 1e-4 * 10_f64.powf(f64::from(kind) / 200.0) * (0.8 + 0.4 * uniform());
            (kind, at, 0.0, length * if uniform() < 0.02 { 10.0 } else { 1.0 })
        };
        let mut threads: Vec<_> = (0..64).map(|_| next(0.0)).collect();
        let mut now = 0.0;
        while now < end {
            for step in &mut threads {
                let turn_ends = now + TURN;
                while now < turn_ends {
                    let side = sides.get((now / WINDOW) as usize).copied().unwrap_or_default();
                    let pace = speed(now) / if side { cost } else { 1.0 };
                    let run = (step.3 / pace).min(turn_ends - now).max(1e-9);
                    now += run;
                    step.2 += run;
                    step.3 -= run * pace;
                    if step.3 <= 1e-12 {
                        steps.push(Call {
                            kind: step.0,
                            begin: time(step.1),
                            end: time(now),
                            cpu: time(step.2),
                        });
                        *step = next(now);
                    }
                }
            }
        }
    }
    steps
}

#[test]
fn steps_of_many_threads_tell_one_percent() {
    let (mut covered, mut sum, runs) = (0, 0.0, 20);
    for seed in 0..runs {
        let mut random = Random::new(300 + seed);
        let (blocks, sides) = blocks(20, seed);
        let speed = |now: f64| 1.0 + 0.2 * (now + seed as f64).sin();
        let steps = steps_at(speed, &sides, 1.04, &mut random);
        let evidence = Evidence { stops: None, steps: Some(steps) };
        let found = estimate(&evidence::pairs(&blocks, &evidence), Amount::Operations).unwrap();
        let cpu = found.per_application_second.unwrap();
        assert!(half_width(&cpu) < 0.01, "{cpu:?}");
        covered += usize::from((cpu.low..=cpu.high).contains(&(1.0 / 1.04)));
        sum += cpu.median.ln();
    }
    let mean = (sum / runs as f64).exp();
    assert!((mean * 1.04 - 1.0).abs() < 0.004, "{mean}");
    // 0.95 of 20, three standard deviations of a share of 20 below it.
    assert!(covered >= 16, "{covered} of {runs} intervals hold the truth");
}

/// As a program does whose calls HotSpot still compiles.
#[test]
fn a_program_that_gets_faster_favours_no_side() {
    let (mut covered, runs) = (0, 60);
    let mut found = Vec::new();
    for seed in 0..runs {
        let mut random = Random::new(200 + seed);
        let (blocks, sides) = blocks(20, seed);
        let length = sides.len() as f64 * WINDOW;
        let faster = |now: f64| 1.0 - 0.7 * (-8.0 * now / length).exp();
        let evidence = Evidence { stops: None, steps: Some(calls_at(faster, &sides, 1.0, &mut random)) };
        let estimate = estimate(&evidence::pairs(&blocks, &evidence), Amount::Operations).unwrap();
        let cpu = estimate.per_application_second.unwrap();
        covered += usize::from((cpu.low..=cpu.high).contains(&1.0));
        found.push(cpu.median.ln());
    }
    let mean = found.iter().sum::<f64>() / runs as f64;
    assert!(covered >= 52, "{covered} of {runs} intervals hold the truth");
    assert!(mean.abs() < 0.01, "{mean}");
}
