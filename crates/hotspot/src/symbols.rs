//! Names and addresses in a `libjvm.so`.
//!
//! The functions that matter are local symbols, which `dlsym` does not see: they are read from `.symtab`, or, where that was
//! stripped, from the separate debug file that `.gnu_debuglink` or the build identifier names.

use crate::Error;
use crate::mapped::Mapped;
use object::elf::{FileHeader64, SHN_UNDEF, STT_FUNC, STT_OBJECT};
use object::read::elf::{FileHeader, NoteIterator, SectionHeader, Sym};
use object::{Endianness, elf};
use std::path::{Path, PathBuf};

/// A symbol: addresses are as linked, to be moved by the library's load address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// The mangled name, as bytes: that tens of thousands of them are UTF-8 would take a millisecond of a JVM's start to find out.
    pub name: &'a [u8],
    /// Where it stands, as linked.
    pub address: usize,
    /// How long it is, in bytes; 0 if not told.
    pub bytes: usize,
    /// Whether it is data, not code.
    pub is_data: bool,
}

/// A library's symbol table, mapped.
#[derive(Debug)]
pub struct Symbols {
    library: PathBuf,
    image: Mapped,
    /// The separate debug file, where the library itself has no `.symtab`.
    debug: Option<Mapped>,
}

/// What the kernel maps at a fault, as it comes: pages around it that it has in its cache.
const MAPPED_TOGETHER: usize = 64 << 10;
/// How much of a file is mapped before it is released. All names of a `libjvm.so` have 3 to 5 MB, which would otherwise count for the process
/// at once; names are read again and again in the same places, so that a release for every few of them would cost milliseconds.
const RELEASED_TOGETHER: usize = 1 << 20;

type Header = FileHeader64<Endianness>;

fn header<'a>(path: &Path, bytes: &'a [u8]) -> Result<(&'a Header, Endianness), Error> {
    let wrong =
        || Error::File { path: path.display().to_string(), reason: "is not a 64-bit ELF library".into() };
    let header = Header::parse(bytes).map_err(|_| wrong())?;
    let endian = header.endian().map_err(|_| wrong())?;
    Ok((header, endian))
}

fn has_symtab(path: &Path, bytes: &[u8]) -> Result<bool, Error> {
    let (header, endian) = header(path, bytes)?;
    let sections = header
        .sections(endian, bytes)
        .map_err(|error| Error::File { path: path.display().to_string(), reason: error.to_string() })?;
    Ok(sections.iter().any(|section| section.sh_type(endian) == elf::SHT_SYMTAB))
}

fn build_id<'a>(path: &Path, bytes: &'a [u8]) -> Option<&'a [u8]> {
    let (header, endian) = header(path, bytes).ok()?;
    let sections = header.sections(endian, bytes).ok()?;
    for section in sections.iter() {
        let Ok(Some(mut notes)) = section.notes(endian, bytes) else { continue };
        while let Ok(Some(note)) = notes.next() {
            if note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID {
                return Some(note.desc());
            }
        }
    }
    None
}

fn debug_link<'a>(path: &Path, bytes: &'a [u8]) -> Option<&'a str> {
    let (header, endian) = header(path, bytes).ok()?;
    let sections = header.sections(endian, bytes).ok()?;
    let (_, section) = sections.section_by_name(endian, b".gnu_debuglink")?;
    let data = section.data(endian, bytes).ok()?;
    std::str::from_utf8(data.split(|byte| *byte == 0).next()?).ok()
}

/// Where debuggers look for a separate debug file, too.
fn debug_candidates(path: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let directory = path.parent().unwrap_or(Path::new("/"));
    let global = Path::new("/usr/lib/debug");
    if let Some(link) = debug_link(path, bytes) {
        found.push(directory.join(link));
        found.push(directory.join(".debug").join(link));
        found.push(global.join(directory.strip_prefix("/").unwrap_or(directory)).join(link));
    }
    if let Some([first, rest @ ..]) = build_id(path, bytes) {
        let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
        found.push(global.join(format!(".build-id/{first:02x}/{rest}.debug")));
    }
    found
}

/// The build identifier among the notes of a loaded library, whose entries are aligned to `alignment` bytes.
pub(crate) fn build_id_of_notes(notes: &[u8], alignment: usize) -> Option<Vec<u8>> {
    let mut notes = NoteIterator::<Header>::new(Endianness::default(), alignment as u64, notes).ok()?;
    while let Ok(Some(note)) = notes.next() {
        if note.name() == elf::ELF_NOTE_GNU && note.n_type(Endianness::default()) == elf::NT_GNU_BUILD_ID {
            return Some(note.desc().to_owned());
        }
    }
    None
}

/// `e_machine` of the libraries that this process can load.
const MACHINE: elf::Machine = if cfg!(target_arch = "aarch64") { elf::EM_AARCH64 } else { elf::EM_X86_64 };

/// Which parts of a mapped file were read since its pages were last released.
struct Touched<'a> {
    file: &'a Mapped,
    parts: Vec<bool>,
    bytes: usize,
    /// Where the table itself is read, in bytes from its beginning, when the pages were last released.
    since: usize,
}

