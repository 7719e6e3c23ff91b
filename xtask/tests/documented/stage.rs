//! The folder in which commands are run.

use crate::exceptions::Instead::{self, Elsewhere, Left, Read, With};
use crate::found::root;
use crate::read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A JVM that runs until this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The folder, and what runs beside it.
pub struct Stage {
    folder: tempfile::TempDir,
    release: PathBuf,
    path: std::ffi::OsString,
    with_terrace: Option<Running>,
    stock: Option<Running>,
}

const LIBRARY: &str = "libterrace.so";
/// A JVM that has no agent yet.
const STOCK: &str = "exec java -XX:+EnableDynamicAgentLoading -Xmx64m -jar app.jar";
const APP: &str = r#"
/** Allocates for APP_SECONDS. */
public final class App {
    static volatile Object sink;

    public static void main(String[] args) {
        System.out.println("ready");
        String seconds = System.getenv("APP_SECONDS");
        long end = System.nanoTime() + (long) (Double.parseDouble(seconds) * 1e9);
        while (System.nanoTime() - end < 0) {
            for (int i = 0; i < 1000; i++) {
                sink = new byte[64];
            }
        }
    }
}
"#;

impl Stage {
    /// `None`, and a line that says why, without a JDK or the built agent.
    pub fn set() -> Option<Stage> {
        let release = Path::new(env!("CARGO_BIN_EXE_xtask")).parent()?.to_owned();
        let needed = ["terrace", LIBRARY, "terrace.jar", "terrace-benchmarks.jar", "terrace-jmh.jar"];
        if let Some(missing) = needed.iter().find(|name| !release.join(name).is_file()) {
            skips::skip!("{missing} is not built; run cargo xtask build");
            return None;
        }
        let jdk = jvm::jdk::discover()
            .into_iter()
            .find(|jdk| jdk.tool("javac").is_some() && [17, 21, 25].contains(&jdk.feature));
        let Some(jdk) = jdk else {
            skips::skip!("no JDK 17, 21 or 25 with a compiler (javac) found");
            return None;
        };
        let bin = jdk.java().parent()?.to_owned();
        let old = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths([release.clone(), bin].into_iter().chain(std::env::split_paths(&old)))
                .ok()?;
        let folder = tempfile::tempdir().ok()?;
        let mut stage = Stage { folder, release, path, with_terrace: None, stock: None };
        let file = |name: &str| stage.folder.path().join(name);
        for name in needed[3..].iter().chain([&LIBRARY]) {
            std::os::unix::fs::symlink(stage.release.join(name), file(name)).unwrap();
        }
        // For make, whose files are the workspace's own.
        std::os::unix::fs::symlink(root().join("crates"), file("crates")).unwrap();
        std::fs::write(file("App.java"), APP).unwrap();
        std::fs::copy(stage.release.join("terrace.jar"), file("terrace.jar")).unwrap();
        std::fs::write(file("build.sh"), "#!/bin/sh\nexec java -Xmx64m -jar app.jar\n").unwrap();
        // As much of an archive as it takes to run (xtask/src/dist/stage.rs).
        let archive: &str = concat!("terrace-", env!("CARGO_PKG_VERSION"), "-linux-x64");
        let built = |name: &str| quoted(&stage.release.join(name));
        for command in [
            "chmod +x build.sh",
            "javac App.java",
            "jar cfe app.jar App App.class",
            "terrace lab run --out A atomics --only 'operation=lock xadd' --only threads=1 --only layout=shared",
            "cp -r A B",
            &format!("mkdir -p {archive}/bin {archive}/lib"),
            &format!("ln -s {} {archive}/bin/ && ln -s {} {archive}/lib/", built("terrace"), built(LIBRARY)),
            &format!("tar -czhf {archive}.tar.gz {archive} && rm -r {archive}"),
        ] {
            succeeded(command, &stage.run(command, "0")).unwrap();
        }
        stage.with_terrace = Some(stage.start("exec terrace run -- java -Xmx64m -jar app.jar"));
        stage.stock = Some(stage.start(STOCK));
        Some(stage)
    }

