//! The `libjvm.so` of this process.

use crate::Error;
use std::ffi::{CStr, CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// A loaded library: where its file is and by how much its addresses were moved.
#[derive(Debug)]
pub struct Library {
    path: PathBuf,
    base: usize,
    handle: NonNull<c_void>,
}

// SAFETY: the handle is only used for dlsym, which may be called from any thread.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, found: *mut c_void) -> c_int {
    // SAFETY: dl_iterate_phdr passes a valid entry, and `found` is the vector of `Library::find`.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<(PathBuf, usize)>>()) };
    if !info.dlpi_name.is_null() {
        // SAFETY: the loader's names are NUL-terminated.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) };
        let path = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
        if path.file_name().is_some_and(|file| file == "libjvm.so") {
            found.push((path.to_owned(), info.dlpi_addr as usize));
        }
    }
    0
}

impl Library {
    /// Finds the one `libjvm.so` of this process.
    pub fn find() -> Result<Library, Error> {
        let mut found: Vec<(PathBuf, usize)> = Vec::new();
        // SAFETY: `visit` matches the callback's type and uses the pointer as the vector that it is, during the call only.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
        let [(path, base)] = &found[..] else { return Err(Error::NoLibrary) };
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| Error::NoLibrary)?;
        // SAFETY: NOLOAD only finds a library that is loaded already, so no initialiser runs.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        let handle = NonNull::new(handle).ok_or(Error::NoLibrary)?;
        Ok(Library { path: path.clone(), base: *base, handle })
    }

    /// The library's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What has to be added to an address as linked.
    pub fn base(&self) -> usize {
        self.base
    }

    /// The address of an exported symbol.
    pub fn exported(&self, name: &CStr) -> Result<NonNull<c_void>, Error> {
        // SAFETY: the handle is a loaded library's, the name is NUL-terminated.
        let address = unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) };
        NonNull::new(address)
            .ok_or_else(|| Error::Missing { what: format!("the exported symbol {}", name.to_string_lossy()) })
    }
}
