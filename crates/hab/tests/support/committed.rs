//! The committed inputs of a fuzz target, on any toolchain.

use arbitrary::{Arbitrary, Unstructured};

/// Runs each input of a folder that the target would take; there has to be one.
pub fn each<Input: for<'bytes> Arbitrary<'bytes>>(folder: &str, run: impl Fn(&Input)) {
    let mut runs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        if let Ok(input) = Input::arbitrary_take_rest(Unstructured::new(&bytes)) {
            run(&input);
            runs += 1;
        }
    }
    assert!(runs > 0, "no input in {folder}");
}
