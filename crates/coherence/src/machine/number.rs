//! A number of a file: its value, unit and origin, and the limits of its kind.

use super::error::abridged;
use super::{Figure, MachineError, Origin, Unit};
use serde::Deserialize;
use toml::{Table, Value};

/// The most characters of a key in an error.
pub(super) const LONGEST_KEY: usize = 40;

const PICOSECONDS_PER_SECOND: f64 = 1e12;
const MOST_PER_SECOND: f64 = 1e6;
const MOST_RATIO: f64 = 1e3;

/// What is written for a number.
const EXAMPLE: &str = r#"write { value = 27.1, unit = "ns", source = "where it is published" }"#;

/// What a number measures; this decides on its units and limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// A clock: 0.1 to 10 GHz.
    Clock,
    /// A cost: from a picosecond to less than a second.
    Time,
    /// The same, or nothing.
    TimeOrNone,
    /// Up to a million in a second, or none.
    Rate,
    /// A factor: up to a thousand.
    Ratio,
    /// What memory or a link carries: from 0.1 to 100,000 GB/s.
    Bandwidth,
    /// A cache's size: from 0.001 to 100,000 MB.
    Capacity,
    /// Places of a queue: from 1 to 10,000.
    Places,
}

impl Quantity {
    const fn units(self) -> &'static [Unit] {
        match self {
            Quantity::Clock => &[Unit::Gigahertz],
            Quantity::Time | Quantity::TimeOrNone => &[Unit::Nanoseconds, Unit::Cycles, Unit::Milliseconds],
            Quantity::Rate => &[Unit::PerSecond],
            Quantity::Ratio => &[Unit::Ratio],
            Quantity::Bandwidth => &[Unit::GigabytesPerSecond],
            Quantity::Capacity => &[Unit::Megabytes],
            Quantity::Places => &[Unit::Entries],
        }
    }

    /// Whether a value, in its base unit, is within the limits. Not-a-number never is.
    fn admits(self, base: f64) -> bool {
        match self {
            Quantity::Clock => (0.1..=10.0).contains(&base),
            Quantity::Time => (1.0..PICOSECONDS_PER_SECOND).contains(&base),
            Quantity::TimeOrNone => base == 0.0 || (1.0..PICOSECONDS_PER_SECOND).contains(&base),
            Quantity::Rate => (0.0..=MOST_PER_SECOND).contains(&base),
            Quantity::Ratio => base > 0.0 && base <= MOST_RATIO,
            Quantity::Bandwidth => (0.1..=1e5).contains(&base),
            Quantity::Capacity => (0.001..=1e5).contains(&base),
            Quantity::Places => (1.0..=1e4).contains(&base),
        }
    }

    const fn limits(self) -> &'static str {
        match self {
            Quantity::Clock => "a clock must be from 0.1 to 10 GHz",
            Quantity::Time => "a cost must be at least a picosecond and less than a second",
            Quantity::TimeOrNone => "it must be 0, or at least a picosecond and less than a second",
            Quantity::Rate => "a rate must be from 0 to 1000000 per second",
            Quantity::Ratio => "a ratio must be positive and at most 1000",
            Quantity::Bandwidth => "a bandwidth must be from 0.1 to 100000 GB/s",
            Quantity::Capacity => "a cache must have from 0.001 to 100000 MB",
            Quantity::Places => "a queue must have from 1 to 10000 entries",
        }
    }
}

