//! The folder in which a file is to be written, for a path that somebody else may have had a hand in.
//!
//! `O_NOFOLLOW` is about a path's last part alone: a link before it is followed wherever it leads. So the way is gone step by step, folder by
//! folder, and held open. A link on it is followed if it is this user's or root's, as `/tmp` is one on some systems, and stands where nobody else
//! can have put it. A real folder leads nowhere else, whoever it belongs to. Links of `/proc` that lead to what a process has open or works in say no more
//! than what that was called: those of this process are gone through, those of another are refused, for it chooses where they lead.

use crate::memory::checked;
use crate::process::user;
use std::collections::VecDeque;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Links of `/proc` that lead where their text says.
const TEXTS: [&str; 4] = ["self", "thread-self", "mounts", "net"];
/// As many links as the kernel follows.
const MOST_LINKS: u32 = 40;
/// More bytes than a link has.
const MOST_BYTES: usize = libc::PATH_MAX as usize;

/// For its place alone. That it has to be a folder is said to the kernel, which otherwise mounts nothing that is to be mounted when it is used.
const A_FOLDER: libc::c_int = libc::O_PATH | libc::O_DIRECTORY;

/// A folder, open for its place alone.
#[derive(Debug)]
pub struct Folder(File);

impl Folder {
    /// That of a file, and the file's name in it.
    pub fn of(file: &Path) -> io::Result<(Folder, &OsStr)> {
        let name = file.file_name().ok_or_else(|| io::Error::other("no file's name"))?;
        Folder::at(file.parent().unwrap_or(Path::new(""))).map(|folder| (folder, name))
    }

    /// The folder at this path.
    pub fn at(path: &Path) -> io::Result<Folder> {
        let begin = |path: &Path| if path.is_absolute() { Folder::open(c"/") } else { Folder::open(c".") };
        let (mut folder, mut gone) = (begin(path)?, PathBuf::from(if path.is_absolute() { "/" } else { "" }));
        let mut to_go: VecDeque<OsString> = parts(path);
        let mut links = 0;
        while let Some(part) = to_go.pop_front() {
            gone.push(&part);
            let no_folder = match folder.open_at(&part, A_FOLDER | libc::O_NOFOLLOW, 0) {
                Ok(found) => {
                    folder = Folder(found.into());
                    continue;
                }
                Err(error) => error,
            };
            if !matches!(no_folder.raw_os_error(), Some(libc::ENOTDIR | libc::ELOOP)) {
                return Err(no_folder);
            }
            let found = File::from(folder.open_at(&part, libc::O_PATH | libc::O_NOFOLLOW, 0)?);
            if !found.metadata()?.is_symlink() {
                return Err(no_folder);
            }
            if !folder.is_to_be_trusted_with(&found)? {
                let shown = gone.display();
                return Err(io::Error::other(format!(
                    "{shown} is a symbolic link that another user may have placed"
                )));
            }
            links += 1;
            if links > MOST_LINKS {
                return Err(io::Error::from_raw_os_error(libc::ELOOP));
            }
            if is_of_proc(&found)? && !TEXTS.iter().any(|text| part == *text) {
                if !folder.is_of_this_process() {
                    let shown = gone.display();
                    return Err(io::Error::other(format!("{shown} leads where another process chooses")));
                }
                folder = Folder(folder.open_at(&part, A_FOLDER, 0)?.into());
                continue;
            }
            let target = target(&found)?;
            if target.is_absolute() {
                (folder, gone) = (begin(&target)?, PathBuf::from("/"));
            } else {
                gone.pop();
            }
            for part in parts(&target).into_iter().rev() {
                to_go.push_front(part);
            }
        }
        Ok(folder)
    }

    fn open(path: &CStr) -> io::Result<Folder> {
        // SAFETY: a C string.
        let found = opened(|| unsafe { libc::open(path.as_ptr(), A_FOLDER | libc::O_CLOEXEC) })?;
        Ok(Folder(found.into()))
    }

    /// Whether nobody but this user and root can have placed a link here.
    fn is_to_be_trusted_with(&self, link: &File) -> io::Result<bool> {
        let (folder, link) = (self.0.metadata()?, link.metadata()?);
        let is_ours = |owner: u32| owner == user() || owner == 0;
        // In a folder that is open to all, everybody renames what others have put there, unless it is sticky.
        let is_open = folder.mode() & 0o002 != 0 && folder.mode() & libc::S_ISVTX == 0;
        Ok(is_ours(link.uid()) && is_ours(folder.uid()) && !is_open)
    }

    /// Whether its links are of what this process has open or works in. By number alone it is not known: there may be several `/proc`, each for processes of
    /// its own.
    fn is_of_this_process(&self) -> bool {
        [c"/proc/self", c"/proc/self/fd", c"/proc/thread-self", c"/proc/thread-self/fd"]
            .into_iter()
            .any(|own| Folder::open(own).and_then(|own| self.is_same(&own)).unwrap_or(false))
    }

