//! Where the report goes: a new file, an older report, a descriptor, a pipe. Nothing else is ever written to.
//!
//! The JVM is ending, perhaps as root, and the path was chosen by whoever wrote the options: a link is not followed, nor one on the way there that somebody
//! else may have placed (`control::folder`), a file that is not a report of this user stays as it is, and nobody who does not read can keep the JVM from ending.

use crate::patient::write_patiently;
use control::folder::Folder;
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::Duration;

/// How a report begins: by this an older one is known.
pub(crate) const MARK: &str = "{\"terrace\":";
/// How long one who reads, or another JVM that writes the same file, may keep us waiting in all.
const PATIENCE: Duration = Duration::from_secs(1);

/// Writes the report, or says why not, with the remedy.
pub(crate) fn write(path: &str, text: &[u8]) -> Result<(), String> {
    write_within(path, text, PATIENCE)
}

fn write_within(path: &str, text: &[u8], patience: Duration) -> Result<(), String> {
    if let Some(number) = descriptor(path) {
        return duplicate(number).and_then(|file| write_patiently(file, text, patience)).map_err(remedy);
    }
    let (folder, name) = Folder::of(Path::new(path)).map_err(remedy)?;
    let open = |flags| {
        let carefully = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        folder.open_at(name, flags | carefully, 0o644).map(File::from)
    };
    match open(libc::O_RDWR | libc::O_CREAT | libc::O_EXCL) {
        Ok(file) => return replace(&file, text, patience),
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(remedy(error)),
        Err(_) => {}
    }
    let kind = folder.look_at(name).map_err(remedy)?.file_type();
    if kind.is_symlink() {
        return Err("is a symbolic link, which is not followed: specify the file itself".into());
    }
    if kind.is_fifo() || kind.is_char_device() {
        let file = open(libc::O_WRONLY).map_err(remedy)?;
        return write_patiently(file, text, patience).map_err(remedy);
    }
    if !kind.is_file() {
        return Err("is not a file: specify another path".into());
    }
    let file = open(libc::O_RDWR).map_err(remedy)?;
    let found = file.metadata().map_err(remedy)?;
    // SAFETY: geteuid has no preconditions.
    let user = unsafe { libc::geteuid() };
    if !found.is_file() || found.uid() != user || found.nlink() != 1 {
        return Err(FOREIGN.into());
    }
    replace(&file, text, patience)
}

const FOREIGN: &str = "exists and is not one of your reports, so it was not replaced; specify another path";

fn remedy(error: std::io::Error) -> String {
    format!("{error}: specify a writable file")
}

fn replace(file: &File, text: &[u8], patience: Duration) -> Result<(), String> {
    lock(file, patience)?;
    // Only now: another JVM may have been writing.
    let length = file.metadata().map_err(remedy)?.len();
    if !is_report(file, length) {
        return Err(FOREIGN.into());
    }
    file.set_len(0).and_then(|()| file.write_all_at(text, 0)).map_err(remedy)
}

/// The descriptor that a path stands for. It is written to as it is: opened anew by its name, a file would be written from its
/// beginning.
fn descriptor(path: &str) -> Option<RawFd> {
    match path {
        "-" | "/dev/stderr" => Some(2),
        "/dev/stdout" => Some(1),
        _ => ["/dev/fd/", "/proc/self/fd/"].iter().find_map(|folder| path.strip_prefix(folder)?.parse().ok()),
    }
}

fn duplicate(number: RawFd) -> std::io::Result<File> {
    // SAFETY: a number that is no descriptor is an error, and nothing else.
    let file = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if file < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: just made, and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(file) }.into())
}

fn is_report(file: &File, length: u64) -> bool {
    let mut begin = [0; MARK.len()];
    length == 0 || (file.read_exact_at(&mut begin, 0).is_ok() && begin == MARK.as_bytes())
}

