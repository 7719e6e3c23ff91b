//! Taking back what was handed out: all of it, or what came after a checkpoint.

use super::{Arena, next_number};
use crate::levels::Rest;
use crate::reserve::Position;
use crate::thread;
use crate::watched;
use hab::Extent;

/// A place in an arena's life to go back to, with [`Arena::reset_to`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Never the same for two checkpoints of any arenas.
    number: u64,
    at: Position,
}

/// A checkpoint that can be gone back to.
#[derive(Debug)]
pub(super) struct Kept {
    checkpoint: Checkpoint,
    /// What buffers held that the reserve could not take back.
    rests: Vec<Rest>,
    /// Whether buffers got it back: from then on it may be handed out, and is no longer known to be zero.
    is_put_back: bool,
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

    /// A place to go back to, until the next reset, or the next return to an earlier one.
    ///
    /// What core buffers and the calling thread's hold is not lost: it is handed out again, at once or after a return to the
    /// checkpoint. Other threads' buffers are given up: of each that allocated since the last checkpoint, what was left.
    pub fn checkpoint(&mut self) -> Checkpoint {
        let (at, rests) = self.set_aside();
        match self.checkpoints.last_mut() {
            // The same bytes are free as at the last one: nothing was handed out since.
            Some(last) if last.checkpoint.at == at && last.rests == rests => {
                last.is_put_back = false;
                last.checkpoint
            }
            // As there, before its rests were put back.
            Some(last) if last.checkpoint.at == at && rests.is_empty() && !last.is_put_back => {
                last.checkpoint
            }
            _ => self.keep(at, rests),
        }
    }

    /// Gives back to the reserve what buffers hold, as far as it takes it; where it is then, and the rest of them.
    fn set_aside(&mut self) -> (Position, Vec<Rest>) {
        // Before the top goes down: what was handed out once counts as written to.
        self.dirty = self.dirty.max(self.levels.reserve().position().offset());
        // What is before the last checkpoint is for a return to it to put back.
        let floor = self.checkpoints.last().map_or(Position::default(), |last| last.checkpoint.at);
        let rests = self.levels.set_aside(thread::give_up(self.front.number), floor);
        let at = self.levels.reserve().position();
        self.reset_to_position(at);
        (at, rests)
    }

    fn keep(&mut self, at: Position, rests: Vec<Rest>) -> Checkpoint {
        let checkpoint = Checkpoint { number: next_number(), at };
        self.checkpoints.push(Kept { checkpoint, rests, is_put_back: false });
        checkpoint
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
        let found = self.checkpoints.binary_search_by_key(&checkpoint.number, |one| one.checkpoint.number);
        let Ok(index) = found else { return };
        self.checkpoints.truncate(index + 1);
        self.reset_to_position(checkpoint.at);
        let was_put_back = std::mem::replace(&mut self.checkpoints[index].is_put_back, true);
        let rests = &self.checkpoints[index].rests;
        if was_put_back {
            // What was handed out of it since is taken back now, and may have been written to.
            rests.iter().for_each(|rest| self.forget(rest.extent()));
        }
        // Tools know single blocks, which cannot be taken from them without knowing each: there it is given up.
        if !(was_put_back && watched::IS_ON) {
            self.levels.put_back(rests);
        }
    }

    /// What was handed out of a range is no more.
    fn forget(&self, extent: Extent) {
        watched::held(extent);
        self.fresh(extent);
    }

    /// A checkpoint that [`Arena::end_scope`] forgets, and how many there are without it.
    pub(crate) fn begin_scope(&mut self) -> (Checkpoint, usize) {
        let count = self.checkpoints.len();
        // One of its own even where nothing was handed out since the last one: what is set aside for an outer scope is put back at that one's end.
        let (at, rests) = self.set_aside();
        (self.keep(at, rests), count)
    }

    pub(crate) fn end_scope(&mut self, (to, count): (Checkpoint, usize)) {
        self.reset_to(to);
        self.checkpoints.truncate(count);
    }

    fn reset_to_position(&mut self, to: Position) {
        self.dirty = self.dirty.max(self.levels.reserve().position().offset());
        self.levels.reset_to(to);
        // It would keep a place among those that the thread keeps.
        thread::give_up(self.front.number);
        // Every thread's buffer is of an arena that is no more.
        self.front.number = next_number();
    }
}
