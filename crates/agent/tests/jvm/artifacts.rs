//! What the launches need, built once: the agent, the Java programs, the helper agents.

use crate::jdk;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");

/// Where things are built: inside cargo's target directory.
pub fn scratch() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(format!("{command:?}: {}\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr)))
}

/// `libterrace.so`: the one that `TERRACE_AGENT` names, or that of this test's profile. Cargo does not build a `cdylib` for the package's
/// own tests, so it is asked for here; when nothing has changed it only answers where the library is.
pub fn agent() -> &'static Path {
    static AGENT: OnceLock<PathBuf> = OnceLock::new();
    AGENT.get_or_init(|| {
        if let Some(path) = std::env::var_os("TERRACE_AGENT") {
            return PathBuf::from(path);
        }
        let executable = std::env::current_exe().expect("the test's own path");
        // target/PROFILE/deps/jvm-HASH, or target/TRIPLE/PROFILE/deps/jvm-HASH.
        let directory = executable.ancestors().nth(2).expect("target/PROFILE/deps");
        let profile = directory.file_name().expect("a profile").to_string_lossy().into_owned();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--lib", "--message-format=json", "--manifest-path"]);
        cargo.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        cargo.args(["--profile", if profile == "debug" { "dev" } else { &profile }]);
        let target = scratch().parent().expect("the target directory");
        cargo.arg("--target-dir").arg(target);
        if let Some(triple) = directory.parent().filter(|parent| *parent != target).and_then(Path::file_name)
        {
            cargo.arg("--target").arg(triple);
        }
        let messages = run(&mut cargo).unwrap_or_else(|error| panic!("{error}"));
        (messages.lines())
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            .filter_map(|message| message["filenames"].as_array().cloned())
            .flatten()
            .filter_map(|file| file.as_str().map(PathBuf::from))
            .find(|file| file.file_name().is_some_and(|name| name == "libterrace.so"))
            .expect("libterrace.so among the built files")
    })
}

/// Whether the agent is built as it is shipped: it was named, or this test is.
pub fn is_shipped() -> bool {
    std::env::var_os("TERRACE_AGENT").is_some() || !cfg!(debug_assertions)
}

/// The directory of the compiled programs, or why they cannot be compiled.
pub fn classes() -> Result<&'static Path, String> {
    static CLASSES: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    CLASSES.get_or_init(compile).as_deref().map_err(Clone::clone)
}

fn compile() -> Result<PathBuf, String> {
    let target = scratch().join("classes");
    compile_into(&target, "java", &[])?;
    Ok(target)
}

fn compile_into(target: &Path, folder: &str, options: &[&OsStr]) -> Result<(), String> {
    let compiler =
        jdk::compiler().ok_or("no javac of JDK 17 or later found (JAVA_HOME, TERRACE_JDKS, /usr/lib/jvm)")?;
    let sources = files(&Path::new(TESTS).join(folder), "java");
    run(Command::new(compiler)
        .args(["--release", "11", "-Xlint:all", "-Werror", "-d"])
        .arg(target)
        .args(options)
        .args(sources))
    .map(|_| ())
}

/// `terrace.jar`, beside the agent that is inside: `cargo xtask build` puts it there.
pub fn jar() -> Result<PathBuf, String> {
    let jar = agent().with_file_name("terrace.jar");
    if jar.is_file() { Ok(jar) } else { Err(format!("{}: not there (cargo xtask build)", jar.display())) }
}

/// The directory of the compiled programs that use it.
pub fn programs_of_jar() -> Result<&'static Path, String> {
    static CLASSES: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let compile = || {
        let target = scratch().join("programs_of_jar");
        compile_into(&target, "jar", &["-cp".as_ref(), jar()?.as_os_str()])?;
        Ok(target)
    };
    CLASSES.get_or_init(compile).as_deref().map_err(Clone::clone)
}

/// A helper agent, from one source file of `tests/agents`.
pub fn helper(name: &str) -> Result<PathBuf, String> {
    static BUILT: OnceLock<Result<(), String>> = OnceLock::new();
    let target = scratch().join("helpers");
    let built = BUILT.get_or_init(|| {
        std::fs::create_dir_all(&target).map_err(|error| error.to_string())?;
        let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
        for source in files(&Path::new(TESTS).join("agents"), "rs") {
            let mut command = Command::new(&rustc);
            command
                .args(["--crate-type=cdylib", "--edition=2024", "-O", "-D", "warnings", "--out-dir"])
                .arg(&target);
            run(command.arg(source))?;
        }
        Ok(())
    });
    built.clone().map(|()| target.join(format!("lib{name}.so")))
}

/// A `libnuma.so.1` that has two nodes. Where it is loaded already, HotSpot finds it by that name.
pub fn two_nodes() -> Result<&'static Path, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let build = || {
        let (target, sources) = (scratch().join("nodes"), Path::new(TESTS).join("nodes"));
        std::fs::create_dir_all(&target).map_err(|error| error.to_string())?;
        let versions = format!("-Wl,--version-script={}", sources.join("libnuma.map").display());
        let mut command = Command::new("cc");
        command.args(["-shared", "-fPIC", "-O", "-Wall", "-Wextra", "-Werror"]);
        command.args([&versions, "-Wl,-soname,libnuma.so.1", "-o"]);
        let library = target.join("libnuma.so.1");
        run(command.arg(&library).arg(sources.join("libnuma.c")))?;
        Ok(library)
    };
    BUILT.get_or_init(build).as_deref().map_err(Clone::clone)
}

fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut found: Vec<PathBuf> = (entries.flatten().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    found.sort();
    found
}