/// JVMs that end at the same time and have the same path come one after the other.
fn lock(file: &File, patience: Duration) -> Result<(), String> {
    for _ in 0..patience.as_millis() / 10 {
        // SAFETY: the descriptor is open.
        let failed = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0;
        // A file system without locks has to do without.
        if !failed || std::io::Error::last_os_error().kind() != ErrorKind::WouldBlock {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err("is locked by another process: use one file per process (%p)".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::io::{Read, Write};
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
    use std::process::Command;
    use std::sync::mpsc::{self, RecvTimeoutError};

    const REPORT: &[u8] = b"{\"terrace\":\"0\"}\n";

    #[test]
    fn a_report_replaces_only_a_report() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        let name = path.to_str().unwrap();
        for old in ["", "{\"terrace\":\"an older and longer one\"}\n"] {
            std::fs::write(&path, old).unwrap();
            assert_eq!(write(name, REPORT), Ok(()));
            assert_eq!(std::fs::read(&path).unwrap(), REPORT);
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(write(name, REPORT), Ok(()));
        std::fs::write(&path, "PK an application").unwrap();
        assert!(write(name, REPORT).unwrap_err().contains("was not replaced; specify another path"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "PK an application");
        assert!(write(folder.path().to_str().unwrap(), REPORT).unwrap_err().contains("is not a file"));
    }

    #[test]
    fn many_that_end_at_once_leave_one_whole_report() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        let texts = [1, 70_000, 300].map(|length| format!("{MARK}\"{}\"}}\n", "x".repeat(length)));
        for _ in 0..20 {
            let _ = std::fs::remove_file(&path);
            std::thread::scope(|scope| {
                for text in &texts {
                    let path = path.to_str().unwrap();
                    // However long a busy machine has one of them hold the lock.
                    let patience = Duration::from_secs(600);
                    scope.spawn(move || assert_eq!(write_within(path, text.as_bytes(), patience), Ok(())));
                }
            });
            let written = std::fs::read_to_string(&path).unwrap();
            assert!(texts.contains(&written), "{} bytes", written.len());
        }
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        symlink(&target, &link).unwrap();
        assert!(write(link.to_str().unwrap(), REPORT).unwrap_err().contains("is a symbolic link"));
        assert!(!target.exists());
        std::fs::write(&target, REPORT).unwrap();
        assert!(write(link.to_str().unwrap(), b"new").is_err());
        std::fs::remove_file(&link).unwrap();
        std::fs::hard_link(&target, &link).unwrap();
        assert!(write(link.to_str().unwrap(), b"new").unwrap_err().contains("was not replaced"));
        assert_eq!(std::fs::read(&target).unwrap(), REPORT);
    }

    #[test]
    fn a_link_on_the_way_is_followed_if_nobody_else_can_have_placed_it() {
        let folder = tempfile::tempdir().unwrap();
        let (open, target) = (folder.path().join("open"), folder.path().join("target"));
        std::fs::create_dir(&open).unwrap();
        std::fs::create_dir(&target).unwrap();
        symlink(&target, open.join("link")).unwrap();
        let path = open.join("link/r.json");
        let name = path.to_str().unwrap();
        let open_to = |mode| std::fs::set_permissions(&open, Permissions::from_mode(mode)).unwrap();
        open_to(0o777);
        let said = write(name, REPORT).unwrap_err();
        assert!(said.contains("link is a symbolic link that another user may have placed"), "{said}");
        assert!(!target.join("r.json").exists());
        // What is no link leads nowhere else.
        assert_eq!(write(open.join("r.json").to_str().unwrap(), REPORT), Ok(()));
        open_to(0o755);
        assert_eq!(write(name, REPORT), Ok(()));
        assert_eq!(std::fs::read(target.join("r.json")).unwrap(), REPORT);
        open_to(0o777);
        assert!(write(name, b"new").is_err());
        assert_eq!(std::fs::read(target.join("r.json")).unwrap(), REPORT);
    }

    #[test]
    fn a_pipe_gets_it_and_cannot_keep_us() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let name = path.to_str().unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(write(name, REPORT).is_err(), "nobody reads");
        let reader = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(&path).unwrap();
        assert_eq!(write(name, REPORT), Ok(()));
        assert!(write(name, &vec![b'x'; 1 << 20]).unwrap_err().contains("timed out"), "nobody reads on");
        let text = std::io::read_to_string(reader.take(REPORT.len() as u64)).unwrap();
        assert_eq!(text.as_bytes(), REPORT);
        assert_eq!(write("/dev/null", REPORT), Ok(()));
    }

    #[test]
    fn a_blocking_pipe_that_nobody_reads_cannot_keep_us() {
        let (reader, writer) = std::io::pipe().unwrap();
        let name = format!("/dev/fd/{}", writer.as_raw_fd());
        assert_eq!(write(&name, REPORT), Ok(()));
        assert!(write(&name, &vec![b'x'; 1 << 20]).unwrap_err().contains("timed out"), "nobody reads on");
        drop(writer);
        assert!(std::io::read_to_string(reader).unwrap().as_bytes().starts_with(REPORT));
    }

    #[test]
    fn a_reader_that_takes_little_at_a_time_cannot_keep_us() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let (given_up, until) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let (mut piece, pause) = ([0; libc::PIPE_BUF], Duration::from_millis(100));
                // Slow until the writer has given up: all of it would take it half a minute.
                while until.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                    let _ = reader.read(&mut piece);
                }
            });
            let outcome = write(&format!("/dev/fd/{}", writer.as_raw_fd()), &vec![b'x'; 1 << 20]);
            drop(given_up);
            assert!(outcome.unwrap_err().contains("timed out"));
        });
    }

    #[test]
    fn a_descriptor_is_written_to_where_it_stands() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"before ").unwrap();
        for folder in ["/dev/fd", "/proc/self/fd"] {
            assert_eq!(write(&format!("{folder}/{}", file.as_raw_fd()), b"x"), Ok(()));
        }
        file.write_all(b" after").unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        assert_eq!(std::io::read_to_string(&mut file).unwrap(), "before xx after");
        assert!(write("/dev/fd/98765", REPORT).unwrap_err().contains("specify a writable file"));
        assert_eq!(
            (descriptor("-"), descriptor("/dev/stdout"), descriptor("/dev/fd/x")),
            (Some(2), Some(1), None)
        );
    }
}
