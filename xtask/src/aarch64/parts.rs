//! What building and running for aarch64 takes on an x86-64 machine, fetched once into `target/aarch64`: Debian trixie's compiler with both
//! standard libraries, started through its own loader so that the machine need not be as new; a root with the C library for aarch64; and the
//! emulator. The linker is that of `cargo xtask dist`.

use crate::dist::Tools;
use crate::files::{at, create, write};
use crate::jdks::aarch64 as runtimes;
use crate::jdks::packages::{self, Package, fetch, script};
use crate::shell::{root, run};
use jvm::{Error, Result};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SUITE: &str = "trixie";

/// The compiler, the tools that strip what it makes, and the libraries of both.
const COMPILER: [Package; 21] = [
    ("rustc-web", RUST, "72da9dc370bbc0de89813949c3b130b44239d677bd3e56893384908153c7c5dc"),
    ("libstd-rust-web-1.96", RUST, "a9b3de89458772425457251432c2937ae03fc8472ad5f1254e8a5ec75e6e63e3"),
    ("libstd-rust-web-dev", RUST, "5ad47305a951ab5b89953c45e3a4c56c122cf610461595f37ce48907b3c0ed83"),
    ("libllvm22", "1:22.1.8-1~deb13u5", "2b299d0615054df8cf0bd9f99b51bad1c4595ee4fa6cda61c060176f90950566"),
    (
        "binutils-aarch64-linux-gnu",
        BINUTILS,
        "6e5a9be38121213dda42189a525db01aad4dc52194b577d7d73d659a5843ce6c",
    ),
    ("libsframe1", BINUTILS, "38f625dfdc582717029ac3a3e97c51d994ec2e7a0e9b230c6b44e40d1276311f"),
    ("libjansson4", "2.14-2+b3", "60707a62fe6c1228c3389b12a13ca4efd76defc5532473e547a29e99cf7d2a6e"),
    ("libc6", "2.41-12+deb13u5", "b59b0625cd1a791375d40dab23a4d5d3d0641e3d0a773501becdc3725b7f99cf"),
    ("libgcc-s1", "14.2.0-19", "3c71917b490d1a17aed43196a2787a256ecf060526cdb20216a74bedc061b150"),
    ("libstdc++6", "14.2.0-19", "ab1fa05837aa7a92aae748fd07a18a35f7d18bb4a71c4724fe2bbf0e32089de0"),
    ("zlib1g", ZLIB, "8c27c342230503b73dfde629642c3b352e87b554e06d60cf58772f236a305ceb"),
    ("libedit2", "3.1-20250104-1", "b002ea172b9c1e34a67bc497c523c67bb74c3f0a4e98113cb083990a1f1d3bfe"),
    ("libffi8", "3.4.8-2", "0ebdc340de33333639c3c63874cd4b15ac2e83dfa1ef3053b7eefaf4919f4f68"),
    (
        "libxml2",
        "2.12.7+dfsg+really2.9.14-2.1+deb13u3",
        "e0c6b63ce4602a036a526f60fe5e6c1586710688058d98fc1001b9b3147b7efd",
    ),
    ("libz3-4", "4.13.3-1", "71383373523ef62d47eccf660cf6535c3febcbb3f88e54cb7a43124014b57359"),
    ("libzstd1", "1.5.7+dfsg-1", "2f6a2aeacfc925eba8b00ac9139bc4bfccf8cacb09eb93de067074b26948eef9"),
    ("libtinfo6", "6.5+20250216-2", "8b9f6a7983e9418564e48a627518de4c03917b56efe68d7f3e93bd8fffa1cc10"),
    ("libbsd0", "0.12.2-2", "e5a85986fa6bec3307ab1bc860736b478b331882bc45e17675a7bdf88eecb43a"),
    ("libmd0", "1.1.0-2+b1", "7244ec3839b61fac0c1884fe08aaa040f26e8f1f35f1f5d3482eacefd30d1b44"),
    ("liblzma5", "5.8.1-1+deb13u2", "b38acab30f295bf1066a6632e31cbd0a1980f2924b38040cda131d5dea5384ec"),
    ("libicu76", "76.1-4", "c1bf762996de9ecba9b9d871e4928a8090f023a3e9e7fa3240b3d90f892a01dc"),
];
const RUST: &str = "1.96.0+dfsg1-1~deb13u1+b1";
const BINUTILS: &str = "2.44-3";
const ZLIB: &str = "1:1.3.dfsg+really1.3.1-1+deb13u1";
/// The emulator; of its package only the one program is unpacked.
const EMULATOR: Package = (
    "qemu-user",
    "1:10.0.13+ds-0+deb13u1",
    "ca6ede739327a20ae5a3498230c8a3a9a072c586e131bc6bcc1201eb1725e336",
);
/// The standard library for aarch64.
const STANDARD: Package =
    ("libstd-rust-web-dev", RUST, "732ee16043f6917b1e4aaef020449752b68a78853a3b4bd3389a9523142729b9");
