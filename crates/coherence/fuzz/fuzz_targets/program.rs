//! Programs on machines, driven by coverage. What they are made of, and the rules, are those of the property tests.
#![no_main]

#[path = "../../tests/program/mod.rs"]
mod program;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use program::Numbers;

fuzz_target!(|data: &[u8]| {
    let Ok(numbers) = Numbers::arbitrary_take_rest(Unstructured::new(data)) else { return };
    program::run(&numbers);
});
