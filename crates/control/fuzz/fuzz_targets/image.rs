//! Anything as the memory of an agent, or as its copy in a file: refused, or read within its bounds. What an input is decoded to, and how it is
//! read, is that of the test of the committed inputs.
#![no_main]

#[path = "../../tests/image/mod.rs"]
mod image;

use image::Images;
use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;

/// In memory, one for each process.
static IMAGES: LazyLock<Images> = LazyLock::new(|| {
    use std::os::unix::fs::DirBuilderExt;
    let folder = PathBuf::from(format!("/dev/shm/terrace-fuzz-{}", std::process::id()));
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&folder);
    Images::within(&folder)
});

fuzz_target!(|bytes: &[u8]| {
    IMAGES.check(bytes);
});
