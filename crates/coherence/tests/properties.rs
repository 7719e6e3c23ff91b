//! Random programs on random machines, against the models in `program`.

mod program;

use program::Numbers;
use proptest::prelude::*;

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