    fn shell(&self, command: &str, seconds: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(self.folder.path()).env("PATH", &self.path);
        shell.env("APP_SECONDS", seconds).env("XDG_CACHE_HOME", self.folder.path()).stdin(Stdio::null());
        for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "TERRACE_HOME"] {
            shell.env_remove(variable);
        }
        shell
    }

    pub fn run(&self, command: &str, seconds: &str) -> Output {
        self.shell(command, seconds).output().unwrap()
    }

    /// A program that says when it is ready.
    fn start(&self, command: &str) -> Running {
        use std::io::BufRead;
        let mut child = self.shell(command, "1e6").stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said, "ready\n", "{command}");
        Running(child)
    }

    /// The command with its placeholders filled in.
    fn filled(&self, command: &str, fresh: &Option<Running>) -> String {
        let running = match command.starts_with("jcmd") {
            true => &self.stock,
            false if fresh.is_some() => fresh,
            false => &self.with_terrace,
        };
        let pid = running.as_ref().map_or(0, |running| running.0.id()).to_string();
        // By its link in the folder: `jcmd` splits a path with blanks, whatever the shell does.
        let library = quoted(&self.folder.path().join(LIBRARY));
        let jar = format!("-javaagent:{}", quoted(&self.release.join("terrace.jar")));
        let mut filled = command.to_owned();
        for (placeholder, value) in [
            ("/path/to/lib/libterrace.so", library.as_str()),
            ("/path/to/libterrace.so", library.as_str()),
            ("-javaagent:terrace.jar", jar.as_str()),
            ("key=value,key=value ...", "core=64k,tlab=4k"),
            ("key=value,...", "core=64k,tlab=4k"),
            (" PID", &format!(" {pid}")),
            ("/proc/PID/", &format!("/proc/{pid}/")),
            ("NAME...", "latency"),
            (" NAME", " paper-4x10x2"),
            (" DIR", " A"),
            ("--seconds N", "--seconds 1"),
            ("--machine M", "--machine paper-4x10x2"),
        ] {
            filled = filled.replace(placeholder, value);
        }
        filled
    }

    /// Runs a command as its declaration says. The error is what it printed.
    pub fn execute(&self, command: &str, instead: Option<Instead>) -> Result<(), String> {
        // An agent stays where it is: each attaching has a JVM of its own.
        let into_stock = ["terrace attach", "terrace doctor PID", "java -jar terrace.jar attach"]
            .iter()
            .any(|begin| command.starts_with(begin));
        let fresh = into_stock.then(|| self.start(STOCK));
        let filled = self.filled(command, &fresh);
        match instead {
            None => {
                let output = self.run(&filled, "0.3");
                succeeded(&filled, &output)?;
                let said = String::from_utf8_lossy(&output.stdout);
                let loaded = !command.contains("JVMTI.agent_load") || said.contains("return code: 0");
                loaded.then_some(()).ok_or_else(|| format!("{filled}: {said}"))
            }
            Some(With(word, more)) => {
                assert!(filled.contains(word));
                let filled = filled.replacen(word, &format!("{word} {more}"), 1);
                succeeded(&filled, &self.run(&filled, "1e6"))
            }
            Some(Read) => read::words(self, &filled),
            Some(Elsewhere(test)) => match root().join(test).is_file() {
                true => Ok(()),
                false => Err(format!("{command}: there is no {test}")),
            },
            Some(Left) => Ok(()),
        }
    }
}

/// A path as a word of a shell; as it is, where that is one.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+".contains(letter);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[test]
fn a_path_with_blanks_and_quotes_is_one_word() {
    for path in ["/opt/terrace-0.1.0", "/home/an other/it's $HOME"] {
        let output =
            Command::new("sh").args(["-c", &format!("printf %s {}", quoted(Path::new(path)))]).output();
        assert_eq!(String::from_utf8_lossy(&output.unwrap().stdout), path);
    }
    assert_eq!(quoted(Path::new("/opt/terrace-0.1.0")), "/opt/terrace-0.1.0");
}

pub fn succeeded(command: &str, output: &Output) -> Result<(), String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, errors) = (text(&output.stdout), text(&output.stderr));
    match output.status.success() && !errors.contains("panicked") {
        true => Ok(()),
        false => Err(format!("{command}: {}\n{said}{errors}", output.status)),
    }
}
