//! What the kernel is told of the sequences in this program.

/// `struct rseq_cs` of rseq(2).
#[repr(C, align(32))]
pub struct Descriptor {
    pub version: u32,
    pub flags: u32,
    pub start: u64,
    pub length: u64,
    pub abort: u64,
}

// The linker's names for where a section begins and ends.
unsafe extern "C" {
    #[link_name = "__start___rseq_cs"]
    static mut FIRST: Descriptor;
    #[link_name = "__stop___rseq_cs"]
    static mut BEHIND: Descriptor;
}

/// The descriptors of all sequences in this program.
pub fn descriptors() -> *mut [Descriptor] {
    let (first, behind) = (&raw mut FIRST, &raw mut BEHIND);
    std::ptr::slice_from_raw_parts_mut(first, (behind.addr() - first.addr()) / size_of::<Descriptor>())
}
