//! Valgrind's client requests: instructions that change nothing on a processor, and that Valgrind understands as a call.
//!
//! Written here in place of being taken from a binding: those need Valgrind's headers, and a C compiler, wherever the arena is built. The
//! instructions and the numbers are Valgrind's interface, which does not change (valgrind.h, memcheck.h).

use hab::Extent;

const CREATE_MEMPOOL: usize = 0x1303;
const DESTROY_MEMPOOL: usize = 0x1304;
const MEMPOOL_ALLOC: usize = 0x1305;
const MEMPOOL_FREE: usize = 0x1306;
const MEMPOOL_TRIM: usize = 0x1307;
const MEMPOOL_CHANGE: usize = 0x1309;
/// 'M', 'C', as all of memcheck's own.
const MAKE_MEM_NOACCESS: usize = 0x4d43_0000;
const MAKE_MEM_UNDEFINED: usize = 0x4d43_0001;
const MAKE_MEM_DEFINED: usize = 0x4d43_0002;

/// A request; nothing where there is no Valgrind.
#[inline(always)]
fn request(what: usize, arguments: [usize; 4]) {
    let [first, second, third, fourth] = arguments;
    let block = [what, first, second, third, fourth, 0];
    #[cfg(target_arch = "x86_64")]
    // SAFETY: rotates a register once around twice, and exchanges one with itself. Valgrind reads the block.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") &raw const block,
            inout("rdx") 0_usize => _,
            options(nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!(
            "ror x12, x12, #3",
            "ror x12, x12, #13",
            "ror x12, x12, #51",
            "ror x12, x12, #61",
            "orr x10, x10, x10",
            in("x4") &raw const block,
            inout("x3") 0_usize => _,
            options(nostack),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = block;
}

/// There is a pool, which its address names.
pub(crate) fn created(pool: usize) {
    request(CREATE_MEMPOOL, [pool, super::GAP, 0, 0]);
}

/// The pool and all of its blocks are no more.
pub(crate) fn destroyed(pool: usize) {
    request(DESTROY_MEMPOOL, [pool, 0, 0, 0]);
}

/// A block of a pool.
pub(crate) fn allocated(pool: usize, block: Extent) {
    request(MEMPOOL_ALLOC, [pool, block.start, block.bytes, 0]);
}

/// A block of a pool is no more.
pub(crate) fn freed(pool: usize, start: usize) {
    request(MEMPOOL_FREE, [pool, start, 0, 0]);
}

/// A block of a pool has another size. What that adds or takes has to be told by itself.
pub(crate) fn resized(pool: usize, block: Extent) {
    request(MEMPOOL_CHANGE, [pool, block.start, block.start, block.bytes]);
}

/// Of a pool's blocks only those in a range are left.
pub(crate) fn only(pool: usize, extent: Extent) {
    request(MEMPOOL_TRIM, [pool, extent.start, extent.bytes, 0]);
}

/// An access is an error.
pub(crate) fn nobodys(extent: Extent) {
    request(MAKE_MEM_NOACCESS, [extent.start, extent.bytes, 0, 0]);
}

/// Bytes may be written to, and not read before.
pub(crate) fn undefined(extent: Extent) {
    request(MAKE_MEM_UNDEFINED, [extent.start, extent.bytes, 0, 0]);
}

/// Bytes may be read.
pub(crate) fn defined(extent: Extent) {
    request(MAKE_MEM_DEFINED, [extent.start, extent.bytes, 0, 0]);
}
