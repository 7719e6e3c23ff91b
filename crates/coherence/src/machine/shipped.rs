//! The machines that come with the program.

use super::file::{LARGEST, parse, too_large};
use super::{Machine, MachineError};
use std::io::Read;
use std::path::Path;

/// A machine's name and its file.
macro_rules! machine {
    ($name:literal) => {
        ($name, include_str!(concat!("../../machines/", $name, ".toml")))
    };
}

const SHIPPED: &[(&str, &str)] = &[
    machine!("paper-4x10x2"),
    machine!("thompson-nehalem"),
    machine!("thompson-sandy-bridge"),
    machine!("opsian-haswell"),
    machine!("epyc-9654-2x96"),
    machine!("epyc-9754-2x128x2"),
    machine!("xeon-8375c-2x32x2"),
    machine!("xeon-8480-2x56x2"),
    machine!("graviton2-64"),
    machine!("graviton3-64"),
    machine!("ampere-altra-80"),
    machine!("downs-skylake"),
    machine!("downs-ice-lake"),
    machine!("two-vcpu-epyc"),
];

/// The shipped machines: name and file. None of them is refused: a test parses them all.
pub fn shipped() -> &'static [(&'static str, &'static str)] {
    SHIPPED
}

pub(super) fn named(name: &str) -> Result<Machine, MachineError> {
    if let Some((name, text)) = SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
        return Machine::parse(text, name);
    }
    let path = Path::new(name);
    let text = text_of(path, name)?;
    let stem = path.file_stem().map_or_else(|| name.into(), |stem| stem.to_string_lossy());
    parse(&text, name, &stem)
}

fn text_of(path: &Path, name: &str) -> Result<String, MachineError> {
    let failed = |wrong: &dyn std::fmt::Display| {
        let names = SHIPPED.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let remedy = format!("name a shipped machine ({names}) or a file in the format of docs/machines.md");
        MachineError::new(name, "", wrong, remedy)
    };
    if !path.exists() {
        return Err(failed(&"neither a shipped machine nor a file"));
    }
    let file = std::fs::File::open(path).map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    // A byte more than is allowed tells a file that is too large from one that just fits.
    file.take(LARGEST as u64 + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if bytes.len() > LARGEST {
        return Err(too_large(name));
    }
    String::from_utf8(bytes).map_err(|_| failed(&"not UTF-8 text"))
}

#[cfg(test)]
#[path = "shipped_test.rs"]
mod tests;
