//! Java runtimes of Debian's unstable distribution, run where Debian itself need not be as new: each with the C library that it is built for, and
//! that library's own loader, beside it.
//!
//! `bin/java` is a script that starts the loader; the loader lies in `bin`, too, because a JVM takes its home from the place of what the
//! kernel started.

use super::packages::{Package, fetch, script, unpack};
use crate::files::{at, copy, create, remove, remove_file, rename};
use crate::shell::{root, run};
use jvm::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the runtimes need of the system.
const LIBRARIES: [Package; 4] = [
    ("libc6", "2.43-7", "5c71715c51103beb4fbba9fe9f8dff604af6610dfa71c70bff342f54a7860803"),
    ("libgcc-s1", "16.2.0-4", "d251ea642c3795e8723ac2b9eeebe511467ca04590ba70f3d555a7616787d7e3"),
    ("libstdc++6", "16.2.0-4", "cef6654bba1daece0bc0dbe0e3f69fa5a26eb6ba139f3536e6f4806bd787f3e7"),
    (
        "zlib1g",
        "1:1.3.dfsg+really1.3.2-4",
        "8506ce550a81ac14b047608e0df121037d9cbb10c3cc28446f68cf8c1d9d31ce",
    ),
];

/// The runtimes. 8 is there to be refused.
const RUNTIMES: [(u32, Package); 5] = [
    (
        8,
        (
            "openjdk-8-jre-headless",
            "8u504-ga-1",
            "c65f449d44e04ac558b83ebf6f2185787981be694b9f426fdecb2b8c1bd6a5ed",
        ),
    ),
    (
        11,
        (
            "openjdk-11-jre-headless",
            "11.0.33~8ea-1",
            "0945405d62a32b8c9228a5b5a7f5c9577e3757b3fa149da6f874a3897272df17",
        ),
    ),
    (
        26,
        (
            "openjdk-26-jre-headless",
            "26.0.2.1+1-1",
            "8b42fda251a144b6f64803998738c3f7dd7d95f0b73e0c2a8a4c54f6bab7f2ef",
        ),
    ),
    (
        27,
        (
            "openjdk-27-jre-headless",
            "27.0.1.0.3+1-1",
            "25d1b5752245075b8265e8006efa6d01f5a88f8ef45ae58f95eb49fab82c552a",
        ),
    ),
    (
        28,
        (
            "openjdk-28-jre-headless",
            "28~18ea-1",
            "7a6c2d722f97dc01aef04f12cf553985154735faa781b8f432cf1723839b8f4b",
        ),
    ),
];

/// Tools of the JDK that a runtime has the classes of.
const TOOLS: [(&str, &str); 3] = [
    ("jcmd", "jdk.jcmd/sun.tools.jcmd.JCmd"),
    ("jstack", "jdk.jcmd/sun.tools.jstack.JStack"),
    ("jmap", "jdk.jcmd/sun.tools.jmap.JMap"),
];

const LOADER: &str = "ld-linux-x86-64.so.2";

/// The versions to be had: what is pinned here is for one processor.
pub fn features() -> impl Iterator<Item = u32> {
    let runtimes = if cfg!(target_arch = "x86_64") { &RUNTIMES[..] } else { &[] };
    runtimes.iter().map(|(feature, _)| *feature)
}

/// Fetches what is not yet there, checks it, and makes the runtime's folder.
pub fn install(feature: u32, home: &Path) -> Result<()> {
    let Some((_, runtime)) = RUNTIMES.iter().find(|(known, _)| *known == feature) else {
        return Err(Error::usage(format!("there is no runtime {feature} among Debian's")));
    };
    let packages = fetch("sid", "amd64", LIBRARIES.iter().chain([runtime]).copied())?;
    let unpacked = root().join(format!("target/jdks/unpacked-{feature}"));
    let made = root().join(format!("target/jdks/new-{feature}"));
    remove(&made)?;
    unpack(&packages, &unpacked)?;
    let packed = unpacked.join(format!("usr/lib/jvm/java-{feature}-openjdk-amd64"));
    let mut copy = Command::new("cp");
    run(copy.arg("--archive").arg(&packed).arg(&made))?;
    links(&made, &unpacked)?;
    libraries(&unpacked, &made.join("lib/loader"))?;
    // 8 has its runtime in a folder of it.
    let part = if made.join("jre").is_dir() { made.join("jre") } else { made.clone() };
    programs(&part, &made)?;
    if !made.join("release").is_file() {
        let release = format!("JAVA_VERSION=\"1.{feature}.0\"\nIMPLEMENTOR=\"Debian\"\n");
        fs::write(made.join("release"), release).map_err(at(&made))?;
    }
    remove(home)?;
    rename(&made, home)?;
    remove(&unpacked)
}

