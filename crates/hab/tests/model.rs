//! Random programs of operations against the sequential model in `program`.
#![cfg(not(loom))]

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
