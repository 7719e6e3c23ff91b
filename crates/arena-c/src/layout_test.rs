//! The structures and enumerations as a C compiler lays them out, against this source.

use super::*;
use std::fmt::Write;
use std::mem::offset_of;
use std::process::Command;

/// One assertion of C for each field, and one for the whole; every field must be named, or it is one of padding.
macro_rules! same_layout {
    ($text:expr, $name:ident { $($field:ident),* }) => {
        // A field that is not named here does not compile.
        let _ = |$name { $($field: _),* }: $name| ();
        let size = size_of::<$name>();
        writeln!($text, "_Static_assert(sizeof({0}) == {size}, \"{0}\");", stringify!($name)).unwrap();
        $(
            let (offset, bytes) = (offset_of!($name, $field), |value: $name| size_of_val(&value.$field));
            let of = stringify!($field);
            writeln!($text, "_Static_assert(offsetof({0}, {of}) == {offset}, \"{0}.{of}\");", stringify!($name)).unwrap();
            let bytes = field_bytes(bytes);
            writeln!($text, "_Static_assert(sizeof((({0} *)0)->{of}) == {bytes}, \"{0}.{of}\");", stringify!($name)).unwrap();
        )*
    };
}

/// What a field takes in a structure of zeros.
fn field_bytes<T>(bytes: impl Fn(T) -> usize) -> usize {
    // SAFETY: the structures are made of numbers and truth values, for which zeros are valid.
    bytes(unsafe { std::mem::zeroed() })
}

#[test]
fn c_sees_the_same_layouts_and_numbers() {
    if Command::new("cc").arg("--version").output().is_err() {
        return skips::skip!("no C compiler 'cc' on PATH");
    }
    let mut text = String::from("#include <stddef.h>\n#include <terrace_arena.h>\n");
    same_layout!(
        text,
        terrace_arena_options {
            size,
            reserve,
            limit,
            pages,
            path,
            zeroing,
            pre_touch,
            thread_buffer,
            core_buffer,
            processor_buffer
        }
    );
    same_layout!(text, terrace_stats { size, reserved, limit, used, restartable });
    for (name, number) in [
        ("TERRACE_PAGES_SMALL", terrace_pages::Small as u32),
        ("TERRACE_PAGES_TRANSPARENT", terrace_pages::Transparent as u32),
        ("TERRACE_PAGES_HUGE2M", terrace_pages::Huge2m as u32),
        ("TERRACE_PAGES_HUGE1G", terrace_pages::Huge1g as u32),
        ("TERRACE_PATH_AUTO", terrace_path::Auto as u32),
        ("TERRACE_PATH_THREAD", terrace_path::Thread as u32),
        ("TERRACE_PATH_CORE", terrace_path::Core as u32),
        ("TERRACE_ZEROING_NONE", terrace_zeroing::None as u32),
        ("TERRACE_ZEROING_AT_REFILL", terrace_zeroing::AtRefill as u32),
        ("TERRACE_ZEROING_AT_ALLOCATION", terrace_zeroing::AtAllocation as u32),
    ] {
        writeln!(text, "_Static_assert({name} == {number}, \"{name}\");").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("layout.c");
    std::fs::write(&source, &text).unwrap();
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/include"))
        .arg(&source)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}\n{text}", String::from_utf8_lossy(&compiled.stderr));
}
