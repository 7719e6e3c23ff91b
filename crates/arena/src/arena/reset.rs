//! Taking back what was handed out: all of it, or what came after a checkpoint.

use super::{Arena, next_number};
use crate::reserve::Position;

/// A place in an arena's life to go back to, with [`Arena::reset_to`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Never the same for two checkpoints of any arenas.
    number: u64,
    at: Position,
}

impl Arena {
    /// Takes everything back, in a time that depends on the number of cores only. Memory stays with the arena.
    ///
    /// ```
    /// let mut arena = arena::Arena::new();
    /// assert_eq!(*arena.alloc(1), 1);
    /// arena.reset();
    /// assert_eq!(*arena.alloc(2), 2);
    /// ```
    ///
    /// Not while something that was handed out is still in use, here or in another thread:
    ///
    /// ```compile_fail,E0502
    /// let mut arena = arena::Arena::new();
    /// let value = arena.alloc(1);
    /// arena.reset();
    /// assert_eq!(*value, 1);
    /// ```
    ///
    /// ```compile_fail,E0502
    /// let mut arena = arena::Arena::new();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| arena.alloc(1));
    ///     arena.reset();
    /// });
    /// ```
    ///
    /// Nor a collection that lives in it:
    ///
    /// ```compile_fail,E0502
    /// let mut arena = arena::Arena::new();
    /// let mut list = allocator_api2::vec::Vec::new_in(&arena);
    /// arena.reset();
    /// list.push(1);
    /// ```
    pub fn reset(&mut self) {
        self.checkpoints.clear();
        self.reset_to_position(Position::default());
    }

    /// Takes everything back and gives the memory to the kernel; what is handed out then is zero.
    ///
    /// # Errors
    /// When the kernel does not take it; the arena is reset all the same.
    pub fn reset_and_release(&mut self) -> Result<(), pages::Error> {
        self.reset();
        self.levels.reserve().segments().discard()?;
        self.dirty = 0;
        Ok(())
    }

    /// A place to go back to, until the next reset, or the next return to an earlier one. What buffers hold at this moment is given
    /// up.
    pub fn checkpoint(&mut self) -> Checkpoint {
        let at = self.levels.reserve().position();
        self.reset_to_position(at);
        match self.checkpoints.last() {
            Some(last) if last.at == at => *last,
            _ => {
                let checkpoint = Checkpoint { number: next_number(), at };
                self.checkpoints.push(checkpoint);
                checkpoint
            }
        }
    }

    /// Takes everything back that was handed out after a checkpoint; what was handed out before stays as it is. A checkpoint of
    /// another arena, from before the last reset, or itself taken back by a return to an earlier one changes nothing.
    ///
    /// ```compile_fail,E0502
    /// let mut arena = arena::Arena::new();
    /// let checkpoint = arena.checkpoint();
    /// let value = arena.alloc(1);
    /// arena.reset_to(checkpoint);
    /// assert_eq!(*value, 1);
    /// ```
    pub fn reset_to(&mut self, checkpoint: Checkpoint) {
        // Numbers only grow.
        if let Ok(at) = self.checkpoints.binary_search_by_key(&checkpoint.number, |one| one.number) {
            self.checkpoints.truncate(at + 1);
            self.reset_to_position(checkpoint.at);
        }
    }

    /// A checkpoint that [`Arena::end_scope`] forgets, and how many there are without it.
    pub(crate) fn begin_scope(&mut self) -> (Checkpoint, usize) {
        let count = self.checkpoints.len();
        (self.checkpoint(), count)
    }

    pub(crate) fn end_scope(&mut self, (to, count): (Checkpoint, usize)) {
        self.reset_to(to);
        self.checkpoints.truncate(count);
    }

    fn reset_to_position(&mut self, to: Position) {
        self.dirty = self.dirty.max(self.levels.reserve().position().offset());
        self.levels.reset_to(to);
        // Every thread's buffer is of an arena that is no more.
        self.front.number = next_number();
    }
}
