//! The range of what is simulated: every group of numbers at both ends of its range, all of them at once where that gives the least
//! and the most, and other seeds.

use super::setting::Setting;
use super::{Finding, Part};
use crate::ranges::{End, Group};
use crate::sweep;
use serde::Serialize;
use std::io;

/// Seeds beside the one with which everything is simulated.
const SEEDS: [u64; 4] = [101, 102, 103, 104];
/// What changes a value by less than this part is left as it is in a corner: chance alone moves contended values by more.
const MOVES: f64 = 0.005;

/// What a simulated value comes to over the ranges of all numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Range {
    /// The least of everything that was simulated, in the unit of the value.
    pub low: f64,
    /// The most.
    pub high: f64,
    /// The least and the most over seeds alone, with the numbers as they are.
    pub seeds: [f64; 2],
    /// The group of numbers that moves the value most by itself, with the value at its low and at its high end; nothing where none
    /// moves it.
    pub decides: Option<(&'static str, [f64; 2])>,
}

impl Range {
    /// Whether a value lies inside.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// All findings that there are ranges for, in the order of `parts`; the values are those of [`Part::evaluate`].
///
/// # Errors
/// When there is no memory for the threads' stacks.
pub(super) fn evaluate(parts: &[Part], done: impl Fn(usize, usize) + Sync) -> io::Result<Vec<Finding>> {
    let settings: Vec<Vec<Setting>> = parts.iter().map(|part| one_at_a_time(part.groups())).collect();
    let jobs: Vec<Job> = (parts.iter().zip(&settings))
        .flat_map(|(part, settings)| settings.iter().map(|setting| (*part, setting.clone())))
        .collect();
    let found = simulate(&jobs, |count| done(count, jobs.len()))?;
    let mut rest = found.as_slice();
    let mut of_parts = Vec::new();
    for settings in &settings {
        let (of_part, others) = rest.split_at(settings.len());
        of_parts.push(of_part);
        rest = others;
    }
    // The corners, which are known only now; many values have them in common.
    let mut corners: Vec<Job> = Vec::new();
    let mut places = Vec::new();
    for (part, of_part) in parts.iter().zip(&of_parts) {
        for number in 0..of_part[0].len() {
            let values: Vec<f64> = of_part.iter().map(|found| found[number].simulated).collect();
            let of_value = corners_of(part.groups(), &values).map(|ends| {
                // Where nothing moves it, it is what it is.
                (!ends.is_empty()).then(|| {
                    let job = (*part, Setting::at(ends));
                    corners.iter().position(|other| *other == job).unwrap_or_else(|| {
                        corners.push(job);
                        corners.len() - 1
                    })
                })
            });
            places.push(of_value);
        }
    }
    let all = jobs.len() + corners.len();
    let in_corners = simulate(&corners, |count| done(jobs.len() + count, all))?;
    let mut places = places.into_iter();
    let mut findings = Vec::new();
    for (part, of_part) in parts.iter().zip(&of_parts) {
        for (number, finding) in of_part[0].iter().enumerate() {
            let values: Vec<f64> = of_part.iter().map(|found| found[number].simulated).collect();
            let corners = places.next().unwrap_or_default();
            let corners =
                corners.map(|place| place.map_or(values[0], |place| in_corners[place][number].simulated));
            let varied = values.len() > 1;
            let range = varied.then(|| range(part.groups(), &values, corners));
            findings.push(Finding { range, ..finding.clone() });
        }
    }
    Ok(findings)
}

type Job = (Part, Setting);

fn simulate(jobs: &[Job], done: impl Fn(usize) + Sync) -> io::Result<Vec<Vec<Finding>>> {
    let results = sweep::each(jobs, done, |(part, setting)| part.evaluate_at(setting, &|_| ()));
    results.into_iter().collect()
}

/// As shipped, each group at its low and then at its high end, and the seeds; where nothing is to be varied, as shipped alone.
fn one_at_a_time(groups: &[Group]) -> Vec<Setting> {
    if groups.is_empty() {
        return vec![Setting::default()];
    }
    let ends = groups.iter().flat_map(|group| End::BOTH.map(|end| Setting::at(vec![(*group, end)])));
    std::iter::once(Setting::default()).chain(ends).chain(SEEDS.map(Setting::seeded)).collect()
}

/// The ends of all groups where a value is least, and where it is most; `values` are those of [`one_at_a_time`]. A group that moves it
/// nowhere stays as it is.
fn corners_of(groups: &[Group], values: &[f64]) -> [Vec<(Group, End)>; 2] {
    let moves = |by: f64| by > MOVES * values[0].abs();
    let mut corners = [Vec::new(), Vec::new()];
    for (group, ends) in groups.iter().zip(values[1..].chunks(2)) {
        let (down, up) = if ends[0] <= ends[1] { (End::Low, End::High) } else { (End::High, End::Low) };
        let (least, most) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        if moves(values[0] - least) {
            corners[0].push((*group, down));
        }
        if moves(most - values[0]) {
            corners[1].push((*group, up));
        }
    }
    corners
}

fn range(groups: &[Group], values: &[f64], corners: [f64; 2]) -> Range {
    let seeds = values[..1].iter().chain(&values[1 + 2 * groups.len()..]).copied();
    let all = || values.iter().copied().chain(corners);
    let width = |ends: &[f64; 2]| (ends[1] - ends[0]).abs();
    let decides = (groups.iter().zip(values[1..].chunks(2)))
        .map(|(group, ends)| (group.name(), [ends[0], ends[1]]))
        .max_by(|(_, one), (_, other)| width(one).total_cmp(&width(other)))
        .filter(|(_, ends)| width(ends) > MOVES * values[0].abs());
    Range {
        low: all().fold(f64::INFINITY, f64::min),
        high: all().fold(f64::NEG_INFINITY, f64::max),
        seeds: [seeds.clone().fold(f64::INFINITY, f64::min), seeds.fold(f64::NEG_INFINITY, f64::max)],
        decides,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUPS: [Group; 3] = [Group::Transfers, Group::Locked, Group::Clock];
    /// As it is; both ends of three groups; two seeds. The clock moves it down at both ends, the locked instruction nowhere.
    const VALUES: [f64; 9] = [10.0, 7.0, 14.0, 10.01, 9.99, 9.0, 8.0, 9.9, 10.3];

    #[test]
    fn corners_take_each_group_where_it_moves_the_value_most() {
        assert_eq!(
            corners_of(&GROUPS, &VALUES),
            [
                vec![(Group::Transfers, End::Low), (Group::Clock, End::High)],
                vec![(Group::Transfers, End::High)]
            ]
        );
    }

    #[test]
    fn a_range_spans_ends_seeds_and_corners() {
        let range = range(&GROUPS, &VALUES, [5.5, 14.0]);
        assert_eq!((range.low, range.high), (5.5, 14.0));
        assert_eq!(range.seeds, [9.9, 10.3]);
        assert_eq!(range.decides, Some(("line transfers", [7.0, 14.0])));
        assert!(range.contains(5.5) && range.contains(14.0) && !range.contains(14.1));
    }

    #[test]
    fn what_nothing_moves_has_nothing_that_decides() {
        let range = super::range(&GROUPS, &[2.0; 9], [2.0; 2]);
        assert_eq!((range.low, range.high, range.decides), (2.0, 2.0, None));
    }

    #[test]
    fn every_value_is_inside_its_range_and_unchanged() {
        let with = evaluate(&[Part::Opsian], |_, _| ()).unwrap();
        let without = Part::Opsian.evaluate(&|_| ()).unwrap();
        assert_eq!(with.len(), without.len());
        for (one, other) in with.iter().zip(&without) {
            assert_eq!((&one.what, one.simulated), (&other.what, other.simulated));
            let range = one.range.as_ref().unwrap();
            assert!(range.contains(one.simulated) && range.low < range.high, "{one:?}");
            assert!(range.contains(range.seeds[0]) && range.contains(range.seeds[1]), "{one:?}");
        }
        assert_eq!(with, evaluate(&[Part::Opsian], |_, _| ()).unwrap(), "the same each time");
    }
}
