//! Shipped files with bytes deleted, replaced and inserted: a machine or one line that says why not, never a panic.

use super::{Machine, shipped};
use proptest::prelude::*;

/// What happens to the bytes at one place.
#[derive(Clone, Debug)]
enum Edit {
    Delete(usize),
    Replace(Vec<u8>),
    Insert(Vec<u8>),
}

fn edits() -> impl Strategy<Value = Edit> {
    // Pieces of the format are likelier to get past the parser than random bytes are.
    let pieces: &[&str] =
        &["{", "}", "=", "\n", "[", "-", "e9", "0", "nan", "inf", "\"", "cycles", "ms", "value", "= {"];
    let piece = proptest::sample::select(pieces).prop_map(|piece| piece.as_bytes().to_vec());
    let bytes = prop_oneof![piece, proptest::collection::vec(any::<u8>(), 1..4)];
    prop_oneof![
        (1..40_usize).prop_map(Edit::Delete),
        bytes.clone().prop_map(Edit::Replace),
        bytes.prop_map(Edit::Insert),
    ]
}

fn apply(text: &mut Vec<u8>, place: usize, edit: Edit) {
    let place = place % (text.len() + 1);
    let until = |length: usize| (place + length).min(text.len());
    match edit {
        Edit::Delete(length) => drop(text.drain(place..until(length))),
        Edit::Replace(bytes) => drop(text.splice(place..until(bytes.len()), bytes)),
        Edit::Insert(bytes) => drop(text.splice(place..place, bytes)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_mutated_file_is_read_or_refused(
        which: prop::sample::Index,
        edits in proptest::collection::vec((any::<usize>(), edits()), 1..4),
    ) {
        let (name, text) = shipped()[which.index(shipped().len())];
        let mut bytes = text.as_bytes().to_vec();
        for (place, edit) in edits {
            apply(&mut bytes, place, edit);
        }
        match Machine::parse(&String::from_utf8_lossy(&bytes), name) {
            Ok(machine) => {
                prop_assert!(machine.shape.cpus() >= 1 && machine.shape.cpus() <= 4096);
                prop_assert!(machine.clock_ghz.is_finite() && machine.costs.locked >= 1);
                prop_assert!(machine.figures.iter().all(|figure| !figure.origin.text().trim().is_empty()));
            }
            Err(error) => {
                let error = error.to_string();
                prop_assert!(error.starts_with(name) && error.contains("; "), "{}", error);
                prop_assert!(!error.contains(char::is_control), "{}", error);
            }
        }
    }
}
