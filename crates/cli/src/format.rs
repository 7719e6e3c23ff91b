//! What is printed: one switch for all commands, each of which says what it can.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jvm::{Error, Result};
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Human-readable text.
    Table,
    /// Machine-readable: everything; standard output contains nothing else.
    Json,
    /// Machine-readable: a line per row, numbers in full precision.
    Csv,
    /// A page with plots and all numbers.
    Html,
}

impl Format {
    /// What most commands can.
    pub const BOTH: [Format; 2] = [Format::Table, Format::Json];
    /// What those can that have one grid of numbers.
    #[cfg(feature = "simulator")]
    pub const ALL: [Format; 4] = [Format::Table, Format::Json, Format::Csv, Format::Html];

    /// The option's parser for a command that can print these.
    pub fn of<const N: usize>(offered: [Format; N]) -> impl TypedValueParser<Value = Format> {
        let names = offered.into_iter().filter_map(|format| format.to_possible_value());
        PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(|name| Format::from_str(&name, false))
    }
}

/// JSON for standard output.
pub fn json(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::failed(error.to_string()))?;
    Ok(text + "\n")
}

/// The same of simulations: what they are of, and the rest.
#[cfg(feature = "simulator")]
pub fn simulated(machine: &str, seed: u64, pinned: bool, rest: &impl Serialize) -> Result<String> {
    #[derive(Serialize)]
    struct Simulated<'a, T: Serialize> {
        simulated: bool,
        machine: &'a str,
        seed: u64,
        pinned: bool,
        #[serde(flatten)]
        rest: &'a T,
    }
    json(&Simulated { simulated: true, machine, seed, pinned, rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_cannot_print_is_refused_with_what_it_can() {
        let command = clap::Command::new("x")
            .arg(clap::Arg::new("format").long("format").value_parser(Format::of(Format::BOTH)));
        let error = command.clone().try_get_matches_from(["x", "--format", "csv"]).unwrap_err().to_string();
        assert!(error.contains("table, json"), "{error}");
        let found = command.try_get_matches_from(["x", "--format", "json"]).unwrap();
        assert_eq!(found.get_one::<Format>("format"), Some(&Format::Json));
    }
}
