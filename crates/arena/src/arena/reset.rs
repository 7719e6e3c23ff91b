//! Taking back what was handed out: all of it, or what came after a checkpoint.

use super::{Arena, next_number};

/// A place in an arena's life to go back to, with [`Arena::reset_to`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Never the same for two checkpoints of any arenas.
    number: u64,
    used: usize,
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
        self.reset_to_used(0);
    }

    /// Takes everything back and gives the memory to the kernel; what is handed out then is zero.
    ///
    /// # Errors
    /// When the kernel does not take it; the arena is reset all the same.
    pub fn reset_and_release(&mut self) -> Result<(), pages::Error> {
        self.reset();
        self.mapping.discard()?;
        self.dirty = self.levels.reserve().base();
        Ok(())
    }

    /// A place to go back to, until the next reset, or the next return to an earlier one. What buffers hold at this moment is given
    /// up.
    pub fn checkpoint(&mut self) -> Checkpoint {
        let used = self.levels.reserve().used();
        self.reset_to_used(used);
        match self.checkpoints.last() {
            Some(last) if last.used == used => *last,
            _ => {
                let checkpoint = Checkpoint { number: next_number(), used };
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
            self.reset_to_used(checkpoint.used);
        }
    }

    fn reset_to_used(&mut self, used: usize) {
        let reserve = self.levels.reserve();
        self.dirty = self.dirty.max(reserve.base() + reserve.used());
        self.levels.reset_to(used);
        // Every thread's buffer is of an arena that is no more.
        self.front.number = next_number();
    }
}
