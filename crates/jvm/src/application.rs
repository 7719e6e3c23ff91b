//! The real programs of `terrace-applications.jar`: their command lines, and what each needs.

use crate::install::Install;
use crate::jdk::Jdk;
use crate::{Error, Result};
use std::ffi::OsString;
use std::path::Path;

const MAIN: &str = "terrace.applications.Main";
/// The first JDK for which there is a newer Lucene.
const LUCENE_10: u32 = 21;

/// A program that is driven by its own operations.
#[derive(Debug)]
pub struct Application {
    pub name: &'static str,
    /// What it lives in with little to spare, and what leaves it several times that.
    pub heaps: [(&'static str, &'static str); 2],
    /// Seconds before it is measured.
    pub warmup: u64,
    /// Milliseconds of a window with several operations in it.
    pub window: u64,
    needs: Needs,
}

/// What it cannot run without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    /// The libraries of all.
    Nothing,
    /// The sources that the workload `javac` compiles.
    Sources,
    /// These, and a JDK with a compiler.
    Compiler,
    /// The library in C.
    Callbacks,
    Lucene,
    Spark,
    Keycloak,
}

const fn application(
    name: &'static str,
    needs: Needs,
    [small, ample]: [&'static str; 2],
    warmup: u64,
    window: u64,
) -> Application {
    Application { name, heaps: [("small", small), ("ample", ample)], warmup, window, needs }
}

/// All of them, in the order in which they are measured.
pub const APPLICATIONS: [Application; 10] = [
    application("h2", Needs::Nothing, ["-Xmx128m", "-Xmx2g"], 10, 100),
    application("callbacks", Needs::Nothing, ["-Xmx64m", "-Xmx512m"], 3, 100),
    application("callbacks-jni", Needs::Callbacks, ["-Xmx64m", "-Xmx512m"], 3, 100),
    application("http-connection", Needs::Nothing, ["-Xmx96m", "-Xmx1g"], 20, 100),
    application("http-request", Needs::Nothing, ["-Xmx96m", "-Xmx1g"], 20, 100),
    application("keycloak", Needs::Keycloak, ["-Xmx256m", "-Xmx2g"], 15, 300),
    application("lucene", Needs::Lucene, ["-Xmx128m", "-Xmx1g"], 10, 100),
    application("spark", Needs::Spark, ["-Xmx512m", "-Xmx2g"], 20, 500),
    application("javac", Needs::Compiler, ["-Xmx256m", "-Xmx2g"], 15, 100),
    application("ecj", Needs::Sources, ["-Xmx256m", "-Xmx2g"], 15, 300),
];

/// As `kc.sh` starts it.
pub const KEYCLOAK_FLAGS: [&str; 5] = [
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--add-opens=java.base/java.security=ALL-UNNAMED",
    "-Djava.util.logging.manager=org.jboss.logmanager.LogManager",
    "-Djava.util.concurrent.ForkJoinPool.common.threadFactory=io.quarkus.bootstrap.forkjoin.QuarkusForkJoinWorkerThreadFactory",
];

/// The packages of `java.base` that Spark's launcher opens (`org.apache.spark.launcher.JavaModuleOptions`): without them a cached table that has
/// to leave a small heap cannot be written.
const SPARK_OPENS: [&str; 13] = [
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar",
];

impl Application {
    pub fn named(name: &str) -> Option<&'static Application> {
        APPLICATIONS.iter().find(|application| application.name == name)
    }

    /// Whether it records what each of its calls takes.
    pub fn records_calls(&self) -> bool {
        self.needs == Needs::Compiler
    }

    /// The words of its command line behind the JVM's flags of a run, up to and with its own options but those of time. `scratch` is
    /// for what it unpacks. An error where this JDK cannot run it, or where something that it needs was not fetched or built.
    pub fn arguments(&self, jdk: &Jdk, install: &Install, scratch: &Path) -> Result<Vec<OsString>> {
        self.arguments_on(jdk.feature, jdk.has_compiler, install, scratch)
    }

    fn arguments_on(
        &self,
        jdk: u32,
        has_compiler: bool,
        install: &Install,
        scratch: &Path,
    ) -> Result<Vec<OsString>> {
        let jar = install.applications()?;
        let folder = jar.parent().unwrap_or(Path::new("/"));
        let mut flags: Vec<OsString> = vec![
            "--enable-native-access=ALL-UNNAMED".into(),
            format!("-Djna.tmpdir={}", scratch.display()).into(),
            // A program that is killed leaves what it has unpacked: whoever owns the folder removes it.
            format!("-Djava.io.tmpdir={}", scratch.display()).into(),
        ];
        let mut more = Vec::new();
        let mut libraries: Vec<String> = Vec::new();
        match self.needs {
            Needs::Nothing => {}
            Needs::Compiler if !has_compiler => {
                return Err(Error::failed(format!(
                    "JDK {jdk} has no compiler; specify a full JDK with --java"
                )));
            }
            Needs::Sources | Needs::Compiler => {
                more.extend(["--sources".into(), install.sources()?.into_os_string()]);
            }
            Needs::Callbacks => {
                there(
                    &folder.join("libterrace-callbacks.so"),
                    "install a C compiler (cc), then fetch them again with",
                )?;
            }
            Needs::Lucene => {
                let lucene = if jdk >= LUCENE_10 { "lucene-10" } else { "lucene-9" };
                libraries.extend(["terrace-lucene.jar".to_owned(), format!("{lucene}/*")]);
            }
            Needs::Spark => {
                let open = |package| format!("--add-opens=java.base/{package}=ALL-UNNAMED").into();
                flags.extend(SPARK_OPENS.map(open));
                libraries.extend(["terrace-spark.jar".to_owned(), "spark/*".to_owned()]);
            }
            Needs::Keycloak => {
                flags.extend(KEYCLOAK_FLAGS.map(OsString::from));
                libraries.push("keycloak/lib/quarkus-run.jar".to_owned());
            }
        }
        // A library's folder, or its jar.
        for library in &libraries {
            there(&folder.join(library.trim_end_matches("/*")), "fetch them again with")?;
        }
        let paths = libraries.iter().map(|library| folder.join(library)).chain([jar.clone()]);
        let class_path = std::env::join_paths(paths).map_err(|_| {
            Error::failed(format!("{}: not usable in a class path; move it", folder.display()))
        })?;
        flags.extend(["-cp".into(), class_path, MAIN.into(), self.name.into()]);
        flags.extend(more);
        Ok(flags)
    }
}

