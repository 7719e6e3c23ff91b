//! Whether what was made runs where it was not built: unpacked into other systems' roots by the steps of the image's Dockerfile, used by
//! a user who owns nothing there.

use super::roots::{self, Root};
use super::target::Target;
use super::tools::Tools;
use super::{VERSION, name};
use crate::child;
use crate::files::{at, create, remove_file, text};
use crate::shell::root;
use jvm::{Error, Result};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A stranger's first steps: what there is, a program with buffers, whether it helps, and a look into a running JVM.
const STEPS: &str = r#"
set -e
export HOME=/tmp PATH=/usr/local/bin:/usr/bin:/bin
java=$JAVA_HOME/bin/java
terrace --version
terrace run -- "$java" -version
terrace compare --workload alloc --duration 10s --warmup 1s
terrace run --workload alloc --duration 300s > /dev/null &
first=$!
until terrace status "$first" > /tmp/status.$$ 2>/tmp/why.$$ && grep -q installed /tmp/status.$$; do
  kill -0 "$first" || { cat /tmp/why.$$; exit 1; }
  sleep 1
done
cat /tmp/status.$$
kill "$first"
"#;

/// Every root in turn.
pub fn all(folder: &Path, archive: &Path, target: &Target) -> Result<()> {
    let tools = Tools::install(&folder.join("tools"))?;
    for found in roots::all(&folder.join("roots"), &tools)? {
        let output = install(&found, archive, target)?;
        let text = String::from_utf8_lossy(&output);
        for expected in ["for HotSpot JDK", "a/b per second", "installed"] {
            if !text.contains(expected) {
                return Err(Error::failed(format!("{}: '{expected}' was not printed:\n{text}", found.name)));
            }
        }
        println!("{}: {VERSION} runs, compares and shows a JVM's status\n{text}", found.name);
    }
    Ok(())
}

fn install(found: &Root, archive: &Path, target: &Target) -> Result<Vec<u8>> {
    let opt = found.folder.join("opt");
    if opt.exists() {
        fs::remove_dir_all(&opt).map_err(at(&opt))?;
    }
    for folder in [&opt, &found.folder.join("usr/local/bin")] {
        create(folder)?;
    }
    let link = found.folder.join("usr/local/bin/terrace");
    if link.is_symlink() {
        remove_file(&link)?;
    }
    let steps = root().join("packaging/Dockerfile");
    for line in text(&steps)?.lines() {
        let line = line.replace("${VERSION}", VERSION).replace("${ARCH}", target.name);
        match line.split_once(' ') {
            Some(("ADD", what)) if what == format!("{}.tar.gz /opt", name(target)) => {
                said("tar", Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&opt))?;
            }
            Some(("RUN", what)) => {
                said(found.name, &mut within(found, "0:0", what))?;
            }
            Some(("FROM" | "ARG" | "#", _)) | None => {}
            Some(_) => return Err(Error::failed(format!("{}: unexpected line: {line}", steps.display()))),
        }
    }
    said(found.name, within(found, "1234:1234", STEPS).env("JAVA_HOME", &found.java_home))
        .map(|output| output.stdout)
}

/// A shell in a root, as a user; what is mounted for it goes with it.
fn within(found: &Root, user: &str, script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c"]);
    command.arg(r#"mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && exec chroot --userspec="$2" "$1" /bin/sh -c "$3""#);
    let words: [&OsStr; 4] = ["sh".as_ref(), found.folder.as_os_str(), user.as_ref(), script.as_ref()];
    command.args(words).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command
}

fn said(what: &str, command: &mut Command) -> Result<Output> {
    let output = child::output(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    if output.status.success() {
        return Ok(output);
    }
    let [printed, error] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    Err(Error::failed(format!("{what}: {}\n{printed}{error}", output.status)))
}
