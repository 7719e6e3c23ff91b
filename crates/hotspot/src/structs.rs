//! HotSpot's table of its own fields: `gHotSpotVMStructs`, which it exports for the Serviceability Agent, even when stripped.

use crate::library::Library;
use crate::{Error, WORD};
use std::ffi::{CStr, c_char, c_void};

/// Reads the table of the library.
#[derive(Clone, Copy, Debug)]
pub struct Structs {
    fields: Table,
    types: Table,
    field: FieldLayout,
    type_name: usize,
    type_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct Table {
    first: usize,
    stride: usize,
}

#[derive(Clone, Copy, Debug)]
struct FieldLayout {
    type_name: usize,
    field_name: usize,
    is_static: usize,
    offset: usize,
    address: usize,
}

/// Where a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// A static one: its address.
    Static(usize),
    /// One of an object: its offset in bytes.
    Offset(usize),
}

/// Reads a value of HotSpot's at an address.
///
/// # Safety
/// The address must hold a readable `T`.
pub(crate) unsafe fn peek<T: Copy>(address: usize) -> T {
    // SAFETY: the caller's. Volatile: HotSpot may write there.
    unsafe { (address as *const T).read_volatile() }
}

/// The C string at an address; empty for null or what is no UTF-8.
///
/// # Safety
/// The address must be null or hold a NUL-terminated string that stays as it is.
unsafe fn text<'a>(address: usize) -> &'a str {
    if address == 0 {
        return "";
    }
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(address as *const c_char) }.to_str().unwrap_or("")
}

impl Structs {
    /// Reads the table's own description.
    pub fn of(library: &Library) -> Result<Structs, Error> {
        let word = |name: &CStr| -> Result<usize, Error> {
            let place = library.exported(name)?.cast::<c_void>().as_ptr() as usize;
            // SAFETY: every exported symbol asked for here is a 64-bit number or pointer (vmStructs.hpp).
            Ok(unsafe { peek(place) })
        };
        Ok(Structs {
            fields: Table {
                first: word(c"gHotSpotVMStructs")?,
                stride: word(c"gHotSpotVMStructEntryArrayStride")?,
            },
            types: Table {
                first: word(c"gHotSpotVMTypes")?,
                stride: word(c"gHotSpotVMTypeEntryArrayStride")?,
            },
            field: FieldLayout {
                type_name: word(c"gHotSpotVMStructEntryTypeNameOffset")?,
                field_name: word(c"gHotSpotVMStructEntryFieldNameOffset")?,
                is_static: word(c"gHotSpotVMStructEntryIsStaticOffset")?,
                offset: word(c"gHotSpotVMStructEntryOffsetOffset")?,
                address: word(c"gHotSpotVMStructEntryAddressOffset")?,
            },
            type_name: word(c"gHotSpotVMTypeEntryTypeNameOffset")?,
            type_bytes: word(c"gHotSpotVMTypeEntrySizeOffset")?,
        })
    }

    /// Looks up `type_name::field_name`.
    pub fn field(&self, type_name: &str, field_name: &str) -> Result<Field, Error> {
        let missing = || Error::Missing { what: format!("the field {type_name}::{field_name}") };
        let mut entry = self.fields.first;
        if entry == 0 || self.fields.stride < WORD {
            return Err(missing());
        }
        loop {
            // SAFETY: the table ends with an entry of null names, which ends the loop; its layout was read from the library.
            let (of, named) = unsafe {
                (text(peek(entry + self.field.type_name)), text(peek(entry + self.field.field_name)))
            };
            if of.is_empty() {
                return Err(missing());
            }
            if of == type_name && named == field_name {
                // SAFETY: as above.
                return Ok(unsafe {
                    if peek::<i32>(entry + self.field.is_static) != 0 {
                        Field::Static(peek(entry + self.field.address))
                    } else {
                        Field::Offset(peek(entry + self.field.offset))
                    }
                });
            }
            entry += self.fields.stride;
        }
    }

    /// The address of a static field.
    pub fn static_field(&self, type_name: &str, field_name: &str) -> Result<usize, Error> {
        match self.field(type_name, field_name)? {
            Field::Static(address) if address != 0 => Ok(address),
            _ => Err(Error::Missing { what: format!("the static field {type_name}::{field_name}") }),
        }
    }

    /// The offset of an object's field, in bytes.
    pub fn offset(&self, type_name: &str, field_name: &str) -> Result<usize, Error> {
        match self.field(type_name, field_name)? {
            Field::Offset(offset) => Ok(offset),
            Field::Static(_) => Err(Error::Missing { what: format!("the field {type_name}::{field_name}") }),
        }
    }

    /// The size of a type, in bytes.
    pub fn bytes_of(&self, type_name: &str) -> Result<usize, Error> {
        let missing = || Error::Missing { what: format!("the type {type_name}") };
        let mut entry = self.types.first;
        if entry == 0 || self.types.stride < WORD {
            return Err(missing());
        }
        loop {
            // SAFETY: as in `field`.
            let named = unsafe { text(peek(entry + self.type_name)) };
            if named.is_empty() {
                return Err(missing());
            }
            if named == type_name {
                // SAFETY: as in `field`; the size is a uint64_t.
                return Ok(unsafe { peek::<u64>(entry + self.type_bytes) } as usize);
            }
            entry += self.types.stride;
        }
    }

    /// HotSpot's feature number and full version text (`Abstract_VM_Version`).
    pub fn version(&self) -> Result<(u32, String), Error> {
        let major = self.static_field("Abstract_VM_Version", "_vm_major_version")?;
        let release = self.static_field("Abstract_VM_Version", "_s_vm_release")?;
        // SAFETY: the table says that the first is an int and the second a string that HotSpot never changes.
        let (major, text) = unsafe { (peek::<i32>(major) as u32, text(peek(release))) };
        // JDK 8 numbers its HotSpot 25; its flags are of a type that was renamed before 11.
        let is_8 = self.bytes_of("JVMFlag").is_err() && self.bytes_of("Flag").is_ok();
        Ok(if is_8 { (8, format!("8 (HotSpot {text})")) } else { (major, text.to_owned()) })
    }
}

/// A C string of HotSpot's that stays for the life of the process.
///
/// # Safety
/// As for `text`.
pub(crate) unsafe fn static_text(address: usize) -> &'static str {
    // SAFETY: the caller's.
    unsafe { text(address) }
}
