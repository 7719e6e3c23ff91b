//! The description of a machine: how its CPUs are arranged, and what each access costs there.
//!
//! A description is a TOML file in which every number says where it is from; `docs/machines.md` explains the format. Some
//! machines are shipped: [`shipped`] lists them, and [`Machine::named`] finds them, or a file.

mod bandwidth;
mod costs;
mod error;
mod figure;
mod file;
mod grid;
mod number;
mod shape;
mod shipped;

pub use bandwidth::Bandwidth;
pub use costs::{Costs, Picoseconds};
pub use error::MachineError;
pub use figure::{Figure, Origin, Unit};
pub use grid::Grid;
pub use shape::{Distance, Reached, Shape};
pub use shipped::shipped;

use strum::{Display, EnumString, IntoStaticStr, VariantNames};

/// A machine, checked: within the limits, and complete for its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The short name: that of a shipped machine, or of the file without its ending.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// The cores' clock, in GHz; costs in cycles were converted with it.
    pub clock_ghz: f64,
    /// Which states a line can be in.
    pub protocol: Protocol,
    /// How the CPUs are arranged.
    pub shape: Shape,
    /// What each step takes.
    pub costs: Costs,
    /// What memory and links carry.
    pub bandwidth: Bandwidth,
    /// Every number above as the file has it, or as it was assumed where the file has none, with its origin.
    pub figures: Vec<Figure>,
}

impl Machine {
    /// Reads a description; errors call it by this name.
    pub fn parse(text: &str, name: &str) -> Result<Machine, MachineError> {
        file::parse(text, name, name)
    }

    /// A shipped machine by its name, or else the one that this file describes.
    pub fn named(name_or_path: &str) -> Result<Machine, MachineError> {
        shipped::named(name_or_path)
    }

    /// A value in the unit of this figure, which is of a time, in picoseconds.
    pub(crate) fn picoseconds(&self, value: f64, figure: &Figure) -> Picoseconds {
        number::base(value, figure.unit, self.clock_ghz).round() as Picoseconds
    }

    /// So many processor cycles in picoseconds.
    pub fn cycles(&self, cycles: f64) -> Picoseconds {
        (cycles * 1e3 / self.clock_ghz).round() as Picoseconds
    }

    /// How much longer work takes on a CPU while so many of its core's threads are busy. Two and more of them do the same together:
    /// with all of them busy it is the file's `sibling_work`.
    #[inline]
    pub fn slowdown(&self, busy: u32) -> f64 {
        if busy < 2 {
            return 1.0;
        }
        (self.costs.sibling_work * f64::from(busy) / f64::from(self.shape.threads)).max(1.0)
    }

    /// The number with this key, such as `clock`, `shape.cores`, `costs.locked` or `scheduler.quantum`.
    pub fn figure(&self, key: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.key == key)
    }
}

/// The states in which a cache can have a line.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Protocol {
    /// Modified, exclusive, shared, invalid. A modified line that another core reads goes to memory.
    Mesi,
    /// With forward: of those who share a line, the newest reader answers. Intel's.
    Mesif,
    /// With owned: a modified line can be shared without going to memory. AMD's.
    Moesi,
}

impl Protocol {
    /// As files write it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
#[path = "mutation_test.rs"]
mod mutation_test;
