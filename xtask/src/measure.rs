//! What the measuring commands share.

use crate::shell::root;
use jvm::jdk::Jdk;
use jvm::os::Exit;
use jvm::{Error, Result};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Writes results to `target/terrace/NAME.json` and says so.
pub fn keep(name: &str, value: &Value) -> Result<()> {
    let folder = root().join("target/terrace");
    let path: PathBuf = folder.join(format!("{name}.json"));
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::failed(error.to_string()))?;
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&path, text + "\n"))
        .map_err(|error| Error::failed(format!("{}: {error}", path.display())))?;
    println!("all figures: target/terrace/{name}.json");
    Ok(())
}

/// Runs a JVM to its end: wall time, and what the system has accounted. An exit code other than 0 is an error.
pub fn to_its_end(jdk: &Jdk, command: &mut Command) -> Result<(Duration, Exit)> {
    let since = Instant::now();
    let child = command.spawn().map_err(|error| Error::failed(format!("{}: {error}", jdk.describe())))?;
    let exit = loop {
        let ended =
            jvm::os::reap(child.id()).map_err(|error| Error::failed(format!("wait for java: {error}")))?;
        match ended {
            Some(exit) => break exit,
            None => std::thread::sleep(Duration::from_micros(200)),
        }
    };
    if exit.code == Some(0) {
        Ok((since.elapsed(), exit))
    } else {
        Err(Error::failed("java failed; see its output above"))
    }
}

/// One JDK of each feature number, the oldest first: cells are called by it.
pub fn one_of_each() -> Vec<Jdk> {
    let mut jdks = supported_jdks();
    jdks.sort_by_key(|jdk| jdk.feature);
    jdks.dedup_by_key(|jdk| jdk.feature);
    jdks
}

/// The JDKs found that the agent supports.
pub fn supported_jdks() -> Vec<Jdk> {
    jvm::jdk::discover().into_iter().filter(|jdk| [17, 21, 25].contains(&jdk.feature)).collect()
}
