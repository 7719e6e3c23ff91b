//! No restartable sequences: a processor that they are not written for, or `--cfg no_sequences`, with which others are tested as such a
//! one. There are no areas, so that nothing here is ever called; core buffers are changed by compare and swap.

use crate::primitive::Atomic64;
use crate::slot::{Slot, Taken};

/// As the real one; there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {}

/// As the real one.
pub(crate) fn find(_: &topology::Places) -> Result<Area, &'static str> {
    Err(if cfg!(no_sequences) {
        "built without restartable sequences (--cfg no_sequences)"
    } else {
        "restartable sequences are written for x86-64 and aarch64 only"
    })
}

/// As the real one.
pub(crate) fn is_inlined(area: Area) -> bool {
    match area {}
}

/// As the real one.
pub(crate) fn cpu(area: Area) -> Option<u32> {
    match area {}
}

/// As the real one.
///
/// # Safety
/// Cannot be called.
pub(crate) unsafe fn take(area: Area, _: &[Slot], _: u64) -> Taken {
    match area {}
}

/// As the real one.
///
/// # Safety
/// Cannot be called.
pub(crate) unsafe fn take_aligned(area: Area, _: &[Slot], _: u64, _: u64) -> Taken {
    match area {}
}

/// As the real one.
///
/// # Safety
/// Cannot be called.
pub(crate) unsafe fn take_by_any(area: Area, _: &[Slot], _: u64, _: u64) -> Taken {
    match area {}
}

/// As the real one.
///
/// # Safety
/// Cannot be called.
pub(crate) unsafe fn replace(area: Area, _: &Atomic64, _: u32, _: u64, _: u64) -> bool {
    match area {}
}
