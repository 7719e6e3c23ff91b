//! The JVM as it was found, and the live heap: its functions, callable, and the numbers that a buffer has to respect.

use crate::accounts::{Accounts, THREAD_LIST};
use crate::collector::{Collector, FlagIs, Hooks, UNSUPPORTED};
use crate::flags::Flags;
use crate::functions::{
    AllocateNewTlab, Functions, MaxTlabSize, Pause, TlabCapacity, TlabUsed, UnsafeMaxTlabAlloc,
};
use crate::library::Library;
use crate::slots;
use crate::structs::{Structs, peek};
use crate::tooling::{self, Tooling};
use crate::transitions::{self, Transitions};
use crate::version::{Feature, Since};
use crate::vtable::Vtable;
use crate::{Error, WORD};
use std::ffi::c_void;

type FillWithObject = unsafe extern "C" fn(*mut c_void, usize, bool);
type CurrentThread = unsafe extern "C" fn() -> *mut c_void;

/// `GCWhen::BeforeGC`.
pub const BEFORE_GC: i32 = 0;
/// `SafepointSynchronize::_synchronized`.
const SYNCHRONIZED: i32 = 2;

/// A JVM that terrace can serve, or at least observe ([`Collector::buffers`]), found before its heap exists.
#[derive(Debug)]
pub struct Jvm {
    /// The JDK's feature number.
    pub feature: Feature,
    /// HotSpot's version text.
    pub version: String,
    /// The collector in force.
    pub collector: Collector,
    /// The hooks that it needs.
    pub hooks: Hooks,
    /// The table of flags.
    pub flags: Flags,
    /// The heap's virtual functions.
    pub functions: Functions,
    /// Where HotSpot keeps what threads have allocated.
    pub accounts: Accounts,
    /// Whether JVMTI is told of virtual threads.
    pub transitions: Transitions,
    /// What is prepared for tools.
    pub tooling: Tooling,
    structs: Structs,
    /// Address of the collector's vtable in this process.
    vtable: usize,
    fill_with_object: usize,
    current_thread: usize,
    safepoint_state: usize,
    vm_thread: usize,
}

/// `CollectedHeap::fill_with_object(HeapWord*, size_t, bool)`; what a `HeapWord` is has changed, not the function.
const FILL_WITH_OBJECT: Since<&str> = Since(&[
    (11, "_ZN13CollectedHeap16fill_with_objectEP8HeapWordmb"),
    (17, "_ZN13CollectedHeap16fill_with_objectEPP12HeapWordImplmb"),
]);
const CURRENT_THREAD: &str = "_ZN18ThreadLocalStorage6threadEv";
const SAFEPOINT_STATE: &str = "_ZN20SafepointSynchronize6_stateE";
/// `VMThread::_vm_thread`.
const VM_THREAD: &str = "_ZN8VMThread10_vm_threadE";
const STRUCTS: &str = "gHotSpotVMStructs";
const EXITED_BYTES: &str = "_ZN13ThreadService23_exited_allocated_bytesE";

/// The collector that the flags choose.
pub fn chosen(flags: &Flags) -> Result<Collector, Error> {
    Collector::ALL
        .into_iter()
        .find(|collector| {
            flags.boolean(collector.flag()) == Some(true)
                && collector.mode().is_none_or(|mode| match mode {
                    FlagIs::Text(flag, value) => flags.text(flag) == Some(value),
                    FlagIs::Boolean(flag, value) => flags.boolean(flag) == Some(value),
                })
        })
        .ok_or_else(|| {
            let known = UNSUPPORTED.iter().find(|(flag, _)| flags.boolean(flag) == Some(true));
            Error::Collector { found: known.map_or("of this JVM", |(_, name)| name).into() }
        })
}