/// What follows from a unit: picoseconds for times, GHz, events in a second, or a factor.
pub(super) fn base(value: f64, unit: Unit, clock_ghz: f64) -> f64 {
    match unit {
        Unit::Nanoseconds => value * 1e3,
        Unit::Milliseconds => value * 1e9,
        Unit::Cycles => value * 1e3 / clock_ghz,
        Unit::Gigahertz
        | Unit::PerSecond
        | Unit::Ratio
        | Unit::GigabytesPerSecond
        | Unit::Megabytes
        | Unit::Entries
        | Unit::Count => value,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Number {
    value: f64,
    unit: Unit,
    low: Option<f64>,
    high: Option<f64>,
    source: Option<String>,
    assumed: Option<String>,
    measured: Option<String>,
    calibrated: Option<String>,
}

/// The one origin of four that may be there.
pub(super) fn origin(
    file: &str,
    key: &str,
    [source, assumed, measured, calibrated]: [Option<String>; 4],
) -> Result<Origin, MachineError> {
    let given = [
        source.map(Origin::Source),
        assumed.map(Origin::Assumed),
        measured.map(Origin::Measured),
        calibrated.map(Origin::Calibrated),
    ];
    let mut given = given.into_iter().flatten();
    let wrong = |wrong: &str| {
        let remedy = "give one of source (where it is published), assumed (why), measured (the command), calibrated (on \
                      which published figure)";
        Err(MachineError::new(file, key, wrong, remedy))
    };
    match (given.next(), given.next()) {
        (None, _) => wrong("has no origin"),
        (Some(_), Some(_)) => wrong("has more than one origin"),
        (Some(origin), None) if origin.text().trim().is_empty() => wrong("has an empty origin"),
        (Some(origin), None) => Ok(origin),
    }
}

/// What `toml` has to say about a value that is not of the form that is wanted, on one line.
pub(super) fn mismatch(file: &str, key: &str, error: &toml::de::Error, remedy: &str) -> MachineError {
    // Its words are a programmer's.
    let wrong = error.to_string().replace("expected f64", "expected a number");
    MachineError::new(file, key, wrong.replace("expected i64", "expected a whole number"), remedy)
}

/// The numbers of one section.
pub(super) struct Section<'a> {
    file: &'a str,
    name: &'static str,
    /// What is not read yet.
    table: Table,
    clock_ghz: f64,
    /// What was read, and what was assumed.
    figures: &'a mut Vec<Figure>,
    /// The keys that were asked for.
    known: Vec<&'static str>,
}

impl<'a> Section<'a> {
    pub(super) fn new(
        file: &'a str,
        name: &'static str,
        table: Table,
        clock_ghz: f64,
        figures: &'a mut Vec<Figure>,
    ) -> Self {
        Section { file, name, table, clock_ghz, figures, known: Vec::new() }
    }

    pub(super) fn file(&self) -> &'a str {
        self.file
    }

    /// A number that has to be there; in the base unit.
    pub(super) fn required(&mut self, key: &'static str, quantity: Quantity) -> Result<f64, MachineError> {
        match self.optional(key, quantity)? {
            Some(base) => Ok(base),
            None => Err(self.missing(key, "a number is missing")),
        }
    }

    /// A number that has to be there for this shape.
    pub(super) fn wanted(
        &mut self,
        key: &'static str,
        because: Option<&str>,
    ) -> Result<Option<f64>, MachineError> {
        let found = self.optional(key, Quantity::Time)?;
        match because {
            Some(because) if found.is_none() => {
                Err(self.missing(key, &format!("a number is missing, and {because}")))
            }
            _ => Ok(found),
        }
    }

    /// A number that may be absent; then this is assumed.
    pub(super) fn or_assume(
        &mut self,
        key: &'static str,
        quantity: Quantity,
        (value, unit): (f64, Unit),
        because: &str,
    ) -> Result<f64, MachineError> {
        if let Some(base) = self.optional(key, quantity)? {
            return Ok(base);
        }
        let origin = Origin::Assumed(because.into());
        self.figures.push(Figure { key: self.full(key), value, unit, origin, low: None, high: None });
        Ok(base(value, unit, self.clock_ghz))
    }

    /// A number that may be absent.
    pub(super) fn optional(
        &mut self,
        key: &'static str,
        quantity: Quantity,
    ) -> Result<Option<f64>, MachineError> {
        self.known.push(key);
        let Some(value) = self.table.remove(key) else { return Ok(None) };
        let figure = read(self.file, self.full(key), value, quantity, self.clock_ghz)?;
        let base = base(figure.value, figure.unit, self.clock_ghz);
        self.figures.push(figure);
        Ok(Some(base))
    }

    /// Whether everything in the section was asked for.
    pub(super) fn end(self) -> Result<(), MachineError> {
        match self.table.keys().next() {
            None => Ok(()),
            Some(key) => {
                let remedy = format!("the valid keys are {}", self.known.join(", "));
                Err(MachineError::new(
                    self.file,
                    &format!("{}.{}", self.name, abridged(key, LONGEST_KEY)),
                    "unknown key",
                    remedy,
                ))
            }
        }
    }

    fn full(&self, key: &str) -> String {
        format!("{}.{key}", self.name)
    }

    fn missing(&self, key: &str, wrong: &str) -> MachineError {
        MachineError::new(self.file, &self.full(key), wrong, EXAMPLE)
    }
}

/// Reads one number and checks it.
pub(super) fn read(
    file: &str,
    key: String,
    value: Value,
    quantity: Quantity,
    clock_ghz: f64,
) -> Result<Figure, MachineError> {
    if !value.is_table() {
        return Err(MachineError::new(file, &key, "not a table with value, unit and origin", EXAMPLE));
    }
    let number: Number = value.try_into().map_err(|error| mismatch(file, &key, &error, EXAMPLE))?;
    let origin = origin(file, &key, [number.source, number.assumed, number.measured, number.calibrated])?;
    let (value, unit) = (number.value, number.unit);
    if !quantity.units().contains(&unit) {
        let units = quantity.units().iter().map(|unit| unit.name()).collect::<Vec<_>>().join(", ");
        return Err(MachineError::new(
            file,
            &key,
            format!("the unit {unit} is wrong here"),
            format!("write one of {units}"),
        ));
    }
    let bounds = [("low", number.low), ("value", Some(value)), ("high", number.high)];
    let mut before = f64::NEG_INFINITY;
    for (name, bound) in bounds {
        let Some(bound) = bound else { continue };
        if !quantity.admits(base(bound, unit, clock_ghz)) {
            let wrong = format!("the {name} {bound:?} {unit} is out of bounds");
            return Err(MachineError::new(file, &key, wrong, quantity.limits()));
        }
        if bound < before {
            let wrong = format!("the {name} {bound:?} {unit} is less than the number before it");
            return Err(MachineError::new(file, &key, wrong, "low, value and high must not decrease"));
        }
        before = bound;
    }
    Ok(Figure { key, value, unit, origin, low: number.low, high: number.high })
}