fn there(path: &Path, remedy: &str) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    Err(Error::failed(format!("{} not found; {remedy} 'cargo xtask applications --fetch'", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn each_has_its_class_path_and_says_what_it_lacks() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("applications");
        fs::create_dir_all(folder.join("lucene-10")).unwrap();
        for jar in ["terrace-applications.jar", "terrace-lucene.jar"] {
            fs::write(folder.join(jar), "").unwrap();
        }
        let install = Install::at(vec![place.path().into()]);
        let line = |name: &str, feature| {
            let arguments =
                Application::named(name).unwrap().arguments_on(feature, false, &install, place.path())?;
            let words: Vec<String> =
                arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            Ok::<_, Error>(words.join(" "))
        };
        let lucene = line("lucene", 25).unwrap();
        assert!(lucene.contains("terrace-lucene.jar:") && lucene.contains("lucene-10/*:"), "{lucene}");
        assert!(lucene.ends_with("terrace-applications.jar terrace.applications.Main lucene"), "{lucene}");
        let temporary = format!("-Djava.io.tmpdir={} ", place.path().display());
        assert!(
            lucene.contains(&temporary),
            "what it leaves when it is killed is removed with the folder: {lucene}"
        );
        let lacks = |name: &str, feature, what: &str| {
            let error = line(name, feature).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        };
        lacks("lucene", 17, "lucene-9 not found; fetch them again");
        lacks("callbacks-jni", 17, "C compiler");
        lacks("javac", 17, "JDK 17 has no compiler");
        lacks("keycloak", 25, "--fetch");
        assert!(Application::named("h3").is_none());
    }
}
