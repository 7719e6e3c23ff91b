//! At which places of a heap class's vtable its virtual functions stand.
//!
//! The place of a function differs between versions and collectors. It is found by what the linker put there: the entry whose
//! address has the function's full mangled name (of any class: overrides included). The linker may fold functions with the same
//! code, so an address can have several names and a name can stand at several entries; an answer is taken only if it is the
//! only one.

use crate::Error;
use crate::operations::Operations;
use crate::symbols::Symbols;
use crate::version::{Feature, Since};
use crate::vtable::Vtable;

/// A virtual function of `CollectedHeap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Virtual {
    /// `HeapWord* allocate_new_tlab(size_t min, size_t requested, size_t* actual)`, in words.
    AllocateNewTlab,
    /// `void ensure_parsability(bool retire_tlabs)`.
    EnsureParsability,
    /// `size_t unsafe_max_tlab_alloc(Thread*) const`, in bytes; without the thread since 26.
    UnsafeMaxTlabAlloc,
    /// `void trace_heap(GCWhen::Type, const GCTracer*)`.
    TraceHeap,
    /// `HeapWord* mem_allocate(size_t size, bool* overhead_limit_was_exceeded)`, in words; the size alone since 26.
    MemAllocate,
    /// `size_t max_tlab_size() const`, in words.
    MaxTlabSize,
    /// `size_t tlab_capacity(Thread*) const`, in bytes; without the thread since 26.
    TlabCapacity,
    /// `size_t tlab_used(Thread*) const`, in bytes; without the thread since 26.
    TlabUsed,
    /// `bool supports_inline_contig_alloc() const` (JDK 11 and 17).
    SupportsInlineContigAlloc,
}

impl Virtual {
    /// All of them.
    pub const ALL: [Virtual; 9] = [
        Virtual::AllocateNewTlab,
        Virtual::EnsureParsability,
        Virtual::UnsafeMaxTlabAlloc,
        Virtual::TraceHeap,
        Virtual::MemAllocate,
        Virtual::MaxTlabSize,
        Virtual::TlabCapacity,
        Virtual::TlabUsed,
        Virtual::SupportsInlineContigAlloc,
    ];

    /// HotSpot's name.
    pub const fn name(self) -> &'static str {
        match self {
            Virtual::AllocateNewTlab => "allocate_new_tlab",
            Virtual::EnsureParsability => "ensure_parsability",
            Virtual::UnsafeMaxTlabAlloc => "unsafe_max_tlab_alloc",
            Virtual::TraceHeap => "trace_heap",
            Virtual::MemAllocate => "mem_allocate",
            Virtual::MaxTlabSize => "max_tlab_size",
            Virtual::TlabCapacity => "tlab_capacity",
            Virtual::TlabUsed => "tlab_used",
            Virtual::SupportsInlineContigAlloc => "supports_inline_contig_alloc",
        }
    }

    /// The end of the mangled name: function and parameter types, so that another signature is another function. `None`: the version does
    /// not have it.
    const fn mangled_end(self) -> Since<Option<&'static str>> {
        Since(match self {
            Virtual::AllocateNewTlab => &[(11, Some("17allocate_new_tlabEmmPm"))],
            Virtual::EnsureParsability => &[(11, Some("18ensure_parsabilityEb"))],
            Virtual::UnsafeMaxTlabAlloc => {
                &[(11, Some("21unsafe_max_tlab_allocEP6Thread")), (26, Some("21unsafe_max_tlab_allocEv"))]
            }
            Virtual::TraceHeap => &[(11, Some("10trace_heapEN6GCWhen4TypeEPK8GCTracer"))],
            Virtual::MemAllocate => &[(11, Some("12mem_allocateEmPb")), (26, Some("12mem_allocateEm"))],
            Virtual::MaxTlabSize => &[(11, Some("13max_tlab_sizeEv"))],
            Virtual::TlabCapacity => {
                &[(11, Some("13tlab_capacityEP6Thread")), (26, Some("13tlab_capacityEv"))]
            }
            Virtual::TlabUsed => &[(11, Some("9tlab_usedEP6Thread")), (26, Some("9tlab_usedEv"))],
            Virtual::SupportsInlineContigAlloc => {
                &[(11, Some("28supports_inline_contig_allocEv")), (18, None)]
            }
        })
    }
}

/// Whether `name` is the function of a heap class whose mangled name ends so: `_ZN` or `_ZNK`, the class, the function.
fn is(name: &[u8], mangled_end: &str) -> bool {
    let Some(class) = name.strip_suffix(mangled_end.as_bytes()) else { return false };
    class.starts_with(b"_ZN") && class.ends_with(b"Heap")
}

/// The entry numbers of the functions that have exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slots {
    entries: [Option<usize>; Virtual::ALL.len()],
    /// What was looked for.
    ends: [Option<&'static str>; Virtual::ALL.len()],
}

