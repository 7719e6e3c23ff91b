//! A JVM that runs, with a time limit.

use crate::jdk::Jdk;
use crate::report::Report;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// No launch takes this long, unless it hangs: a quiet machine needs a second. A program gives up before that (`limit=`), and what is
/// awaited beside it earlier still, so that the reason is told by who knows it.
const LIMIT: u64 = 900;
const OF_A_PROGRAM: u64 = 700;
const PATIENCE: u64 = 500;
/// For an answer of HotSpot's: longer than anything here waits.
pub const ANSWER: Duration = Duration::from_secs(LIMIT);

/// So many seconds; where an emulator runs the JVMs (`cargo xtask aarch64`), six times as many.
fn seconds(usual: u64) -> Duration {
    Duration::from_secs(if std::env::var_os("TERRACE_MACHINE").is_some() { 6 * usual } else { usual })
}

/// For a tool of the JDK: it gives a JVM 10 s to listen, which is little beside heaps that are verified.
pub fn patience() -> String {
    format!("-J-Dsun.tools.attach.attachTimeout={}", ANSWER.as_millis())
}

/// A running JVM, in a directory of its own.
pub struct Running<'a> {
    pub jdk: &'a Jdk,
    pub directory: &'a Path,
    pub command: String,
    child: Child,
    begin: Instant,
}

/// What it left behind.
pub struct Finished {
    pub command: String,
    pub directory: PathBuf,
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

fn read(directory: &Path, name: &str) -> String {
    String::from_utf8_lossy(&std::fs::read(directory.join(name)).unwrap_or_default()).into_owned()
}

impl<'a> Running<'a> {
    pub fn start(jdk: &'a Jdk, directory: &'a Path, mut command: Command) -> Result<Running<'a>, String> {
        let file =
            |name: &str| std::fs::File::create(directory.join(name)).map_err(|error| error.to_string());
        command.current_dir(directory).stdin(Stdio::null()).stdout(file("stdout")?).stderr(file("stderr")?);
        for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"] {
            command.env_remove(variable);
        }
        command.env("LIMIT", seconds(OF_A_PROGRAM).as_secs().to_string());
        let shown = format!("{command:?}");
        let child = command.spawn().map_err(|error| format!("{shown}: {error}"))?;
        Ok(Running { jdk, directory, command: shown, child, begin: Instant::now() })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has written so far.
    pub fn stdout(&self) -> String {
        read(self.directory, "stdout")
    }

    pub fn stderr(&self) -> String {
        read(self.directory, "stderr")
    }

    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until the program says so on standard output; false if it ended before.
    pub fn wait_for(&mut self, text: &str) -> bool {
        self.wait_until(text, |running| Ok(running.stdout().contains(text))).is_ok()
    }

    /// Waits for evidence, however long it takes; an error if it has not come when the program has ended, or for too long.
    pub fn wait_until(
        &mut self,
        what: &str,
        mut is_there: impl FnMut(&mut Self) -> Result<bool, String>,
    ) -> Result<(), String> {
        let begin = Instant::now();
        loop {
            // The last look comes after the end.
            let last = !self.is_running() || begin.elapsed() > seconds(PATIENCE);
            if is_there(self)? {
                return Ok(());
            }
            if last {
                let when = if self.is_running() {
                    format!("for {:?}", seconds(PATIENCE))
                } else {
                    "to the end".into()
                };
                return Err(format!("waited {when} in vain: {what}"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the program stands at a mark, looks at it, and lets it go on.
    pub fn at(
        &mut self,
        mark: &str,
        look: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        if !self.wait_for(&format!("at {mark}\n")) {
            return Err(format!("the program never came to {mark}"));
        }
        look(self)?;
        std::fs::write(self.directory.join(mark), "").map_err(|error| error.to_string())
    }

    /// Tells a program with `until=released` that what is done from outside has been done: its time begins to count.
    pub fn release(&self) {
        let _ = std::fs::write(self.directory.join("released"), "");
    }

    /// A tool of the same JDK that speaks to this JVM.
    pub fn tool(&self, name: &str, arguments: &[&str]) -> Result<String, String> {
        let path = self.jdk.tool(name).ok_or_else(|| format!("{name}: this JDK does not have it"))?;
        let output = Command::new(path)
            .args(["-J-Xmx64m", "-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1"])
            .arg(patience())
            .args(arguments)
            .output()
            .map_err(|error| error.to_string())?;
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if output.status.success() { Ok(text) } else { Err(format!("{name} {arguments:?}: {text}")) }
    }

    /// `jcmd PID ...`.
    pub fn jcmd(&self, arguments: &[&str]) -> Result<String, String> {
        let pid = self.pid().to_string();
        let mut all = vec![pid.as_str()];
        all.extend(arguments);
        self.tool("jcmd", &all)
    }

    /// Waits for the end. A JVM that does not end is a failure, told with its threads' stacks.
    pub fn finish(mut self) -> Result<Finished, String> {
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if self.begin.elapsed() > seconds(LIMIT) => return Err(self.hang()),
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                Err(error) => return Err(error.to_string()),
            }
        };
        Ok(Finished {
            command: std::mem::take(&mut self.command),
            directory: self.directory.to_owned(),
            status,
            stdout: read(self.directory, "stdout"),
            stderr: read(self.directory, "stderr"),
        })
    }

    fn hang(&mut self) -> String {
        let pid = self.pid();
        // A JVM that does not answer would make jstack wait, too.
        let stacks = Command::new("timeout")
            .arg("10")
            .arg(self.jdk.tool("jstack").unwrap_or_else(|| "jstack".into()))
            .arg(pid.to_string())
            .output()
            .map_or_else(
                |error| error.to_string(),
                |output| String::from_utf8_lossy(&output.stdout).into_owned(),
            );
        let waits: Vec<String> = std::fs::read_dir(format!("/proc/{pid}/task"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|task| {
                let file = |name: &str| std::fs::read_to_string(task.path().join(name)).unwrap_or_default();
                format!("{}: {}", file("comm").trim(), file("wchan").trim())
            })
            .collect();
        format!(
            "hangs for {:?}\n{}\n{}\nstacks:\n{}",
            seconds(LIMIT),
            self.command,
            waits.join("; "),
            tail(&stacks, 200)
        )
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // Nothing may survive a case that gave up half-way; one that has ended is not touched.
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// A number in a line of `key=number`.
pub fn number(line: &str, key: &str) -> Option<u64> {
    line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
}

/// The last lines of a text.
pub fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

impl Finished {
    /// The agent's report.
    pub fn report(&self) -> Result<Report, String> {
        let text = std::fs::read_to_string(self.directory.join("report.json"))
            .map_err(|error| format!("no report: {error}"))?;
        Report::read(&text)
    }

    /// A number of the program's last line, `key=number`.
    pub fn printed(&self, key: &str) -> Result<u64, String> {
        number(&self.stdout, key).ok_or_else(|| format!("the program did not print {key}="))
    }

    /// All that helps to see why a launch failed.
    pub fn describe(&self, why: &str) -> String {
        let mut text = format!("{why}\n{}\n{}", self.command, self.status);
        for (name, content) in [("standard output", &self.stdout), ("standard error", &self.stderr)] {
            text += &format!("\n-- {name}:\n{}", tail(content, 40));
        }
        if let Ok(crash) = std::fs::read_to_string(self.directory.join("hs_err.log")) {
            text += &format!("\n-- hs_err:\n{}", crash.lines().take(70).collect::<Vec<_>>().join("\n"));
        }
        text
    }
}
