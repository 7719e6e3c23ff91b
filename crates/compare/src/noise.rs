//! What else happened on the machine while we measured.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Of a whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// The load average of one minute before the run.
    pub load_before: Option<f64>,
    /// The share of CPU time that the hypervisor gave to others while a CPU of ours wanted to run.
    pub steal_share: Option<f64>,
    /// The share of all CPU time that other programs used, ours and our children's taken off.
    pub others_share: Option<f64>,
}

/// Ticks of `/proc/stat`, all CPUs together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ticks {
    /// Of any kind.
    pub all: u64,
    /// Neither idle nor stolen.
    pub busy: u64,
    pub steal: u64,
}

impl Ticks {
    /// Now; `None` where `/proc/stat` is not to be had.
    pub fn now() -> Option<Ticks> {
        Ticks::read(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    fn read(text: &str) -> Option<Ticks> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        // user nice system idle iowait irq softirq steal; guest time is contained in user.
        let numbers: Vec<u64> = line.split_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
        let [user, nice, system, idle, wait, irq, soft, steal] = numbers.try_into().ok()?;
        let busy = user + nice + system + irq + soft;
        Some(Ticks { all: busy + idle + wait + steal, busy, steal })
    }
}

/// What happened between two moments, in ticks. That of several sessions of a run is their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lap {
    /// Of any kind.
    pub all: f64,
    pub steal: f64,
    /// Busy with other programs. Ticks are coarse: a little less than none is possible.
    pub others: f64,
}

impl AddAssign for Lap {
    fn add_assign(&mut self, other: Lap) {
        self.all += other.all;
        self.steal += other.steal;
        self.others += other.others;
    }
}

impl Disturbance {
    pub fn of(load_before: Option<f64>, lap: Lap) -> Disturbance {
        let share = |ticks: f64| (lap.all > 0.0).then(|| (ticks / lap.all).clamp(0.0, 1.0));
        Disturbance { load_before, steal_share: share(lap.steal), others_share: share(lap.others) }
    }
}

/// Watches from its making on.
pub struct Watch {
    ticks: Option<Ticks>,
    own_seconds: f64,
}

impl Watch {
    /// From now on.
    pub fn begin() -> Watch {
        Watch { ticks: Ticks::now(), own_seconds: jvm::os::own_cpu_seconds() }
    }

    /// What has happened since the last lap, or the beginning.
    pub fn lap(&mut self) -> Lap {
        let now = Watch::begin();
        let own = now.own_seconds - self.own_seconds;
        let found = self.ticks.zip(now.ticks).map(|(then, now)| lap(then, now, own));
        *self = now;
        found.unwrap_or_default()
    }
}

/// Of a second: `USER_HZ` is 100 on every Linux that terrace runs on.
const TICKS: f64 = 100.0;

/// What was stolen, and what others used, of the CPU time of the whole machine, of which `own` seconds were ours. These are divided by the same ticks:
/// a process that may use some of the CPUs only has a larger share of those.
fn lap(then: Ticks, now: Ticks, own: f64) -> Lap {
    let since = |then: u64, now: u64| now.saturating_sub(then) as f64;
    Lap {
        all: since(then.all, now.all),
        steal: since(then.steal, now.steal),
        others: since(then.busy, now.busy) - own * TICKS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_read_and_guests_are_not_counted_twice() {
        let ticks = Ticks::read("cpu  10 1 2 100 5 0 3 7 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n").unwrap();
        assert_eq!(ticks, Ticks { all: 128, busy: 16, steal: 7 });
        assert_eq!(Ticks::read("nothing"), None);
    }

    #[test]
    fn our_own_work_is_not_another_programs() {
        // Ten seconds of four CPUs: three are busy with others; we may use one, and do.
        let then = Ticks { all: 500, busy: 100, steal: 20 };
        let now = Ticks { all: 4500, busy: 4100, steal: 60 };
        let shares = |lap: Lap| {
            let found = Disturbance::of(None, lap);
            found.steal_share.zip(found.others_share)
        };
        assert_eq!(shares(lap(then, now, 10.0)), Some((0.01, 0.75)));
        assert_eq!(shares(lap(then, now, 41.0)), Some((0.01, 0.0)), "ticks are coarse");
        assert_eq!(shares(lap(then, then, 1.0)), None, "no time has passed");
        // A second session as long, without others.
        let mut both = lap(then, now, 10.0);
        both += lap(then, now, 40.0);
        assert_eq!(shares(both), Some((0.01, 0.375)));
        let found = Disturbance::of(Some(0.5), Watch::begin().lap());
        assert!(found.others_share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{found:?}");
    }
}
