//! Texts that grow in an arena.

use crate::arena::Arena;
use crate::error::{AllocError, exhausted};
use allocator_api2::vec::Vec;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A text in an arena: what `std::string::String` is, of which there is none with an allocator.
///
/// ```
/// use std::fmt::Write;
/// let arena = arena::Arena::new();
/// let mut text = arena::String::new_in(&arena);
/// write!(text, "{} and {}", 1, 2)?;
/// text.push_str(", or 3");
/// assert_eq!(&*text, "1 and 2, or 3");
/// let kept: &str = text.into_str();
/// # Ok::<(), std::fmt::Error>(())
/// ```
pub struct String<'a>(Vec<u8, &'a Arena>);

/// # Panics
/// If the arena has no room for it; a list's own `clone` would abort.
impl Clone for String<'_> {
    fn clone(&self) -> Self {
        let mut copy = String::new_in(self.0.allocator());
        copy.push_str(self);
        copy
    }
}

impl<'a> String<'a> {
    /// An empty one, which takes nothing yet.
    pub fn new_in(arena: &'a Arena) -> String<'a> {
        String(Vec::new_in(arena))
    }

    /// Adds a text at the end.
    ///
    /// # Errors
    /// When the arena has no room for it.
    pub fn try_push_str(&mut self, text: &str) -> Result<(), AllocError> {
        self.0.try_reserve(text.len()).map_err(|_| AllocError)?;
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }

    /// Adds a text at the end.
    ///
    /// # Panics
    /// If the arena has no room for it.
    pub fn push_str(&mut self, text: &str) {
        self.try_push_str(text).unwrap_or_else(|error| exhausted(error));
    }

    /// The text, for as long as the arena is not reset; what it had room for beyond that is given back if it is the buffer's last.
    pub fn into_str(mut self) -> &'a mut str {
        self.0.shrink_to_fit();
        // SAFETY: made of whole texts.
        unsafe { str::from_utf8_unchecked_mut(self.0.leak()) }
    }
}

impl Deref for String<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        // SAFETY: made of whole texts.
        unsafe { str::from_utf8_unchecked(&self.0) }
    }
}

impl DerefMut for String<'_> {
    fn deref_mut(&mut self) -> &mut str {
        // SAFETY: made of whole texts, and `str` stays one.
        unsafe { str::from_utf8_unchecked_mut(&mut self.0) }
    }
}

impl fmt::Debug for String<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for String<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Write for String<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.try_push_str(text).map_err(|_| fmt::Error)
    }
}
