//! The descriptors of restartable sequences as they lie in the built program, whether or not the kernel restarts any here.
#![cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(no_sequences)))]

mod descriptors;

use arena::{Arena, Path};
use descriptors::descriptors;

/// What the four bytes before a handler have to be: `RSEQ_SIG` of <sys/rseq.h>, with which glibc registers.
const SIGNATURE: u32 = if cfg!(target_arch = "x86_64") { 0x5305_3053 } else { 0xd428_bc00 };

#[test]
fn every_sequence_ends_with_a_store_and_begins_again_at_a_signed_handler() {
    // The code is in the program only if it is used.
    Arena::builder().reserve(1 << 20).path(Path::Core).build().unwrap().alloc(1_u64);
    // SAFETY: nobody changes them here.
    let all = unsafe { &*descriptors() };
    assert!(all.len() >= 2, "taking and replacing: {}", all.len());
    for descriptor in all {
        let inside = descriptor.start..descriptor.start + descriptor.length;
        // A dozen instructions.
        assert!((descriptor.version, descriptor.flags) == (0, 0) && (16..100).contains(&descriptor.length));
        assert!(!inside.contains(&descriptor.abort));
        // SAFETY: four bytes of this program's code, before a handler.
        let signature = unsafe { (descriptor.abort as *const u32).sub(1).read_unaligned() };
        assert_eq!(signature, SIGNATURE);
        #[cfg(target_arch = "aarch64")]
        {
            // SAFETY: instructions of this program.
            let [first, last] = [inside.start, inside.end - 4].map(|at| unsafe { (at as *const u32).read() });
            // `mov REG, zero`: an answer is nothing until the store.
            assert_eq!(first & 0x7fff_ffe0, 0x2a1f_03e0, "{first:08x}");
            // `str Xt, [Xn]`.
            assert_eq!(last & 0xffff_fc00, 0xf900_0000, "{last:08x}");
        }
    }
}
