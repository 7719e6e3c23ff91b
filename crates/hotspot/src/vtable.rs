//! A class's table of virtual functions, as a symbol tells where it is.

use crate::WORD;
use crate::symbols::Symbol;

/// A class's vtable: where its first function entry stands, as linked, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vtable {
    /// Address of the first function entry, as linked: what an object's vtable pointer holds.
    pub address: usize,
    /// Number of entries.
    pub entries: usize,
}

impl Vtable {
    /// That of a class symbol (`_ZTV...`): before the functions stand the offset to the top of the object and the type information.
    pub(crate) fn of(symbol: &Symbol) -> Vtable {
        let entries = (symbol.bytes / WORD).saturating_sub(2);
        Vtable { address: symbol.address + 2 * WORD, entries }
    }
}