impl Jvm {
    /// Looks at the JVM of this process: version, collector, symbols, vtable. `try_unknown`: see [`Feature::check`].
    pub fn find(try_unknown: bool) -> Result<Jvm, Error> {
        let library = Library::find()?;
        let structs = Structs::of(&library)?;
        let (major, version) = structs.version()?;
        let feature = Feature(major);
        feature.check(&version, try_unknown)?;
        let flags = Flags::of(&structs)?;
        let collector = chosen(&flags)?;
        let hooks = collector.hooks(feature);
        let symbols = library.symbols()?;
        let missing = |what: &str| Error::Missing { what: what.to_owned() };
        let fill_with_object =
            FILL_WITH_OBJECT.in_version(feature).ok_or_else(|| missing("the filler's name"))?;
        let names = slots::find(
            &symbols,
            &Collector::ALL.map(Collector::vtable),
            &[
                fill_with_object,
                CURRENT_THREAD,
                SAFEPOINT_STATE,
                EXITED_BYTES,
                STRUCTS,
                THREAD_LIST,
                VM_THREAD,
                transitions::SYMBOLS[0],
                transitions::SYMBOLS[1],
                transitions::SYMBOLS[2],
                tooling::SYMBOLS[0],
                tooling::SYMBOLS[1],
                tooling::SYMBOLS[2],
                tooling::SYMBOLS[3],
            ],
            hooks.pauses,
        )?;
        let mut vtables = names.vtables;
        let own =
            Collector::ALL.iter().position(|other| *other == collector).and_then(|at| vtables[at].take());
        let vtable = own.ok_or_else(|| missing(collector.vtable()))?;
        let place = |at: usize| names.others.get(at).copied().flatten().map(|place| place + library.base());
        let address = |at: usize, what: &str| place(at).ok_or_else(|| missing(what));
        // Another witness for builds without an identifier: the loader and the file must agree where an exported symbol is.
        let exported = library.exported(c"gHotSpotVMStructs")?.as_ptr() as usize;
        if place(4).is_some_and(|place| place != exported) {
            return Err(Error::Replaced { path: library.path().display().to_string() });
        }
        let vtable_address = vtable.address + library.base();
        let words = |vtable: Vtable| -> Vec<usize> {
            let first = vtable.address + library.base();
            // SAFETY: the symbol table gives the vtable's place and length; the loader has relocated it.
            (0..vtable.entries).map(|at| unsafe { peek(first + at * WORD) }).collect()
        };
        let originals = words(vtable);
        let linked = |words: &[usize]| -> Vec<usize> {
            words.iter().map(|word| word.wrapping_sub(library.base())).collect()
        };
        let mut tables: Vec<Vec<usize>> = vec![linked(&originals)];
        tables.extend(vtables.into_iter().flatten().map(|other| linked(&words(other))));
        let slots = slots::resolve(&symbols, feature, &tables)?;
        let mut functions = Functions::of(hooks, |function| {
            let slot = slots.of(function).map_err(|error| {
                // A function of somebody else has no name of HotSpot's.
                let foreign = |word: &&usize| **word != 0 && !library.contains(**word);
                if originals.iter().any(|word| foreign(&word)) {
                    Error::Taken { what: function.name() }
                } else {
                    error
                }
            })?;
            let original = originals.get(slot).copied().ok_or_else(|| missing(function.name()))?;
            Ok((vtable_address + slot * WORD, original))
        })?;
        // Behind the heap's functions: they tell that somebody else has been here.
        if hooks.pauses.is_some() {
            let found = names.operations.pauses(|vtable| linked(&words(vtable)))?;
            let pause = |(vtable, at): (Vtable, usize)| {
                Pause::of(vtable.address + library.base(), &words(vtable), at)
            };
            functions.pauses = found.into_iter().filter_map(pause).collect();
        }
        Ok(Jvm {
            feature,
            version,
            collector,
            hooks,
            flags,
            functions,
            accounts: Accounts::of(&structs, feature, place(5), place(3))?,
            transitions: Transitions::of([7, 8, 9].map(place)),
            tooling: Tooling::of([10, 11, 12, 13].map(place)),
            structs,
            vtable: vtable_address,
            fill_with_object: address(0, fill_with_object)?,
            current_thread: address(1, CURRENT_THREAD)?,
            safepoint_state: address(2, SAFEPOINT_STATE)?,
            vm_thread: address(6, VM_THREAD)?,
        })
    }