    fn is_same(&self, other: &Folder) -> io::Result<bool> {
        let (one, other) = (self.metadata()?, other.metadata()?);
        Ok((one.dev(), one.ino()) == (other.dev(), other.ino()))
    }

    /// Opens what has this name here.
    pub fn open_at(&self, name: &OsStr, flags: libc::c_int, mode: libc::c_uint) -> io::Result<OwnedFd> {
        let name = CString::new(name.as_bytes()).map_err(io::Error::other)?;
        // SAFETY: the descriptor is open, and the name a C string.
        opened(|| unsafe { libc::openat(self.0.as_raw_fd(), name.as_ptr(), flags | libc::O_CLOEXEC, mode) })
    }

    /// What has this name here; of a link, the link. It is not opened, which alone can do something.
    pub fn look_at(&self, name: &OsStr) -> io::Result<std::fs::Metadata> {
        File::from(self.open_at(name, libc::O_PATH | libc::O_NOFOLLOW, 0)?).metadata()
    }

    /// Removes the file that has this name here.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        let name = CString::new(name.as_bytes()).map_err(io::Error::other)?;
        // SAFETY: the descriptor is open, and the name a C string.
        checked(unsafe { libc::unlinkat(self.0.as_raw_fd(), name.as_ptr(), 0) }).map(drop)
    }

    /// What the folder itself is.
    pub(crate) fn metadata(&self) -> io::Result<std::fs::Metadata> {
        self.0.metadata()
    }
}

