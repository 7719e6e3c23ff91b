//! Reading and writing `-XX` flags.
//!
//! `Agent_OnLoad` runs after HotSpot has chosen its settings and before it makes the heap: a flag that the heap's construction
//! reads can still be changed there.

use crate::Error;
use crate::structs::{Structs, peek, static_text};

/// Who set a flag: the low four bits of `JVMFlag::_flags`.
const ORIGIN_MASK: i32 = 15;
const ORIGIN_DEFAULT: i32 = 0;
const ORIGIN_ERGONOMIC: i32 = 5;

/// The table of flags.
#[derive(Clone, Copy, Debug)]
pub struct Flags {
    first: usize,
    count: usize,
    stride: usize,
    name: usize,
    value: usize,
    flags: usize,
}

/// One flag.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    value: usize,
    flags: usize,
}

impl Flags {
    /// Finds the table.
    pub fn of(structs: &Structs) -> Result<Flags, Error> {
        let first = structs.static_field("JVMFlag", "flags")?;
        let count = structs.static_field("JVMFlag", "numFlags")?;
        Ok(Flags {
            // SAFETY: the table says that these are a pointer to flags and their number.
            first: unsafe { peek(first) },
            // SAFETY: as above.
            count: unsafe { peek(count) },
            stride: structs.bytes_of("JVMFlag")?,
            name: structs.offset("JVMFlag", "_name")?,
            value: structs.offset("JVMFlag", "_addr")?,
            flags: structs.offset("JVMFlag", "_flags")?,
        })
    }

    /// Looks up a flag; `None` if this JDK does not have it.
    pub fn find(&self, name: &str) -> Option<Flag> {
        (0..self.count).map(|at| self.first + at * self.stride).find_map(|entry| {
            // SAFETY: `entry` is inside the table, whose layout was read from HotSpot's own description of it.
            let (named, value) =
                unsafe { (static_text(peek(entry + self.name)), peek::<usize>(entry + self.value)) };
            (named == name && value != 0).then_some(Flag { value, flags: entry + self.flags })
        })
    }

    /// A boolean flag's value; `None` if there is no such flag.
    pub fn boolean(&self, name: &str) -> Option<bool> {
        // SAFETY: HotSpot's bool is one byte; the callers ask for boolean flags only.
        self.find(name).map(|flag| unsafe { peek::<u8>(flag.value) } != 0)
    }

    /// A number flag's value (`size_t`, `uintx`, `intx`); `None` if there is no such flag.
    pub fn number(&self, name: &str) -> Option<usize> {
        // SAFETY: these types have 64 bits; the callers ask for such flags only.
        self.find(name).map(|flag| unsafe { peek::<usize>(flag.value) })
    }

    /// A 32-bit number flag's value (`int`, `uint`); `None` if there is no such flag.
    pub fn small_number(&self, name: &str) -> Option<u32> {
        // SAFETY: these types have 32 bits; the callers ask for such flags only.
        self.find(name).map(|flag| unsafe { peek::<u32>(flag.value) })
    }

    /// A text flag's value; `None` if there is no such flag.
    pub fn text(&self, name: &str) -> Option<&'static str> {
        // SAFETY: a ccstr is a pointer to a string, or null; the callers ask for text flags only.
        self.find(name).map(|flag| unsafe { static_text(peek(flag.value)) })
    }

    /// Whether the user, or anything but HotSpot's defaults and ergonomics, has set the flag.
    pub fn is_set_by_user(&self, name: &str) -> bool {
        self.find(name).is_some_and(|flag| {
            // SAFETY: `_flags` is an int of the table.
            let origin = unsafe { peek::<i32>(flag.flags) } & ORIGIN_MASK;
            origin != ORIGIN_DEFAULT && origin != ORIGIN_ERGONOMIC
        })
    }

    /// Sets a boolean flag, as HotSpot's own ergonomics would.
    ///
    /// # Safety
    /// The flag must be a boolean one, and no thread of HotSpot's may depend on its present value (in `Agent_OnLoad` only one
    /// thread runs).
    pub unsafe fn set_boolean(&self, name: &str, value: bool) -> Result<(), Error> {
        let flag = self.find(name).ok_or_else(|| Error::Missing { what: format!("the flag {name}") })?;
        // SAFETY: the caller's; the address is the flag's own variable.
        unsafe { (flag.value as *mut u8).write_volatile(u8::from(value)) };
        flag.mark_ergonomic();
        Ok(())
    }

    /// Sets a 64-bit number flag, as HotSpot's own ergonomics would.
    ///
    /// # Safety
    /// As for [`Flags::set_boolean`], for a `size_t`, `uintx` or `intx` flag.
    pub unsafe fn set_number(&self, name: &str, value: usize) -> Result<(), Error> {
        let flag = self.find(name).ok_or_else(|| Error::Missing { what: format!("the flag {name}") })?;
        // SAFETY: the caller's; the address is the flag's own variable.
        unsafe { (flag.value as *mut usize).write_volatile(value) };
        flag.mark_ergonomic();
        Ok(())
    }
}

impl Flag {
    /// HotSpot treats a flag of default origin as one that it may choose itself.
    fn mark_ergonomic(self) {
        // SAFETY: `_flags` is an int of the table, written by the one thread that runs in `Agent_OnLoad`.
        unsafe {
            let flags = peek::<i32>(self.flags);
            (self.flags as *mut i32).write_volatile(flags & !ORIGIN_MASK | ORIGIN_ERGONOMIC);
        }
    }
}
