//! A folder of ours in a directory in which others write.
//!
//! What its name leads to may be somebody else's at any moment, and a link out of a container leads to a file of the host. So files are
//! made, changed and removed by descriptor, and no link is followed.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::process::geteuid;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};

/// Removed with its files when it is dropped.
#[derive(Debug)]
pub struct Folder {
    parent: OwnedFd,
    name: OsString,
    directory: OwnedFd,
    files: Vec<OsString>,
    is_kept: bool,
}

impl Folder {
    /// An empty one that only we can use, with a name that nobody can foresee.
    pub(super) fn make(parent: &File, prefix: &str, suffix: &str) -> io::Result<Folder> {
        let parent = OwnedFd::from(parent.try_clone()?);
        let random = std::hash::RandomState::new().build_hasher().finish();
        let name = OsString::from(format!("{prefix}{random:016x}{suffix}"));
        rustix::fs::mkdirat(&parent, &name, Mode::RWXU)?;
        Folder::open(parent, name)
    }

    /// The folder that we have just made, unless something else has its name by now.
    fn open(parent: OwnedFd, name: OsString) -> io::Result<Folder> {
        let directory = rustix::fs::openat(
            &parent,
            &name,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let found = rustix::fs::fstat(&directory)?;
        let others = Mode::from_raw_mode(found.st_mode).intersects(Mode::RWXG | Mode::RWXO);
        if found.st_uid != geteuid().as_raw() || others || !is_empty(&directory)? {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "another process replaced the directory",
            ));
        }
        Ok(Folder { parent, name, directory, files: Vec::new(), is_kept: false })
    }

    pub(super) fn name(&self) -> &OsStr {
        &self.name
    }

    /// A file in it that everybody may read and run.
    pub(super) fn fill(&mut self, name: &OsStr, content: &[u8]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&self.directory, name, flags, Mode::RWXU)?);
        self.files.push(name.to_owned());
        file.write_all(content)?;
        Ok(rustix::fs::fchmod(&file, FOR_ALL)?)
    }

    /// It stays, with its files.
    pub(super) fn keep(mut self) {
        self.is_kept = true;
    }

    /// Lets others in: the JVM may run as another user.
    pub(super) fn publish(&self) -> io::Result<()> {
        Ok(rustix::fs::fchmod(&self.directory, FOR_ALL)?)
    }
}

/// `rwxr-xr-x`.
const FOR_ALL: Mode = Mode::from_raw_mode(0o755);

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        for file in &self.files {
            let _ = rustix::fs::unlinkat(&self.directory, file, AtFlags::empty());
        }
        // Not what has got its name: it may be a file, or an empty folder of somebody else's.
        if is_same(&self.parent, &self.name, &self.directory).unwrap_or(false) {
            let _ = rustix::fs::unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR);
        }
    }
}

fn is_empty(directory: &OwnedFd) -> io::Result<bool> {
    let mut names = Dir::read_from(directory)?.map(|entry| entry.map(|entry| entry.file_name().to_owned()));
    Ok(names.all(|name| name.is_ok_and(|name| [c".", c".."].contains(&name.as_c_str()))))
}