impl<'a> Touched<'a> {
    fn of(file: &'a Mapped) -> Touched<'a> {
        Touched { file, parts: vec![false; file.bytes().len() / MAPPED_TOGETHER + 1], bytes: 0, since: 0 }
    }

    /// A name was read there, and the table up to `table` bytes. Releases the pages where these are too many.
    fn note(&mut self, name: *const u8, table: usize) {
        let part = name.addr().wrapping_sub(self.file.bytes().as_ptr().addr()) / MAPPED_TOGETHER;
        if let Some(touched @ false) = self.parts.get_mut(part) {
            *touched = true;
            self.bytes += MAPPED_TOGETHER;
        }
        if self.bytes + (table - self.since) > RELEASED_TOGETHER {
            self.file.release();
            self.parts.fill(false);
            (self.bytes, self.since) = (0, table);
        }
    }
}

impl Symbols {
    /// Refuses the symbols of a library for another processor: a root for emulation may have one where this process's was found.
    pub fn check_processor(&self) -> Result<(), Error> {
        let (header, endian) = header(&self.library, self.image.bytes())?;
        let machine = header.e_machine(endian);
        if machine == MACHINE {
            return Ok(());
        }
        Err(Error::File {
            path: self.library.display().to_string(),
            reason: format!(
                "is for another architecture ({}; this process: {}): use a JDK for this architecture",
                machine.0, MACHINE.0
            ),
        })
    }

    /// The build identifier of the library's file, if it has one.
    pub fn build_id(&self) -> Option<&[u8]> {
        build_id(&self.library, self.image.bytes())
    }

    /// Maps the symbol table of the library at `path`, or of its debug file if the library is stripped.
    pub fn open(path: &Path) -> Result<Symbols, Error> {
        let image = Mapped::open(path)?;
        if has_symtab(path, image.bytes())? {
            return Ok(Symbols { library: path.to_owned(), image, debug: None });
        }
        // A debug file of another build has other addresses: the build identifiers must agree.
        let wanted = build_id(path, image.bytes());
        for candidate in debug_candidates(path, image.bytes()) {
            let Ok(debug) = Mapped::open(&candidate) else { continue };
            let same = wanted.is_some() && build_id(&candidate, debug.bytes()) == wanted;
            if same && has_symtab(&candidate, debug.bytes())? {
                return Ok(Symbols { library: path.to_owned(), image, debug: Some(debug) });
            }
        }
        Err(Error::Stripped { path: path.display().to_string() })
    }

    /// The library's path.
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// Calls `visit` for every function and data symbol, in the table's order.
    ///
    /// `wanted(address, is_data)` is asked before the name is read: reading tens of thousands of names costs milliseconds at a
    /// JVM's start.
    pub fn each<'a>(
        &'a self,
        mut wanted: impl FnMut(usize, bool) -> bool,
        mut visit: impl FnMut(Symbol<'a>),
    ) -> Result<(), Error> {
        let file = self.debug.as_ref().unwrap_or(&self.image);
        let bytes = file.bytes();
        let wrong = |reason: &dyn std::fmt::Display| Error::File {
            path: self.library.display().to_string(),
            reason: reason.to_string(),
        };
        let (header, endian) = header(&self.library, bytes)?;
        let sections = header.sections(endian, bytes).map_err(|error| wrong(&error))?;
        let table = sections.symbols(endian, bytes, elf::SHT_SYMTAB).map_err(|error| wrong(&error))?;
        let strings = table.strings();
        let mut touched = Touched::of(file);
        for (number, symbol) in table.iter().enumerate() {
            let is_data = symbol.st_type() == STT_OBJECT;
            if (!is_data && symbol.st_type() != STT_FUNC) || symbol.st_shndx(endian) == SHN_UNDEF {
                continue;
            }
            let address = symbol.st_value(endian) as usize;
            if !wanted(address, is_data) {
                continue;
            }
            let Ok(name) = symbol.name(endian, strings) else { continue };
            touched.note(name.as_ptr(), number * size_of_val(symbol));
            visit(Symbol { name, address, bytes: symbol.st_size(endian) as usize, is_data });
        }
        Ok(())
    }

    /// The words of the library's data at `address` as the dynamic loader will see them: from the relative relocations, as the
    /// file itself has zeros there. For looking at a library that no process has loaded.
    pub fn relocated_words(&self, address: usize, count: usize) -> Result<Vec<usize>, Error> {
        let bytes = self.image.bytes();
        let (header, endian) = header(&self.library, bytes)?;
        let wrong = |reason: &dyn std::fmt::Display| Error::File {
            path: self.library.display().to_string(),
            reason: reason.to_string(),
        };
        let sections = header.sections(endian, bytes).map_err(|error| wrong(&error))?;
        let mut words = vec![0; count];
        for section in sections.iter() {
            let Ok(Some((relocations, _))) = section.rela(endian, bytes) else { continue };
            for relocation in relocations {
                let place = relocation.r_offset.get(endian) as usize;
                if place >= address && place < address + count * size_of::<usize>() {
                    words[(place - address) / size_of::<usize>()] = relocation.r_addend.get(endian) as usize;
                }
            }
        }
        Ok(words)
    }
}
