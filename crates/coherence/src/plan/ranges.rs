//! The groups of numbers that a plan depends on, at both ends of their ranges.

use super::Request;
use crate::constants;
use crate::machine::Machine;
use crate::programs::allocate::Collector;
pub(super) use crate::ranges::{End, Group};
use crate::ranges::{end_of, vary_calls, vary_machine};

const ALL: [Group; 14] = [
    Group::Transfers,
    Group::Latencies,
    Group::Memory,
    Group::LastCache,
    Group::Clock,
    Group::Locked,
    Group::Drain,
    Group::Work,
    Group::Siblings,
    Group::Refill,
    Group::Heap,
    Group::G1,
    Group::Survivors,
    Group::Pauses,
];

/// Those that make a difference to a request.
pub(super) fn groups(machine: &Machine, request: &Request) -> Vec<Group> {
    let matters = |group: &Group| match group {
        Group::Siblings => machine.shape.threads > 1 && request.threads > machine.shape.cores(),
        Group::G1 => matches!(request.collector, Collector::G1 { .. }),
        _ => true,
    };
    ALL.into_iter().filter(matters).collect()
}

/// Whether a group makes a difference only to what collections cost, which is arithmetic.
pub(super) const fn only_collections(group: Group) -> bool {
    matches!(group, Group::Survivors | Group::Pauses)
}

/// Puts one group at an end of its range.
pub(super) fn vary(machine: &mut Machine, request: &mut Request, group: Group, end: End) {
    vary_machine(machine, group, end);
    vary_calls(&mut request.calls, group, end);
    match group {
        Group::Survivors => request.survivors.vary(end),
        Group::Pauses => {
            request.pauses.fixed = end_of(constants::PAUSE, end);
            request.pauses.thread = end_of(constants::PAUSE_THREAD, end);
            // Short pauses copy fast.
            request.pauses.copy = end_of(constants::COPY, end.other());
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Survivors;

    #[test]
    fn every_group_changes_something_where_it_matters() {
        let machine = Machine::named("paper-4x10x2").unwrap();
        let request = super::super::tests::request(80, 1 << 30);
        let g1 = Request {
            collector: Collector::G1 { region: 1 << 20, numa: false },
            survivors: Survivors::default(),
            ..request
        };
        assert_eq!(groups(&machine, &g1), ALL);
        for group in ALL {
            let changes = |end| {
                let (mut other, mut asked) = (machine.clone(), g1.clone());
                vary(&mut other, &mut asked, group, end);
                other != machine || format!("{asked:?}") != format!("{g1:?}")
            };
            assert!(End::BOTH.into_iter().any(changes), "{group:?}");
        }
    }
}
