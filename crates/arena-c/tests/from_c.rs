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
    terrace_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    terrace_arena_stats(arena, &before);
    while (terrace_arena_alloc(arena, 64) != NULL) {
    }
    terrace_arena_reset_to(arena, checkpoint);
    terrace_checkpoint_free(checkpoint);
    terrace_arena_stats(arena, &after);
    assert(before.used == after.used && after.limit == 1 << 20 && first[99] == 7);
    assert(terrace_arena_alloc(arena, 64) != NULL);
    char *text = terrace_arena_strdup(arena, "a text");
    assert(strcmp(text, "a text") == 0);
    text = terrace_arena_printf(arena, "%s of %d", "one", 12345);
    assert(strcmp(text, "one of 12345") == 0);
    unsigned char *block = terrace_arena_alloc(arena, 64);
    memset(block, 5, 64);
    unsigned char *larger = terrace_arena_realloc(arena, block, 64, 200);
    assert(larger == block && larger[63] == 5);
    terrace_arena_alloc(arena, 16);
    block = terrace_arena_realloc(arena, larger, 200, 400);
    assert(block != larger && block[63] == 5);
    assert(terrace_arena_realloc(arena, block, 400, 10) == block);
    assert(terrace_arena_realloc(arena, block, 10, 4 << 20) == NULL && block[0] == 5);
    assert(terrace_arena_realloc(arena, NULL, 0, 32) != NULL);
    block = terrace_arena_alloc_aligned(arena, 100, 256);
    memset(block, 6, 100);
    terrace_arena_alloc(arena, 16);
    for (size_t size = 100; size < 4000; size += 300) {
        block = terrace_arena_realloc_aligned(arena, block, size, size + 300, 256);
        assert(block != NULL && (uintptr_t)block % 256 == 0 && block[99] == 6);
        terrace_arena_alloc(arena, 16);
    }
    assert(terrace_arena_realloc_aligned(arena, block, 4000, 50, 256) == block);
    assert(terrace_arena_realloc_aligned(arena, block, 50, 60, 24) == NULL && block[49] == 6);
    assert((uintptr_t)terrace_arena_realloc_aligned(arena, NULL, 0, 10, 4096) % 4096 == 0);
    // Of less than 16, as a text's copy may be: what it becomes is not.
    text = terrace_arena_strdup(arena, "text");
    text = terrace_arena_strdup(arena, "a longer text");
    text = terrace_arena_realloc(arena, text, 14, 100);
    assert((uintptr_t)text % 16 == 0 && strcmp(text, "a longer text") == 0);
    block = terrace_arena_alloc(arena, 48);
    terrace_arena_free_last(arena, block, 48);
    assert(terrace_arena_alloc(arena, 48) == block);
    terrace_arena_free_last(arena, NULL, 1);
    assert(terrace_arena_reset_and_release(arena));
    char fallback[8];
    size_t length = terrace_arena_fallback(arena, fallback, sizeof fallback);
    assert(strlen(fallback) == (length < 7 ? length : 7) && terrace_arena_fallback(arena, NULL, 0) == length);
    assert(before.restartable == (length == 0));
    terrace_arena_destroy(arena);
    terrace_arena_destroy(terrace_arena_create(NULL, NULL, 0));
    assert(terrace_trim() >= 1 << 16 && terrace_trim() == 0);
    struct {
        terrace_arena_options known;
        size_t unknown;
    } later = {.known = {.size = sizeof later}, .unknown = 0};
    assert(terrace_arena_create(&later.known, reason, sizeof reason) != NULL);
    later.unknown = 1;
    assert(terrace_arena_create(&later.known, reason, sizeof reason) == NULL && strstr(reason, "install") != NULL);
    options.size = 8;
    assert(terrace_arena_create(&options, reason, sizeof reason) == NULL && strstr(reason, "sizeof") != NULL);
    options.size = sizeof options;
    terrace_stats shorter = {.size = 2 * sizeof(size_t), .limit = 77};
    arena = terrace_arena_create(&options, reason, sizeof reason);
    terrace_arena_stats(arena, &shorter);
    assert(shorter.reserved >= 1 << 20 && shorter.limit == 77);
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
    options.reserve = 0;
    options.pre_touch = true;
    assert(terrace_arena_create(&options, reason, sizeof reason) == NULL && strstr(reason, "reserve or a limit") != NULL);
    /* What is in a structure that nobody has set to zero. */
    memset(&options.pre_touch, 0xfe, 1);
    reason[0] = 0;
    assert(terrace_arena_create(&options, reason, sizeof reason) == NULL && strstr(reason, "reserve or a limit") != NULL);
    return 0;
}
"#;

