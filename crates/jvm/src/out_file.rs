//! A file for a result: whether it can be written is found out before, and what it held stays until the result is there. Who reads it
//! never sees half of it.
//!
//! Root may write into a directory that others may write, too: nothing that they put there leads us to another file.

use crate::{Error, Result, os};
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

pub struct OutFile {
    path: PathBuf,
    file: File,
    /// Beside it; takes its place in the end. `None` where that cannot be: a pipe, a device, a link, a directory of somebody else's.
    draft: Option<PathBuf>,
}

impl OutFile {
    /// An error if it cannot be written.
    pub fn open(path: &Path) -> Result<OutFile> {
        OutFile::opened(path).map_err(|error| {
            Error::usage(format!("--out {}: {error}; specify a writable file", path.display()))
        })
    }

    fn opened(path: &Path) -> io::Result<OutFile> {
        let Ok(found) = fs::symlink_metadata(path) else {
            let (draft, file) = draft(path, None)?;
            return Ok(OutFile { path: path.into(), file, draft: Some(draft) });
        };
        // A file that may not be written is not to be replaced, either.
        let itself = existing(path, &found)?;
        let (draft, file) = match found.is_file().then(|| draft(path, Some(&found))) {
            Some(Ok((draft, beside))) => (Some(draft), beside),
            // Only then: with a full disk what it holds would be lost.
            Some(Err(error)) if !is_of_directory(&error) => return Err(error),
            Some(Err(_)) | None => (None, itself),
        };
        Ok(OutFile { path: path.into(), file, draft })
    }

    /// Writes all of it in one step, where there is a draft.
    pub fn write(mut self, text: &str) -> Result<()> {
        self.put(text).map_err(|error| Error::failed(format!("--out {}: {error}", self.path.display())))
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        if self.draft.is_none() && self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        self.file.write_all(text.as_bytes())?;
        if let Some(draft) = &self.draft {
            fs::rename(draft, &self.path)?;
            self.draft = None;
        }
        Ok(())
    }
}

impl Drop for OutFile {
    fn drop(&mut self) {
        if let Some(draft) = &self.draft {
            let _ = fs::remove_file(draft);
        }
    }
}

/// Opens what is there already. A link is followed if we or root made it, and what is none must not have become one since.
fn existing(path: &Path, found: &Metadata) -> io::Result<File> {
    let mut options = File::options();
    options.write(true);
    if found.is_symlink() {
        check_owner(found.uid(), os::user())?;
        options.create(true).truncate(false);
    } else {
        options.custom_flags(libc::O_NOFOLLOW);
    }
    options.open(path)
}

fn check_owner(owner: u32, user: u32) -> io::Result<()> {
    if owner == user || owner == 0 {
        return Ok(());
    }
    Err(io::Error::other(format!("a link of another user (UID {owner}) is not followed")))
}

/// Whether nothing can be put into the directory by this user.
fn is_of_directory(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// With the permissions of the file that it replaces.
fn draft(path: &Path, replaced: Option<&Metadata>) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::other("not a file name"))?;
    // Collectors take *.prom.
    let draft = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    // One that an earlier process of this number left, if any; a link of somebody else's is not followed.
    let _ = fs::remove_file(&draft);
    let file = File::create_new(&draft)?;
    if let Some(replaced) = replaced {
        // Not what makes a program run as its owner: the file becomes ours.
        file.set_permissions(fs::Permissions::from_mode(replaced.mode() & 0o777))?;
    }
    Ok((draft, file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, symlink};

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn what_was_there_stays_until_there_is_something_new() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        drop(OutFile::open(&path).unwrap());
        assert_eq!(names(folder.path()), [""; 0], "nothing is left of what failed");
        OutFile::open(&path).unwrap().write("first, and longer").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        drop(OutFile::open(&path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "first, and longer");
        OutFile::open(&path).unwrap().write("second").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(names(folder.path()), ["result.json"]);
    }

    #[test]
    fn links_and_devices_are_written_themselves() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("result.json"), folder.path().join("link"));
        fs::write(&path, "first, and longer").unwrap();
        symlink(&path, &link).unwrap();
        drop(OutFile::open(&link).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "first, and longer");
        OutFile::open(&link).unwrap().write("second").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        OutFile::open(Path::new("/dev/null")).unwrap().write("x").unwrap();
        assert!(fs::symlink_metadata("/dev/null").unwrap().file_type().is_char_device());
        // To a file that is not there yet.
        fs::remove_file(&path).unwrap();
        OutFile::open(&link).unwrap().write("third").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "third");
    }

    /// Whoever may write the directory knows the draft's name.
    #[test]
    fn planted_links_lead_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("terrace.prom"), folder.path().join("shadow"));
        let planted = folder.path().join(format!(".terrace.prom.{}", std::process::id()));
        for text in ["first", "second"] {
            fs::write(&other, "secret").unwrap();
            symlink(&other, &planted).unwrap();
            OutFile::open(&path).unwrap().write(text).unwrap();
            assert_eq!(fs::read_to_string(&other).unwrap(), "secret");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert!(fs::symlink_metadata(&path).unwrap().is_file() && !planted.exists());
        }
        assert!(check_owner(1000, 0).unwrap_err().to_string().contains("UID 1000"));
        assert!(check_owner(0, 1000).is_ok() && check_owner(1000, 1000).is_ok());
        let found = fs::symlink_metadata(&path).unwrap();
        fs::remove_file(&path).unwrap();
        symlink(&other, &path).unwrap();
        assert!(existing(&path, &found).is_err(), "it has become a link meanwhile");
    }

    /// A second name of another file, and a draft that cannot be removed, do not have the other file written.
    #[test]
    fn a_draft_that_cannot_be_made_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("terrace.prom"), folder.path().join("shadow"));
        fs::write(&other, "secret").unwrap();
        fs::hard_link(&other, &path).unwrap();
        let planted = folder.path().join(format!(".terrace.prom.{}", std::process::id()));
        fs::create_dir(&planted).unwrap();
        assert!(OutFile::open(&path).is_err());
        assert_eq!(fs::read_to_string(&other).unwrap(), "secret");
        fs::remove_dir(&planted).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
        OutFile::open(&path).unwrap().write("new").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "secret");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o755);
    }

    #[test]
    fn what_cannot_be_written_is_told_before() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_owned(), folder.path().join("no/such"), "/".into()] {
            let error = OutFile::open(&path).err().unwrap();
            assert!(error.is_usage() && error.to_string().contains("specify a writable file"), "{error}");
        }
    }
}
