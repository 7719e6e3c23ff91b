//! How much larger a heap may become before the process runs out of memory.

use crate::evidence::Evidence;
use jvm::vm_flags::VmFlags;
use present::numbers::human;

/// References stay small in a heap of at most so many times what objects are aligned to, less what HotSpot keeps in front of it for itself: a page, aligned
/// as the heap may have to be (`Arguments::max_heap_for_compressed_oops`, 512 MB at most).
const SMALL_REFERENCES: u64 = 1 << 32;
const USUAL_ALIGNMENT: u64 = 8;
const KEPT: u64 = 1 << 30;

/// Bytes by which the heap may grow: half of what is left when all of the present one is in memory. `None` where its size or what is left is unknown.
pub(super) fn of_heap(evidence: &Evidence, eden: f64) -> Option<f64> {
    let (memory, references) = limits(evidence, eden)?;
    Some(memory.min(references))
}

/// Whether the heap may not grow as far as memory reaches, because its references would become larger.
pub(super) fn ends_at_large_references(evidence: &Evidence, eden: f64) -> bool {
    limits(evidence, eden).is_some_and(|(memory, references)| references < memory)
}

/// Bytes by which the heap may grow for memory's sake, and for its references'.
fn limits(evidence: &Evidence, eden: f64) -> Option<(f64, f64)> {
    let flags = &evidence.jvm.flags;
    let most = flags.number("MaxHeapSize")? as f64;
    let left = evidence.memory.available? as f64 - (most - touched(evidence, eden)).max(0.0);
    Some((left.max(0.0) / 2.0, below_large_references(flags, most)))
}

/// What is left is not used up: the next stack or direct buffer needs some of it.
const KEPT_FREE: f64 = 0.125;

/// Whether so many bytes more fit in memory. `None` where nobody knows what is left.
pub(super) fn takes(evidence: &Evidence, more: f64) -> Option<bool> {
    Some(more <= evidence.memory.available? as f64 * (1.0 - KEPT_FREE))
}

/// What becomes resident where eden is filled as a whole, which it was not so far.
pub(super) enum FilledEden {
    /// With what to say of it, if anything.
    Fits(String),
    /// With what there is.
    Lacks(String),
}

/// Less memory than this is not worth a sentence, in bytes.
const LEAST_TOLD: f64 = 1e6;

pub(super) fn of_filled_eden(evidence: &Evidence) -> FilledEden {
    // As large as it is now or was: collectors change it.
    let eden = [evidence.eden.bytes, evidence.eden.mean_bytes].into_iter().flatten().reduce(f64::max);
    let Some(more) = eden.and_then(|eden| untouched(evidence, eden)) else {
        return FilledEden::Fits(" The remedies make more of eden resident.".into());
    };
    if takes(evidence, more) == Some(false) {
        let left = human(evidence.memory.available.unwrap_or(0) as f64);
        return FilledEden::Lacks(format!(
            " Without that up to {} more of eden becomes resident, and {left} are left.",
            human(more)
        ));
    }
    FilledEden::Fits(match more < LEAST_TOLD {
        true => String::new(),
        false => format!(" The remedies make up to {} more of eden resident.", human(more)),
    })
}

/// Bytes of the heap that may become resident where all that is committed is used: of `part` of it at most so many.
pub(super) fn untouched(evidence: &Evidence, part: f64) -> Option<f64> {
    let committed = evidence.memory.heap_committed? as f64;
    Some((committed - touched(evidence, 0.0)).clamp(0.0, part))
}

/// Bytes of the heap that are in memory: as was seen, otherwise those that are for certain, where `eden` has been filled. What is committed may never have
/// been touched. What is in use does not contain eden, which so counts once.
pub(super) fn touched(evidence: &Evidence, eden: f64) -> f64 {
    let memory = &evidence.memory;
    let committed = memory.heap_committed.unwrap_or(0) as f64;
    if let Some(resident) = memory.heap_resident {
        return resident as f64;
    }
    let known = match evidence.jvm.flags.is_on("AlwaysPreTouch") {
        true => committed,
        false => (memory.heap_used.unwrap_or(0) as f64 + eden).min(committed),
    };
    // ZGC's heap is shared memory.
    let resident = if evidence.jvm.collector == "Z" { memory.anonymous } else { memory.resident };
    known.min(resident.unwrap_or(0) as f64)
}

/// A heap that grows past it would have larger references.
fn below_large_references(flags: &VmFlags, heap: f64) -> f64 {
    if !flags.is_on("UseCompressedOops") {
        return f64::INFINITY;
    }
    (SMALL_REFERENCES.saturating_mul(alignment(flags)).saturating_sub(KEPT) as f64 - heap).max(0.0)
}

/// Bytes to which objects are aligned.
pub(super) fn alignment(flags: &VmFlags) -> u64 {
    flags.number("ObjectAlignmentInBytes").unwrap_or(USUAL_ALIGNMENT)
}
