//! AddressSanitizer's interface for allocators: `sanitizer/asan_interface.h`.
//!
//! Its functions are referred to weakly, and are not there in a program that is built without the tool: then nothing is told. So a library
//! with the feature can be linked into any program.

use hab::Extent;
use std::ffi::c_void;

type Tell = unsafe extern "C" fn(*const c_void, usize);

/// A function of the tool's by its name.
macro_rules! function {
    ($name:literal) => {{
        let address: usize;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: reads the linker's table of addresses.
        unsafe {
            std::arch::asm!(
                concat!(".weak ", $name),
                concat!("mov {address}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                address = out(reg) address,
                options(nostack, preserves_flags, readonly),
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        unsafe {
            std::arch::asm!(
                concat!(".weak ", $name),
                concat!("adrp {address}, :got:", $name),
                concat!("ldr {address}, [{address}, :got_lo12:", $name, "]"),
                address = out(reg) address,
                options(nostack, preserves_flags, readonly),
            );
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            address = 0;
        }
        // SAFETY: 0, or the function of this name, which has this type.
        unsafe { std::mem::transmute::<usize, Option<Tell>>(address) }
    }};
}

fn tell(function: Option<Tell>, extent: Extent) {
    if let Some(function) = function
        && extent.bytes > 0
    {
        // SAFETY: writes to the tool's own memory.
        unsafe { function(std::ptr::without_provenance(extent.start), extent.bytes) };
    }
}

/// An access to these bytes is an error. They end with a grain.
pub(crate) fn poison(extent: Extent) {
    tell(function!("__asan_poison_memory_region"), extent);
}

/// An access to these bytes is right. They begin with a grain.
pub(crate) fn unpoison(extent: Extent) {
    tell(function!("__asan_unpoison_memory_region"), extent);
}
