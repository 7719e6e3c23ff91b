//! Random programs of operations against the sequential model in `program`.

#[path = "support/committed.rs"]
mod committed;
mod program;

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
    committed::each(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/operations"), |numbers: &Numbers| {
        Program::new(numbers).run()
    });
}
