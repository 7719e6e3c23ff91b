//! The heap's virtual functions, each with its type: the only place where an address becomes a function.
//!
//! A type is that of the versions that have the most arguments. Since 26 three functions have lost their last one: on the platforms
//! served (System V x86-64, AAPCS64) it is in a register, which a caller need not set and a callee does not read. A hook that gets one of
//! unknown value may only hand it on.

use crate::collector::Hooks;
use crate::patch::Exchange;
use crate::slots::Virtual;
use crate::{Error, WORD};
use std::ffi::c_void;
use std::marker::PhantomData;

/// `CollectedHeap::allocate_new_tlab`: words.
pub type AllocateNewTlab = unsafe extern "C" fn(*mut c_void, usize, usize, *mut usize) -> *mut c_void;
/// `CollectedHeap::ensure_parsability`.
pub type EnsureParsability = unsafe extern "C" fn(*mut c_void, bool);
/// `CollectedHeap::unsafe_max_tlab_alloc`: bytes. The thread is of no meaning since 26.
pub type UnsafeMaxTlabAlloc = unsafe extern "C" fn(*const c_void, *mut c_void) -> usize;
/// `CollectedHeap::trace_heap`.
pub type TraceHeap = unsafe extern "C" fn(*mut c_void, i32, *const c_void);
/// `CollectedHeap::mem_allocate`: words. The flag's address is of no meaning since 26.
pub type MemAllocate = unsafe extern "C" fn(*mut c_void, usize, *mut bool) -> *mut c_void;
/// `CollectedHeap::max_tlab_size`: words.
pub type MaxTlabSize = unsafe extern "C" fn(*const c_void) -> usize;
/// `CollectedHeap::tlab_capacity`: bytes. The thread is of no meaning since 26.
pub type TlabCapacity = unsafe extern "C" fn(*const c_void, *mut c_void) -> usize;
/// `CollectedHeap::tlab_used`: bytes. The thread is of no meaning since 26.
pub type TlabUsed = unsafe extern "C" fn(*const c_void, *mut c_void) -> usize;
/// `CollectedHeap::supports_inline_contig_alloc`.
pub type SupportsInlineContigAlloc = unsafe extern "C" fn(*const c_void) -> bool;

/// `VM_Operation::doit`.
pub type Doit = unsafe extern "C" fn(*mut c_void);

/// A type of function pointers.
///
/// # Safety
/// An address of a function of that type, as a number, must be a value of the type.
pub unsafe trait Function: Copy {}

macro_rules! functions {
    ($($function:ty),*) => { $(
        // SAFETY: a function pointer is its function's address.
        unsafe impl Function for $function {}
    )* };
}
functions!(
    AllocateNewTlab,
    EnsureParsability,
    UnsafeMaxTlabAlloc,
    TraceHeap,
    MemAllocate,
    MaxTlabSize,
    SupportsInlineContigAlloc,
    Doit
);

/// An entry of a vtable, the heap's or a VM operation's, and what stood there when it was looked at.
#[derive(Clone, Copy, Debug)]
pub struct Slot<F> {
    entry: usize,
    original: usize,
    name: &'static str,
    function: PhantomData<F>,
}

impl<F: Function> Slot<F> {
    /// HotSpot's own function.
    pub fn original(&self) -> F {
        const { assert!(size_of::<F>() == WORD) };
        // SAFETY: the address stood in the entry that the function's full mangled name was found at (`Functions::of` pairs names and
        // types; that of a pause's `doit` is `Operations::pauses`'), so it is a function of that type, or of the same without its last argument, which the platform's calling
        // convention allows (see the module); `Function` vouches for the conversion.
        unsafe { std::mem::transmute_copy(&self.original) }
    }

    /// To put `hook` in its place.
    pub fn exchange_for(&self, hook: F) -> Exchange {
        // SAFETY: as in `original`, the other way round.
        let function: usize = unsafe { std::mem::transmute_copy(&hook) };
        Exchange { entry: self.entry, original: self.original, function, name: self.name }
    }
}

