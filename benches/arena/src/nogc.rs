//! mmtk's bump allocator under its plan `NoGC`: a binding for a virtual machine that is none. Nothing is ever collected, so that what
//! mmtk asks a machine about collections is never asked.

use mmtk::util::alloc::{Allocator, BumpAllocator};
use mmtk::util::copy::{CopySemantics, GCWorkerCopyContext};
use mmtk::util::options::{GCTriggerSelector, PlanSelector};
use mmtk::util::{Address, ObjectReference, VMMutatorThread, VMThread, VMWorkerThread};
use mmtk::vm::slot::{SimpleSlot, UnimplementedMemorySlice};
use mmtk::vm::*;
use mmtk::{AllocationSemantics, MMTK, MMTKBuilder, Mutator, memory_manager};
use pages::Policy;
use std::alloc::Layout;

/// The machine that is none.
#[derive(Default)]
struct Nothing;

/// A thread's allocator.
pub struct NoGc {
    mmtk: &'static MMTK<Nothing>,
    mutator: Box<Mutator<Nothing>>,
}

impl NoGc {
    /// mmtk with room for so many bytes that are never taken back. Once in a process.
    pub fn new(bytes: usize, pages: Policy) -> Result<NoGc, String> {
        let mut builder = MMTKBuilder::new_no_env_vars();
        let options = &mut builder.options;
        let set = options.plan.set(PlanSelector::NoGC)
            && options.gc_trigger.set(GCTriggerSelector::FixedHeapSize(bytes))
            && options.transparent_hugepages.set(pages == Policy::Transparent);
        if !set {
            return Err("mmtk refuses an option".into());
        }
        let mmtk: &'static MMTK<Nothing> = Box::leak(memory_manager::mmtk_init(&builder));
        let mutator = memory_manager::bind_mutator(mmtk, VMMutatorThread(VMThread::UNINITIALIZED));
        Ok(NoGc { mmtk, mutator })
    }

    /// The way to objects: mmtk's, with the fast path in the binding, as mmtk asks bindings to have it. It never ends but by a panic
    /// at the limit.
    pub fn allocator(&mut self) -> impl FnMut(Layout) -> *mut u8 {
        let selector = memory_manager::get_allocator_mapping(self.mmtk, AllocationSemantics::Default);
        // SAFETY: mmtk itself names the selector; under NoGC it is one of a bump allocator.
        let bump: &mut BumpAllocator<Nothing> = unsafe { self.mutator.allocator_impl_mut(selector) };
        move |layout: Layout| {
            let pointer = &mut bump.bump_pointer;
            // Sizes and buffers are multiples of the alignment of all objects here.
            let start = pointer.cursor;
            let top = start + layout.size();
            if top > pointer.limit {
                return bump.alloc_slow(layout.size(), layout.align(), 0).to_mut_ptr();
            }
            pointer.cursor = top;
            start.to_mut_ptr()
        }
    }
}

fn never() -> ! {
    unreachable!("NoGC collects nothing")
}

impl VMBinding for Nothing {
    type VMObjectModel = Nothing;
    type VMScanning = Nothing;
    type VMCollection = Nothing;
    type VMActivePlan = Nothing;
    type VMReferenceGlue = Nothing;
    type VMSlot = SimpleSlot;
    type VMMemorySlice = UnimplementedMemorySlice;
    const MIN_ALIGNMENT: usize = 8;
}

impl ActivePlan<Nothing> for Nothing {
    fn is_mutator(_: VMThread) -> bool {
        true
    }
    fn mutator(_: VMMutatorThread) -> &'static mut Mutator<Nothing> {
        never()
    }
    fn mutators<'a>() -> Box<dyn Iterator<Item = &'a mut Mutator<Nothing>> + 'a> {
        never()
    }
    fn number_of_mutators() -> usize {
        1
    }
}

impl Collection<Nothing> for Nothing {
    fn stop_all_mutators<F: FnMut(&'static mut Mutator<Nothing>)>(_: VMWorkerThread, _: F) {
        never()
    }
    fn resume_mutators(_: VMWorkerThread) {
        never()
    }
    fn block_for_gc(_: VMMutatorThread) {
        never()
    }
    fn spawn_gc_thread(_: VMThread, _: GCThreadContext<Nothing>) {
        never()
    }
}

impl ReferenceGlue<Nothing> for Nothing {
    type FinalizableType = ObjectReference;
    fn clear_referent(_: ObjectReference) {
        never()
    }
    fn get_referent(_: ObjectReference) -> Option<ObjectReference> {
        never()
    }
    fn set_referent(_: ObjectReference, _: ObjectReference) {
        never()
    }
    fn enqueue_references(_: &[ObjectReference], _: VMWorkerThread) {
        never()
    }
}

impl Scanning<Nothing> for Nothing {
    fn scan_object<SV: SlotVisitor<SimpleSlot>>(_: VMWorkerThread, _: ObjectReference, _: &mut SV) {
        never()
    }
    fn notify_initial_thread_scan_complete(_: bool, _: VMWorkerThread) {
        never()
    }
    fn scan_roots_in_mutator_thread(
        _: VMWorkerThread,
        _: &'static mut Mutator<Nothing>,
        _: impl RootsWorkFactory<SimpleSlot>,
    ) {
        never()
    }
    fn scan_vm_specific_roots(_: VMWorkerThread, _: impl RootsWorkFactory<SimpleSlot>) {
        never()
    }
    fn supports_return_barrier() -> bool {
        false
    }
    fn prepare_for_roots_re_scanning() {
        never()
    }
}

/// Only places are asked for, to lay out metadata that this plan does not have.
impl ObjectModel<Nothing> for Nothing {
    const GLOBAL_LOG_BIT_SPEC: VMGlobalLogBitSpec = VMGlobalLogBitSpec::in_header(0);
    const LOCAL_FORWARDING_POINTER_SPEC: VMLocalForwardingPointerSpec =
        VMLocalForwardingPointerSpec::in_header(0);
    const LOCAL_FORWARDING_BITS_SPEC: VMLocalForwardingBitsSpec = VMLocalForwardingBitsSpec::in_header(0);
    const LOCAL_MARK_BIT_SPEC: VMLocalMarkBitSpec = VMLocalMarkBitSpec::in_header(0);
    const LOCAL_LOS_MARK_NURSERY_SPEC: VMLocalLOSMarkNurserySpec = VMLocalLOSMarkNurserySpec::in_header(0);
    const OBJECT_REF_OFFSET_LOWER_BOUND: isize = 0;

    fn copy(_: ObjectReference, _: CopySemantics, _: &mut GCWorkerCopyContext<Nothing>) -> ObjectReference {
        never()
    }
    fn copy_to(_: ObjectReference, _: ObjectReference, _: Address) -> Address {
        never()
    }
    fn get_reference_when_copied_to(_: ObjectReference, _: Address) -> ObjectReference {
        never()
    }
    fn get_current_size(_: ObjectReference) -> usize {
        never()
    }
    fn get_size_when_copied(_: ObjectReference) -> usize {
        never()
    }
    fn get_align_when_copied(_: ObjectReference) -> usize {
        never()
    }
    fn get_align_offset_when_copied(_: ObjectReference) -> usize {
        never()
    }
    fn get_type_descriptor(_: ObjectReference) -> &'static [i8] {
        never()
    }
    fn ref_to_object_start(object: ObjectReference) -> Address {
        object.to_raw_address()
    }
    fn ref_to_header(object: ObjectReference) -> Address {
        object.to_raw_address()
    }
    fn dump_object(_: ObjectReference) {
        never()
    }
}
