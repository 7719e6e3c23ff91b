//! `lease=SECONDS`: what is installed for a command goes when that command is no more. One that is killed cannot say so.
//!
//! Whoever has put the agent there counts a word in the control memory up, each second or so. The agent looks at it at collections, and where requests are
//! timed. A word that has not changed for so long since it was first seen is nobody's any more: the mode is off from then on, and the agent withdraws as if it
//! had been asked to. It compares looks of its own, by a clock that stands still while the system sleeps: no other process's clock is read. The JVM and its command
//! may have been stopped together for so long, and the JVM goes on first: one look says nothing then, and a second one waits for the command.
#![allow(clippy::disallowed_types, reason = "several threads look at it")]

use crate::clock::about_now_ns;
use control::{Control, Mode};
use std::sync::atomic::{AtomicU64, Ordering};

/// How long after a look that has found it over, in ns, another one has to find the same: a command that goes on with the JVM has renewed it several times.
const DOUBT: u64 = 5_000_000_000;

pub(crate) struct Lease {
    control: &'static Control,
    /// Renewals that were seen last.
    seen: AtomicU64,
    /// Since when, at the latest.
    since: AtomicU64,
    /// When it was found over first, without a renewal since; before the end of the present time if it was not.
    over: AtomicU64,
}

impl Lease {
    pub(crate) fn begin(control: &'static Control) -> Lease {
        let (seen, since) = (control.renewals().into(), about_now_ns().into());
        Lease { control, seen, since, over: AtomicU64::new(0) }
    }

    /// Has the agent withdraw if its lease has run out. On any thread that is in a hook or at a safepoint.
    #[inline(always)]
    pub(crate) fn look(&self) {
        if self.control.lease() != 0 {
            self.look_at(about_now_ns());
        }
    }

