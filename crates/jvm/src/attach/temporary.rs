//! The /tmp that a JVM sees.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// That folder, held open: where it leads cannot be changed meanwhile.
#[derive(Debug)]
pub(super) struct Temporary(pub(super) File);

impl Temporary {
    pub(super) fn of(directory: &Path) -> std::io::Result<Temporary> {
        // No link: its target would be looked for among our own folders, and root would write where the JVM's user wants.
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW;
        OpenOptions::new().read(true).custom_flags(flags).open(directory.join("root/tmp")).map(Temporary)
    }

    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }

    /// Whether it is mounted with one of statvfs's flags.
    pub(super) fn is(&self, flag: libc::c_ulong) -> bool {
        // SAFETY: a structure of plain numbers, for which zero is valid.
        let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is open, and `found` is a valid place for the result.
        unsafe { libc::fstatvfs(self.0.as_raw_fd(), &raw mut found) == 0 && found.f_flag & flag != 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_jvms_tmp_that_leads_elsewhere_is_not_followed() {
        let process = tempfile::tempdir().unwrap();
        fs::create_dir_all(process.path().join("root")).unwrap();
        std::os::unix::fs::symlink("/etc", process.path().join("root/tmp")).unwrap();
        assert!(Temporary::of(process.path()).is_err());
        fs::remove_file(process.path().join("root/tmp")).unwrap();
        fs::create_dir(process.path().join("root/tmp")).unwrap();
        let temporary = Temporary::of(process.path()).unwrap();
        fs::write(temporary.path().join("x"), "").unwrap();
        assert!(process.path().join("root/tmp/x").is_file());
    }
}