/// What a checkpoint finds unused in the buffers is used after it: 1.6 MB of blocks in 4.
const NESTED: &str = r#"
#include <assert.h>
#include <string.h>
#include <terrace_arena.h>

int main(void) {
    for (unsigned path = TERRACE_PATH_AUTO; path <= TERRACE_PATH_CORE; path++) {
        terrace_arena_options options;
        memset(&options, 0, sizeof options);
        options.limit = 4 << 20;
        options.path = path;
        terrace_arena *arena = terrace_arena_create(&options, NULL, 0);
        for (int round = 0; round < 100000; round++) {
            int *kept = terrace_arena_alloc(arena, sizeof *kept);
            assert(kept != NULL);
            *kept = round;
            terrace_checkpoint *checkpoint = terrace_arena_checkpoint(arena);
            void *work = terrace_arena_alloc(arena, 1000);
            assert(work != NULL);
            memset(work, 0xff, 1000);
            terrace_arena_reset_to(arena, checkpoint);
            terrace_checkpoint_free(checkpoint);
            assert(*kept == round);
        }
        terrace_arena_destroy(arena);
    }
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
    for (name, text) in [("interface", INTERFACE), ("nested", NESTED)] {
        let source = folder.path().join(name).with_extension("c");
        std::fs::write(&source, text).unwrap();
        for is_static in [false, true] {
            let program = folder.path().join(format!("{name}-{is_static}"));
            compile(&source, &program, is_static);
            run(&program);
        }
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

/// A prototype of Rust in C's words, without spaces.
fn in_c(function: &str) -> String {
    let (head, rest) = function.split_once('(').unwrap();
    let (parameters, result) = rest.split_once(')').unwrap();
    let typed = |text: &str, name: &str| {
        let (is_const, to) = match text.trim().split_once(' ') {
            Some(("*const", to)) => ("const", Some(to)),
            Some(("*mut", to)) => ("", Some(to)),
            _ => ("", None),
        };
        let (value, star) = to.map_or((text.trim(), ""), |to| (to, "*"));
        let value = match value {
            "usize" => "size_t".into(),
            "c_char" => "char".into(),
            "c_void" => "void".into(),
            "bool" => "bool".into(),
            other => format!("struct{other}"),
        };
        format!("{is_const}{value}{star}{name}")
    };
    let parameters: Vec<String> = parameters
        .split(',')
        .filter_map(|parameter| parameter.split_once(':'))
        .map(|(name, text)| typed(text, name.trim()))
        .collect();
    let parameters = if parameters.is_empty() { "void".into() } else { parameters.join(",") };
    let result = result.split_once("->").map_or("void".into(), |(_, text)| typed(text, ""));
    format!("{result}{head}({parameters})")
}

/// The header's prototypes are those of the library, without one more or less.
#[test]
fn the_header_is_of_this_source() {
    let header = std::fs::read_to_string(crate_folder().join("include/terrace_arena.h")).unwrap();
    let source: String = ["src/lib.rs", "src/blocks.rs"]
        .map(|file| std::fs::read_to_string(crate_folder().join(file)).unwrap())
        .concat();
    let mut exported: Vec<String> =
        source.split("extern \"C\" fn ").skip(1).map(|rest| in_c(rest.split('{').next().unwrap())).collect();
    assert!(exported.len() >= 10);
    // Behind them stands what is written in the header itself.
    let (declared, _) = header.split_once("}  // extern").unwrap();
    let (_, declared) = declared.split_once("extern \"C\" {\n#endif // __cplusplus").unwrap();
    let code: String = declared.lines().filter(|line| !line.starts_with("//")).collect();
    let without_spaces = |text: &str| text.split_whitespace().collect::<String>();
    let mut declared: Vec<String> = code.split_terminator(';').map(without_spaces).collect();
    declared.retain(|prototype| prototype.contains('('));
    exported.sort();
    declared.sort();
    assert_eq!(exported, declared, "the header is of another source: run cbindgen again");
}

/// Installed with `make install`, found by pkg-config and by CMake, used from C++.
#[test]
fn an_installed_library_is_found_and_its_memory_resource_serves_containers() {
    if !has_compiler() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("prefix");
    let make = Command::new("make")
        .arg("-s")
        .arg("-C")
        .arg(crate_folder())
        .arg("install")
        .arg(format!("PREFIX={}", prefix.display()))
        .arg(format!("BUILT={}", libraries().display()))
        .output();
    let Ok(make) = make else { return skips::skip!("no 'make' on PATH") };
    assert!(make.status.success(), "{}", String::from_utf8_lossy(&make.stderr));
    let config = prefix.join("lib/pkgconfig");
    match Command::new("pkg-config")
        .args(["--cflags", "--libs", "terrace_arena"])
        .env("PKG_CONFIG_PATH", config)
        .output()
    {
        Ok(found) => {
            let text = String::from_utf8_lossy(&found.stdout).into_owned();
            assert!(found.status.success() && text.contains("-lterrace_arena"), "{text}");
        }
        Err(_) => skips::skip!("no 'pkg-config' on PATH"),
    }
    let source = folder.path().join("source");
    std::fs::create_dir(&source).unwrap();
    std::fs::write(source.join("main.cpp"), RESOURCE).unwrap();
    std::fs::write(source.join("CMakeLists.txt"), PROJECT).unwrap();
    let build = folder.path().join("build");
    let configured = Command::new("cmake")
        .arg("-S")
        .arg(&source)
        .arg("-B")
        .arg(&build)
        .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()))
        .output();
    let Ok(configured) = configured else { return skips::skip!("no 'cmake' on PATH") };
    assert!(configured.status.success(), "{}", String::from_utf8_lossy(&configured.stderr));
    let built = Command::new("cmake").arg("--build").arg(&build).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stdout));
    let output = Command::new(build.join("resource")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

const PROJECT: &str = "
cmake_minimum_required(VERSION 3.13)
project(resource CXX)
find_package(terrace_arena 0.1 REQUIRED)
add_executable(resource main.cpp)
target_compile_features(resource PRIVATE cxx_std_17)
target_compile_options(resource PRIVATE -Wall -Wextra -Werror)
target_link_libraries(resource PRIVATE terrace::arena)
";

const RESOURCE: &str = r#"
#include <map>
#include <string>
#include <terrace_arena.hpp>
#include <vector>

int main() {
    terrace::arena_resource arena;
    {
        std::pmr::vector<std::pmr::string> words(&arena);
        for (int i = 0; i < 10000; i++) {
            words.emplace_back("a word that is too long for the string itself: " + std::to_string(i));
        }
        std::pmr::map<int, int> squares(&arena);
        for (int i = 0; i < 1000; i++) {
            squares[i] = i * i;
        }
        if (words[9999].substr(47) != "9999" || squares[999] != 998001) {
            return 1;
        }
        terrace_stats stats{};
        stats.size = sizeof stats;
        terrace_arena_stats(arena.get(), &stats);
        if (stats.used < 600000) {
            return 2;
        }
    }
    arena.reset();
    terrace_arena_options small{};
    small.limit = 4096;
    terrace::arena_resource scarce(small);
    try {
        std::pmr::vector<char> many(100000, 'x', &scarce);
        return 3;
    } catch (const std::bad_alloc &) {
    }
    small.path = 99;
    try {
        terrace::arena_resource wrong(small);
        return 4;
    } catch (const std::runtime_error &error) {
        return std::string(error.what()).find("path 99") == std::string::npos;
    }
}
"#;
