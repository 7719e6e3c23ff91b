//! HotSpot's own TLAB flags.

use crate::growth;
use crate::install::When;
use crate::options::{Levels, Options, Tlab};
use control::size;
use hotspot::heap::Machine;

/// What is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InForce {
    /// For people and reports.
    pub(crate) text: String,
    /// Whether the hook makes TLABs grow.
    pub(crate) grows: bool,
}

impl InForce {
    fn of(text: impl Into<String>) -> InForce {
        InForce { text: text.into(), grows: false }
    }
}

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
) -> Result<InForce, String> {
    let flags = &jvm.flags;
    if !are_used(jvm) {
        return Ok(InForce::of("none"));
    }
    let set_by_user =
        ["TLABSize", "ResizeTLAB", "MinTLABSize"].into_iter().find(|name| flags.is_set_by_user(name));
    let bytes = match (options.tlab, set_by_user) {
        (Tlab::Stock, _) => return Ok(InForce::of("stock")),
        (Tlab::Auto, _) if options.levels == Levels::None => return Ok(InForce::of("stock")),
        // The user's own -XX flags are a more explicit wish than a default.
        (Tlab::Auto, Some(_)) => return Ok(InForce::of("as by -XX flags")),
        // HotSpot's flags stay: its own strategy decides what a thread asks for, the growth what it gets.
        (Tlab::Auto, None) => {
            let text = format!("{} to {}, growing", size::format(growth::FIRST), size::format(growth::LAST));
            return Ok(InForce { text, grows: true });
        }
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
    if when == When::Attach {
        remarks.push(format!("tlab={bytes} applies to threads that start from now on"));
    }
    Ok(InForce::of(size::format(bytes)))
}
