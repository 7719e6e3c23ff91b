//! The C interface from C: compiled by `cc`, against the shared and the static library.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

const INTERFACE: &str = r#"
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <terrace_arena.h>

int main(void) {
    char reason[128];
    terrace_arena_options options;
    memset(&options, 0, sizeof options);
    options.limit = 1 << 20;
    terrace_arena *arena = terrace_arena_create(&options, reason, sizeof reason);
    assert(arena != NULL);
    unsigned char *first = terrace_arena_alloc(arena, 100);
    assert(first != NULL && (uintptr_t)first % 16 == 0);
    memset(first, 7, 100);
    assert(terrace_arena_alloc(arena, 0) != NULL);
    void *page = terrace_arena_alloc_aligned(arena, 10, 4096);
    assert(page != NULL && (uintptr_t)page % 4096 == 0);
    assert(terrace_arena_alloc_aligned(arena, 10, 3) == NULL);
    assert(terrace_arena_alloc(arena, (size_t)-1) == NULL);
    assert(terrace_arena_alloc(arena, 2 << 20) == NULL);
    terrace_checkpoint *checkpoint = terrace_arena_checkpoint(arena);
    terrace_stats before, after;
    terrace_arena_stats(arena, &before);
    while (terrace_arena_alloc(arena, 64) != NULL) {
    }
    terrace_arena_reset_to(arena, checkpoint);
    terrace_checkpoint_free(checkpoint);
    terrace_arena_stats(arena, &after);
    assert(before.used == after.used && after.limit == 1 << 20 && first[99] == 7);
    assert(terrace_arena_alloc(arena, 64) != NULL);
    assert(terrace_arena_reset_and_release(arena));
    terrace_arena_destroy(arena);
    terrace_arena_destroy(NULL);
    options.path = 99;
    assert(terrace_arena_create(&options, reason, sizeof reason) == NULL);
    assert(strstr(reason, "path 99") != NULL);
    options.path = 0;
    options.limit = 0;
    options.reserve = (size_t)1 << 60;
    assert(terrace_arena_create(&options, reason, 8) == NULL && strlen(reason) == 7);
    assert(terrace_arena_create(&options, NULL, 0) == NULL);
    return 0;
}
"#;

fn crate_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Builds the libraries, as their user would; cargo does not for a test. Their folder.
fn libraries() -> PathBuf {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let target = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned();
        let mut command = Command::new(cargo);
        command.args(["build", "--quiet", "--release", "-p", "terrace-arena-c", "--target-dir"]).arg(&target);
        assert!(command.current_dir(crate_folder()).status().unwrap().success());
        target.join("release")
    });
    BUILT.clone()
}

fn compile(source: &Path, program: &Path, is_static: bool) {
    let folder = libraries();
    let mut command = Command::new("cc");
    command
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-I"])
        .arg(crate_folder().join("include"));
    command.arg(source).arg("-o").arg(program);
    if is_static {
        command.arg(folder.join("libterrace_arena.a")).args(["-lpthread", "-ldl", "-lm", "-lgcc_s"]);
    } else {
        command.arg("-L").arg(&folder).args(["-lterrace_arena", "-lpthread"]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn run(program: &Path) -> String {
    let folder = libraries();
    // The name that programs look for is the one with the version.
    let link = program.with_file_name("libterrace_arena.so.0");
    let _ = std::os::unix::fs::symlink(folder.join("libterrace_arena.so"), &link);
    let output = Command::new(program).env("LD_LIBRARY_PATH", link.parent().unwrap()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn has_compiler() -> bool {
    let found = Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        skips::skip!("no C compiler 'cc' on PATH");
    }
    found
}

#[test]
fn every_function_from_c() {
    if !has_compiler() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("interface.c");
    std::fs::write(&source, INTERFACE).unwrap();
    for is_static in [false, true] {
        let program = folder.path().join(format!("interface-{is_static}"));
        compile(&source, &program, is_static);
        run(&program);
    }
}

#[test]
fn the_example_counts_its_words() {
    if !has_compiler() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("words");
    compile(&crate_folder().join("example/words.c"), &program, false);
    let text = run(&program);
    assert_eq!(text.matches("400000 words in ").count(), 3, "{text}");
}

/// What the header names is in the library, and nothing that the library exports is missing in the header.
#[test]
fn the_header_is_of_this_source() {
    let header = std::fs::read_to_string(crate_folder().join("include/terrace_arena.h")).unwrap();
    let source = std::fs::read_to_string(crate_folder().join("src/lib.rs")).unwrap();
    let functions: Vec<&str> = source
        .split("pub unsafe extern \"C\" fn ")
        .skip(1)
        .filter_map(|rest| rest.split('(').next())
        .collect();
    assert!(functions.len() >= 10);
    for function in &functions {
        assert!(header.contains(&format!("{function}(")), "{function} is missing: run cbindgen again");
    }
    assert_eq!(
        header.matches(");\n").count(),
        functions.len(),
        "the header has functions that are gone: run cbindgen again"
    );
}
