//! Random programs of operations against the model of live ranges in `program`.

mod program;

use program::{Numbers, Program};
use proptest::prelude::*;

fn programs() -> impl Strategy<Value = Program> {
    let operations = proptest::collection::vec(any::<(u8, u8, u16, u16)>(), 0..200);
    (any::<[u8; 6]>(), operations).prop_map(|numbers: Numbers| Program::new(&numbers))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_range_is_its_owners_alone_until_it_is_taken_back(program in programs()) {
        program.run();
    }
}
