//! Rates without the beginning and the end of a simulation.

use crate::machine::Machine;
use crate::scenario::{Limit, Measured, Scenario};
use std::io;

/// Rates of the steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Steady {
    /// Objects in a second.
    pub(super) objects: f64,
    /// Requests to the heap in a second.
    pub(super) heap_requests: f64,
    /// What is used most.
    pub(super) limit: Option<Limit>,
}

/// A simulation whose last thread ends later than this over its length has too many threads waiting to be told from its end.
const LATE: f64 = 1.2;
/// Then it gets so much longer: what waits much has few events, and is soon simulated.
const LONGER: u64 = 8;

/// Objects count when they are placed, and the last of them are on their way for a while longer.
const COUNTED: f64 = 1.1;

impl Steady {
    /// Simulates twice, once for twice as long: both have the same beginning, and at their ends as many threads wait.
    pub(super) fn of(machine: &Machine, scenario: &Scenario) -> io::Result<Steady> {
        let twice = |short: &Scenario| Scenario { length: 2 * short.length, ..short.clone() };
        let mut short = scenario.clone();
        let mut long = twice(&short).run(machine, 0)?.0;
        if long.seconds * 1e12 > LATE * 2.0 * short.length as f64 {
            short.length *= LONGER;
            long = twice(&short).run(machine, 0)?.0;
        }
        Ok(Steady::between(&short.run(machine, 0)?.0, &long, short.length as f64 * 1e-12))
    }

    fn between(short: &Measured, long: &Measured, seconds: f64) -> Steady {
        let limit = long.roofline.first().copied();
        let most = long.roofline.most();
        let requests = |run: &Measured| run.buffers.as_ref().map_or(0, |buffers| buffers.heap_requests);
        if long.operations <= short.operations {
            // Not even now does anything but the beginning happen.
            return Steady {
                objects: long.per_second,
                heap_requests: requests(long) as f64 / long.seconds,
                limit,
            };
        }
        let objects = (long.operations - short.operations) as f64 / seconds;
        // The clamp hides how the two runs end, never a run that is faster than the machine.
        debug_assert!(
            long.per_second <= most * COUNTED,
            "{} of {most}: {:?}",
            long.per_second,
            long.roofline
        );
        Steady {
            // The difference of two runs may be more than either of them, and no more than there is.
            objects: objects.min(most),
            heap_requests: requests(long).saturating_sub(requests(short)) as f64 / seconds,
            limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::allocate::{Collector, Hierarchy, Tlab};
    use crate::scenario::{Calls, Program};

    #[test]
    fn a_thread_alone_is_as_fast_as_its_work() {
        let machine = Machine::named("opsian-haswell").unwrap();
        let scenario = Scenario {
            program: Program::Allocate,
            threads: 1,
            tlab: Tlab::Bytes(64 << 10),
            hierarchy: Hierarchy::None,
            eden: 1 << 30,
            collector: Collector::Parallel,
            object: 64,
            work: 40.0,
            calls: Calls::default(),
            pinned: true,
            seed: 1,
            length: 200_000_000,
        };
        let steady = Steady::of(&machine, &scenario).unwrap();
        let most = machine.clock_ghz * 1e9 / ((40.0 + 0.2 * 64.0) * machine.costs.work_scale);
        assert!((0.98..=1.001).contains(&(steady.objects / most)), "{} of {most}", steady.objects);
        let bytes = steady.objects * 64.0;
        let requests = bytes / f64::from(64 << 10);
        assert!(
            (steady.heap_requests / requests - 1.0).abs() < 0.1,
            "{} of {requests}",
            steady.heap_requests
        );
    }
}
