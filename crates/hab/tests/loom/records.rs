//! The agent's queue of records (`crates/agent/src/refills/ring.rs`), which has this crate's words and is tested where loom's are.

#[allow(dead_code, clippy::all, reason = "the agent's own file")]
#[path = "../../../agent/src/refills/ring.rs"]
mod ring;

use super::atomics::Loom;
use super::{lend, model};
use loom::thread;
use ring::Ring;

/// Two words, which belong together.
fn of(number: u64) -> [u64; 2] {
    [number, !number]
}

fn read(ring: &Ring<2, Loom>, into: &mut Vec<u64>) {
    while let Some([number, other]) = ring.read() {
        assert_eq!(other, !number, "a record of two");
        into.push(number);
    }
}

#[test]
fn records_are_whole_and_each_is_read_once_or_counted_as_lost() {
    model(Some(3), || {
        let ring: &Ring<2, Loom> = lend(Ring::new(2));
        let writers: Vec<_> = [[1, 2], [11, 12]]
            .map(|numbers| thread::spawn(move || numbers.map(|number| ring.write(of(number)))))
            .into();
        let mut found = vec![];
        read(ring, &mut found);
        for writer in writers {
            writer.join().unwrap();
        }
        read(ring, &mut found);
        assert_eq!(found.len() as u64 + ring.lost(), 4, "{found:?}");
        for (first, second) in [(1, 2), (11, 12)] {
            let at = |number| found.iter().position(|other| *other == number);
            assert!(at(first) <= at(second) || at(second).is_none(), "{found:?}");
        }
        let mut once = found.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), found.len(), "{found:?}");
        // Room for the next round's.
        ring.write(of(21));
        assert_eq!(ring.read(), Some(of(21)));
    });
}
