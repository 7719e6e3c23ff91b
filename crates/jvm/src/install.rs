//! Where Terrace's own files are.

use crate::{Error, Result};
use std::path::{Path, PathBuf};

const REMEDY: &str =
    "build them with 'cargo xtask build', or set TERRACE_HOME to the directory that contains them";

/// The folders that may hold Terrace's files, best first.
#[derive(Clone, Debug)]
pub struct Install {
    folders: Vec<PathBuf>,
}

impl Install {
    /// `TERRACE_HOME` if it is set, and nothing else then; otherwise the running program's folder, and `../lib` and
    /// `../lib/terrace` beside it.
    pub fn here() -> Result<Install> {
        if let Some(home) = std::env::var_os("TERRACE_HOME").filter(|home| !home.is_empty()) {
            let home = PathBuf::from(home);
            let home = std::path::absolute(&home).unwrap_or(home);
            if !home.is_dir() {
                return Err(Error::usage(format!(
                    "TERRACE_HOME {} is not a directory; unset it, or set it to the directory that contains libterrace.so",
                    home.display()
                )));
            }
            return Ok(Install { folders: vec![home.clone(), home.join("lib"), home.join("lib/terrace")] });
        }
        let program = std::env::current_exe().and_then(|path| path.canonicalize()).map_err(|error| {
            Error::failed(format!("cannot find this program's own directory: {error}; set TERRACE_HOME"))
        })?;
        let beside = program.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Install { folders: ["", "../lib", "../lib/terrace"].map(|folder| beside.join(folder)).into() })
    }

    /// These folders, for tests and for the developer's commands.
    pub fn at(folders: Vec<PathBuf>) -> Install {
        Install { folders }
    }

    fn file(&self, what: &str, matches: impl Fn(&str) -> bool) -> Result<PathBuf> {
        for folder in &self.folders {
            let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let mut found: Vec<PathBuf> = names
                .filter(|entry| entry.file_name().to_str().is_some_and(&matches))
                .map(|entry| entry.path())
                .filter(|path| path.is_file())
                .collect();
            found.sort();
            if let Some(path) = found.pop() {
                return Ok(path.canonicalize().unwrap_or(path));
            }
        }
        let folders: Vec<String> = self.folders.iter().map(|folder| folder.display().to_string()).collect();
        Err(Error::failed(format!("{what} not found in {}; {REMEDY}", folders.join(" or "))))
    }

    pub fn agent(&self) -> Result<PathBuf> {
        let path = self.file("libterrace.so", |name| name == "libterrace.so")?;
        if path.to_string_lossy().contains(['=', ',']) {
            return Err(Error::failed(format!(
                "{}: the JVM cannot load an agent from a path with '=' or ','; move it",
                path.display()
            )));
        }
        Ok(path)
    }

    /// The agent's library with its Java API.
    pub fn jar(&self) -> Result<PathBuf> {
        self.file("terrace.jar", |name| name == "terrace.jar")
    }

    /// Names the agent's build: results of two of them are not mixed. (FNV-1a, 64 bits.)
    pub fn agent_build(&self) -> Result<String> {
        let path = self.agent()?;
        let bytes = std::fs::read(&path)
            .map_err(|error| Error::failed(format!("{}: {error}; {REMEDY}", path.display())))?;
        let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Ok(format!("{hash:016x}"))
    }

    pub fn workloads(&self) -> Result<PathBuf> {
        self.file("terrace-workloads.jar", |name| name == "terrace-workloads.jar")
    }

    /// The JMH benchmarks, with JMH.
    pub fn benchmarks(&self) -> Result<PathBuf> {
        self.file("terrace-benchmarks.jar", |name| name == "terrace-benchmarks.jar")
    }

    /// The profiler that JMH finds on its class path, without JMH.
    pub fn profiler(&self) -> Result<PathBuf> {
        self.file("terrace-jmh.jar", |name| name == "terrace-jmh.jar")
    }

    /// The programs of the experiment `applications`; their libraries are beside them.
    pub fn applications(&self) -> Result<PathBuf> {
        let jar = |folder: &PathBuf| folder.join("applications/terrace-applications.jar");
        self.folders.iter().map(jar).find(|jar| jar.is_file()).ok_or_else(|| {
            Error::failed(
                "the applications are not installed; fetch them once with 'cargo xtask applications --fetch' (requires network access)",
            )
        })
    }

    /// The sources that the workload `javac` compiles.
    pub fn sources(&self) -> Result<PathBuf> {
        let matches = |name: &str| name.starts_with("commons-lang3") && name.ends_with("-sources.jar");
        self.file("commons-lang3-*-sources.jar", matches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_the_first_folder_that_has_them() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let install = Install::at(vec![first.path().into(), second.path().into()]);
        std::fs::write(second.path().join("libterrace.so"), "").unwrap();
        std::fs::write(second.path().join("commons-lang3-3.18.0-sources.jar"), "").unwrap();
        assert!(install.agent().unwrap().ends_with("libterrace.so"));
        assert!(install.sources().is_ok());
        std::fs::write(first.path().join("terrace-benchmarks.jar"), "").unwrap();
        assert!(install.benchmarks().unwrap().starts_with(first.path().canonicalize().unwrap()));
        let error = install.workloads().unwrap_err().to_string();
        assert!(error.contains("terrace-workloads.jar") && error.contains("cargo xtask build"), "{error}");
        let error = install.applications().unwrap_err().to_string();
        assert!(error.contains("cargo xtask applications --fetch"), "{error}");
        let jar = second.path().join("applications/terrace-applications.jar");
        std::fs::create_dir(jar.parent().unwrap()).unwrap();
        std::fs::write(&jar, "").unwrap();
        assert_eq!(install.applications().unwrap(), jar);
    }
}
