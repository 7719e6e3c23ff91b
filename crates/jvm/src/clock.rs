//! The clock by which an agent times requests, in nanoseconds.

use crate::os;
use std::sync::OnceLock;
use std::time::Duration;

/// How long the time stamp counter is compared with the system's clock.
const CALIBRATION: Duration = Duration::from_millis(50);

/// Turns an agent's ticks into nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    ns_per_tick: f64,
}

impl Clock {
    /// By the name that the agent's settings have. The time stamp counter is compared with `CLOCK_MONOTONIC` first, once in a
    /// process, for 50 ms. `None` for a clock that this version or machine does not know.
    pub fn named(name: &str) -> Option<Clock> {
        static TICKS: OnceLock<Option<Clock>> = OnceLock::new();
        match name {
            "monotonic" => Some(Clock { ns_per_tick: 1.0 }),
            "tsc" => *TICKS.get_or_init(calibrate),
            _ => None,
        }
    }

    /// Nanoseconds of so many ticks.
    pub fn ns(self, ticks: u64) -> u64 {
        (ticks as f64 * self.ns_per_tick) as u64
    }
}

fn calibrate() -> Option<Clock> {
    let (from, begin) = moment()?;
    std::thread::sleep(CALIBRATION);
    let (to, end) = moment()?;
    let ticks = to.checked_sub(from).filter(|ticks| *ticks > 0)?;
    Some(Clock { ns_per_tick: (end - begin).as_nanos() as f64 / ticks as f64 })
}

/// Both clocks at one moment: of several readings that with the shortest time between.
fn moment() -> Option<(u64, Duration)> {
    let reading = || {
        let before = ticks()?;
        let time = os::monotonic();
        let after = ticks()?;
        Some((after.wrapping_sub(before), before.wrapping_add(after.wrapping_sub(before) / 2), time))
    };
    let shortest = (0..16).filter_map(|_| reading()).min_by_key(|(between, ..)| *between)?;
    Some((shortest.1, shortest.2))
}

#[cfg(target_arch = "x86_64")]
fn ticks() -> Option<u64> {
    // SAFETY: every x86-64 processor has it, and Linux lets processes read it unless they have forbidden it to themselves.
    Some(unsafe { std::arch::x86_64::_rdtsc() })
}

#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_goes_as_the_systems() {
        let clock = Clock::named(if cfg!(target_arch = "x86_64") { "tsc" } else { "monotonic" }).unwrap();
        assert_eq!(Clock::named("sundial"), None);
        assert_eq!(Clock::named("monotonic").unwrap().ns(7), 7);
        if let Some((from, begin)) = moment() {
            std::thread::sleep(Duration::from_millis(20));
            let (to, end) = moment().unwrap();
            let (told, real) = (clock.ns(to - from) as f64, (end - begin).as_nanos() as f64);
            assert!((told / real - 1.0).abs() < 0.01, "{told} for {real}");
        }
    }
}
