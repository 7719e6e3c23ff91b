//! A file for a result that takes minutes: whether it can be written is found out before, and what it held stays until the result is there.

use jvm::{Error, Result};
use std::fs::{self, File};
use std::io::Write;
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
        let failed =
            |error| Error::usage(format!("--out {}: {error}; specify a writable file", path.display()));
        let found = fs::symlink_metadata(path).ok();
        // A file that may not be written is not to be replaced, either.
        let itself = found
            .as_ref()
            .map(|_| File::options().write(true).create(true).truncate(false).open(path))
            .transpose()
            .map_err(failed)?;
        if let Some(file) = itself {
            let replaced =
                found.filter(fs::Metadata::is_file).and_then(|found| draft(path, Some(&found)).ok());
            return Ok(match replaced {
                Some((draft, beside)) => OutFile { path: path.into(), file: beside, draft: Some(draft) },
                None => OutFile { path: path.into(), file, draft: None },
            });
        }
        let (draft, file) = draft(path, None).map_err(failed)?;
        Ok(OutFile { path: path.into(), file, draft: Some(draft) })
    }

    /// Writes all of it in one step, where there is a draft.
    pub fn write(mut self, text: &str) -> Result<()> {
        self.put(text).map_err(|error| Error::failed(format!("--out {}: {error}", self.path.display())))
    }

    fn put(&mut self, text: &str) -> std::io::Result<()> {
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

/// With the permissions of the file that it replaces.
fn draft(path: &Path, replaced: Option<&fs::Metadata>) -> std::io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| std::io::Error::other("not a file name"))?;
    let draft = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    // One that an earlier process of this number left, if any; a link of somebody else's is not followed.
    let _ = fs::remove_file(&draft);
    let file = File::create_new(&draft)?;
    if let Some(replaced) = replaced {
        file.set_permissions(replaced.permissions())?;
    }
    Ok((draft, file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

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