/// Links into the system's folders become what they stand for; those to what is not there go, when all others are what they will be.
pub(super) fn links(folder: &Path, unpacked: &Path) -> Result<()> {
    let mut all = Vec::new();
    find_links(folder, &mut all)?;
    for (path, target) in &all {
        let Ok(inside) = target.strip_prefix("/").map(|target| unpacked.join(target)) else { continue };
        remove_file(path)?;
        if inside.is_file() {
            copy(&inside, path)?;
        }
    }
    let broken = all.iter().filter(|(path, target)| target.is_relative() && !path.exists());
    broken.map(|(path, _)| path).try_for_each(remove_file)
}

fn find_links(folder: &Path, all: &mut Vec<(PathBuf, PathBuf)>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(at(folder))?.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find_links(&path, all)?;
        } else if let Ok(target) = fs::read_link(&path) {
            all.push((path, target));
        }
    }
    Ok(())
}

/// The shared libraries, each under the name that it is asked for by.
fn libraries(unpacked: &Path, to: &Path) -> Result<()> {
    create(to)?;
    let from = unpacked.join("usr/lib/x86_64-linux-gnu");
    for entry in fs::read_dir(&from).map_err(at(&from))?.flatten() {
        if entry.path().is_file() && entry.file_name().to_string_lossy().contains(".so") {
            let target = to.join(entry.file_name());
            copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// The tools, each as a program of the runtime in this folder.
pub(super) fn tools(bin: &Path) -> Result<()> {
    for (name, class) in TOOLS {
        // `-J` is for the JVM that the tool itself runs in.
        let tool = format!(
            "flags=\nwhile :; do case $1 in -J*) flags=\"$flags ${{1#-J}}\"; shift ;; *) break ;; esac; done\n\
             exec \"${{0%/*}}/java\" $flags -m {class} \"$@\""
        );
        script(&bin.join(name), &tool)?;
    }
    Ok(())
}

/// Programs that the loader starts, in the runtime `part` of the folder `made`.
fn programs(part: &Path, made: &Path) -> Result<()> {
    let up = if part == made { ".." } else { "../.." };
    let bin = part.join("bin");
    let entries = fs::read_dir(&bin).map_err(at(&bin))?;
    for other in entries.flatten().filter(|entry| entry.file_name() != "java") {
        remove_file(other.path())?;
    }
    let renamed = fs::rename(bin.join("java"), bin.join("java.program"));
    let copied =
        renamed.and_then(|()| fs::copy(made.join("lib/loader").join(LOADER), bin.join("java.loader")));
    copied.map_err(at(&bin))?;
    let start = format!(
        "bin=${{0%/*}}\nexec \"$bin/java.loader\" --library-path \"$bin/{up}/lib/loader\" --argv0 \"$0\" \"$bin/java.program\" \"$@\""
    );
    script(&bin.join("java"), &start)?;
    if part != made {
        let outer = made.join("bin");
        remove(&outer)?;
        fs::create_dir(&outer).map_err(at(&outer))?;
        return script(&outer.join("java"), "exec \"${0%/*}/../jre/bin/java\" \"$@\"");
    }
    tools(&bin)?;
    // Starts a JVM's child processes.
    let helper = made.join("lib/jspawnhelper");
    if helper.is_file() {
        let moved = made.join("lib/loader/jspawnhelper");
        fs::rename(&helper, &moved).map_err(at(&helper))?;
        let start = format!(
            "lib=${{0%/*}}/loader\nexec \"$lib/{LOADER}\" --library-path \"$lib\" \"$lib/jspawnhelper\" \"$@\""
        );
        script(&helper, &start)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_into_the_system_become_files() {
        let place = tempfile::tempdir().unwrap();
        let (home, unpacked) = (place.path().join("home"), place.path().join("unpacked"));
        fs::create_dir_all(home.join("lib")).unwrap();
        fs::create_dir_all(unpacked.join("etc")).unwrap();
        fs::write(unpacked.join("etc/jvm.cfg"), "-server KNOWN").unwrap();
        for (name, target) in
            [("jvm.cfg", "/etc/jvm.cfg"), ("gone", "/etc/gone"), ("broken", "nowhere"), ("good", "jvm.cfg")]
        {
            symlink(target, home.join("lib").join(name)).unwrap();
        }
        links(&home, &unpacked).unwrap();
        let kind =
            |name: &str| fs::symlink_metadata(home.join("lib").join(name)).map(|found| found.file_type());
        assert!(kind("jvm.cfg").unwrap().is_file() && kind("good").unwrap().is_symlink());
        assert!(kind("gone").is_err() && kind("broken").is_err());
    }
}
