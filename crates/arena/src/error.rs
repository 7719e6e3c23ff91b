//! What can go wrong.

use std::fmt;

/// An arena could not be built; the text has the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError(pub(crate) String);

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BuildError {}

/// The arena has too few bytes left, or no address of that alignment, or grows and found no address space (of the process, or near its first
/// segment); raise its limit, give it a reserve, or reset it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocError;

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the arena has too few bytes left, or address space to grow into; raise its limit, give it a reserve, or reset it",
        )
    }
}

impl std::error::Error for AllocError {}

/// Where the caller asked for no error.
#[cold]
#[inline(never)]
pub(crate) fn exhausted(error: AllocError) -> ! {
    panic!("{error}")
}
