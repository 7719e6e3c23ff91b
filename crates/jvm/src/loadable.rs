//! Whether a JVM can load the agent. One that cannot load what `-agentpath` names does not start, and its own message names no remedy;
//! so the loader that the program itself uses is asked before.
//!
//! `LOADER --list LIBRARY` does what loading does, but for running anything of it: glibc and musl know it, and it tells of another
//! architecture, of a C library that is too old or another one, and of a folder from which nothing may be executed.

use crate::{Error, Result, os};
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, ReadCache, ReadRef};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a script runs on; the JVM that it starts has most likely the same loader.
const SHELL: &str = "/bin/sh";

/// Words of loaders (glibc and musl), why, and what to do. The first that is found counts.
const REASONS: [(&[&str], &str, &str); 5] = [
    (
        &["failed to map segment", "Operation not permitted"],
        "its directory does not permit execution (noexec, or a security module)",
        "copy Terrace to another directory",
    ),
    (
        &["Permission denied"],
        "its user may not read it, or not enter its directory",
        "copy Terrace to a directory that this user can read, such as /opt",
    ),
    (
        &["GLIBC_"],
        "it was built for a newer glibc than this program has",
        "use Terrace's archive, which needs glibc 2.17 or musl",
    ),
    (
        &["ld-linux", "libgcc_s", "symbol not found", "relocating"],
        "it was built for another C library than this program has",
        "use Terrace's archive, which is for glibc and musl",
    ),
    (
        &[
            "ELF class",
            "Exec format error",
            "invalid ELF header",
            "file too short",
            "cannot open shared object file",
        ],
        "it is not built for this program's architecture",
        "use Terrace's archive for it",
    ),
];

/// Refuses a library that `program` could not load, with the reason and the remedy. What cannot be found out is left to the JVM.
pub fn check(library: &Path, program: &Path) -> Result<()> {
    // A loader is asked on this machine, whatever runs the program: emulation, or the kernel's other mode. What another program starts need not be like it.
    if program.file_name() == Some(OsStr::new("java"))
        && let Some((of_library, of_program)) = Architecture::of(library).zip(Architecture::of(program))
        && of_library != of_program
    {
        return Err(refusal(library, "wrong ELF class, or another machine"));
    }
    let Some(loader) = interpreter(program).or_else(|| interpreter(Path::new(SHELL))) else { return Ok(()) };
    let mut asked = Command::new(loader);
    asked.arg("--list").arg(library).stdin(Stdio::null());
    for variable in ["LD_PRELOAD", "LD_AUDIT", "LD_DEBUG"] {
        asked.env_remove(variable);
    }
    let Ok(answer) = os::waiting_for_children(|| asked.output()) else { return Ok(()) };
    let said = String::from_utf8_lossy(&answer.stderr);
    // A version that is missing is told without an exit code.
    if answer.status.success() && !said.contains(&*library.to_string_lossy()) {
        return Ok(());
    }
    Err(refusal(library, &said))
}

/// A loader's words, and what can be done about them.
pub(crate) fn refusal(library: &Path, said: &str) -> Error {
    let known = REASONS.iter().find(|(words, _, _)| words.iter().any(|word| said.contains(word)));
    let (why, remedy) =
        known.map_or(("its loader refuses it", "use Terrace's archive"), |(_, why, remedy)| (*why, *remedy));
    let said = said.trim();
    Error::failed(format!("the JVM cannot load {}: {why}: {remedy} ({said})", library.display()))
}

/// What an ELF file is for: the first bytes of it, as far as they name class and byte order, and `e_machine`.
#[derive(PartialEq, Eq)]
struct Architecture([u8; 4]);

impl Architecture {
    /// `None` of another file.
    fn of(file: &Path) -> Option<Architecture> {
        let mut header = [0; 20];
        File::open(file).ok()?.read_exact(&mut header).ok()?;
        let is_elf = header.starts_with(b"\x7fELF");
        is_elf.then(|| Architecture([header[4], header[5], header[18], header[19]]))
    }
}

/// The loader that a program names (`PT_INTERP`); `None` for a script, and for what has none.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let cache = ReadCache::new(File::open(program).ok()?);
    let header: &FileHeader64<Endianness> = (&cache).read_at(0).ok()?;
    let endian = header.is_supported().then(|| header.endian().ok())??;
    let programs = header.program_headers(endian, &cache).ok()?;
    let name = programs.iter().find_map(|header| header.interpreter(endian, &cache).ok()?)?;
    Some(PathBuf::from(OsStr::from_bytes(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library() -> PathBuf {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let found =
            maps.lines().filter_map(|line| line.split_once('/')).find(|(_, path)| path.contains("libgcc_s"));
        PathBuf::from(format!("/{}", found.expect("a Rust program has it").1))
    }

    #[test]
    fn what_the_system_has_can_be_loaded_by_programs_and_scripts() {
        let script = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(script.path(), "#!/bin/sh\n").unwrap();
        for program in [Path::new("/bin/sh"), script.path(), Path::new("/no/such/program")] {
            assert_eq!(check(&library(), program), Ok(()), "{}", program.display());
        }
        assert!(interpreter(Path::new("/bin/sh")).is_some() && interpreter(script.path()).is_none());
    }

    #[test]
    fn another_architecture_and_no_library_are_told_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libother.so");
        let mut bytes = std::fs::read(library()).unwrap();
        let other: u16 = if cfg!(target_arch = "x86_64") { 183 } else { 62 };
        bytes[18..20].copy_from_slice(&other.to_le_bytes());
        for bytes in [&bytes[..], b"", b"#!/bin/sh"] {
            std::fs::write(&path, bytes).unwrap();
            let line = check(&path, Path::new("/bin/sh")).unwrap_err().to_string();
            assert!(line.contains("for this program's architecture: use Terrace's archive"), "{line}");
        }
    }

    /// As with a JVM of 32 bits, or an emulated one.
    #[test]
    fn a_program_of_another_architecture_is_told_apart_before_a_loader_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("java");
        for (at, value) in [(4, 1), (18, 3)] {
            let mut bytes = std::fs::read("/bin/sh").unwrap();
            bytes[at] = value;
            std::fs::write(&program, bytes).unwrap();
            let line = check(&library(), &program).unwrap_err().to_string();
            assert!(line.contains("for this program's architecture: use Terrace's archive"), "{line}");
        }
    }

    #[test]
    fn loaders_words_are_told_apart() {
        for (said, remedy) in [
            ("x: failed to map segment from shared object", "copy Terrace to another directory"),
            (
                "x: failed to map segment from shared object: Permission denied",
                "copy Terrace to another directory",
            ),
            ("x: cannot open shared object file: Permission denied", "that this user can read, such as /opt"),
            ("libc.so.6: version `GLIBC_2.34' not found (required by x)", "needs glibc 2.17"),
            (
                "Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed by x)",
                "for glibc and musl",
            ),
            ("Error relocating x: gnu_get_libc_version: symbol not found", "for glibc and musl"),
            ("Error loading shared library x: Exec format error", "archive for it"),
            ("something new", "use Terrace's archive (something new)"),
        ] {
            let line = refusal(Path::new("x"), said).to_string();
            assert!(line.contains(remedy) && line.contains(said), "{line}");
        }
    }
}
