//! Random programs on random machines, against the models in `program`.

#[path = "../../hab/tests/support/committed.rs"]
mod committed;
mod program;

use program::Numbers;
use proptest::prelude::*;
use terrace_coherence::machine::Machine;

fn programs(kinds: std::ops::Range<u16>) -> impl Strategy<Value = Numbers> {
    let operations = proptest::collection::vec(any::<(u8, u8, u8)>(), 0..300);
    let options = (any::<[u16; 10]>(), kinds, any::<bool>()).prop_map(|(mut options, kind, pinned)| {
        options[0] = kind | u16::from(pinned) << 8;
        options
    });
    (any::<[u16; 20]>(), options, operations)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn accesses_are_steps_in_one_order_and_every_thread_ends(numbers in programs(0..1)) {
        program::run(&numbers);
    }

    #[test]
    fn programs_keep_the_rules_on_any_machine(numbers in programs(1..4)) {
        program::run(&numbers);
    }
}

/// The committed inputs of the fuzz target, on any toolchain.
#[test]
fn what_the_fuzzer_found_worth_keeping() {
    committed::each(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/program"), |numbers: &Numbers| {
        program::run(numbers)
    });
}

#[test]
fn machine_files_that_the_fuzzer_found_worth_keeping() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/machine_file");
    let (mut accepted, mut refused) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        match Machine::parse(text, "fuzz") {
            Ok(machine) => {
                assert!((1..=4096).contains(&machine.shape.cpus()) && machine.costs.locked >= 1);
                accepted += 1;
            }
            Err(error) => {
                assert!(!error.to_string().contains(char::is_control));
                refused += 1;
            }
        }
    }
    assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused");
}
