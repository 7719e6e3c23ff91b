//! A line of memory that two CPUs hand to each other, and what the same accesses cost when nobody takes the line away.

use super::chase::{LINE, Ring};
use crate::counting::uncontended_xadd;
use crate::primitive::{Counter, Ordering};
use crate::{Error, Result};
use experiment::native::pin;
use experiment::native::time::typical;
use statistics::median;
use std::time::{Duration, Instant};

/// Two lines; the second one is never touched.
#[repr(align(128))]
struct Block(Counter);

/// Round trips that are timed at a time.
const TRIPS: u64 = 200;
/// What ends the game; no turn gets as far.
const END: u64 = u64::MAX;

/// Nanoseconds for one way, over and over for `length`, between two different CPUs.
///
/// The threads take turns: one writes odd numbers, the other even ones, and each waits for the other's by reading. A way is
/// half a round trip; of all groups of round trips it is the median, so that the few in which one of the threads was not
/// running do not count.
pub fn transfer(from: u32, to: u32, length: Duration) -> Result<f64> {
    if from == to {
        return Err(Error::failed("a line transfer needs two different CPUs"));
    }
    let block = Block(Counter::new(0));
    let players = pin::crew(
        &[from, to],
        |player| if player == 0 { serve(&block.0, length) } else { reply(&block.0) },
        || (),
    )?;
    match players.as_slice() {
        [(served, times), (replied, _)] if served == replied => {
            median(times).ok_or_else(|| Error::failed("no group of round trips was timed"))
        }
        _ => Err(Error::failed("a turn was lost between two CPUs: report it as a bug")),
    }
}

/// The turns that were served, and the time of one way for each group of them.
fn serve(line: &Counter, length: Duration) -> (u64, Vec<f64>) {
    let (mut turn, mut times) = (0, Vec::new());
    let since = Instant::now();
    while times.is_empty() || since.elapsed() < length {
        let begin = Instant::now();
        for _ in 0..TRIPS {
            // Release and Acquire, here and in `reply`: plain moves on x86-64, and each turn sees what the one before did.
            line.store(turn + 1, Ordering::Release);
            turn += 2;
            while line.load(Ordering::Acquire) != turn {}
        }
        times.push(begin.elapsed().as_secs_f64() * 1e9 / (2 * TRIPS) as f64);
    }
    line.store(END, Ordering::Release);
    (turn / 2, times)
}

fn reply(line: &Counter) -> (u64, Vec<f64>) {
    let mut turn = 1;
    loop {
        match line.load(Ordering::Acquire) {
            END => return (turn / 2, Vec::new()),
            seen if seen == turn => {
                line.store(turn + 1, Ordering::Release);
                turn += 2;
            }
            _ => {}
        }
    }
}

/// What accesses of one thread to a line of its own take, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alone {
    /// A `lock xadd`; the next one waits for it.
    pub locked: f64,
    /// A plain store; many are under way at a time.
    pub store: f64,
    /// A plain load from the first-level cache whose address is the load's before.
    pub load: f64,
}

/// Measures for about `length` each, on the calling thread.
pub fn alone(length: Duration) -> Result<Alone> {
    let block = Block(Counter::new(0));
    // As many lines as a small page has: every first-level cache holds them.
    let mut ring = Ring::new(64 * LINE, pages::Policy::Small, 1)?;
    ring.follow(1024);
    let batch = 1 << 14;
    Ok(Alone {
        locked: typical(length, batch, |times| uncontended_xadd(&block.0, times)),
        store: typical(length, batch, |times| stores(&block.0, times)),
        load: typical(length, batch, |times| ring.follow(times)),
    })
}

/// So many stores, a multiple of 16. Relaxed: a plain move, which the compiler leaves where it is because another thread could
/// see it.
#[inline(never)]
fn stores(line: &Counter, times: u64) {
    for pass in 0..times / 16 {
        for word in 0..16 {
            line.store(pass + word, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_turn_is_lost() {
        let places = pin::places();
        let Some(to) = places.get(1) else {
            skips::skip!("needs two CPUs");
            return;
        };
        assert!(transfer(places[0], *to, Duration::ZERO).unwrap() > 0.0);
    }

    #[test]
    fn a_line_is_not_handed_to_oneself() {
        let place = pin::places()[0];
        assert!(transfer(place, place, Duration::ZERO).is_err());
    }

    #[test]
    fn stores_are_done() {
        let line = Counter::new(0);
        stores(&line, 64);
        assert_eq!(line.load(Ordering::Relaxed), 3 + 15);
        let alone = alone(Duration::ZERO).unwrap();
        assert!(alone.locked > 0.0 && alone.store > 0.0 && alone.load > 0.0);
    }
}
