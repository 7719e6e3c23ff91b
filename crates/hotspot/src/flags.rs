//! Reading and writing `-XX` flags.
//!
//! `Agent_OnLoad` runs after HotSpot has chosen its settings and before it makes the heap: a flag that the heap's construction
//! reads can still be changed there.

use crate::Error;
use crate::library::Library;
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
    /// Those of this process's JVM, before anything else is known of it.
    pub fn of_process() -> Result<Flags, Error> {
        Flags::of(&Structs::of(&Library::find()?)?)
    }

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

    /// To set a boolean flag as HotSpot's own ergonomics would.
    pub fn boolean_change(&self, name: &str, value: bool) -> Result<Change, Error> {
        self.change(name, Value::Boolean(value))
    }

    /// To set a 64-bit number flag (`size_t`, `uintx`, `intx`) as HotSpot's own ergonomics would.
    pub fn number_change(&self, name: &str, value: usize) -> Result<Change, Error> {
        self.change(name, Value::Number(value))
    }

    fn change(&self, name: &str, to: Value) -> Result<Change, Error> {
        let flag = self.find(name).ok_or_else(|| Error::Missing { what: format!("the flag {name}") })?;
        // SAFETY: the callers name flags of the type; `_flags` is an int of the table.
        let (from, flags) = unsafe {
            let from = match to {
                Value::Boolean(_) => Value::Boolean(peek::<u8>(flag.value) != 0),
                Value::Number(_) => Value::Number(peek(flag.value)),
            };
            (from, peek(flag.flags))
        };
        Ok(Change { flag, from, to, flags })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Boolean(bool),
    Number(usize),
}

/// A flag that was found, what it is and what it shall be. Nothing can go wrong any more.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    flag: Flag,
    from: Value,
    to: Value,
    /// `_flags` as it was.
    flags: i32,
}

impl Change {
    /// Sets the flag. Its origin becomes "ergonomic": HotSpot treats a flag of default origin as one that it may choose itself.
    ///
    /// # Safety
    /// No thread of HotSpot's may depend on the present value (in `Agent_OnLoad` only one thread runs).
    pub unsafe fn apply(&self) {
        // SAFETY: the caller's.
        unsafe { self.write(self.to, self.flags & !ORIGIN_MASK | ORIGIN_ERGONOMIC) };
    }

    /// Sets it back.
    ///
    /// # Safety
    /// As for [`Change::apply`].
    pub unsafe fn revert(&self) {
        // SAFETY: the caller's.
        unsafe { self.write(self.from, self.flags) };
    }

    /// # Safety
    /// As for [`Change::apply`].
    unsafe fn write(&self, value: Value, flags: i32) {
        // SAFETY: the caller's; the addresses are the flag's own variables, of these types.
        unsafe {
            match value {
                Value::Boolean(value) => (self.flag.value as *mut u8).write_volatile(u8::from(value)),
                Value::Number(value) => (self.flag.value as *mut usize).write_volatile(value),
            }
            (self.flag.flags as *mut i32).write_volatile(flags);
        }
    }
}