/// What programs for aarch64 are run with.
const LIBRARIES: [Package; 4] = [
    ("libc6", "2.41-12+deb13u5", "0966fc3da1a26cc57647c68b5736f791b6e7eb498173a7993f63b6c89b4ed4f5"),
    ("libgcc-s1", "14.2.0-19", "1108bc87879833d6d9a145f22a4a15cddb34e065b4b5f4b97bee586adbac2851"),
    ("libstdc++6", "14.2.0-19", "6669b0c52a2e7c6af9adfdabce3ff6e286065cdfbc7b85280862b5f799daebee"),
    ("zlib1g", ZLIB, "0e41b3d7ad8ad7fcd36dd4d61ca91a70018478fc4af652e044f4be770784ddff"),
];

/// What rustc calls it.
pub const TRIPLE: &str = "aarch64-unknown-linux-gnu";
/// The oldest glibc that what is built runs with.
const GLIBC: &str = "2.17";

/// The parts, where they are.
pub struct Parts {
    folder: PathBuf,
    tools: Tools,
}

impl Parts {
    /// Fetches what is not there yet; without the network if all is.
    pub fn install() -> Result<Parts> {
        if !cfg!(target_arch = "x86_64") {
            return Err(Error::failed("emulation is for x86-64 machines; on aarch64: cargo xtask test"));
        }
        let folder = root().join("target/aarch64");
        let (made, pins) = (folder.join("parts.txt"), pins());
        if !fs::read_to_string(&made).is_ok_and(|text| text == pins) {
            make(&folder)?;
            write(&made, pins)?;
        }
        runtimes::install(&folder)?;
        Ok(Parts { folder, tools: Tools::install(&root().join("target/dist/tools"))? })
    }

    /// Cargo for aarch64: `build`, or `test`, whose programs the emulator runs.
    pub fn cargo(&self, subcommand: &str) -> Command {
        let mut cargo = self.tools.program("cargo-zigbuild");
        cargo.current_dir(root()).env("CARGO", crate::cargo::cargo().get_program());
        cargo.arg(if subcommand == "build" { "zigbuild" } else { subcommand });
        cargo.args(["--target", &format!("{TRIPLE}.{GLIBC}")]);
        cargo.env("RUSTC", self.program("rustc"));
        cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", self.runner());
        cargo
    }

    /// A program of the compiler's: `rustc`, `objcopy`, `strip`.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }

    /// The script that runs a program for aarch64.
    pub fn runner(&self) -> PathBuf {
        self.folder.join("run")
    }

    pub fn runtimes(&self) -> Vec<PathBuf> {
        runtimes::features().map(|feature| runtimes::home(&self.folder, feature)).collect()
    }
}

fn pins() -> String {
    let all = COMPILER.iter().chain([&EMULATOR, &STANDARD]).chain(&LIBRARIES);
    all.map(|(name, version, digest)| format!("{name} {version} {digest}\n")).collect()
}

fn make(folder: &Path) -> Result<()> {
    let (compiler, libraries) = (folder.join("compiler"), folder.join("root"));
    let native = fetch(SUITE, "amd64", COMPILER.into_iter())?;
    let standard = fetch(SUITE, "arm64", [STANDARD].into_iter())?;
    let emulator = fetch(SUITE, "amd64", [EMULATOR].into_iter())?;
    packages::unpack(&[native, standard].concat(), &compiler)?;
    packages::unpack(&fetch(SUITE, "arm64", LIBRARIES.into_iter())?, &libraries)?;
    let lib = libraries.join("lib");
    symlink("usr/lib", &lib).map_err(at(&lib))?;
    for package in emulator {
        one_file(&package, "./usr/bin/qemu-aarch64", folder)?;
    }
    let bin = folder.join("bin");
    create(&bin)?;
    let through_its_loader = |program: &str, more: &str| {
        format!(
            "usr=${{0%/*}}/../compiler/usr\nlib=$usr/lib/x86_64-linux-gnu\n\
             exec \"$lib/ld-linux-x86-64.so.2\" --library-path \"$lib\" --argv0 \"$usr/bin/{program}\" \"$usr/bin/{program}\" {more} \"$@\""
        )
    };
    script(&bin.join("rustc"), &through_its_loader("rustc", "--sysroot \"$usr\""))?;
    for name in ["objcopy", "strip"] {
        script(&bin.join(name), &through_its_loader(&format!("aarch64-linux-gnu-{name}"), ""))?;
    }
    script(&folder.join("run"), "here=${0%/*}\nexec \"$here/qemu-aarch64\" -L \"$here/root\" \"$@\"")
}

/// Unpacks one file of a package into a folder.
fn one_file(package: &Path, name: &str, to: &Path) -> Result<()> {
    let missing = |error| Error::failed(format!("dpkg-deb, tar: {error}; install them"));
    let mut list = Command::new("dpkg-deb");
    let mut unpacked =
        list.arg("--fsys-tarfile").arg(package).stdout(Stdio::piped()).spawn().map_err(missing)?;
    let stream = unpacked.stdout.take().map_or_else(Stdio::null, Stdio::from);
    let depth = name.matches('/').count().to_string();
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--strip-components", &depth, "--directory"]).arg(to).arg(name).stdin(stream);
    run(&mut tar)?;
    // It may have been told that nobody reads the rest.
    unpacked.wait().map(|_| ()).map_err(missing)
}
