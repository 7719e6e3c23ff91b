//! Random programs of operations against the sequential model in `program`.

mod program;

use arbitrary::Unstructured;
use program::{Numbers, Program};
use proptest::prelude::*;

fn programs() -> impl Strategy<Value = Program> {
    let operations = proptest::collection::vec(any::<(u8, u8, u16, u16)>(), 0..200);
    (any::<[u8; 8]>(), operations).prop_map(|numbers: Numbers| Program::new(&numbers))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_has_one_owner_and_every_level_accounts_for_it(program in programs()) {
        program.run();
    }
}

/// The committed inputs of the fuzz target, on any toolchain.
#[test]
fn what_the_fuzzer_found_worth_keeping() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/operations");
    let mut programs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        if let Ok(numbers) = <Numbers as arbitrary::Arbitrary>::arbitrary_take_rest(Unstructured::new(&bytes))
        {
            Program::new(&numbers).run();
            programs += 1;
        }
    }
    assert!(programs > 0, "no program in {folder}");
}
