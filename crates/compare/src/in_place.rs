//! Windows inside a JVM that somebody else has started: buffers on against off, and off when it is over.

use crate::estimate::{Estimate, estimate, of_few_pauses};
use crate::evidence::Evidence;
use crate::measure::Amount;
use crate::windows::{self, SKIP, Subject, WINDOW, Way, WindowPlan};
use control::Mode;
use jvm::counts::Counts;
use jvm::lease::Lease;
use jvm::observe::Jvms;
use jvm::perfdata::{PerfData, PerfFile};
use jvm::stops::Stop;
use jvm::{Error, Result, os};
use present::progress::Progress;
use std::path::PathBuf;
use std::time::Duration;

struct InPlace<'l> {
    jvms: Jvms,
    /// Of the buffers, if they have come for this.
    lease: Option<&'l Lease>,
    process: PathBuf,
    pauses: Option<Pauses>,
}

/// The pauses of a JVM that writes no log for us, from its counters: of those between two looks only how many there were and how long they took
/// together. They are laid right before the second look.
struct Pauses {
    counters: PerfFile,
    seen: Counted,
    stops: Vec<Stop>,
}

/// Collections so far, and their pauses.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counted {
    count: u64,
    time: Duration,
}

impl Counted {
    /// `None` where phases of concurrent collections are counted as well.
    fn of(perf: &PerfData) -> Option<Counted> {
        let seconds = perf.collecting_seconds().filter(|_| !perf.counts_phases())?;
        Some(Counted { count: perf.collections(), time: Duration::try_from_secs_f64(seconds).ok()? })
    }
}

impl Pauses {
    fn of_process(pid: u32) -> Option<Pauses> {
        let counters = PerfFile::of(pid)?;
        let seen = Counted::of(&counters.read()?)?;
        Some(Pauses { counters, seen, stops: vec![] })
    }

    /// Looks at the counters; `at` is a moment before that.
    fn look(&mut self, at: Duration) {
        let Some(now) = self.counters.read().as_ref().and_then(Counted::of) else { return };
        self.stops.extend(between(
            self.seen,
            now,
            self.stops.last().map_or(Duration::ZERO, |stop| stop.to),
            at,
        ));
        self.seen = now;
    }
}

/// The pauses that came between two looks, one after the other, all of them after `free` and before `at`.
fn between(before: Counted, now: Counted, free: Duration, at: Duration) -> Vec<Stop> {
    let count = u32::try_from(now.count.saturating_sub(before.count)).unwrap_or(u32::MAX).clamp(1, 1000);
    let time = now.time.saturating_sub(before.time).min(at.saturating_sub(free));
    if time.is_zero() {
        return vec![];
    }
    let (each, first) = (time / count, at.saturating_sub(time));
    (0..count)
        .map(|number| Stop { from: first + each * number, to: first + each * (number + 1), collection: true })
        .collect()
}

impl InPlace<'_> {
    /// Whether somebody has switched them on for good: what is measured then is not ours to switch.
    fn are_anothers(&self) -> bool {
        self.lease.is_some_and(|lease| !lease.stands())
    }

    fn turn(&mut self, mode: Mode) {
        if self.are_anothers() {
            return;
        }
        self.jvms.switch(mode);
        if self.are_anothers() {
            // At the same moment: ours may have come after theirs.
            self.jvms.switch(Mode::On);
        }
    }
}

impl Subject for InPlace<'_> {
    fn switch(&mut self, way: Way) {
        self.turn(way.mode);
        self.jvms.refresh_threads();
    }

    fn wait(&mut self, time: Duration) {
        std::thread::sleep(time);
    }

    /// Also the place where the user's Ctrl-C is seen: at both ends of each window.
    fn counts(&mut self) -> Result<Counts> {
        os::stopped_by().map_or(Ok(()), |signal| Err(Error::interrupted(signal)))?;
        let counts = self.jvms.counts();
        if let Some(pauses) = &mut self.pauses {
            pauses.look(counts.at);
        }
        // Afterwards: buffers that are off or on since are in no window that is taken for the other.
        if self.are_anothers() {
            return Err(Error::failed("another command has switched the buffers on for good meanwhile"));
        }
        match self.jvms.left() {
            Some(why) => Err(Error::failed(format!("{why}; try again"))),
            None => Ok(counts),
        }
    }

    fn evidence(&mut self) -> Evidence {
        Evidence { stops: self.pauses.as_ref().map(|pauses| pauses.stops.clone()), steps: None }
    }

    fn ended(&mut self) -> Result<bool> {
        Ok(!self.process.exists())
    }
}

impl Drop for InPlace<'_> {
    fn drop(&mut self) {
        self.turn(Mode::Off);
    }
}

/// On against off, by the bytes that the program allocates, in a JVM that has the agent with buffers; and what should be known of the pauses that this rests on.
/// Under a lease as long as it stands.
pub fn measure(
    pid: u32,
    lease: Option<&Lease>,
    duration: Duration,
    seed: u64,
    progress: &Progress,
) -> Result<(Estimate, Option<String>)> {
    let process = PathBuf::from(format!("/proc/{pid}"));
    let mut live = InPlace { jvms: Jvms::of_process(pid)?, lease, process, pauses: Pauses::of_process(pid) };
    // Before anything is switched: without it there is nothing to compare by.
    live.jvms.counts_patiently();
    if let Some(why) = live.jvms.uncounted() {
        return Err(Error::failed(why));
    }
    progress.start("comparing buffers on and off in the running JVM", duration);
    let plan = WindowPlan {
        a: Mode::On.into(),
        b: Mode::Off.into(),
        window: WINDOW,
        skip: SKIP,
        duration,
        precision: None,
        seed,
    };
    let pairs = windows::run(&mut live, &plan, |passed| progress.passed(passed))?;
    progress.finish();
    let found = estimate(&pairs, Amount::Bytes).ok_or_else(|| {
        Error::failed(
            "the program allocated nothing during the measurement; try again while it has work to do",
        )
    })?;
    let few = of_few_pauses(&pairs, &found);
    Ok((found, few))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    #[test]
    fn pauses_lie_before_the_look_that_found_them() {
        let counted = |count, time| Counted { count, time: ms(time) };
        let found = |now: Counted, free: u64, at: u64| {
            let stops = between(counted(3, 40), now, ms(free), ms(at));
            stops.iter().map(|stop| (stop.from.as_millis(), stop.to.as_millis())).collect::<Vec<_>>()
        };
        assert_eq!(found(counted(3, 40), 0, 500), []);
        assert_eq!(found(counted(4, 70), 0, 500), [(470, 500)]);
        assert_eq!(found(counted(6, 70), 0, 500), [(470, 480), (480, 490), (490, 500)]);
        // HotSpot counts a collection when it begins, and its time when it ends.
        assert_eq!(found(counted(3, 50), 0, 500), [(490, 500)]);
        assert_eq!(
            found(counted(4, 140), 450, 500),
            [(450, 500)],
            "not before the look that found the one before"
        );
    }
}