    /// Bytes to which objects are aligned.
    pub fn grain(&self) -> usize {
        // intx in 17 and 21, int in 25: the low 32 bits are the value in both on a little-endian machine.
        self.flags.small_number("ObjectAlignmentInBytes").map_or(8, |bytes| bytes as usize)
    }

    /// The smallest filler object, in bytes (`CollectedHeap::min_fill_size`).
    pub fn min_filler(&self) -> usize {
        let compact = self.flags.boolean("UseCompactObjectHeaders") == Some(true);
        self.grain().max(if compact { WORD } else { 2 * WORD })
    }

    /// The heap, once HotSpot has made it (from VMInit on).
    pub fn heap(&self) -> Result<Heap, Error> {
        let place = self.structs.static_field("Universe", "_collectedHeap")?;
        // SAFETY: the table says that this is a pointer to the heap.
        let object: usize = unsafe { peek(place) };
        if object == 0 {
            return Err(Error::Missing { what: "the heap (Universe::_collectedHeap)".into() });
        }
        // SAFETY: an object with virtual functions begins with its vtable pointer.
        if unsafe { peek::<usize>(object) } != self.vtable {
            return Err(Error::Collector {
                found: format!("of a class other than {}", self.collector.vtable()),
            });
        }
        let reserved = object + self.structs.offset("CollectedHeap", "_reserved")?;
        let start = reserved + self.structs.offset("MemRegion", "_start")?;
        let words = reserved + self.structs.offset("MemRegion", "_word_size")?;
        // SAFETY: the fields were looked up in HotSpot's own table. The two functions have the types that their mangled names, which
        // were matched in full, and the C++ ABI of the platform give them, up to a last argument (`functions`).
        unsafe {
            Ok(Heap {
                object: object as *mut c_void,
                base: peek(start),
                bytes: peek::<usize>(words) * WORD,
                allocate_new_tlab: self.functions.allocate_new_tlab.original(),
                unsafe_max_tlab_alloc: self.functions.unsafe_max_tlab_alloc.original(),
                max_tlab_size: self.functions.max_tlab_size.original(),
                tlab_capacity: self.functions.tlab_capacity.original(),
                tlab_used: self.functions.tlab_used.as_ref().map(|slot| slot.original()),
                fill_with_object: std::mem::transmute::<usize, FillWithObject>(self.fill_with_object),
                current_thread: std::mem::transmute::<usize, CurrentThread>(self.current_thread),
                safepoint_state: self.safepoint_state,
                vm_thread: self.vm_thread,
                allocated: self.accounts.allocated,
            })
        }
    }
}

/// The live heap's functions.
#[derive(Debug)]
pub struct Heap {
    object: *mut c_void,
    base: usize,
    bytes: usize,
    allocate_new_tlab: AllocateNewTlab,
    unsafe_max_tlab_alloc: UnsafeMaxTlabAlloc,
    max_tlab_size: MaxTlabSize,
    tlab_capacity: TlabCapacity,
    /// Where eden consists of regions.
    tlab_used: Option<TlabUsed>,
    fill_with_object: FillWithObject,
    current_thread: CurrentThread,
    safepoint_state: usize,
    vm_thread: usize,
    /// Offset of a thread's account of what it has allocated.
    allocated: usize,
}

// SAFETY: HotSpot's heap is one for all threads; its functions do their own synchronisation.
unsafe impl Send for Heap {}
// SAFETY: as above.
unsafe impl Sync for Heap {}

impl Heap {
    /// Address of the reserved space; 0 of ZGC, which reserves by itself.
    pub fn base(&self) -> usize {
        self.base
    }

    /// Bytes of the reserved space; 0 of ZGC.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// HotSpot's own `allocate_new_tlab`: address and bytes, or nothing. May wait for a whole collection.
    ///
    /// # Safety
    /// Only on a Java thread in VM state that holds no lock, as HotSpot itself calls it; `min <= desired`, whole grains, in bytes,
    /// not above [`Heap::max_tlab_size`].
    pub unsafe fn allocate(&self, min: usize, desired: usize) -> Option<(usize, usize)> {
        let mut actual = 0;
        // SAFETY: the caller's; the heap is HotSpot's own object.
        let start =
            unsafe { (self.allocate_new_tlab)(self.object, min / WORD, desired / WORD, &raw mut actual) };
        if start.is_null() { None } else { Some((start as usize, actual * WORD)) }
    }

