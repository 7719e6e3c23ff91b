//! A number with its origin, so that a table can tell what is measured and what is a guess.

use serde::Deserialize;
use std::fmt;

/// A number of a description, in the unit in which the file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Section and key, such as `costs.locked`.
    pub key: String,
    /// The value, in `unit`.
    pub value: f64,
    /// Of `value`, `low` and `high`.
    pub unit: Unit,
    /// Where it is from.
    pub origin: Origin,
    /// The least that was seen or is thought possible.
    pub low: Option<f64>,
    /// The most that was seen or is thought possible.
    pub high: Option<f64>,
}

/// The unit of a number in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum Unit {
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Cycles of the core's clock.
    #[serde(rename = "cycles")]
    Cycles,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Billions of cycles in a second.
    #[serde(rename = "GHz")]
    Gigahertz,
    /// Events in a second.
    #[serde(rename = "per_second")]
    PerSecond,
    /// A factor.
    #[serde(rename = "ratio")]
    Ratio,
    /// Billions of bytes in a second.
    #[serde(rename = "GB/s")]
    GigabytesPerSecond,
    /// Millions of bytes.
    #[serde(rename = "MB")]
    Megabytes,
    /// Places of a queue.
    #[serde(rename = "entries")]
    Entries,
    /// A number of things: the shape's. Files do not write it.
    #[serde(skip_deserializing)]
    Count,
}

impl Unit {
    /// As files write it; nothing for a count.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "ns",
            Unit::Cycles => "cycles",
            Unit::Milliseconds => "ms",
            Unit::Gigahertz => "GHz",
            Unit::PerSecond => "per_second",
            Unit::Ratio => "ratio",
            Unit::GigabytesPerSecond => "GB/s",
            Unit::Megabytes => "MB",
            Unit::Entries => "entries",
            Unit::Count => "",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a number is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Published: where.
    Source(String),
    /// A guess: why this one.
    Assumed(String),
    /// Measured on the machine itself: the command.
    Measured(String),
    /// Chosen so that the simulator gives a published figure: which. Such a figure is no prediction any more.
    Calibrated(String),
}

impl Origin {
    /// `source`, `assumed`, `measured` or `calibrated`, as files write it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Origin::Source(_) => "source",
            Origin::Assumed(_) => "assumed",
            Origin::Measured(_) => "measured",
            Origin::Calibrated(_) => "calibrated",
        }
    }

    /// Where, why, or how.
    pub fn text(&self) -> &str {
        match self {
            Origin::Source(text)
            | Origin::Assumed(text)
            | Origin::Measured(text)
            | Origin::Calibrated(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_as_they_are_written() {
        let units = [
            Unit::Nanoseconds,
            Unit::Cycles,
            Unit::Milliseconds,
            Unit::Gigahertz,
            Unit::PerSecond,
            Unit::Ratio,
            Unit::GigabytesPerSecond,
            Unit::Megabytes,
            Unit::Entries,
        ];
        for unit in units {
            assert_eq!(toml::Value::String(unit.to_string()).try_into::<Unit>(), Ok(unit));
        }
        assert!(toml::Value::String("Count".into()).try_into::<Unit>().is_err());
    }
}
