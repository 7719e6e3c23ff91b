//! Files of ours for a JVM that has other mounts than we, or another user, who may not read them.

use super::Attached;
use super::folder::Folder;
use super::owner::Owner;
use crate::{Error, Result, loaded, os};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

/// How the folders of copies begin, in the JVM's /tmp; their content's digest ends them.
const COPIES: &str = "terrace-";

impl Attached {
    /// A path under which the JVM finds a file of ours: its own, or, in another mount namespace or where its user may not read it, a copy's in the
    /// JVM's /tmp, which goes when the guard is dropped (what was loaded from it stays). A copy that the JVM has loaded before is named again: glibc's loader knows it
    /// by its name, although the file has gone. musl's asks for the file, and gets another copy.
    pub fn reachable(&self, file: &Path) -> Result<(PathBuf, Option<Copied>)> {
        let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
        let shares_mounts = namespace("self") == namespace(&self.pid.to_string());
        if shares_mounts && self.owner.act(|| File::open(file)).is_ok() {
            return Ok((file.to_owned(), None));
        }
        let why = if shares_mounts {
            "runs as a user who may not read the library"
        } else {
            "is in another mount namespace"
        };
        let content = fs::read(file).map_err(|error| {
            Error::failed(format!("{} cannot be read: {error}; reinstall terrace", file.display()))
        })?;
        let build = format!("-{:016x}", digest(&content));
        let maps = os::read_text(format!("/proc/{}/maps", self.pid)).unwrap_or_default();
        if let Some(copy) = loaded_copy(&maps, &build) {
            return Ok((copy, None));
        }
        if self.temporary.is(libc::ST_NOEXEC) {
            return Err(Error::failed(format!(
                "process {} {why}, and its /tmp is mounted noexec, so it cannot load a copy of {} from there: \
                 mount it without noexec, or start the program with -agentpath",
                self.pid,
                file.display()
            )));
        }
        let failed = |error: std::io::Error| {
            Error::failed(format!(
                "process {} {why}, and {} cannot be copied to its /tmp: {error}; free space \
                 there, or start the program with -agentpath",
                self.pid,
                file.display()
            ))
        };
        let name = file.file_name().unwrap_or_default();
        let folder = self.owner.act(|| copy(&self.temporary.0, &build, name, &content)).map_err(failed)?;
        let path = Path::new("/tmp").join(folder.name()).join(name);
        Ok((path, Some(Copied { folder: Some(folder), owner: self.owner })))
    }
}

/// A copy, which goes when this is dropped.
#[derive(Debug)]
pub struct Copied {
    folder: Option<Folder>,
    owner: Owner,
}

impl Copied {
    /// It stays when this is dropped.
    pub(super) fn keep(&mut self) {
        self.folder.take().into_iter().for_each(Folder::keep);
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let folder = self.folder.take();
        // Where root may not act as the user any more it stays.
        let _ = self.owner.act(|| {
            drop(folder);
            Ok(())
        });
    }
}

fn copy(temporary: &File, build: &str, name: &OsStr, content: &[u8]) -> std::io::Result<Folder> {
    let mut folder = Folder::make(temporary, COPIES, build)?;
    folder.fill(name, content)?;
    folder.publish()?;
    Ok(folder)
}

/// Tells one build of the library from another.
fn digest(content: &[u8]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}

/// The copy with this content that a JVM has loaded, by the name that it had, if its loader still knows it by that.
fn loaded_copy(maps: &str, content: &str) -> Option<PathBuf> {
    loaded::known_by_name(maps).into_iter().find(|library| {
        let folder = library.parent().filter(|folder| folder.parent() == Some(Path::new("/tmp")));
        let name = folder.and_then(|folder| folder.file_name()?.to_str());
        name.is_some_and(|name| name.starts_with(COPIES) && name.ends_with(content))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_named_again_while_its_content_is_the_same() {
        let maps = "7f10-7f20 r-xp 1000 08:01 12 /tmp/terrace-aB1-00ff/libterrace.so (deleted)\n\
                    7f20-7f30 r-xp 1000 08:01 12 /var/terrace-aB1-00aa/libterrace.so (deleted)\n";
        let copy = PathBuf::from("/tmp/terrace-aB1-00ff/libterrace.so");
        assert_eq!(loaded_copy(maps, "-00ff"), Some(copy));
        assert_eq!(loaded_copy(maps, "-00fe"), None, "another build");
        assert_eq!(loaded_copy(maps, "-00aa"), None, "not one of our copies");
        let musl = format!("{maps}7f30-7f40 r-xp 1000 08:01 12 /lib/ld-musl-x86_64.so.1\n");
        assert_eq!(loaded_copy(&musl, "-00ff"), None, "musl asks for the file");
    }
}
