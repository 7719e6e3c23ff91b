//! Where `libjvm.so` has the number of its version (`Abstract_VM_Version::_vm_major_version`), for tests that change it in a copy.

use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol};

/// Its offset in the library's file; `None` without a symbol table.
pub fn place(bytes: &[u8]) -> Option<usize> {
    let file = ElfFile64::<object::Endianness>::parse(bytes).ok()?;
    let name = "_ZN19Abstract_VM_Version17_vm_major_versionE";
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name))?;
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    let (offset, _) = section.file_range()?;
    Some((offset + symbol.address() - section.address()) as usize)
}
