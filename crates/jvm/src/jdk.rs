//! JDKs: what one is, and which there are.

use crate::{Error, Result, os};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use strum::{EnumIter, IntoEnumIterator, IntoStaticStr, VariantNames};

/// The oldest feature version that the workloads run on; the agent serves JDK 11, too.
pub const OLDEST: u32 = 17;
/// Those that Terrace is measured on: the releases with long-term support.
pub const MEASURED: [u32; 3] = [17, 21, 25];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumIter, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Collector {
    Serial,
    Parallel,
    G1,
    Shenandoah,
    /// Epsilon, which never collects.
    Epsilon,
    Z,
}

impl Collector {
    /// As the user writes it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The JVM's flags that select it.
    pub fn flags(self) -> Vec<String> {
        let flags: &[&str] = match self {
            Collector::Serial => &["-XX:+UseSerialGC"],
            Collector::Parallel => &["-XX:+UseParallelGC"],
            Collector::G1 => &["-XX:+UseG1GC"],
            Collector::Shenandoah => &["-XX:+UseShenandoahGC"],
            Collector::Epsilon => &["-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC"],
            Collector::Z => &["-XX:+UseZGC"],
        };
        flags.iter().map(|flag| (*flag).to_owned()).collect()
    }
}

impl FromStr for Collector {
    type Err = Error;

    fn from_str(text: &str) -> Result<Collector> {
        let lower = text.to_lowercase();
        let plain = lower.strip_suffix("gc").unwrap_or(&lower);
        Collector::iter().find(|collector| collector.name() == plain).ok_or_else(|| {
            Error::usage(format!(
                "unknown collector '{text}'; choose one of {}",
                Collector::VARIANTS.join(", ")
            ))
        })
    }
}

/// A JDK, or a Java runtime without a compiler.
#[derive(Clone, Debug)]
pub struct Jdk {
    pub home: PathBuf,
    /// 17, 21, 25, ...
    pub feature: u32,
    /// Such as `25.0.3+9-LTS`.
    pub version: String,
    pub vendor: String,
    /// Whether it has the compiler's module, which a program can use. Its tools are [`Jdk::tool`].
    pub has_compiler: bool,
    /// What was asked of it; clones share the answers.
    collectors: Arc<Mutex<BTreeMap<Collector, bool>>>,
}

impl Jdk {
    /// The JDK at a path: its folder, or the `java` in it, links followed.
    pub fn at(path: &Path) -> Result<Jdk> {
        let shown = path.display();
        let remedy = "specify a JDK's directory or its bin/java";
        let real =
            path.canonicalize().map_err(|error| Error::usage(format!("{shown}: {error}; {remedy}")))?;
        let java = if real.is_dir() { real.join("bin/java") } else { real };
        if !java.is_file() {
            return Err(Error::usage(format!("{shown} is not a JDK: it has no bin/java; {remedy}")));
        }
        let java = java.canonicalize().unwrap_or(java);
        if !executable(&java) {
            return Err(Error::usage(format!("{} is not executable; {remedy}", java.display())));
        }
        if java.file_name().is_none_or(|name| name != "java") {
            return Err(Error::usage(format!("{shown} is not java; {remedy}")));
        }
        let mut home = java.parent().and_then(Path::parent).unwrap_or(Path::new("/")).to_owned();
        // JDK 8 keeps a second java in jre/bin, beside no release file.
        if !home.join("release").is_file() && home.ends_with("jre") {
            home.pop();
        }
        let jdk = Jdk::from_release(&home).or_else(|| Jdk::ask(&home, &java)).ok_or_else(|| {
            Error::usage(format!(
                "{shown} does not report its version (no 'release' file, no '-version' output); {remedy}"
            ))
        })?;
        if jdk.feature < OLDEST {
            return Err(Error::usage(format!(
                "{shown} is JDK {}, too old for terrace's own programs; use version {OLDEST} or later ('terrace run -- java ...' also supports JDK \
                 11)",
                jdk.feature
            )));
        }
        Ok(jdk)
    }

