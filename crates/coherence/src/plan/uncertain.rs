//! How sure a plan is: the same candidates with every group of numbers at both ends of its range, with all of them at once where that is
//! worst and where it is best for the candidate, and with other seeds.

use super::ranges::{End, Group, groups, only_collections, vary};
use super::steady::Steady;
use super::{Candidate, Request, collected, net};
use crate::machine::Machine;
use crate::sweep;
use serde::Serialize;
use std::io;

/// Seeds beside the one that was asked for.
const SEEDS: [u64; 2] = [101, 102];
/// A gain that is told of: with less nobody could measure it.
pub const TELLING: f64 = 1.02;

/// The ratio of the candidate to HotSpot's own TLABs where one group is at the ends of its range.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Influence {
    /// What is varied.
    pub parameter: &'static str,
    /// The ratio with all of it at its low end.
    pub low: f64,
    /// And at its high end.
    pub high: f64,
}

/// Over everything that was varied.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sureness {
    /// The least ratio.
    pub low: f64,
    /// The ratio with the values as they are.
    pub ratio: f64,
    /// The largest ratio.
    pub high: f64,
    /// The ratio with every group at the end that is worse for the candidate.
    pub adverse: f64,
    /// And at the end that is better for it.
    pub favourable: f64,
    /// By group, the one that decides most first.
    pub tornado: Vec<Influence>,
}

impl Sureness {
    /// Whether the candidate is faster whatever the numbers are.
    pub fn wins(&self) -> bool {
        self.low > TELLING
    }
}

/// Objects in a second, with all collections.
type Rates = io::Result<Vec<f64>>;

/// Varies everything; `candidate` over `stock`.
pub(super) fn sureness(
    machine: &Machine,
    request: &Request,
    candidates: [&Candidate; 2],
    done: impl Fn(usize, usize) + Sync,
) -> io::Result<Sureness> {
    let groups = groups(machine, request);
    let at = |ends: &[(Group, End)]| {
        let (mut machine, mut request) = (machine.clone(), request.clone());
        for (group, end) in ends {
            vary(&mut machine, &mut request, *group, *end);
        }
        (machine, request)
    };
    let length = request.length(machine);
    let simulated: Vec<(Group, End)> = (groups.iter().filter(|group| !only_collections(**group)))
        .flat_map(|group| End::BOTH.map(|end| (*group, end)))
        .collect();
    let mut cases = vec![at(&[])];
    cases.extend(simulated.iter().map(|end| at(&[*end])));
    cases.extend(SEEDS.map(|seed| (machine.clone(), Request { seed, ..request.clone() })));
    // And the two corners, which are known when all others are.
    let all = 2 * (cases.len() + 2);
    let simulate = |cases: &[(Machine, Request)], before: usize| -> Rates {
        let pairs: Vec<(&(Machine, Request), &Candidate)> =
            cases.iter().flat_map(|case| candidates.map(|candidate| (case, candidate))).collect();
        let objects = |((machine, request), candidate): &(&(Machine, Request), &Candidate)| {
            let scenario = request.scenario(length, candidate.tlab, candidate.hierarchy());
            Ok(Steady::of(machine, &scenario)?.objects)
        };
        sweep::each(&pairs, |count| done(before + count, all), objects).into_iter().collect()
    };
    let ratio = |(machine, request): &(Machine, Request), objects: &[f64]| {
        let rate = |number: usize| {
            net(objects[number], &collected(machine, request, candidates[number], objects[number]))
        };
        rate(1) / rate(0)
    };
    let objects = simulate(&cases, 0)?;
    let ratios: Vec<f64> =
        cases.iter().zip(objects.chunks(2)).map(|(case, objects)| ratio(case, objects)).collect();
    // What only collections depend on is not simulated again.
    let ends = |group: Group| {
        let place = simulated.iter().position(|(of, _)| *of == group);
        place.map_or_else(
            || End::BOTH.map(|end| ratio(&at(&[(group, end)]), &objects[..2])),
            |place| [ratios[1 + place], ratios[2 + place]],
        )
    };
    let mut tornado = Vec::new();
    let (mut worst, mut best) = (Vec::new(), Vec::new());
    for group in groups {
        let [low, high] = ends(group);
        let (down, up) = if low <= high { (End::Low, End::High) } else { (End::High, End::Low) };
        worst.push((group, down));
        best.push((group, up));
        tornado.push(Influence { parameter: group.name(), low, high });
    }
    let seeds = &ratios[ratios.len() - SEEDS.len()..];
    tornado.push(Influence { parameter: "seed", low: seeds[0].min(seeds[1]), high: seeds[0].max(seeds[1]) });
    tornado.sort_by(|one, other| {
        let width = |influence: &Influence| (influence.high - influence.low).abs();
        width(other).total_cmp(&width(one))
    });
    let corners = [at(&worst), at(&best)];
    let objects = simulate(&corners, all - 4)?;
    let corners: Vec<f64> =
        corners.iter().zip(objects.chunks(2)).map(|(case, objects)| ratio(case, objects)).collect();
    let of_all = || tornado.iter().flat_map(|one| [one.low, one.high]).chain(corners.iter().copied());
    Ok(Sureness {
        low: of_all().fold(ratios[0], f64::min),
        ratio: ratios[0],
        high: of_all().fold(ratios[0], f64::max),
        adverse: corners[0],
        favourable: corners[1],
        tornado,
    })
}
