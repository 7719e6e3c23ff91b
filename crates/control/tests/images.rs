//! Anything as the memory of an agent: the inputs that the fuzz target found worth keeping, on any toolchain.

mod image;

use image::Images;

#[test]
fn what_the_fuzzer_found_worth_keeping() {
    let folder = tempfile::tempdir().unwrap();
    let images = Images::within(folder.path());
    let (mut read, mut refused) = (0, 0);
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/image")).unwrap() {
        match images.check(&std::fs::read(entry.unwrap().path()).unwrap()) {
            true => read += 1,
            false => refused += 1,
        }
    }
    assert!(read > 0 && refused > 0, "{read} read, {refused} refused");
}
