//! Files of arguments (`java @file`, `-XX:VMOptionsFile=file`), read beside the launcher that they are for.

use crate::os;
use crate::process::{effective, field};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// A larger file is not looked into.
const MOST_BYTES: u64 = 4 << 20;

/// Its text; `None` if it cannot be read, which the launcher will say itself.
///
/// What is no plain file is left alone, and not even opened: the launcher would miss what was taken from a pipe, and who writes to one would
/// take us for the launcher.
pub(crate) fn read(path: &Path) -> Option<String> {
    let is_plain = |found: Metadata| found.is_file() && found.len() <= MOST_BYTES;
    fs::metadata(path).ok().filter(|found| is_plain(found.clone()))?;
    // It may be another one by now.
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path).ok()?;
    file.metadata().ok().filter(|found| is_plain(found.clone()))?;
    let mut bytes = Vec::new();
    File::take(file, MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether the files that a process names are those that we find under the same names, and its user could show us nothing that only we may read: it
/// has our user, our mounts and our root.
pub(crate) fn are_ours(pid: u32) -> bool {
    let process = Path::new("/proc").join(pid.to_string());
    let status = os::read_text(process.join("status")).unwrap_or_default();
    let root = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let mounts = |path: &Path| fs::read_link(path).ok();
    let is_same = field(&status, "Tgid:").is_some() && effective(&status, "Uid:") == Some(os::user());
    is_same
        && root(&process.join("root")).is_some_and(|found| root(Path::new("/")) == Some(found))
        && mounts(&process.join("ns/mnt"))
            .is_some_and(|found| mounts(Path::new("/proc/self/ns/mnt")) == Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::idle::Idle;
    use std::process::{Command, Stdio};

    #[test]
    fn what_is_no_plain_file_is_left_to_the_launcher() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arguments");
        assert_eq!(read(&path), None);
        fs::write(&path, b"-Xmx1g \xff").unwrap();
        assert_eq!(read(&path).unwrap(), "-Xmx1g \u{fffd}");
        assert_eq!(read(folder.path()), None);
        assert_eq!(read(Path::new("/dev/zero")), None, "it has no end");
        fs::File::create(&path).unwrap().set_len(MOST_BYTES + 1).unwrap();
        assert_eq!(read(&path), None);
        // A program that writes to a pipe waits until somebody opens it to read.
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let script = r#"echo -Xmx1g > "$0""#;
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(&pipe).stdout(Stdio::null());
        let _writer = Idle(command.spawn().unwrap());
        for _ in 0..100 {
            assert_eq!(read(&pipe), None);
        }
        assert_eq!(fs::read_to_string(&pipe).unwrap(), "-Xmx1g\n", "nothing was taken");
    }

    #[test]
    fn files_of_our_own_processes_are_ours() {
        assert!(are_ours(Idle::start().pid()) && are_ours(std::process::id()));
        assert!(!are_ours(0x3fff_fff0), "no such process");
        let first = os::read_text("/proc/1/status").unwrap();
        if effective(&first, "Uid:") != Some(os::user()) {
            assert!(!are_ours(1), "another user's");
        }
    }
}
