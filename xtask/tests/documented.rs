//! Every command line of README, CONTRIBUTING and docs is executed as it stands there.
//!
//! A command is a line that begins with `$ ` in a fenced `console` block, or a span in backticks that begins with one of
//! [`PROGRAMS`]. It is run by a shell in a folder that has an `app.jar`, `terrace.jar`, benchmarks, a `build.sh` and the results of two lab runs, with the
//! placeholders of [`Stage::filled`] filled in; of a command that is only named (`terrace on`) the help is read. What is treated
//! otherwise is declared in [`EXCEPTIONS`], with the reason; a declaration that no document needs any more fails, too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const PROGRAMS: [&str; 6] =
    ["cargo xtask ", "terrace ", "target/release/terrace ", "jcmd ", "java ", "time "];

/// What is done with a command line other than running it as it stands there.
#[derive(Clone, Copy)]
enum Instead {
    /// Run with these words behind the given one: the documented words all stay.
    With(&'static str, &'static str),
    /// Its words are read (`--help` stands behind them), and nothing is done.
    Read,
    /// Not touched at all.
    Left,
}
use Instead::{Left, Read, With};

/// Documented text (with a star: and whatever follows), what is done, and why.
const EXCEPTIONS: &[(&str, Instead, &str)] = &[
    (
        "cargo xtask *",
        Read,
        "builds, tests or measures for minutes; continuous integration runs 'cargo xtask test' itself",
    ),
    ("terrace compare -- java *", With("compare", "--duration 2s --warmup 0s"), "20 s by default"),
    (
        "terrace compare --b *",
        With("compare", "--fork-seconds 1s --duration 4s --warmup 0s"),
        "a minute by default",
    ),
    (
        "terrace compare --a *",
        With("compare", "--fork-seconds 1s --duration 4s --warmup 0s"),
        "a minute by default",
    ),
    (
        "terrace compare --a terrace --b stock --workload churn *",
        Read,
        "the command of a kept result, three minutes",
    ),
    ("terrace compare --a SIDE *", Read, "names of placeholders"),
    ("terrace doctor PID", With("doctor", "--seconds 2s"), "30 s by default"),
    ("terrace doctor PID --verify", With("doctor", "--seconds 2s --duration 4s"), "a minute by default"),
    ("terrace doctor -- java *", With("doctor", "--seconds 2s --warmup 0s"), "half a minute by default"),
    (
        "terrace doctor --verify -- java *",
        With("doctor", "--seconds 2s --warmup 0s --duration 4s"),
        "a minute for each remedy by default",
    ),
    (
        "terrace doctor --workload *",
        Read,
        "tries remedies for minutes; the command's own tests do it shortly",
    ),
    (
        "java -cp benchmarks.jar:terrace-jmh.jar *",
        With("org.openjdk.jmh.Main", "-f 1 -wi 1 -w 100ms -i 2 -r 100ms"),
        "minutes by JMH's defaults",
    ),
    ("terrace lab run *", Read, "measures for minutes; the command's own tests run single cells"),
    ("terrace lab machine *", Read, "needs measured latencies, which take a minute"),
    (
        "terrace sim evaluate *",
        Read,
        "simulates hundreds of cells; the simulator's own tests hold it to its sources",
    ),
    ("terrace sim run", Read, "the command's name alone"),
    ("terrace sim sweep", Read, "the command's name alone"),
    ("terrace sim explain", Read, "the command's name alone"),
    ("terrace sim explain --timeline FILE", Read, "an option alone"),
    (
        "jcmd PID JVMTI.agent_load",
        Left,
        "the command's name alone: without a library there is nothing to load",
    ),
    ("terrace sim run ...", Left, "stands for the lines above it"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// Each command, and where it stands.
fn documented() -> BTreeMap<String, String> {
    let mut files = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    for folder in ["docs", "docs/decisions"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        files.extend(entries.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    let mut found = BTreeMap::new();
    for file in files {
        let name = file.strip_prefix(root()).unwrap().display().to_string();
        for (number, command) in commands(&std::fs::read_to_string(&file).unwrap()) {
            found.entry(command).or_insert(format!("{name}:{number}"));
        }
    }
    found
}

fn commands(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (number, line) in text.lines().enumerate() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = fence.is_none().then_some(language.trim());
        } else if let Some(language) = fence {
            if ["console", "sh", "bash"].contains(&language) {
                let command = line.strip_prefix("$ ").unwrap_or_else(|| {
                    panic!(
                        "line {}: a command begins with '$ ', and what it prints is a block of text: {line}",
                        number + 1
                    )
                });
                let command = command.split("  #").next().unwrap_or(command);
                found.push((number + 1, command.trim().to_owned()));
            }
        } else {
            let spans = line.split('`').skip(1).step_by(2);
            let is_command = |span: &&str| PROGRAMS.iter().any(|program| span.starts_with(program));
            found.extend(spans.filter(is_command).map(|span| (number + 1, span.to_owned())));
        }
    }
    // The command's place is the same whether it is said or not.
    found
        .into_iter()
        .map(|(number, command)| (number, command.replace("target/release/terrace", "terrace")))
        .collect()
}

/// A command that is only named: `terrace on`.
fn is_named(command: &str) -> bool {
    command.strip_prefix("terrace ").is_some_and(|rest| !rest.contains(' ') && !rest.starts_with('-'))
}

/// The declaration for a command, the most special one that fits.
fn exception(command: &str) -> Option<usize> {
    let fits = |text: &str| match text.strip_suffix(" *") {
        Some(begin) => {
            command.strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        }
        None => text == command,
    };
    let fitting = EXCEPTIONS.iter().enumerate().filter(|(_, (text, ..))| fits(text));
    fitting.max_by_key(|(_, (text, ..))| (!text.ends_with('*'), text.len())).map(|(at, _)| at)
}

/// A JVM that runs until this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The folder in which commands are run.
struct Stage {
    folder: tempfile::TempDir,
    release: PathBuf,
    path: std::ffi::OsString,
    with_terrace: Option<Running>,
    stock: Option<Running>,
}

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
    fn set() -> Option<Stage> {
        let release = Path::new(env!("CARGO_BIN_EXE_xtask")).parent()?.to_owned();
        let needed = ["terrace", "libterrace.so", "terrace.jar", "terrace-benchmarks.jar", "terrace-jmh.jar"];
        if let Some(missing) = needed.iter().find(|name| !release.join(name).is_file()) {
            skips::skip!("{missing} is not built; run cargo xtask build");
            return None;
        }
        let jdk = jvm::jdk::discover()
            .into_iter()
            .find(|jdk| jdk.has_compiler && [17, 21, 25].contains(&jdk.feature));
        let Some(jdk) = jdk else {
            skips::skip!("no JDK 17, 21 or 25 with a compiler found");
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
        for (name, jar) in [("benchmarks.jar", needed[3]), ("terrace-jmh.jar", needed[4])] {
            std::os::unix::fs::symlink(stage.release.join(jar), file(name)).unwrap();
        }
        std::fs::write(file("App.java"), APP).unwrap();
        std::fs::copy(stage.release.join("terrace.jar"), file("terrace.jar")).unwrap();
        std::fs::write(file("build.sh"), "#!/bin/sh\nexec java -Xmx64m -jar app.jar\n").unwrap();
        for command in [
            "chmod +x build.sh",
            "javac App.java",
            "jar cfe app.jar App App.class",
            "terrace lab run --out A atomics --only 'operation=lock xadd' --only threads=1 --only layout=shared",
            "cp -r A B",
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

    fn run(&self, command: &str, seconds: &str) -> Output {
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
        let library = self.release.join("libterrace.so").display().to_string();
        let jar = format!("-javaagent:{}", self.release.join("terrace.jar").display());
        let mut filled = command.to_owned();
        for (placeholder, value) in [
            ("/path/to/lib/libterrace.so", library.as_str()),
            ("/path/to/libterrace.so", library.as_str()),
            ("-javaagent:terrace.jar", jar.as_str()),
            ("key=value,...", "core=64k,tlab=4k"),
            (" PID", &format!(" {pid}")),
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
    fn execute(&self, command: &str, instead: Option<Instead>) -> Result<(), String> {
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
            Some(Read) => {
                // What is redirected is not made.
                let words = filled.split(" > ").next().unwrap_or(&filled);
                let words = words.replacen("cargo xtask", env!("CARGO_BIN_EXE_xtask"), 1);
                let output = self.run(&format!("{words} --help"), "0");
                succeeded(&words, &output)?;
                let taught = String::from_utf8_lossy(&output.stdout).contains("Usage:");
                taught.then_some(()).ok_or_else(|| format!("{words}: no usage is shown"))
            }
            Some(Left) => Ok(()),
        }
    }
}

fn succeeded(command: &str, output: &Output) -> Result<(), String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, errors) = (text(&output.stdout), text(&output.stderr));
    match output.status.success() && !errors.contains("panicked") {
        true => Ok(()),
        false => Err(format!("{command}: {}\n{said}{errors}", output.status)),
    }
}

#[test]
fn every_command_line_works() {
    let found = documented();
    assert!(found.len() > 30, "{found:#?}");
    let mut used = vec![false; EXCEPTIONS.len()];
    let chosen: Vec<(&String, &String, Option<usize>)> =
        found.iter().map(|(command, place)| (command, place, exception(command))).collect();
    chosen.iter().filter_map(|(_, _, at)| *at).for_each(|at| used[at] = true);
    for (used, (text, ..)) in used.into_iter().zip(EXCEPTIONS) {
        assert!(used, "'{text}' is declared, and no document has it");
    }
    let Some(stage) = Stage::set() else { return };
    let mut failed = Vec::new();
    for (command, place, at) in chosen {
        let since = std::time::Instant::now();
        println!("{place}: {command}");
        let instead = at.map(|at| EXCEPTIONS[at].1).or_else(|| is_named(command).then_some(Read));
        failed.extend(stage.execute(command, instead).err().map(|error| format!("{place}: {error}")));
        if since.elapsed() > Duration::from_secs(1) {
            println!("    {:.1} s", since.elapsed().as_secs_f64());
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn commands_are_found_in_blocks_and_in_backticks() {
    let text = "A `terrace status PID`, `no` and `java x`.\n```console\n$ cargo xtask demo   # measures\n```\n```text\nterrace x\n```\n";
    assert_eq!(
        commands(text),
        [(1, "terrace status PID".into()), (1, "java x".into()), (3, "cargo xtask demo".into())]
    );
}