    /// Bytes that `allocate_new_tlab` could presumably give this thread now without collecting. One request gets no more than
    /// [`Heap::max_tlab_size`] of them.
    ///
    /// # Safety
    /// Only on a thread that HotSpot knows.
    pub unsafe fn available(&self) -> usize {
        // SAFETY: the caller's. The function wants the thread for its memory node.
        let told = unsafe { (self.unsafe_max_tlab_alloc)(self.object, (self.current_thread)()) };
        // SAFETY: the caller's.
        told.max(unsafe { self.in_whole_regions() })
    }

    /// Bytes of eden in regions that nobody has begun: what `unsafe_max_tlab_alloc` of G1 does not tell. 0 where eden does not consist
    /// of regions. What G1 may still take for eden is its target without what it has taken (`G1Policy::should_allocate_mutator_region`).
    ///
    /// # Safety
    /// Only on a thread that HotSpot knows.
    pub unsafe fn in_whole_regions(&self) -> usize {
        let Some(tlab_used) = self.tlab_used else { return 0 };
        // SAFETY: the caller's.
        let used = unsafe { tlab_used(self.object, (self.current_thread)()) };
        // SAFETY: the caller's.
        unsafe { self.tlab_capacity() }.saturating_sub(used)
    }

    /// What the calling thread has allocated in its life, in bytes, up to the last TLAB that it has given up.
    ///
    /// # Safety
    /// Only on a Java thread.
    #[inline(always)]
    pub unsafe fn allocated_by_thread(&self) -> usize {
        // SAFETY: the caller's; the offset was looked up in HotSpot's own table, and only the thread itself writes there.
        unsafe { peek::<u64>((self.current_thread)() as usize + self.allocated) as usize }
    }

    /// Address of HotSpot's own object for the calling thread: what `java.lang.Thread` has as `eetop`.
    ///
    /// # Safety
    /// Only on a thread that HotSpot knows.
    pub unsafe fn current_thread(&self) -> usize {
        // SAFETY: the caller's.
        unsafe { (self.current_thread)() as usize }
    }

    /// Whether the calling thread is the VM thread, which performs what happens at safepoints.
    ///
    /// # Safety
    /// Only on a thread that HotSpot knows.
    pub unsafe fn is_on_vm_thread(&self) -> bool {
        // SAFETY: the symbol table says that there is a pointer, written before the first safepoint; the rest is the caller's.
        unsafe { peek::<usize>(self.vm_thread) == self.current_thread() }
    }

    /// The largest TLAB, in bytes.
    ///
    /// # Safety
    /// Only once the heap is initialised (from VMInit on).
    pub unsafe fn max_tlab_size(&self) -> usize {
        // SAFETY: the caller's.
        unsafe { (self.max_tlab_size)(self.object).saturating_mul(WORD) }
    }

    /// Bytes of eden (or of the like of it) for the TLABs of all threads.
    ///
    /// # Safety
    /// Only on a thread that HotSpot knows, once the heap is initialised.
    pub unsafe fn tlab_capacity(&self) -> usize {
        // SAFETY: the caller's.
        unsafe { (self.tlab_capacity)(self.object, (self.current_thread)()) }
    }

    /// Writes a filler object over a range.
    ///
    /// # Safety
    /// Only on a Java thread in VM state or on the VM thread at a safepoint; the range must belong to the caller, be whole grains
    /// and at least [`Jvm::min_filler`] bytes.
    pub unsafe fn fill(&self, start: usize, bytes: usize) {
        // SAFETY: the caller's. `zap` matters to debug builds only.
        unsafe { (self.fill_with_object)(start as *mut c_void, bytes / WORD, true) };
    }

    /// Whether all Java threads stand still.
    pub fn is_at_safepoint(&self) -> bool {
        // SAFETY: `SafepointSynchronize::_state` is an int-sized enumeration that lives as long as the library.
        unsafe { peek::<i32>(self.safepoint_state) == SYNCHRONIZED }
    }
}
