//! The states of a line in each core's caches, and what a read or a write makes of them.
//!
//! A core stands for its own L1 and L2. The states are those of the seed literature on x86: MESI, with Intel's Forward (the newest
//! reader answers the next one) and AMD's Owned (a modified line is shared without being written back).

use crate::machine::Protocol;

/// The state of a line in one core's caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The only copy, newer than memory.
    Modified,
    /// Newer than memory, and shared with others; this core answers.
    Owned,
    /// The only copy, equal to memory.
    Exclusive,
    /// Shared; this core answers.
    Forward,
    /// Shared.
    Shared,
    /// No copy.
    Invalid,
}

impl State {
    /// As in the literature.
    pub const fn letter(self) -> char {
        match self {
            State::Modified => 'M',
            State::Owned => 'O',
            State::Exclusive => 'E',
            State::Forward => 'F',
            State::Shared => 'S',
            State::Invalid => 'I',
        }
    }

    /// Whether the copy may be written to without asking others.
    pub const fn alone(self) -> bool {
        matches!(self, State::Modified | State::Exclusive)
    }
}

/// What a read by a core without a copy makes of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AfterRead {
    /// The reader's state.
    pub reader: State,
    /// The state of the core that answered, or that of nobody.
    pub answerer: State,
    /// Whether memory gets the modified line.
    pub written_back: bool,
}

/// A core without a copy reads. `answerer` is the state of the core that is not just Shared (Invalid if there is none), `shared`
/// whether others are Shared.
pub const fn read(protocol: Protocol, answerer: State, shared: bool) -> AfterRead {
    let (reader, answerer, written_back) = match (protocol, answerer) {
        (_, State::Invalid | State::Shared) if !shared => (State::Exclusive, State::Invalid, false),
        (Protocol::Mesif, State::Invalid | State::Shared) => (State::Forward, State::Invalid, false),
        (_, State::Invalid | State::Shared) => (State::Shared, State::Invalid, false),
        (Protocol::Moesi, State::Modified | State::Owned) => (State::Shared, State::Owned, false),
        (Protocol::Mesif, State::Modified | State::Owned) => (State::Forward, State::Shared, true),
        (Protocol::Mesi, State::Modified | State::Owned) => (State::Shared, State::Shared, true),
        (Protocol::Mesif, State::Exclusive | State::Forward) => (State::Forward, State::Shared, false),
        (_, State::Exclusive | State::Forward) => (State::Shared, State::Shared, false),
    };
    AfterRead { reader, answerer, written_back }
}

/// Where a writer has the line's data from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// It has a copy: others are only made invalid.
    Own,
    /// A core that had modified it.
    Modified,
    /// A core that had not.
    Clean,
    /// A cache below the cores, or memory.
    Below,
}

/// What a write makes of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AfterWrite {
    /// The writer's state.
    pub writer: State,
    /// The state of all others.
    pub others: State,
    /// Where its data come from.
    pub supply: Supply,
    /// Whether memory gets the modified line.
    pub written_back: bool,
}

/// A core writes that is not alone. `writer` is its own state, `answerer` that of another core that is not just Shared (Invalid if there
/// is none). All protocols do the same: a modified line goes to the writer, who is about to change it again, and not to memory.
pub const fn write(writer: State, answerer: State) -> AfterWrite {
    let supply = match (writer, answerer) {
        (State::Shared | State::Forward | State::Owned | State::Exclusive | State::Modified, _) => {
            Supply::Own
        }
        (State::Invalid, State::Modified | State::Owned) => Supply::Modified,
        (State::Invalid, State::Exclusive | State::Forward) => Supply::Clean,
        (State::Invalid, State::Shared | State::Invalid) => Supply::Below,
    };
    AfterWrite { writer: State::Modified, others: State::Invalid, supply, written_back: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Protocol::{Mesi, Mesif, Moesi};
    use State::{Exclusive, Forward, Invalid, Modified, Owned, Shared};

    fn letters(protocol: Protocol, answerer: State, shared: bool) -> (char, char, bool) {
        let after = read(protocol, answerer, shared);
        (after.reader.letter(), after.answerer.letter(), after.written_back)
    }

    #[test]
    fn the_first_reader_is_alone() {
        for protocol in [Mesi, Mesif, Moesi] {
            assert_eq!(letters(protocol, Invalid, false), ('E', 'I', false));
        }
    }

    #[test]
    fn a_modified_line_is_written_back_unless_it_can_be_owned() {
        assert_eq!(letters(Mesi, Modified, false), ('S', 'S', true));
        assert_eq!(letters(Mesif, Modified, false), ('F', 'S', true));
        assert_eq!(letters(Moesi, Modified, false), ('S', 'O', false));
        assert_eq!(letters(Moesi, Owned, true), ('S', 'O', false));
    }

    #[test]
    fn the_newest_reader_forwards() {
        assert_eq!(letters(Mesif, Exclusive, false), ('F', 'S', false));
        assert_eq!(letters(Mesif, Forward, true), ('F', 'S', false));
        assert_eq!(letters(Mesif, Invalid, true), ('F', 'I', false));
        assert_eq!(letters(Mesi, Exclusive, false), ('S', 'S', false));
        assert_eq!(letters(Mesi, Shared, true), ('S', 'I', false));
    }

    #[test]
    fn no_reader_is_alone_beside_another_copy() {
        for protocol in [Mesi, Mesif, Moesi] {
            for answerer in [Modified, Owned, Exclusive, Forward] {
                let after = read(protocol, answerer, true);
                assert!(!after.reader.alone() && !after.answerer.alone());
            }
        }
    }

    #[test]
    fn a_writer_is_the_only_one_left_and_has_the_data_from_the_nearest_that_may_give_it() {
        for writer in [Owned, Forward, Shared] {
            for answerer in [Invalid, Owned, Forward] {
                assert_eq!(write(writer, answerer).supply, Supply::Own);
            }
        }
        let supply = |answerer| write(Invalid, answerer).supply;
        assert_eq!([Modified, Owned].map(supply), [Supply::Modified; 2]);
        assert_eq!([Exclusive, Forward].map(supply), [Supply::Clean; 2]);
        assert_eq!([Shared, Invalid].map(supply), [Supply::Below; 2]);
        for answerer in [Modified, Owned, Exclusive, Forward, Shared, Invalid] {
            let after = write(Invalid, answerer);
            assert_eq!((after.writer, after.others, after.written_back), (Modified, Invalid, false));
        }
    }
}
