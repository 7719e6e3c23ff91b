//! The `libjvm.so` of this process.

use crate::Error;
use crate::symbols::{self, Symbols};
use std::ffi::{CStr, CString, c_int, c_void};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// A loaded library: where its file is and by how much its addresses were moved.
#[derive(Debug)]
pub struct Library {
    path: PathBuf,
    base: usize,
    /// The addresses that it takes up.
    range: Range<usize>,
    /// The build identifier that it carries in memory, if it does.
    build_id: Option<Vec<u8>>,
    handle: NonNull<c_void>,
}

/// What the loader tells of a `libjvm.so`.
struct Loaded {
    path: PathBuf,
    base: usize,
    range: Range<usize>,
    build_id: Option<Vec<u8>>,
}

// SAFETY: the handle is only used for dlsym, which may be called from any thread.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

/// The build identifier of a loaded library: of its notes, which are mapped with it.
///
/// # Safety
/// `header` must be a program header of type PT_NOTE of a library loaded at `base`.
unsafe fn build_id(header: &libc::Elf64_Phdr, base: usize) -> Option<Vec<u8>> {
    // SAFETY: the caller's: a note segment is mapped readable, for as many bytes as its header says.
    let bytes = unsafe {
        std::slice::from_raw_parts((base + header.p_vaddr as usize) as *const u8, header.p_memsz as usize)
    };
    let alignment = if header.p_align == 8 { 8 } else { 4 };
    symbols::build_id_of_notes(bytes, alignment)
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, found: *mut c_void) -> c_int {
    // SAFETY: dl_iterate_phdr passes a valid entry, and `found` is the vector of `Library::find`.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<Loaded>>()) };
    if !info.dlpi_name.is_null() {
        // SAFETY: the loader's names are NUL-terminated.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) };
        let path = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
        if path.file_name().is_some_and(|file| file == "libjvm.so") {
            let base = info.dlpi_addr as usize;
            // SAFETY: the loader's own table of so many program headers.
            let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
            let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
            let spans = loaded.map(|header| {
                let start = base + header.p_vaddr as usize;
                (start, start + header.p_memsz as usize)
            });
            let (start, end) =
                spans.fold((usize::MAX, 0), |whole, span| (whole.0.min(span.0), whole.1.max(span.1)));
            let range = start..end;
            let build_id = (headers.iter().filter(|header| header.p_type == libc::PT_NOTE))
                // SAFETY: a note of the library that is loaded at `base`.
                .find_map(|header| unsafe { build_id(header, base) });
            found.push(Loaded { path: path.to_owned(), base, range, build_id });
        }
    }
    0
}

impl Library {
    /// Finds the one `libjvm.so` of this process.
    pub fn find() -> Result<Library, Error> {
        let mut found: Vec<Loaded> = Vec::new();
        // SAFETY: `visit` matches the callback's type and uses the pointer as the vector that it is, during the call only.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
        let (Some(Loaded { path, base, range, build_id }), None) = (found.pop(), found.pop()) else {
            return Err(Error::NoLibrary);
        };
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| Error::NoLibrary)?;
        // SAFETY: NOLOAD only finds a library that is loaded already, so no initialiser runs.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        let handle = NonNull::new(handle).ok_or(Error::NoLibrary)?;
        Ok(Library { path, base, range, build_id, handle })
    }

    /// The library's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What has to be added to an address as linked.
    pub fn base(&self) -> usize {
        self.base
    }

    /// Whether an address lies in it.
    pub fn contains(&self, address: usize) -> bool {
        self.range.contains(&address)
    }

    /// The symbols of its file, unless that is another build's.
    pub fn symbols(&self) -> Result<Symbols, Error> {
        let symbols = Symbols::open(&self.path)?;
        self.check(&symbols)?;
        Ok(symbols)
    }

    /// Refuses symbols of another build: after an upgrade in place the file is not what runs.
    fn check(&self, symbols: &Symbols) -> Result<(), Error> {
        symbols.check_processor()?;
        match &self.build_id {
            Some(id) if symbols.build_id() != Some(id) => {
                Err(Error::Replaced { path: self.path.display().to_string() })
            }
            _ => Ok(()),
        }
    }

    /// The address of an exported symbol.
    pub fn exported(&self, name: &CStr) -> Result<NonNull<c_void>, Error> {
        // SAFETY: the handle is a loaded library's, the name is NUL-terminated.
        let address = unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) };
        NonNull::new(address)
            .ok_or_else(|| Error::Missing { what: format!("the exported symbol {}", name.to_string_lossy()) })
    }
}
