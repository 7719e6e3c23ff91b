//! The area in which the kernel watches sequences, on every processor that they are written for.

use crate::pinned;
use std::ffi::c_void;
use topology::{Places, RseqArea};

/// What makes sequences restartable.
pub(crate) type Area = RseqArea;

/// The area that the system has, for the CPUs or the concurrency ids of these places; or why there is none.
pub(crate) fn find(places: &Places) -> Result<Area, &'static str> {
    let area = if places.is_by_ids() { RseqArea::find_concurrency() } else { RseqArea::find() }?;
    // Descriptors lie in the object that this function is in, unless allocations are inlined into another one: then that one has to see to it
    // (docs/arena.md, "Coexistence").
    pinned::object_of(find as *const c_void)?;
    Ok(area)
}

/// Whether a sequence is worth its place in the caller's code: only with CPUs it is one piece of code without a look at which.
#[inline(always)]
pub(crate) fn is_inlined(area: Area) -> bool {
    !area.is_by_ids()
}
