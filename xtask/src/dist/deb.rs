//! The Debian package: the same files below /usr.

use super::archive::{ar, tar_gz};
use super::target::Target;
use super::{VERSION, build};
use crate::files::{fresh, write};
use jvm::Result;
use std::path::Path;

/// The package's bytes. `staged` is the tree that is unpacked into `/`.
pub fn package(staged: &Path, scratch: &Path, target: &Target, seconds: u64) -> Result<Vec<u8>> {
    let control = scratch.join("control");
    fresh(&control)?;
    let text = format!(
        "Package: terrace
Version: {VERSION}
Architecture: {architecture}
Maintainer: The Terrace developers <terrace@localhost>
Depends: libc6 (>= {glibc})
Section: java
Priority: optional
Description: allocation buffers for each core, under an unmodified JVM
 An agent for HotSpot that puts buffers of each core between thread-local
 allocation buffers and the heap, a command that measures whether it helps a
 program, and the same hierarchy as an arena for Rust and C.
",
        architecture = target.debian,
        glibc = build::GLIBC,
    );
    write(control.join("control"), &text)?;
    Ok(ar(
        &[
            ("debian-binary", b"2.0\n".to_vec()),
            ("control.tar.gz", tar_gz(&control, "./", seconds)?),
            ("data.tar.gz", tar_gz(staged, "./", seconds)?),
        ],
        seconds,
    ))
}
