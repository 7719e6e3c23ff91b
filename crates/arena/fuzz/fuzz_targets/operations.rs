//! Programs of operations, driven by coverage. The interpreter and its model are those of the property tests.
#![no_main]

#[path = "../../tests/program/mod.rs"]
mod program;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use program::{Numbers, Program};

fuzz_target!(|data: &[u8]| {
    let Ok(numbers) = Numbers::arbitrary_take_rest(Unstructured::new(data)) else { return };
    Program::new(&numbers).run();
});
