//! The tree of a release, and of the Debian package.

use super::build::{self, Built};
use super::target::Target;
use crate::files::{at, copy, create, fresh, rename, text, write};
use crate::shell::{root, run};
use jvm::{Error, Result};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Release {
    pub files: PathBuf,
    pub debug: PathBuf,
}

/// Where the shells look for completions: shell, file.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/terrace"),
    ("zsh", "share/zsh/site-functions/_terrace"),
    ("fish", "share/fish/vendor_completions.d/terrace.fish"),
];

/// What programs in C and C++ find the arena by: in `crates/arena-c`, and in the release.
const FOR_COMPILERS: [(&str, &str); 5] = [
    ("include/terrace_arena.h", "include/terrace_arena.h"),
    ("include/terrace_arena.hpp", "include/terrace_arena.hpp"),
    ("terrace_arena.pc.in", "lib/pkgconfig/terrace_arena.pc"),
    ("cmake/terrace_arena-config.cmake", "lib/cmake/terrace_arena/terrace_arena-config.cmake"),
    (
        "cmake/terrace_arena-config-version.cmake.in",
        "lib/cmake/terrace_arena/terrace_arena-config-version.cmake",
    ),
];

/// Puts everything into place, and what debuggers want beside it. JMH is under the GPL, so its benchmarks stay with the sources.
pub fn release(folder: &Path, target: &Target, built: &Built) -> Result<Release> {
    let release = Release { files: folder.join("files"), debug: folder.join("debug") };
    fresh(&release.files)?;
    fresh(&release.debug)?;
    let to = |name: &str| release.files.join(name);
    for folder in
        ["bin", "include", "lib/terrace", "lib/pkgconfig", "lib/cmake/terrace_arena", "share/man/man1"]
    {
        create(to(folder))?;
    }

    // Named as it is loaded; the name without a number is for the linker.
    let arena = "lib/libterrace_arena.so.0";
    for (from, name) in
        [(&built.command, "bin/terrace"), (&built.agent, "lib/libterrace.so"), (&built.arena, arena)]
    {
        copy(from, to(name))?;
        let debug = format!("{}.debug", to(name).file_name().unwrap_or_default().to_string_lossy());
        build::strip(target, &to(name), &release.debug.join(debug))?;
    }
    symlink("libterrace_arena.so.0", to("lib/libterrace_arena.so")).map_err(at(&to(arena)))?;
    copy(&built.arena_static, to("lib/libterrace_arena.a"))?;
    run(target
        .tool("strip")
        .args(["--strip-debug", "--enable-deterministic-archives"])
        .arg(to("lib/libterrace_arena.a")))?;
    for (from, name) in FOR_COMPILERS {
        let from = root().join("crates/arena-c").join(from);
        let text = text(&from)?;
        // Wherever it is unpacked.
        let text = text.replace("@prefix@", "${pcfiledir}/../..").replace("@version@", super::VERSION);
        write(to(name), &text)?;
    }

    let java = crate::places::installed();
    for jar in [java.workloads()?, java.sources()?, java.profiler()?] {
        copy(&jar, to("lib/terrace").join(jar.file_name().unwrap_or_default()))?;
    }
    for file in ["README.md", "LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"] {
        copy(root().join(file), to(file))?;
    }
    // README's links lead there.
    run(Command::new("cp").arg("--archive").arg(root().join("docs")).arg(to("docs")))?;
    let terrace = to("bin/terrace");
    run(target.program(&terrace).args(["manual", "--out"]).arg(to("share/man/man1")))?;
    for (shell, name) in COMPLETIONS {
        let path = to(name);
        let folder = path.parent().unwrap_or(&path);
        create(folder)?;
        let output = target.program(&terrace).args(["completions", shell]).output().map_err(at(&terrace))?;
        if !output.status.success() {
            return Err(Error::failed(format!(
                "completions for {shell}: {}",
                String::from_utf8_lossy(&output.stderr)
            )));
        }
        write(&path, output.stdout)?;
    }
    Ok(release)
}

/// The same files where Debian's policy wants them.
pub fn debian(folder: &Path, release: &Release) -> Result<PathBuf> {
    let staged = folder.join("debian");
    fresh(&staged)?;
    let documents = staged.join("usr/share/doc/terrace");
    create(&documents)?;
    for part in ["bin", "lib", "include", "share"] {
        run(Command::new("cp").arg("--archive").arg(release.files.join(part)).arg(staged.join("usr")))?;
    }
    // Debian's zsh looks there.
    let zsh = staged.join("usr/share/zsh");
    rename(zsh.join("site-functions"), zsh.join("vendor-completions"))?;
    // A library that only JVMs load is no one else's to find.
    let usr = staged.join("usr/lib");
    rename(usr.join("libterrace.so"), usr.join("terrace/libterrace.so"))?;
    for file in ["README.md", "CHANGELOG.md"] {
        copy(release.files.join(file), documents.join(file))?;
    }
    run(Command::new("cp").arg("--archive").arg(release.files.join("docs")).arg(&documents))?;
    let mut licences = String::from(
        "Terrace is licensed under the Apache License 2.0 or the MIT licence, at your choice.\n",
    );
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let path = release.files.join(file);
        licences += "\n";
        licences += &text(&path)?;
    }
    write(documents.join("copyright"), &licences)?;
    Ok(staged)
}