/// What a call of the kernel opens, which a signal may end before it has.
fn opened(mut open: impl FnMut() -> libc::c_int) -> io::Result<OwnedFd> {
    loop {
        match checked(open()) {
            // SAFETY: just opened, and belongs to nobody else.
            Ok(found) => return Ok(unsafe { OwnedFd::from_raw_fd(found) }),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The folders on a path.
fn parts(path: &Path) -> VecDeque<OsString> {
    let part = |part: Component<'_>| match part {
        Component::Normal(_) | Component::ParentDir => Some(part.as_os_str().to_owned()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(part).collect()
}

/// Whether it is in the file system of processes.
fn is_of_proc(file: &File) -> io::Result<bool> {
    // SAFETY: made of plain numbers, for which zero is valid.
    let mut system: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, and the place valid for the result.
    checked(unsafe { libc::fstatfs(file.as_raw_fd(), &mut system) })?;
    Ok(system.f_type == libc::PROC_SUPER_MAGIC)
}

/// Where a link leads.
fn target(link: &File) -> io::Result<PathBuf> {
    let mut text = vec![0; MOST_BYTES];
    // SAFETY: the descriptor is open for a link's place, of which an empty name is the link itself; the text has room for so many bytes.
    let bytes =
        unsafe { libc::readlinkat(link.as_raw_fd(), c"".as_ptr(), text.as_mut_ptr().cast(), text.len()) };
    text.truncate(usize::try_from(bytes).map_err(|_| io::Error::last_os_error())?);
    Ok(PathBuf::from(OsString::from_vec(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, lchown, symlink};

    fn is_same(found: &Folder, path: &Path) -> bool {
        let (found, expected) = (found.0.metadata().unwrap(), fs::metadata(path).unwrap());
        (found.dev(), found.ino()) == (expected.dev(), expected.ino())
    }

    #[test]
    fn a_path_leads_where_the_kernel_says() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        symlink("b/../b", root.join("a/relative")).unwrap();
        symlink(root.join("a/relative"), root.join("absolute")).unwrap();
        for path in ["", "a", "a/b/../b/c", "./a//b/", "absolute", "absolute/c", "a/relative/../b/c"] {
            let path = root.join(path);
            assert!(is_same(&Folder::at(&path).unwrap(), &path), "{path:?}");
        }
        for path in ["", ".", "..", "../.", "/", "/..", "/proc/self/cwd", "/proc/self/root/proc"] {
            let shown = if path.is_empty() { "." } else { path };
            assert!(is_same(&Folder::at(Path::new(path)).unwrap(), Path::new(shown)), "{path:?}");
        }
        fs::write(root.join("file"), "").unwrap();
        symlink("turn", root.join("turn")).unwrap();
        for (path, error) in [
            ("file/x", libc::ENOTDIR),
            ("none/x", libc::ENOENT),
            ("file", libc::ENOTDIR),
            ("turn", libc::ELOOP),
        ] {
            let found = Folder::at(&root.join(path)).unwrap_err();
            assert_eq!(found.raw_os_error(), Some(error), "{path}");
        }
        assert!(Folder::of(Path::new("..")).is_err() && Folder::of(Path::new("")).is_err());
    }

    #[test]
    fn what_this_process_has_open_is_reached_whatever_it_is_called_now() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (gone, decoy) = (root.join("gone"), root.join("gone (deleted)"));
        fs::create_dir(&gone).unwrap();
        fs::create_dir(root.join("moved")).unwrap();
        let [open, moved] = [&gone, &root.join("moved")].map(|path| File::open(path).unwrap());
        fs::remove_dir(&gone).unwrap();
        fs::create_dir(&decoy).unwrap();
        fs::rename(root.join("moved"), root.join("elsewhere")).unwrap();
        for folder in ["/proc/self/fd", "/dev/fd", "/proc/thread-self/fd"] {
            for file in [&open, &moved] {
                let found = Folder::at(&Path::new(folder).join(file.as_raw_fd().to_string())).unwrap();
                assert!(found.is_same(&Folder(file.try_clone().unwrap())).unwrap(), "{folder}");
            }
        }
    }

    /// Of a program that has its rights from its file, root's or another user's, its user chooses where it works.
    #[test]
    fn where_another_process_works_is_not_gone() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let at = |rest: &str| Folder::at(Path::new(&format!("/proc/{}/{rest}", child.id())));
        let told =
            ["cwd", "root/tmp", "task/../cwd"].map(|path| at(path).err().map(|error| error.to_string()));
        let real = at("task");
        child.kill().unwrap();
        child.wait().unwrap();
        for told in told {
            assert!(
                told.as_ref().is_some_and(|told| told.contains("leads where another process chooses")),
                "{told:?}"
            );
        }
        assert!(real.is_ok(), "{real:?}");
    }

    #[test]
    fn what_is_mounted_on_use_is_mounted() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("mounted")).unwrap();
        symlink("mounted", root.path().join("link")).unwrap();
        for path in ["mounted", "link"] {
            let folder = Folder::at(&root.path().canonicalize().unwrap().join(path)).unwrap();
            // SAFETY: the descriptor is open.
            let flags = unsafe { libc::fcntl(folder.0.as_raw_fd(), libc::F_GETFL) };
            assert_eq!(flags & A_FOLDER, A_FOLDER, "or the kernel leaves it unmounted");
        }
    }

    #[test]
    fn a_signal_keeps_nothing_from_being_opened() {
        extern "C" fn nothing(_: libc::c_int) {}
        // SAFETY: all zeros are a valid value.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // Without SA_RESTART.
        action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
        // SAFETY: the handler does nothing, which any thread may do at any time.
        assert_eq!(unsafe { libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut()) }, 0);
        let root = tempfile::tempdir().unwrap();
        let pipe = root.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let folder = Folder::at(root.path()).unwrap();
        // SAFETY: pthread_self has no preconditions.
        let opening = unsafe { libc::pthread_self() };
        std::thread::scope(|threads| {
            let writer = threads.spawn(|| {
                for _ in 0..20 {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    // SAFETY: the thread waits for this one before it ends.
                    unsafe { libc::pthread_kill(opening, libc::SIGUSR1) };
                }
                // Both ends, so that nobody waits if the other has given up.
                fs::File::options().read(true).write(true).open(&pipe).unwrap()
            });
            let found = folder.open_at(OsStr::new("pipe"), libc::O_RDONLY, 0);
            drop(writer.join());
            assert!(found.is_ok(), "{found:?}");
        });
    }

    #[test]
    fn a_link_that_another_user_may_have_placed_is_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (open, link) = (root.join("open"), root.join("open/link"));
        fs::create_dir_all(root.join("elsewhere/inside")).unwrap();
        fs::create_dir(&open).unwrap();
        symlink(root.join("elsewhere"), &link).unwrap();
        let told = |path: &Path| Folder::at(path).err().map(|error| error.to_string());
        for (mode, follows) in [(0o700, true), (0o755, true), (0o775, true), (0o777, false), (0o1777, true)] {
            fs::set_permissions(&open, Permissions::from_mode(mode)).unwrap();
            let expected = format!("{} is a symbolic link that another user may have placed", link.display());
            for path in [&link, &link.join("inside")] {
                assert_eq!(told(path), (!follows).then_some(expected.clone()), "{mode:o} {path:?}");
            }
        }
        if user() != 0 {
            skips::skip!("files of other users: only root makes them");
            return;
        }
        lchown(&link, Some(65534), None).unwrap();
        assert!(told(&link).is_some(), "another user's in a sticky folder, as /tmp is one");
        lchown(&link, Some(0), None).unwrap();
        assert_eq!(told(&link), None);
        std::os::unix::fs::chown(&open, Some(65534), None).unwrap();
        assert!(told(&link).is_some(), "in another user's folder");
        fs::create_dir(open.join("real")).unwrap();
        assert_eq!(told(&open.join("real")), None, "it leads nowhere else");
    }
}
