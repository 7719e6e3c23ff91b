//! Scopes: what is handed out in one is taken back at its end.

use crate::arena::{Arena, Checkpoint};
use crate::error::AllocError;
use std::alloc::Layout;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// An arena until the end of a scope; what it hands out lives as long. Threads may share it. Made by [`Arena::scope`] and [`Scope::scope`].
#[derive(Debug)]
pub struct Scope<'s> {
    arena: NonNull<Arena>,
    to: (Checkpoint, usize),
    /// Invariant: no scope can take another one's place.
    lifetime: PhantomData<fn(&'s ()) -> &'s ()>,
}

// SAFETY: a shared arena, as `&Arena`; what changes it as a whole needs the scope exclusively.
unsafe impl Send for Scope<'_> {}
// SAFETY: as above.
unsafe impl Sync for Scope<'_> {}

impl Arena {
    /// Runs `work` with a scope of this arena, and takes back what it handed out, also after a panic.
    ///
    /// ```
    /// let mut arena = arena::Arena::new();
    /// let sum = arena.scope(|outer| {
    ///     let kept = outer.alloc(1_u64);
    ///     let more = outer.scope(|inner| {
    ///         std::thread::scope(|threads| {
    ///             let handles = [2_u64, 3].map(|number| {
    ///                 let inner = &*inner;
    ///                 threads.spawn(move || *inner.alloc(number))
    ///             });
    ///             handles.into_iter().map(|handle| handle.join().unwrap()).sum::<u64>()
    ///         })
    ///     });
    ///     *kept + more
    /// });
    /// assert_eq!((sum, arena.stats().used_bytes), (6, 0));
    /// ```
    ///
    /// Nothing leaves a scope:
    ///
    /// ```compile_fail
    /// let mut arena = arena::Arena::new();
    /// let kept = arena.scope(|scope| scope.alloc(1));
    /// ```
    ///
    /// ```compile_fail
    /// let mut arena = arena::Arena::new();
    /// arena.scope(|outer| {
    ///     let kept = outer.scope(|inner| &*inner.alloc(1));
    /// });
    /// ```
    ///
    /// No scope takes another one's place, and an outer one rests while an inner one is in use:
    ///
    /// ```compile_fail
    /// let (mut one, mut other) = (arena::Arena::new(), arena::Arena::new());
    /// one.scope(|a| other.scope(|b| std::mem::swap(a, b)));
    /// ```
    ///
    /// ```compile_fail,E0499
    /// let mut arena = arena::Arena::new();
    /// arena.scope(|outer| {
    ///     outer.scope(|_| {
    ///         outer.alloc(1);
    ///     });
    /// });
    /// ```
    pub fn scope<R>(&mut self, work: impl for<'s> FnOnce(&mut Scope<'s>) -> R) -> R {
        let to = self.begin_scope();
        let mut scope = Scope { arena: NonNull::from(self), to, lifetime: PhantomData };
        let end = AtEnd(&mut scope);
        work(&mut *end.0)
    }
}

/// Takes back at the end, however that comes.
struct AtEnd<'a, 's>(&'a mut Scope<'s>);

impl Drop for AtEnd<'_, '_> {
    fn drop(&mut self) {
        let to = self.0.to;
        // SAFETY: the scope is over, and with it everything that had references of its lifetime.
        unsafe { self.0.exclusively() }.end_scope(to);
    }
}

impl<'s> Scope<'s> {
    /// # Safety
    /// Nobody uses a reference that [`Scope::arena`] gave, but to what was handed out before the last checkpoint.
    unsafe fn exclusively(&mut self) -> &mut Arena {
        // SAFETY: the arena is borrowed exclusively by the call of `Arena::scope` that all of this is in.
        unsafe { self.arena.as_mut() }
    }

    /// The arena, for collections and everything else that can be had of a shared one. It lends for as long as the scope itself is lent:
    /// no inner scope while a collection is alive.
    pub fn arena(&self) -> &Arena {
        // SAFETY: as in `exclusively`; shared, because `self` is.
        unsafe { self.arena.as_ref() }
    }

    /// As [`Arena::scope`], inside this scope. What this one handed out stays.
    pub fn scope<R>(&mut self, work: impl for<'i> FnOnce(&mut Scope<'i>) -> R) -> R {
        // SAFETY: `self` is borrowed exclusively, so no reference to the arena is in use.
        let to = unsafe { self.exclusively() }.begin_scope();
        let mut inner = Scope { arena: self.arena, to, lifetime: PhantomData };
        let end = AtEnd(&mut inner);
        work(&mut *end.0)
    }

    /// As [`Arena::try_alloc_layout`].
    ///
    /// # Errors
    /// When the arena has not so much left.
    #[inline(always)]
    pub fn try_alloc_layout(&self, layout: Layout) -> Result<NonNull<u8>, AllocError> {
        self.arena().try_alloc_layout(layout)
    }
}
