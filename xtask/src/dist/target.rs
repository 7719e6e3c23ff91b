//! The processors that releases are made for.

use crate::aarch64::Parts;
use std::path::Path;
use std::process::Command;

/// The digests of what was made for one processor.
pub const X64_SUMS: &str = "SHA256SUMS";
pub const ARM64_SUMS: &str = "SHA256SUMS.arm64";

/// A processor, and how to build and run for it on this machine.
pub struct Target {
    /// What the archive is named by.
    pub name: &'static str,
    /// What Debian calls it.
    pub debian: &'static str,
    /// What rustc calls it.
    pub triple: &'static str,
    /// glibc's loader.
    pub loader: &'static str,
    /// What it takes where this machine is another one.
    parts: Option<Parts>,
}

impl Target {
    /// This machine.
    pub fn x64() -> Target {
        Target {
            name: "x64",
            debian: "amd64",
            triple: "x86_64-unknown-linux-gnu",
            loader: "ld-linux-x86-64.so.2",
            parts: None,
        }
    }

    /// aarch64, with another compiler and an emulator.
    pub fn arm64(parts: Parts) -> Target {
        Target {
            name: "arm64",
            debian: "arm64",
            triple: crate::aarch64::TRIPLE,
            loader: "ld-linux-aarch64.so.1",
            parts: Some(parts),
        }
    }

    /// The file of digests of what was made. Those of all processors are published together.
    pub fn sums(&self) -> &'static str {
        if self.parts.is_some() { ARM64_SUMS } else { X64_SUMS }
    }

    /// Whether the command can be linked without any shared library: the C library for aarch64 that there is here is no static one.
    pub fn links_statically(&self) -> bool {
        self.parts.is_none()
    }

    /// Has `command` use the compiler that has this processor's standard library.
    pub fn compiler<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        match &self.parts {
            Some(parts) => command.env("RUSTC", parts.program("rustc")),
            None => command,
        }
    }

    /// `objcopy`, `strip`.
    pub fn tool(&self, name: &str) -> Command {
        match &self.parts {
            Some(parts) => Command::new(parts.program(name)),
            None => Command::new(name),
        }
    }

    /// Runs a program that was built for it.
    pub fn program(&self, path: &Path) -> Command {
        match &self.parts {
            Some(parts) => {
                let mut command = Command::new(parts.runner());
                command.arg(path);
                command
            }
            None => Command::new(path),
        }
    }

    /// What is to be emulated.
    pub fn parts(&self) -> Option<&Parts> {
        self.parts.as_ref()
    }
}
