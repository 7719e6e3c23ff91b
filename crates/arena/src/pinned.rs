//! The object that this code is linked into stays loaded.
//!
//! The kernel looks at a sequence's descriptor when it next interferes with the thread, which may be long after the last call. Were the
//! object unloaded by then, the kernel would end the process. `-z nodelete` says so of a shared library of our own; of a plugin that this crate is
//! linked into only the dynamic linker can be told. A Rust plugin that has copies of the sequences, and the rest of this crate in another object,
//! has to be linked with it.

use std::ffi::c_void;

/// Makes the object that holds `place` stay, or says why that cannot be had.
pub(crate) fn object_of(place: *const c_void) -> Result<(), &'static str> {
    // SAFETY: a plain structure of pointers.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked about; the answer's texts live as long as the object.
    if unsafe { libc::dladdr(place, &raw mut found) } == 0 || found.dli_fname.is_null() {
        // A static program: there is no other object.
        return Ok(());
    }
    const FLAGS: libc::c_int = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
    // SAFETY: a name that ends with 0; nothing is loaded, so that no code runs.
    let object = unsafe { libc::dlopen(found.dli_fname, FLAGS) };
    // The handle is kept for good.
    if !object.is_null() || is_program(found.dli_fbase) {
        return Ok(());
    }
    Err("its object may be unloaded: the dynamic linker does not know it by its name")
}

/// Whether an object is the program itself, which nobody unloads and which may not be known by its name.
fn is_program(base: *mut c_void) -> bool {
    // SAFETY: the kernel's own answer; 0 where it has none.
    let headers = unsafe { libc::getauxval(libc::AT_PHDR) } as usize;
    // They lie in the program's first page or two, and nothing else is so near.
    headers.wrapping_sub(base.addr()) < 1 << 16
}