/// Whether a name leads to the folder that is open.
fn is_same(parent: impl AsFd, name: &OsStr, directory: &OwnedFd) -> io::Result<bool> {
    let named = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let open = rustix::fs::fstat(directory)?;
    let is_directory = FileType::from_raw_mode(named.st_mode) == FileType::Directory;
    Ok(is_directory && (named.st_dev, named.st_ino) == (open.st_dev, open.st_ino))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::path::{Path, PathBuf};

    const LIBRARY: &str = "libterrace.so";

    /// A directory that the JVM's user writes to, and one of the host that he must not reach.
    struct Places(tempfile::TempDir);

    impl Places {
        fn new() -> Places {
            let places = Places(tempfile::tempdir().unwrap());
            fs::create_dir(places.tmp()).unwrap();
            fs::create_dir(places.host()).unwrap();
            fs::write(places.secret(), "secret").unwrap();
            fs::set_permissions(places.secret(), fs::Permissions::from_mode(0o600)).unwrap();
            fs::set_permissions(places.host(), fs::Permissions::from_mode(0o700)).unwrap();
            places
        }

        fn tmp(&self) -> PathBuf {
            self.0.path().join("tmp")
        }

        fn open_tmp(&self) -> File {
            File::open(self.tmp()).unwrap()
        }

        fn host(&self) -> PathBuf {
            self.0.path().join("host")
        }

        fn secret(&self) -> PathBuf {
            self.host().join(LIBRARY)
        }

        fn assert_untouched(&self) {
            let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
            assert_eq!(fs::read_to_string(self.secret()).unwrap(), "secret");
            assert_eq!((mode(&self.secret()), mode(&self.host())), (0o600, 0o700));
            assert_eq!(fs::read_dir(self.host()).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_file_is_there_for_all_and_goes_with_its_folder() {
        let places = Places::new();
        let mut folder = Folder::make(&places.open_tmp(), "terrace-", "-00ff").unwrap();
        let made = places.tmp().join(folder.name());
        let name = folder.name().to_str().unwrap();
        assert!(name.starts_with("terrace-") && name.ends_with("-00ff"), "{name}");
        assert_eq!(fs::metadata(&made).unwrap().mode() & 0o777, 0o700, "until everything is in it");
        folder.fill(LIBRARY.as_ref(), b"library").unwrap();
        folder.publish().unwrap();
        assert_eq!(fs::read(made.join(LIBRARY)).unwrap(), b"library");
        for path in [&made, &made.join(LIBRARY)] {
            assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, 0o755);
        }
        drop(folder);
        assert!(!made.exists());
    }

    #[test]
    fn a_folder_that_is_kept_stays_with_its_files() {
        let places = Places::new();
        let mut folder = Folder::make(&places.open_tmp(), "terrace-", "-00ff").unwrap();
        folder.fill(LIBRARY.as_ref(), b"library").unwrap();
        let made = places.tmp().join(folder.name());
        folder.keep();
        assert_eq!(fs::read(made.join(LIBRARY)).unwrap(), b"library");
    }

    #[test]
    fn a_folder_that_was_exchanged_for_a_link_is_filled_where_it_is() {
        let places = Places::new();
        let mut folder = Folder::make(&places.open_tmp(), "terrace-", "").unwrap();
        let (made, away) = (places.tmp().join(folder.name()), places.tmp().join("away"));
        fs::rename(&made, &away).unwrap();
        symlink(places.host(), &made).unwrap();
        folder.fill(LIBRARY.as_ref(), b"library").unwrap();
        folder.publish().unwrap();
        assert_eq!(fs::read(away.join(LIBRARY)).unwrap(), b"library");
        places.assert_untouched();
        drop(folder);
        places.assert_untouched();
        assert!(made.is_symlink() && !away.join(LIBRARY).exists());
    }

    #[test]
    fn another_folder_of_that_name_stays() {
        let places = Places::new();
        let folder = Folder::make(&places.open_tmp(), "terrace-", "").unwrap();
        let made = places.tmp().join(folder.name());
        fs::rename(&made, places.tmp().join("away")).unwrap();
        fs::create_dir(&made).unwrap();
        drop(folder);
        assert!(made.is_dir());
    }

    #[test]
    fn a_link_in_the_folder_is_not_followed() {
        let places = Places::new();
        let mut folder = Folder::make(&places.open_tmp(), "terrace-", "").unwrap();
        symlink(places.secret(), places.tmp().join(folder.name()).join(LIBRARY)).unwrap();
        assert_eq!(
            folder.fill(LIBRARY.as_ref(), b"library").unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        places.assert_untouched();
    }

    /// What may have its name before it is opened.
    #[test]
    fn only_the_folder_that_was_made_is_opened() {
        let places = Places::new();
        let open = |name: &str| Folder::open(places.open_tmp().into(), name.into());
        symlink(places.host(), places.tmp().join("link")).unwrap();
        assert!(open("link").is_err());
        for (name, mode) in [("for-all", 0o777), ("for-a-group", 0o720)] {
            fs::create_dir(places.tmp().join(name)).unwrap();
            fs::set_permissions(places.tmp().join(name), fs::Permissions::from_mode(mode)).unwrap();
            assert!(open(name).unwrap_err().to_string().contains("another process replaced"), "{name}");
        }
        fs::rename(places.host(), places.tmp().join("host")).unwrap();
        assert!(open("host").is_err(), "one of ours with something in it");
        fs::rename(places.tmp().join("host"), places.host()).unwrap();
        places.assert_untouched();
    }
}