impl Slots {
    /// The entry of a function, or why there is none.
    pub fn of(&self, function: Virtual) -> Result<usize, Error> {
        self.entries[function as usize].ok_or_else(|| {
            let end = self.ends[function as usize].unwrap_or("not in this version");
            Error::Missing { what: format!("the heap's virtual function {} ({end})", function.name()) }
        })
    }
}

/// What one pass over the symbol table finds: it takes a millisecond or two, so it is made once.
#[derive(Debug, Default)]
pub struct Names {
    /// The vtables asked for, in their order.
    pub vtables: Vec<Option<Vtable>>,
    /// The addresses of the other symbols asked for, as linked, in their order.
    pub others: Vec<Option<usize>>,
    /// The VM operations of the family asked for.
    pub operations: Operations,
}

/// Finds vtables by class symbol (`_ZTV...`), other symbols by their full mangled names, and VM operations by what their names begin with.
pub fn find(
    symbols: &Symbols,
    vtables: &[&str],
    others: &[&str],
    family: Option<&str>,
) -> Result<Names, Error> {
    let mut names = Names {
        vtables: vec![None; vtables.len()],
        others: vec![None; others.len()],
        operations: Operations::default(),
    };
    symbols.each(
        |_, _| true,
        |symbol| {
            if let Some(at) = others.iter().position(|name| name.as_bytes() == symbol.name) {
                names.others[at] = Some(symbol.address);
            } else if symbol.is_data
                && let Some(at) = vtables.iter().position(|name| name.as_bytes() == symbol.name)
            {
                names.vtables[at] = Some(Vtable::of(&symbol));
            } else if let Some(family) = family {
                names.operations.note(&symbol, family);
            }
        },
    )?;
    Ok(names)
}

/// Finds the entries of the functions in the first of some vtables, by their entries (addresses as linked). The others are those of further
/// heap classes, in which a function of their common base has the same place: where the linker has folded a function of the first with
/// another one of it, they tell which of the two places is which.
pub fn resolve(symbols: &Symbols, feature: Feature, vtables: &[Vec<usize>]) -> Result<Slots, Error> {
    let ends = Virtual::ALL.map(|function| function.mangled_end().in_version(feature).flatten());
    let mut sorted: Vec<(usize, usize, usize)> = (vtables.iter().enumerate())
        .flat_map(|(table, words)| words.iter().enumerate().map(move |(at, word)| (*word, table, at)))
        .collect();
    sorted.sort_unstable();
    let entries_at = |address: usize| {
        let first = sorted.partition_point(|(word, ..)| *word < address);
        sorted[first..].iter().take_while(move |(word, ..)| *word == address)
    };
    // Few functions are in these tables: most of the others need no search.
    let mut marks = [false; 4096];
    let mark = |address: usize| address / 16 % 4096;
    sorted.iter().for_each(|(word, ..)| marks[mark(*word)] = true);
    let mut found = [const { Vec::new() }; Virtual::ALL.len()];
    symbols.each(
        |address, is_data| !is_data && marks[mark(address)] && entries_at(address).next().is_some(),
        |symbol| {
            for (places, end) in found.iter_mut().zip(&ends) {
                if end.is_some_and(|end| is(symbol.name, end)) {
                    places.extend(entries_at(symbol.address).map(|(_, table, at)| (*table, *at)));
                }
            }
        },
    )?;
    let entries = found.map(|mut places| {
        places.sort_unstable();
        places.dedup();
        only_place(&places, vtables.len())
    });
    Ok(Slots { entries, ends })
}

/// A function's place in vtable 0: the only one, or the one of several that all who have only one agree on.
fn only_place(places: &[(usize, usize)], tables: usize) -> Option<usize> {
    let of = |table: usize| places.iter().filter(move |place| place.0 == table).map(|place| place.1);
    let only = |table: usize| {
        let mut places = of(table);
        places.next().filter(|_| places.next().is_none())
    };
    only(0).or_else(|| {
        let mut witnesses = (1..tables).filter_map(only);
        let agreed = witnesses.next()?;
        (witnesses.all(|place| place == agreed) && of(0).any(|place| place == agreed)).then_some(agreed)
    })
}

#[cfg(test)]
mod tests {
    use super::only_place;

    #[test]
    fn a_folded_function_needs_witnesses_that_agree() {
        assert_eq!(only_place(&[(0, 7)], 1), Some(7));
        assert_eq!(only_place(&[(0, 3), (0, 7)], 1), None);
        assert_eq!(only_place(&[(0, 3), (0, 7), (1, 7), (2, 7)], 3), Some(7));
        assert_eq!(only_place(&[(0, 3), (0, 7), (1, 7), (2, 3)], 3), None);
        assert_eq!(only_place(&[(0, 3), (0, 7), (1, 3), (1, 7)], 2), None);
        assert_eq!(only_place(&[(0, 3), (0, 7), (1, 8)], 2), None);
        assert_eq!(only_place(&[(1, 7)], 2), None);
    }
}