/// A class of VM operations in which a collector pauses.
#[derive(Clone, Copy, Debug)]
pub struct Pause {
    /// What its operations have as vtable pointer.
    pub vtable: usize,
    /// Runs one, on the VM thread.
    pub doit: Slot<Doit>,
}

impl Pause {
    /// Of a vtable's address and words in this process, and which of them is `doit`.
    pub(crate) fn of(vtable: usize, words: &[usize], at: usize) -> Option<Pause> {
        let (entry, original) = (vtable + at * WORD, *words.get(at)?);
        Some(Pause { vtable, doit: Slot { entry, original, name: "doit", function: PhantomData } })
    }
}

/// The functions that are called or replaced. Those that a collector's hooks do not need may be absent.
#[derive(Clone, Debug)]
pub struct Functions {
    /// Serves a thread with a TLAB.
    pub allocate_new_tlab: Slot<AllocateNewTlab>,
    /// Serves an object outside any TLAB.
    pub mem_allocate: Slot<MemAllocate>,
    /// How much `allocate_new_tlab` could give without a collection.
    pub unsafe_max_tlab_alloc: Slot<UnsafeMaxTlabAlloc>,
    /// The largest TLAB.
    pub max_tlab_size: Slot<MaxTlabSize>,
    /// The room for TLABs.
    pub tlab_capacity: Slot<TlabCapacity>,
    /// How much of that room is used; only where `unsafe_max_tlab_alloc` tells of one region alone.
    pub tlab_used: Option<Slot<TlabUsed>>,
    /// Makes the heap parsable; only where the collector's walkers need it.
    pub ensure_parsability: Option<Slot<EnsureParsability>>,
    /// Called at the begin and the end of a collection; only where it is needed.
    pub trace_heap: Option<Slot<TraceHeap>>,
    /// Whether compiled code may take memory from eden itself (JDK 11 and 17).
    pub supports_inline_contig_alloc: Option<Slot<SupportsInlineContigAlloc>>,
    /// All pauses; only where nothing else tells of every one.
    pub pauses: Vec<Pause>,
}

impl Functions {
    /// Finds them, but for the pauses, by `entry`, which gives a function's entry and what stands there. Types are those of the mangled names.
    pub(crate) fn of(
        hooks: Hooks,
        entry: impl Fn(Virtual) -> Result<(usize, usize), Error>,
    ) -> Result<Functions, Error> {
        fn slot<F>(
            function: Virtual,
            entry: &impl Fn(Virtual) -> Result<(usize, usize), Error>,
        ) -> Result<Slot<F>, Error> {
            let (place, original) = entry(function)?;
            Ok(Slot { entry: place, original, name: function.name(), function: PhantomData })
        }
        Ok(Functions {
            allocate_new_tlab: slot(Virtual::AllocateNewTlab, &entry)?,
            mem_allocate: slot(Virtual::MemAllocate, &entry)?,
            unsafe_max_tlab_alloc: slot(Virtual::UnsafeMaxTlabAlloc, &entry)?,
            max_tlab_size: slot(Virtual::MaxTlabSize, &entry)?,
            tlab_capacity: slot(Virtual::TlabCapacity, &entry)?,
            // Without it tails are taken earlier than they need be, which is no reason to do nothing at all.
            tlab_used: hooks.regions.then(|| slot(Virtual::TlabUsed, &entry).ok()).flatten(),
            ensure_parsability: hooks
                .parsability
                .then(|| slot(Virtual::EnsureParsability, &entry))
                .transpose()?,
            trace_heap: hooks.trace.then(|| slot(Virtual::TraceHeap, &entry)).transpose()?,
            supports_inline_contig_alloc: slot(Virtual::SupportsInlineContigAlloc, &entry).ok(),
            pauses: vec![],
        })
    }
}
