//! HotSpot's own TLAB flags.

use crate::install::When;
use crate::options::{Levels, Options, Tlab};
use hotspot::heap::Machine;

/// The fixed TLAB of `tlab=auto`, in bytes: refills come from a buffer of the own core, so a TLAB can be small. See
/// docs/decisions/tlab-size.md for the measurements.
pub(crate) const AUTO: usize = 4 << 10;

/// Whether this JVM uses TLABs at all.
pub(crate) fn are_used(jvm: &Machine) -> bool {
    jvm.flags.boolean("UseTLAB") != Some(false)
}

/// Sets the flags for the TLAB size asked for; says what is in force.
pub(crate) fn set_flags(
    jvm: &Machine,
    options: &Options,
    when: When,
    remarks: &mut Vec<String>,
) -> Result<String, String> {
    let flags = &jvm.flags;
    if !are_used(jvm) {
        return Ok("none".into());
    }
    let set_by_user =
        ["TLABSize", "ResizeTLAB", "MinTLABSize"].into_iter().find(|name| flags.is_set_by_user(name));
    let bytes = match (options.tlab, set_by_user) {
        (Tlab::Stock, _) => return Ok("stock".into()),
        (Tlab::Auto, _) if options.levels == Levels::None => return Ok("stock".into()),
        // The user's own -XX flags are a more explicit wish than a default.
        (Tlab::Auto, Some(_)) => return Ok("as by -XX flags".into()),
        (Tlab::Auto, None) => AUTO,
        (Tlab::Fixed(bytes), _) => bytes,
    };
    let bytes = bytes.next_multiple_of(jvm.grain());
    let least = flags.number("MinTLABSize").unwrap_or(bytes).min(bytes);
    // SAFETY: flags of these types. In Agent_OnLoad one thread runs, and the heap's construction reads them later. On attach they
    // are read when a thread starts (TLABSize, MinTLABSize) and at a collection (ResizeTLAB), where any mixture is a right one.
    unsafe {
        flags
            .set_boolean("ResizeTLAB", false)
            .and_then(|()| flags.set_number("MinTLABSize", least))
            .and_then(|()| flags.set_number("TLABSize", bytes))
    }
    .map_err(|error| error.to_string())?;
    if when == When::Attach && options.tlab != Tlab::Auto {
        remarks.push(format!("tlab={bytes} applies to threads that start from now on"));
    }
    Ok(bytes.to_string())
}