    /// `now` was read before: a thread that has lost its CPU in between sees what was renewed by then, and takes no moment that has not been for one without
    /// a renewal.
    #[cold]
    #[inline(never)]
    fn look_at(&self, now: u64) {
        let renewals = self.control.renewals();
        // Acquire: pairs with the release below; `since` is at least as late as these renewals were seen.
        if self.seen.load(Ordering::Acquire) != renewals {
            // The latest of several threads' moments: one that was late would otherwise put back the beginning.
            self.since.fetch_max(now, Ordering::Relaxed);
            // Release: as above.
            self.seen.store(renewals, Ordering::Release);
            return;
        }
        let seconds = u64::from(self.control.lease());
        let end = self.since.load(Ordering::Relaxed).saturating_add(seconds.saturating_mul(1_000_000_000));
        if seconds == 0 || now < end || self.control.has_lapsed() {
            return;
        }
        // Relaxed: a moment before `end` is of an earlier renewal, whoever has stored it.
        let over = self.over.load(Ordering::Relaxed);
        if over < end {
            // Of several threads' moments the latest, as above.
            self.over.fetch_max(now, Ordering::Relaxed);
            return;
        }
        if now.saturating_sub(over) < DOUBT {
            return;
        }
        if self.control.lapse() {
            self.control.set_mode(Mode::Off);
            self.control.ask_to_withdraw();
            // Ended meanwhile by whoever switches the buffers on: all of it may have come after what that wrote.
            if !self.control.is_leased() {
                self.control.ask_to_stay();
                self.control.set_mode(Mode::On);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn leased(seconds: u32) -> (&'static Control, Lease, u64) {
        let control: &Control = Box::leak(Box::new(Control::anonymous(&[1]).unwrap()));
        control.set_lease(seconds);
        control.set_mode(Mode::On);
        let lease = Lease::begin(control);
        let begun = lease.since.load(Ordering::Relaxed);
        (control, lease, begun)
    }

    #[test]
    fn what_is_renewed_stays_however_rarely_it_is_looked_at() {
        let (control, lease, begun) = leased(30);
        for look in 1..100 {
            control.renew();
            lease.look_at(begun + look * 1000 * SECOND);
        }
        assert_eq!((control.is_to_withdraw(), control.mode()), (false, Mode::On));
        assert!(!control.has_lapsed() && control.message().is_empty());
    }

    #[test]
    fn what_nobody_renews_goes_after_its_time() {
        let (control, lease, begun) = leased(30);
        control.renew();
        lease.look_at(begun + 20 * SECOND);
        lease.look_at(begun + 49 * SECOND);
        assert!(!control.has_lapsed(), "29 s after it was seen that somebody was there");
        lease.look_at(begun + 50 * SECOND);
        lease.look_at(begun + 54 * SECOND);
        assert!(!control.has_lapsed(), "4 s after it was found over");
        lease.look_at(begun + 55 * SECOND);
        assert_eq!((control.is_to_withdraw(), control.mode()), (true, Mode::Off));
        assert!(control.has_lapsed() && control.message().ends_with("not been heard of for 30 s"));
        // Said once; who comes back is told, and finds what was meanwhile.
        control.set_mode(Mode::On);
        control.renew();
        for look in [56, 156, 256] {
            lease.look_at(begun + look * SECOND);
        }
        assert!(control.has_lapsed() && control.is_to_withdraw());
    }

    /// As of a container that is stopped: the JVM goes on first, and its command a moment later.
    #[test]
    fn who_was_stopped_with_the_jvm_keeps_it() {
        let (control, lease, begun) = leased(30);
        for stop in 1..10 {
            let now = begun + stop * 100 * SECOND;
            for look in 0..30 {
                lease.look_at(now + look * SECOND / 10);
            }
            control.renew();
            lease.look_at(now + 4 * SECOND);
        }
        assert_eq!((control.has_lapsed(), control.mode()), (false, Mode::On));
    }

    #[test]
    fn a_look_that_was_late_puts_nothing_back() {
        let (control, lease, begun) = leased(30);
        control.renew();
        lease.look_at(begun + 100 * SECOND);
        control.renew();
        lease.look_at(begun + 10 * SECOND);
        lease.look_at(begun + 110 * SECOND);
        assert!(!control.has_lapsed());
    }

    #[test]
    fn buffers_that_are_switched_on_after_that_stay() {
        let (control, lease, begun) = leased(30);
        control.set_message("adjusted");
        lease.look_at(begun + 30 * SECOND);
        lease.look_at(begun + 40 * SECOND);
        assert!(control.has_lapsed() && control.message().ends_with("for 30 s; adjusted"));
        control.ask_to_stay();
        control.set_mode(Mode::On);
        lease.look_at(begun + 100 * SECOND);
        assert!(!control.has_lapsed() && !control.is_to_withdraw());
        assert_eq!((control.message().as_str(), control.mode()), ("adjusted", Mode::On));
    }

    #[test]
    fn buffers_that_are_switched_on_at_the_same_moment_stay() {
        let (control, lease, begun) = leased(30);
        for _ in 0..5_000 {
            control.set_lease(30);
            // Found over already.
            lease.over.store(begun + 31 * SECOND, Ordering::Relaxed);
            let begin = std::sync::Barrier::new(2);
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    begin.wait();
                    lease.look_at(begun + 40 * SECOND);
                });
                begin.wait();
                control.ask_to_stay();
                control.set_mode(Mode::On);
            });
            assert!(!control.has_lapsed() && !control.is_to_withdraw());
            assert_eq!((control.message().as_str(), control.mode()), ("", Mode::On));
        }
    }

    #[test]
    fn without_a_lease_it_stays() {
        let (control, lease, begun) = leased(0);
        lease.look_at(begun + 1000 * SECOND);
        lease.look_at(begun + 2000 * SECOND);
        lease.look();
        assert!(!control.is_to_withdraw());
        let (control, lease, begun) = leased(30);
        // The user has switched it on: it is the user's from then on.
        control.ask_to_stay();
        lease.look_at(begun + 1000 * SECOND);
        lease.look_at(begun + 2000 * SECOND);
        assert!(!control.is_to_withdraw() && !control.has_lapsed());
    }
}
