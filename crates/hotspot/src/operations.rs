//! The pauses of a collector that calls no function of its heap in one: they are VM operations, each a class with a vtable of its own.
//!
//! Every class of the family counts, so that one which a later version adds is not missed.

use crate::Error;
use crate::symbols::Symbol;
use crate::vtable::Vtable;

/// The Flight Recorder's request for a list of regions: at a safepoint, and no collection.
const NO_PAUSE: &str = "VM_ShenandoahSendHeapRegionInfoEvents";

/// Classes by their mangled names, with vtables and `VM_Operation::doit` functions; addresses as linked.
#[derive(Debug, Default)]
pub struct Operations {
    vtables: Vec<(String, Vtable)>,
    doits: Vec<(String, usize)>,
}

/// The mangled name of a class, if it is of the family: its length, then a name that begins so.
fn of_family(class: &[u8], family: &str) -> Option<String> {
    let digits = class.iter().take_while(|letter| letter.is_ascii_digit()).count();
    let name = &class[digits..];
    let is_of = name.starts_with(family.as_bytes()) && name != NO_PAUSE.as_bytes();
    is_of.then(|| String::from_utf8_lossy(class).into_owned())
}

impl Operations {
    /// Looks at one more symbol. `family`: what the classes' names begin with.
    pub(crate) fn note(&mut self, symbol: &Symbol, family: &str) {
        if let Some(class) = symbol.name.strip_prefix(b"_ZTV") {
            if let Some(class) = of_family(class, family) {
                self.vtables.push((class, Vtable::of(symbol)));
            }
        } else if let Some(class) =
            symbol.name.strip_suffix(b"4doitEv").and_then(|name| name.strip_prefix(b"_ZN"))
            && let Some(class) = of_family(class, family)
        {
            self.doits.push((class, symbol.address));
        }
    }

    /// Each class that can be run: its vtable, and which of its entries is `doit`. `words`: the entries of a vtable, as linked.
    ///
    /// # Errors
    /// If there is no such class, or a `doit` is not where those of the others are.
    pub fn pauses(&self, words: impl Fn(Vtable) -> Vec<usize>) -> Result<Vec<(Vtable, usize)>, Error> {
        let missing = |what: &str| Error::Missing { what: format!("the VM operation {what}") };
        let mut place = None;
        for (class, address) in &self.doits {
            let own = self.vtables.iter().find(|(name, _)| name == class).ok_or_else(|| missing(class))?;
            let words = words(own.1);
            let found = words.iter().position(|word| word == address).ok_or_else(|| missing(class))?;
            if *place.get_or_insert(found) != found {
                return Err(missing(class));
            }
        }
        let place = place.ok_or_else(|| missing("of any pause"))?;
        // One that inherits its `doit` is another vtable with the same entry. Those of abstract classes have none.
        let runs = |vtable: &Vtable| {
            let entry = words(*vtable).get(place).copied();
            self.doits.iter().any(|(_, address)| Some(*address) == entry)
        };
        Ok(self
            .vtables
            .iter()
            .map(|(_, vtable)| *vtable)
            .filter(runs)
            .map(|vtable| (vtable, place))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(name: &str, address: usize) -> Symbol<'_> {
        Symbol { name: name.as_bytes(), address, bytes: 32, is_data: name.starts_with("_ZTV") }
    }

    fn operations(symbols: &[(&str, usize)]) -> Operations {
        let mut operations = Operations::default();
        for (name, address) in symbols {
            operations.note(&symbol(name, *address), "VM_Pause");
        }
        operations
    }

    #[test]
    fn whatever_runs_is_found_and_what_is_abstract_is_not() {
        let operations = operations(&[
            ("_ZTV8VM_Pause", 0),
            ("_ZTV12VM_PauseMark", 100),
            ("_ZN12VM_PauseMark4doitEv", 1),
            ("_ZTV16VM_PauseMarkAgain", 200),
            ("_ZTV15VM_PauseUpdates", 300),
            ("_ZN15VM_PauseUpdates4doitEv", 2),
            ("_ZN12VM_PauseMark4nameEv", 7),
            ("_ZTV8VM_Other", 400),
            ("_ZN8VM_Other4doitEv", 3),
        ]);
        let words = |vtable: Vtable| match vtable.address {
            100..200 => vec![9, 1],
            200..300 => vec![8, 1],
            300..400 => vec![9, 2],
            _ => vec![9, 5],
        };
        let found: Vec<(usize, usize)> =
            operations.pauses(words).unwrap().iter().map(|(vtable, at)| (vtable.address, *at)).collect();
        assert_eq!(found, [(116, 1), (216, 1), (316, 1)]);
    }

    #[test]
    fn one_that_is_not_where_the_others_are_is_told() {
        let two = &[
            ("_ZTV12VM_PauseMark", 100),
            ("_ZN12VM_PauseMark4doitEv", 1),
            ("_ZTV15VM_PauseUpdates", 300),
            ("_ZN15VM_PauseUpdates4doitEv", 2),
        ];
        let told = |words: fn(Vtable) -> Vec<usize>| operations(two).pauses(words).unwrap_err().to_string();
        let apart = told(|vtable| if vtable.address < 300 { vec![9, 1] } else { vec![2, 9] });
        assert!(apart.contains("VM_PauseUpdates"), "{apart}");
        let absent = told(|_| vec![9, 2]);
        assert!(absent.contains("VM_PauseMark"), "{absent}");
        let without_vtable = operations(&two[1..]).pauses(|_| vec![1, 2]).unwrap_err().to_string();
        assert!(without_vtable.contains("VM_PauseMark"), "{without_vtable}");
        let none = operations(&[]).pauses(|_| vec![]).unwrap_err().to_string();
        assert!(none.contains("any pause"), "{none}");
    }
}
