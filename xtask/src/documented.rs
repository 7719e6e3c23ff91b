//! What the documents have of `cargo xtask` is parsed to the end, and not run: options, their values, and what belongs together.

#[path = "../tests/documented/found.rs"]
mod found;

use crate::Arguments;
use clap::Parser;

#[test]
fn every_documented_command_is_understood() {
    let mut count = 0;
    for found::Found { place, command } in found::documented() {
        let Some(rest) = command.strip_prefix("cargo xtask ") else { continue };
        // What stands for a number in a document.
        let filled = rest.split_whitespace().map(|word| if word == "N" { "1" } else { word });
        if let Err(error) = Arguments::try_parse_from(std::iter::once("cargo xtask").chain(filled)) {
            panic!("{place}: {command}: {error}");
        }
        count += 1;
    }
    assert!(count > 20, "only {count} commands are found");
}
