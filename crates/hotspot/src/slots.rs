//! At which places of a heap class's vtable its virtual functions stand.
//!
//! The place of a function differs between versions and collectors. It is found by what the linker put there: the entry whose
//! address has the function's full mangled name (of any class: overrides included). The linker may fold functions with the same
//! code, so an address can have several names and a name can stand at several entries; an answer is taken only if it is the
//! only one.

use crate::symbols::Symbols;
use crate::{Error, WORD};

/// A virtual function of `CollectedHeap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Virtual {
    /// `HeapWord* allocate_new_tlab(size_t min, size_t requested, size_t* actual)`, in words.
    AllocateNewTlab,
    /// `void ensure_parsability(bool retire_tlabs)`.
    EnsureParsability,
    /// `size_t unsafe_max_tlab_alloc(Thread*) const`, in bytes.
    UnsafeMaxTlabAlloc,
    /// `void trace_heap(GCWhen::Type, const GCTracer*)`.
    TraceHeap,
    /// `HeapWord* mem_allocate(size_t size, bool* overhead_limit_was_exceeded)`, in words.
    MemAllocate,
    /// `size_t max_tlab_size() const`, in words.
    MaxTlabSize,
    /// `size_t tlab_capacity(Thread*) const`, in bytes.
    TlabCapacity,
    /// `bool supports_inline_contig_alloc() const` (JDK 17).
    SupportsInlineContigAlloc,
}

impl Virtual {
    /// All of them.
    pub const ALL: [Virtual; 8] = [
        Virtual::AllocateNewTlab,
        Virtual::EnsureParsability,
        Virtual::UnsafeMaxTlabAlloc,
        Virtual::TraceHeap,
        Virtual::MemAllocate,
        Virtual::MaxTlabSize,
        Virtual::TlabCapacity,
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
            Virtual::SupportsInlineContigAlloc => "supports_inline_contig_alloc",
        }
    }

    /// The end of the mangled name: function and parameter types, so that another signature is another function.
    const fn mangled_end(self) -> &'static str {
        match self {
            Virtual::AllocateNewTlab => "17allocate_new_tlabEmmPm",
            Virtual::EnsureParsability => "18ensure_parsabilityEb",
            Virtual::UnsafeMaxTlabAlloc => "21unsafe_max_tlab_allocEP6Thread",
            Virtual::TraceHeap => "10trace_heapEN6GCWhen4TypeEPK8GCTracer",
            Virtual::MemAllocate => "12mem_allocateEmPb",
            Virtual::MaxTlabSize => "13max_tlab_sizeEv",
            Virtual::TlabCapacity => "13tlab_capacityEP6Thread",
            Virtual::SupportsInlineContigAlloc => "28supports_inline_contig_allocEv",
        }
    }

    /// Whether `name` is this function of a heap class: `_ZN` or `_ZNK`, the class, the function.
    fn is(self, name: &str) -> bool {
        let Some(class) = name.strip_suffix(self.mangled_end()) else { return false };
        class.starts_with("_ZN") && class.ends_with("Heap")
    }
}

/// The entry numbers of the functions that have exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slots {
    entries: [Option<usize>; Virtual::ALL.len()],
}

impl Slots {
    /// The entry of a function, or why there is none.
    pub fn of(&self, function: Virtual) -> Result<usize, Error> {
        self.entries[function as usize].ok_or_else(|| Error::Missing {
            what: format!("the heap's virtual function {} ({})", function.name(), function.mangled_end()),
        })
    }
}

/// A class's vtable: where its first function entry stands, as linked, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vtable {
    /// Address of the first function entry, as linked: what an object's vtable pointer holds.
    pub address: usize,
    /// Number of entries.
    pub entries: usize,
}

/// What one pass over the symbol table finds: it takes a millisecond or two, so it is made once.
#[derive(Debug, Default)]
pub struct Names {
    /// The vtables asked for, in their order.
    pub vtables: Vec<Option<Vtable>>,
    /// The addresses of the other symbols asked for, as linked, in their order.
    pub others: Vec<Option<usize>>,
}

/// Finds vtables by class symbol (`_ZTV...`) and other symbols by their full mangled names.
pub fn find(symbols: &Symbols, vtables: &[&str], others: &[&str]) -> Result<Names, Error> {
    let mut names = Names { vtables: vec![None; vtables.len()], others: vec![None; others.len()] };
    symbols.each(
        |_, _| true,
        |symbol| {
            if let Some(at) = others.iter().position(|name| *name == symbol.name) {
                names.others[at] = Some(symbol.address);
            } else if symbol.is_data
                && let Some(at) = vtables.iter().position(|name| *name == symbol.name)
            {
                // Before the functions stand the offset to the top of the object and the type information.
                let entries = (symbol.bytes / WORD).saturating_sub(2);
                names.vtables[at] = Some(Vtable { address: symbol.address + 2 * WORD, entries });
            }
        },
    )?;
    Ok(names)
}

/// Finds the entries of the functions in a vtable whose entries are `words` (addresses as linked).
pub fn resolve(symbols: &Symbols, words: &[usize]) -> Result<Slots, Error> {
    let mut sorted: Vec<(usize, usize)> =
        words.iter().copied().enumerate().map(|(at, word)| (word, at)).collect();
    sorted.sort_unstable();
    let entries_at = |address: usize| {
        let first = sorted.partition_point(|(word, _)| *word < address);
        sorted[first..].iter().take_while(move |(word, _)| *word == address).map(|(_, at)| *at)
    };
    let mut found = [const { Vec::new() }; Virtual::ALL.len()];
    symbols.each(
        |address, is_data| !is_data && entries_at(address).next().is_some(),
        |symbol| {
            for function in Virtual::ALL {
                if function.is(symbol.name) {
                    let places: &mut Vec<usize> = &mut found[function as usize];
                    places.extend(
                        entries_at(symbol.address).filter(|at| !places.contains(at)).collect::<Vec<_>>(),
                    );
                }
            }
        },
    )?;
    let entries = found.map(|places| if let [only] = places[..] { Some(only) } else { None });
    Ok(Slots { entries })
}
