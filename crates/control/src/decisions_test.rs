use super::*;
use crate::Control;
use std::sync::atomic::AtomicBool;

/// All words of a decision follow from its number.
fn numbered(number: u64) -> Decision {
    let seen = Observed {
        collections: number,
        domains: number,
        refills: number,
        served: [number; 2],
        past: [number; 2],
        refill_ns: number,
        waste: number,
        eden: number,
        pause_ns: number,
        elapsed_ns: number,
    };
    Decision { level: 1, pause: number, from: number, to: number, most: number, why: Why::Waste, seen }
}

#[test]
fn the_last_changes_are_kept_in_their_order() {
    let control = Control::anonymous(&[1, 1]).unwrap();
    assert_eq!((control.changes(), control.latest_decision(1)), (vec![], None));
    for number in 1..=MAX_CHANGES as u64 + 5 {
        control.note_change(&numbered(number));
    }
    let pauses: Vec<u64> = control.changes().iter().map(|decision| decision.pause).collect();
    assert_eq!(pauses, (6..=MAX_CHANGES as u64 + 5).collect::<Vec<_>>());
    assert_eq!(control.changed(), MAX_CHANGES as u64 + 5);
    control.note_decision(&numbered(7));
    control.note_decision(&Decision { level: MAX_LEVELS, ..numbered(8) });
    assert_eq!(
        [0, 1, 2, 3].map(|level| control.latest_decision(level)),
        [None, Some(numbered(7)), None, None]
    );
}

#[test]
fn what_no_agent_writes_is_left_out() {
    let good = numbered(7).words();
    assert_eq!(Decision::of(good), Some(numbered(7)));
    for (at, word) in
        [(0, MAX_LEVELS as u64), (0, u64::MAX), (1, 0), (1, 1 + Why::ALL.len() as u64), (1, u64::MAX)]
    {
        let mut bad = good;
        bad[at] = word;
        assert_eq!(Decision::of(bad), None, "{at} {word}");
    }
}

/// Ends the writer also when the reader has failed.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A writer never waits, and a reader sees whole decisions.
#[test]
fn no_decision_is_a_mixture_of_two() {
    let control = Control::anonymous(&[1, 1]).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                number += 1;
                control.note_change(&numbered(number));
                control.note_decision(&numbered(number));
            }
        });
        let _stop = Stop(&stop);
        let (mut seen, mut last) = (0, 0);
        while seen < 100_000 {
            for decision in control.changes().into_iter().chain(control.latest_decision(1)) {
                assert_eq!(decision, numbered(decision.pause));
                seen += 1;
            }
            assert!(control.changed() >= last);
            last = control.changed();
        }
    });
}
