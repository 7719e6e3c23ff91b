//! With which numbers something published is simulated: as shipped, or some of them at the ends of their ranges.

use crate::machine::Machine;
use crate::programs::counters::Cycles;
use crate::ranges::{End, Group, vary_calls, vary_increment, vary_machine};
use crate::scenario::Calls;

/// The seed with which everything published is simulated.
const SEED: u64 = 1;

/// Numbers at the ends of their ranges; all others are as shipped.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setting {
    /// For everything that is left to chance.
    pub(super) seed: u64,
    ends: Vec<(Group, End)>,
}

impl Default for Setting {
    fn default() -> Setting {
        Setting { seed: SEED, ends: Vec::new() }
    }
}

impl Setting {
    /// Groups at these ends.
    pub(super) fn at(ends: Vec<(Group, End)>) -> Setting {
        Setting { seed: SEED, ends }
    }

    /// Another seed.
    pub(super) fn seeded(seed: u64) -> Setting {
        Setting { seed, ends: Vec::new() }
    }

    /// A machine that is shipped.
    pub(super) fn machine(&self, name: &str) -> Machine {
        let mut machine = super::machine(name);
        for (group, end) in &self.ends {
            vary_machine(&mut machine, *group, *end);
        }
        machine
    }

    /// What calls into the virtual machine take.
    pub(super) fn calls(&self) -> Calls {
        let mut calls = Calls::default();
        for (group, end) in &self.ends {
            vary_calls(&mut calls, *group, *end);
        }
        calls
    }

    /// What an increment takes besides its accesses.
    pub(super) fn cycles(&self) -> Cycles {
        let mut cycles = Cycles::default();
        for (group, end) in &self.ends {
            vary_increment(&mut cycles, *group, *end);
        }
        cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_varied_is_the_machine_as_shipped() {
        let setting = Setting::default();
        assert_eq!(setting.machine("opsian-haswell"), Machine::named("opsian-haswell").unwrap());
        assert_eq!((setting.calls(), setting.cycles()), (Calls::default(), Cycles::default()));
        assert_ne!(Setting::seeded(2).seed, setting.seed);
    }

    #[test]
    fn several_groups_are_varied_at_once() {
        let ends = [Group::Transfers, Group::Refill, Group::Loop].map(|group| (group, End::High));
        let setting = Setting::at(ends.to_vec());
        let costs = setting.machine("opsian-haswell").costs;
        assert!(costs.transfer_cluster > super::super::machine("opsian-haswell").costs.transfer_cluster);
        assert_eq!(setting.calls().refill, crate::constants::REFILL.range.1);
        assert_eq!(setting.cycles().around, 2.0);
    }
}
