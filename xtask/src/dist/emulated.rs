//! Whether what was made for aarch64 runs, under the emulator: the command, the agent in each runtime, and the command's look into such a
//! JVM. What starts another program is for a machine of that processor (docs/aarch64.md): an emulated one cannot.

use super::target::Target;
use super::{VERSION, name};
use crate::aarch64::Parts;
use crate::child::{self, pause};
use crate::files::{at, fresh};
use crate::shell::run;
use jvm::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Every runtime in turn.
pub fn check(folder: &Path, archive: &Path, target: &Target, parts: &Parts) -> Result<()> {
    let place = folder.join("emulated");
    fresh(&place)?;
    run(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&place))?;
    let home = place.join(name(target));
    let said = terrace(target, &home, &["--version".into()])?;
    if !said.contains(VERSION) {
        return Err(Error::failed(format!("terrace --version prints no {VERSION}: {said}")));
    }
    for java_home in parts.runtimes() {
        let jvm = Running::start(&java_home, &home)?;
        println!("{}\n{}", java_home.display(), jvm.status(target, &home)?);
    }
    println!("{}: {VERSION} runs in each, and shows its status", target.name);
    Ok(())
}

/// What the command prints; an error if it ends with one.
fn terrace(target: &Target, home: &Path, words: &[String]) -> Result<String> {
    let program = home.join("bin/terrace");
    let output =
        child::output(target.program(&program).args(words).stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(Error::failed(format!("terrace {words:?}: {text}{}", String::from_utf8_lossy(&output.stderr))))
}

/// A JVM with the agent, which ends with this.
struct Running {
    java: PathBuf,
    child: Child,
}

impl Running {
    fn start(java_home: &Path, home: &Path) -> Result<Running> {
        let java = java_home.join("bin/java");
        let agent = format!("-agentpath:{}=control=auto", home.join("lib/libterrace.so").display());
        let jar = home.join("lib/terrace/terrace-workloads.jar");
        let mut command = Command::new(&java);
        command.args([&agent, "-Xmx64m", "-jar"]).arg(jar).args(["alloc", "--seconds", "600"]);
        let child = command.stdout(Stdio::null()).spawn().map_err(at(&java))?;
        Ok(Running { java, child })
    }

    /// Its status, as soon as the agent is installed, however long the emulator takes for it.
    fn status(mut self, target: &Target, home: &Path) -> Result<String> {
        let words = ["status".to_owned(), self.child.id().to_string()];
        loop {
            match terrace(target, home, &words) {
                Ok(text) if text.contains("installed") => return Ok(text),
                last if self.child.try_wait().map_err(at(&self.java))?.is_some() => {
                    let last = last.unwrap_or_else(|error| error.to_string());
                    return Err(Error::failed(format!("{} ended early; {last}", self.java.display())));
                }
                _ => pause(Duration::from_millis(500))?,
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
