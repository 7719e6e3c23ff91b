//! The flags in force in a running JVM (`VM.flags -all`).

use crate::Result;
use crate::attach::Attached;
use std::collections::BTreeMap;

/// A flag's value, and whether it is the default or HotSpot's own choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    pub value: String,
    /// `default`, `ergonomic`, `command line`, ...
    pub origin: String,
}

/// All flags by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VmFlags(BTreeMap<String, Flag>);

/// Asks a JVM.
pub fn of(jvm: &Attached) -> Result<VmFlags> {
    Ok(VmFlags::parse(&jvm.diagnose("VM.flags -all")?))
}

impl VmFlags {
    /// Lines such as `     bool UseTLAB    = true    {product} {default}`.
    pub fn parse(text: &str) -> VmFlags {
        VmFlags(text.lines().filter_map(line).collect())
    }

    /// Whether there is anything: a JVM that cannot be asked tells no flags.
    pub fn is_known(&self) -> bool {
        !self.0.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&Flag> {
        self.0.get(name)
    }

    pub fn is_on(&self, name: &str) -> bool {
        self.get(name).is_some_and(|flag| flag.value == "true")
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.value.parse().ok()
    }

    /// Whether somebody chose it: on the command line, in a file, by a management tool.
    pub fn is_chosen(&self, name: &str) -> bool {
        self.get(name).is_some_and(|flag| !["default", "ergonomic"].contains(&flag.origin.as_str()))
    }
}

fn line(text: &str) -> Option<(String, Flag)> {
    let (left, right) = text.split_once('=')?;
    let name = left.split_whitespace().nth(1)?;
    // A value may have blanks; what follows are kind and origin in braces.
    let (value, rest) = right.split_once('{')?;
    let origin = rest.rsplit_once('{')?.1.trim_end().trim_end_matches('}');
    Some((name.to_owned(), Flag { value: value.trim().to_owned(), origin: origin.to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_with_their_origin() {
        // As JDK 25.0.3 writes them.
        let flags = VmFlags::parse(
            "[Global flags]\n\
             \x20    bool UseTLAB                                  = true                                      {product} {default}\n\
             \x20  size_t PreTouchParallelChunkSize                = 4194304                                {pd product} {default}\n\
             \x20    bool UseG1GC                                  = true                                      {product} {ergonomic}\n\
             \x20  size_t TLABSize                                 = 4096                                      {product} {command line}\n\
             ccstrlist OnError                                  =                                           {product} {default}\n",
        );
        assert!(flags.is_on("UseTLAB") && !flags.is_on("OnError") && !flags.is_on("Nonsense"));
        assert_eq!(
            (flags.number("PreTouchParallelChunkSize"), flags.number("TLABSize")),
            (Some(4194304), Some(4096))
        );
        let chosen = ["TLABSize", "UseG1GC", "UseTLAB"].map(|name| flags.is_chosen(name));
        assert_eq!(chosen, [true, false, false]);
        assert_eq!(flags.get("OnError").unwrap().value, "");
    }
}
