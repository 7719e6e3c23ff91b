//! The programs that can be simulated, by name.

use crate::profile::Profile;
use crate::programs::allocate::Mutator;
use crate::programs::counters::Increment;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Work for each byte of a new object, in cycles.
pub const BYTE_CYCLES: f64 = crate::constants::BYTE.value;

/// A program by its name. A new one is a variant, and an arm in [`Program::title`] and [`Program::kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Program {
    /// One counter by `lock add`.
    Add,
    /// One counter by `lock xadd`.
    #[strum(serialize = "xadd")]
    ExchangeAdd,
    /// One counter by `lock cmpxchg`, again until it succeeds.
    #[strum(serialize = "cas")]
    CompareExchange,
    /// Objects of one size.
    Allocate,
    /// Objects and work as a recorded profile of the compiler has them.
    Javac,
}

/// What kind of program it is, with what it needs to be run.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// One counter for all threads.
    Counter(Increment),
    /// Threads that allocate.
    Allocation(Mutator),
}

impl Program {
    /// All of them.
    pub const ALL: &[Program] = Program::VARIANTS;

    /// As users write it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// One line for people.
    pub const fn title(self) -> &'static str {
        match self {
            Program::Add => "all threads increment one counter: lock add",
            Program::ExchangeAdd => "all threads increment one counter: lock xadd",
            Program::CompareExchange => "all threads increment one counter: lock cmpxchg until it succeeds",
            Program::Allocate => "threads allocate objects of one size, with some work in between",
            Program::Javac => {
                "threads allocate like the javac workload: with its recorded sizes and its work between two objects"
            }
        }
    }

    /// Whether threads allocate, and so have buffers.
    pub fn allocates(self) -> bool {
        matches!(self.kind(DEFAULT_OBJECT, DEFAULT_WORK, BYTE_CYCLES), Kind::Allocation(_))
    }

    /// Whether the size of objects and the work between them can be chosen; otherwise both belong to the program.
    pub const fn has_object(self) -> bool {
        matches!(self, Program::Allocate)
    }

    /// What is run. `object` in bytes, `work` in cycles, and cycles for each `byte` are for programs that have a choice there.
    pub fn kind(self, object: u32, work: f64, byte: f64) -> Kind {
        match self {
            Program::Add => Kind::Counter(Increment::Add),
            Program::ExchangeAdd => Kind::Counter(Increment::ExchangeAdd),
            Program::CompareExchange => Kind::Counter(Increment::CompareExchange),
            Program::Allocate => Kind::Allocation(Mutator::constant(object, work, byte)),
            Program::Javac => Kind::Allocation(Profile::javac().mutator()),
        }
    }
}

/// Bytes of an object where nothing else is asked for.
pub const DEFAULT_OBJECT: u32 = 64;
/// Cycles of work between two objects where nothing else is asked for: a program that allocates much. Assumed.
pub const DEFAULT_WORK: f64 = 40.0;
