//! Everything that was published, as data: `published.toml`, where each role is apart.

use super::Role;
use crate::programs::counters::{Increment, Layout};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    calibrated: Group,
    predicted: Group,
    blind: Group,
    seen: Group,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    #[serde(default)]
    values: BTreeMap<String, f64>,
    #[serde(default)]
    counters: Vec<Counters>,
    #[serde(default)]
    tables: Vec<Table>,
}

/// What one source measured of counters on one machine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Counters {
    pub(super) source: String,
    /// Where to find it.
    #[serde(rename = "place")]
    _place: String,
    pub(super) machine: String,
    pub(super) series: Vec<Series>,
}

/// Nanoseconds of a thread for an operation, for 1, 2, 3 and more threads.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Series {
    pub(super) what: String,
    pub(super) increment: Name,
    pub(super) nanoseconds: Vec<f64>,
}

/// An operation, as the file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Name {
    OwnPlain,
    SharedPlain,
    OwnCas,
    Xadd,
    Cas,
}

impl Name {
    /// In words.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Name::OwnPlain => "plain, own line",
            Name::SharedPlain => "plain, shared",
            Name::OwnCas => "compare-and-swap, own line",
            Name::Xadd => "exchange-and-add, shared",
            Name::Cas => "compare-and-swap, shared",
        }
    }

    pub(super) const fn increment(self) -> Increment {
        match self {
            Name::OwnPlain | Name::SharedPlain => Increment::Plain,
            Name::Xadd => Increment::ExchangeAdd,
            Name::OwnCas | Name::Cas => Increment::CompareExchange,
        }
    }

    pub(super) const fn layout(self) -> Layout {
        match self {
            Name::OwnPlain | Name::OwnCas => Layout::Padded,
            Name::SharedPlain | Name::Xadd | Name::Cas => Layout::Shared,
        }
    }
}

/// One of the paper's tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    pub(super) name: String,
    /// `core` or `package`.
    pub(super) domain: String,
    pub(super) megabytes: Vec<f64>,
    pub(super) rows: Vec<Row>,
}

/// A row of a table; what is not a number was not published.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) tlab: String,
    pub(super) percent: Vec<f64>,
}

static FILE: LazyLock<File> = LazyLock::new(|| match toml::from_str(include_str!("../../published.toml")) {
    Ok(file) => file,
    // A test reads it.
    Err(error) => unreachable!("published.toml: {error}"),
});

fn group(role: Role) -> &'static Group {
    match role {
        Role::Calibrated => &FILE.calibrated,
        Role::Predicted => &FILE.predicted,
        Role::Blind => &FILE.blind,
        Role::Seen => &FILE.seen,
    }
}

/// A single value, and what part of the file it is in.
pub(super) fn value(key: &str) -> (f64, Role) {
    let found = ROLES.into_iter().find_map(|role| group(role).values.get(key).map(|value| (*value, role)));
    match found {
        Some(found) => found,
        None => unreachable!("published.toml has no {key}"),
    }
}

const ROLES: [Role; 4] = [Role::Calibrated, Role::Predicted, Role::Blind, Role::Seen];

/// All counters.
pub(super) fn counters() -> impl Iterator<Item = (Role, &'static Counters)> {
    ROLES.into_iter().flat_map(|role| group(role).counters.iter().map(move |counters| (role, counters)))
}

/// The paper's tables.
pub(super) fn tables() -> &'static [Table] {
    &FILE.predicted.tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_published_is_one_file_with_blind_and_calibrated_apart() {
        for (key, role) in [
            ("nehalem-xadd", Role::Calibrated),
            ("sandy-bridge-xadd", Role::Calibrated),
            ("opsian-one", Role::Calibrated),
            ("figure-2-height", Role::Calibrated),
            ("opsian-four", Role::Predicted),
            ("opsian-retries", Role::Predicted),
            ("opsian-hitm", Role::Predicted),
        ] {
            assert_eq!(value(key).1, role, "{key}");
        }
        let of = |role| counters().filter(move |(one, _)| *one == role).map(|(_, counters)| counters);
        assert!(of(Role::Blind).all(|counters| counters.machine == "downs-ice-lake"));
        assert!(of(Role::Calibrated).all(|counters| counters.machine == "downs-skylake"));
        let points = |role| {
            of(role).flat_map(|counters| &counters.series).map(|one| one.nanoseconds.len()).sum::<usize>()
        };
        assert_eq!(ROLES.map(points), [16, 0, 16, 8]);
        let cells = tables().iter().flat_map(|table| &table.rows).flat_map(|row| &row.percent);
        assert_eq!(cells.filter(|percent| percent.is_finite()).count(), 67);
    }
}