    fn from_release(home: &Path) -> Option<Jdk> {
        let text = std::fs::read_to_string(home.join("release")).ok()?;
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
            Some(line.trim().trim_matches('"').to_owned()).filter(|value| !value.is_empty())
        };
        let java_version = field("JAVA_VERSION")?;
        let modules = field("MODULES");
        let has_module = modules.is_some_and(|list| list.split(' ').any(|module| module == "jdk.compiler"));
        Some(Jdk {
            home: home.to_owned(),
            feature: feature(&java_version)?,
            version: field("JAVA_RUNTIME_VERSION").unwrap_or(java_version),
            vendor: field("IMPLEMENTOR").unwrap_or_else(|| "unknown vendor".into()),
            has_compiler: has_module || has_compiler(home),
            collectors: Arc::default(),
        })
    }

    /// Without a release file the JVM itself is asked.
    fn ask(home: &Path, java: &Path) -> Option<Jdk> {
        let mut command = Command::new(java);
        command.args(["-XshowSettings:properties", "-version"]).stdin(Stdio::null());
        let output = os::waiting_for_children(|| command.output()).ok()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let property = |name: &str| {
            text.lines().find_map(|line| {
                Some(line.trim().strip_prefix(name)?.trim().strip_prefix('=')?.trim().to_owned())
            })
        };
        Some(Jdk {
            home: home.to_owned(),
            feature: feature(&property("java.version")?)?,
            version: property("java.runtime.version").or_else(|| property("java.version"))?,
            vendor: property("java.vendor").unwrap_or_else(|| "unknown vendor".into()),
            has_compiler: has_compiler(home),
            collectors: Arc::default(),
        })
    }

    pub fn java(&self) -> PathBuf {
        self.home.join("bin/java")
    }

    /// A program of its `bin`, if it is there: Debian's runtimes name the compiler's module, and have no `javac`.
    pub fn tool(&self, name: &str) -> Option<PathBuf> {
        Some(self.home.join("bin").join(name)).filter(|path| path.is_file())
    }

    /// Vendor and version in a line.
    pub fn describe(&self) -> String {
        format!("{} {}", self.vendor, self.version)
    }

    /// Whether this build has a collector. The JVM itself is asked, once.
    pub fn has(&self, collector: Collector) -> bool {
        let mut known = self.collectors.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(collector).or_insert_with(|| {
            let mut command = Command::new(self.java());
            command.args(collector.flags()).arg("-version");
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            os::waiting_for_children(|| command.status()).is_ok_and(|status| status.success())
        })
    }

    /// The flags for a collector, or who has none.
    pub fn select(&self, collector: Collector) -> Result<Vec<String>> {
        if self.has(collector) {
            return Ok(collector.flags());
        }
        let has: Vec<&str> =
            Collector::iter().filter(|other| self.has(*other)).map(Collector::name).collect();
        Err(Error::usage(format!(
            "{} ({}) has no {}; choose one of {}",
            self.describe(),
            self.home.display(),
            collector.name(),
            has.join(", ")
        )))
    }
}

/// `1.8.0_402` is 8, `25.0.3` is 25, `26-ea` is 26.
fn feature(version: &str) -> Option<u32> {
    let mut parts = version.split(|c: char| !c.is_ascii_digit());
    match parts.next()?.parse().ok()? {
        1 => parts.next()?.parse().ok(),
        feature => Some(feature),
    }
}

fn executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

fn has_compiler(home: &Path) -> bool {
    home.join("jmods/jdk.compiler.jmod").is_file() || home.join("bin/javac").is_file()
}

/// A program as the shell would find it.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file() && executable(file))
}

/// The JDKs of this machine that Terrace can use, newest first, each once. What is broken or too old is left out.
pub fn discover() -> Vec<Jdk> {
    let mut candidates = Vec::new();
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(list) = variable("TERRACE_JDKS") {
        candidates.extend(std::env::split_paths(&list));
    }
    candidates.extend(variable("JAVA_HOME").map(PathBuf::from));
    candidates.extend(on_path("java"));
    let mut parents = vec![PathBuf::from("/usr/lib/jvm"), PathBuf::from("/opt/java")];
    if let Some(home) = variable("HOME").map(PathBuf::from) {
        parents.extend([home.join(".sdkman/candidates/java"), home.join(".jdks")]);
    }
    for parent in parents {
        let mut inside: Vec<PathBuf> =
            std::fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        inside.sort();
        candidates.extend(inside);
    }
    let mut found: Vec<Jdk> = Vec::new();
    for jdk in candidates.iter().filter_map(|path| Jdk::at(path).ok()) {
        if !found.iter().any(|known| known.home == jdk.home) {
            found.push(jdk);
        }
    }
    // Stable: of equal versions the one named first stays first.
    found.sort_by_key(|jdk| std::cmp::Reverse(jdk.feature));
    found
}

/// The JDKs found on which Terrace is measured, newest first, one of each feature number: one with a compiler, if there is one.
pub fn measured() -> Vec<Jdk> {
    measured_of(discover())
}

/// Of these the ones on which Terrace is measured, chosen and in the order of [`measured`].
pub fn measured_of(mut found: Vec<Jdk>) -> Vec<Jdk> {
    found.retain(|jdk| MEASURED.contains(&jdk.feature));
    found.sort_by_key(|jdk| (std::cmp::Reverse(jdk.feature), !jdk.has_compiler));
    found.dedup_by_key(|jdk| jdk.feature);
    found
}

pub fn newest() -> Result<Jdk> {
    discover().into_iter().next().ok_or_else(|| {
        Error::usage(format!(
            "no JDK of version {OLDEST} or later found (JAVA_HOME, PATH, /usr/lib/jvm, ~/.sdkman, ~/.jdks); install one, or specify \
             it with --java"
        ))
    })
}

#[cfg(test)]
#[path = "jdk_test.rs"]
mod tests;
