//! HotSpot's own TLAB flags.

use crate::growth;
use crate::options::{Levels, Options, Tlab};
use crate::state::When;
use control::size;
use hotspot::flags::Change;
use hotspot::heap::Jvm;

/// What is going to be in force.
pub(crate) struct Tlabs {
    /// For people and reports.
    pub(crate) text: String,
    /// Whether the hook lets a thread begin with small TLABs.
    pub(crate) grow: bool,
    /// The flags that this takes.
    pub(crate) changes: Vec<Change>,
}

impl Tlabs {
    fn of(text: impl Into<String>) -> Tlabs {
        Tlabs { text: text.into(), grow: false, changes: vec![] }
    }
}

/// Whether this JVM uses TLABs at all.
pub(crate) fn are_used(jvm: &Jvm) -> bool {
    jvm.flags.boolean("UseTLAB") != Some(false)
}

/// What the TLAB size asked for takes. Changes nothing.
pub(crate) fn plan(
    jvm: &Jvm,
    options: &Options,
    when: When,
    remarks: &mut Vec<String>,
) -> Result<Tlabs, String> {
    let flags = &jvm.flags;
    if !are_used(jvm) {
        return Ok(Tlabs::of("none"));
    }
    let set_by_user =
        ["TLABSize", "ResizeTLAB", "MinTLABSize"].into_iter().find(|name| flags.is_set_by_user(name));
    let bytes = match (options.tlab, set_by_user) {
        (Tlab::Stock, _) => return Ok(Tlabs::of("stock")),
        (Tlab::Auto, _) if options.levels == Levels::None => return Ok(Tlabs::of("stock")),
        // The user's own -XX flags are a more explicit wish than a default.
        (Tlab::Auto, Some(_)) => return Ok(Tlabs::of("as set by -XX flags")),
        // HotSpot's flags stay: its own strategy decides what a thread asks for, the growth what a new thread gets.
        (Tlab::Auto, None) => {
            let text = format!("stock, new threads from {}", size::format(growth::FIRST));
            return Ok(Tlabs { text, grow: true, changes: vec![] });
        }
        (Tlab::Fixed(bytes), _) => bytes,
    };
    let bytes = bytes.next_multiple_of(jvm.grain());
    let least = flags.number("MinTLABSize").unwrap_or(bytes).min(bytes);
    let changes = [
        flags.boolean_change("ResizeTLAB", false),
        flags.number_change("MinTLABSize", least),
        flags.number_change("TLABSize", bytes),
    ];
    let changes = changes.into_iter().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    if when == When::Attach {
        remarks.push(format!("tlab={bytes} applies to threads that start from now on"));
    }
    Ok(Tlabs { changes, ..Tlabs::of(size::format(bytes)) })
}
