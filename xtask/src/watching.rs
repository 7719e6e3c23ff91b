//! What watching costs: `terrace top` beside many JVMs, and what the Flight Recorder asks of the jar each second.

use crate::child::pause;
use crate::files::write;
use crate::measure::{publish, spread};
use crate::places::{self, installed};
use crate::shell::works;
use crate::{build, jdks};
use jvm::jdk::Jdk;
use jvm::{Error, Result, os};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long, and beside how many.
#[derive(clap::Args)]
pub struct Arguments {
    /// JVMs that `terrace top` shows
    #[arg(long, value_name = "N", default_value_t = 20)]
    jvms: usize,
    /// How long each value is measured
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    seconds: u64,
    /// Values of each row
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    values: usize,
}

/// Until a JVM or `top` has done what it does once.
const WARM_UP: Duration = Duration::from_secs(10);

/// Allocates a little, so that there is something to count.
const PROGRAM: &str = "final class Idle {
    static byte[] last;
    public static void main(String[] words) throws InterruptedException {
        while (true) {
            last = new byte[1 << 16];
            Thread.sleep(100);
        }
    }
}
";

/// Ended with whoever holds it.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Result<Running> {
        let program = command.get_program().display().to_string();
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| Error::failed(format!("{program}: {error}")))?;
        Ok(Running(child))
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Measures, and writes a run that `cargo xtask results` takes.
pub fn run(arguments: &Arguments) -> Result<()> {
    build::all()?;
    let folder = tempfile::tempdir().map_err(|error| Error::failed(format!("a folder: {error}")))?;
    write(folder.path().join("Idle.java"), PROGRAM)?;
    let jdks: Vec<Jdk> = jdks::all().into_iter().filter(|jdk| compiler(jdk).is_file()).collect();
    let newest = jdks
        .iter()
        .max_by_key(|jdk| jdk.feature)
        .ok_or_else(|| Error::failed("no JDK with a compiler (javac) found: install one"))?;
    let oldest = jdks.iter().min_by_key(|jdk| jdk.feature).unwrap_or(newest);
    // What the older one compiles, the newer one runs.
    if !works(
        Command::new(compiler(oldest)).arg("-d").arg(folder.path()).arg(folder.path().join("Idle.java")),
    ) {
        return Err(Error::failed(format!("{} cannot compile: reinstall it", compiler(oldest).display())));
    }
    let mut cells = vec![cell(
        &format!("`terrace top`, a frame each second, {} JVMs", arguments.jvms),
        newest.feature,
        &top(arguments, newest, folder.path())?,
    )];
    for jdk in &jdks {
        let values = recorded(arguments, jdk, folder.path())?;
        cells.push(cell("`terrace.BufferStatistics`, each second", jdk.feature, &values));
    }
    publish("watching", &cells)
}

fn compiler(jdk: &Jdk) -> PathBuf {
    jdk.java().with_file_name("javac")
}

fn idle(jdk: &Jdk, folder: &Path, flags: &[String]) -> Result<Running> {
    let mut command = Command::new(jdk.java());
    command.args((jdk.feature >= 24).then_some("--enable-native-access=ALL-UNNAMED"));
    command.arg("-Xmx64m").args(flags).arg("-cp").arg(folder).arg("Idle");
    Running::start(&mut command)
}

/// CPU time of `terrace top`, in percent of one CPU.
fn top(arguments: &Arguments, jdk: &Jdk, folder: &Path) -> Result<Vec<f64>> {
    eprintln!("terrace top beside {} JVMs, {} values", arguments.jvms, arguments.values);
    let agent = format!("-agentpath:{}", installed().agent()?.display());
    let jvms: Result<Vec<Running>> =
        (0..arguments.jvms).map(|_| idle(jdk, folder, std::slice::from_ref(&agent))).collect();
    let _jvms = jvms?;
    // A terminal of the usual size, by util-linux.
    let words = "stty rows 24 cols 80 && exec \"$TERRACE\" top";
    let mut script = Command::new("script");
    script.args(["-qec", words, "/dev/null"]).env("TERM", "xterm-256color").stdin(Stdio::piped());
    // Not among the words: a shell splits what has blanks.
    script.env("TERRACE", places::folder().join("terrace"));
    let terminal = Running::start(&mut script)?;
    pause(WARM_UP)?;
    let shown = descendant(terminal.pid(), "terrace")
        .ok_or_else(|| Error::failed("`terrace top` does not run under `script`: install util-linux"))?;
    let mut cpu = || os::process_cpu(shown).ok_or_else(|| Error::failed("`terrace top` has ended"));
    percents(arguments, &mut cpu)
}

/// CPU time that the event adds to the Flight Recorder's threads in a program that does next to nothing.
fn recorded(arguments: &Arguments, jdk: &Jdk, folder: &Path) -> Result<Vec<f64>> {
    eprintln!("terrace.BufferStatistics on JDK {}, {} values", jdk.feature, arguments.values);
    let jar = format!("-javaagent:{}", installed().jar()?.display());
    let start = |number: usize, enabled: bool| {
        let file = folder.join(format!("{}-{number}-{enabled}.jfr", jdk.feature));
        let recording = format!(
            "-XX:StartFlightRecording:filename={},+terrace.BufferStatistics#enabled={enabled}",
            file.display()
        );
        idle(jdk, folder, &[jar.clone(), recording])
    };
    let pairs: Result<Vec<[Running; 2]>> =
        (0..arguments.values).map(|number| Ok([start(number, true)?, start(number, false)?])).collect();
    let pairs = pairs?;
    pause(WARM_UP)?;
    let read = || pairs.iter().map(|pair| pair.each_ref().map(|jvm| recorder(jvm.pid()))).collect::<Vec<_>>();
    let (since, before) = (Instant::now(), read());
    pause(Duration::from_secs(arguments.seconds))?;
    let (after, wall) = (read(), since.elapsed().as_secs_f64());
    let percent = |(after, before): (&[Option<f64>; 2], &[Option<f64>; 2])| -> Option<f64> {
        let used = |side: usize| Some(after[side]? - before[side]?);
        Some((used(0)? - used(1)?) / wall * 100.0)
    };
    (after.iter().zip(&before).map(percent).collect::<Option<_>>())
        .ok_or_else(|| Error::failed(format!("JDK {}: a JVM has no recording, or has ended", jdk.feature)))
}

/// Several values one after another.
fn percents(arguments: &Arguments, cpu: &mut dyn FnMut() -> Result<Duration>) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    for _ in 0..arguments.values {
        let (since, before) = (Instant::now(), cpu()?);
        pause(Duration::from_secs(arguments.seconds))?;
        values.push((cpu()? - before).as_secs_f64() / since.elapsed().as_secs_f64() * 100.0);
    }
    Ok(values)
}

/// The process of that name below another.
fn descendant(pid: u32, name: &str) -> Option<u32> {
    if std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?.trim() == name {
        return Some(pid);
    }
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    children.split_ascii_whitespace().find_map(|child| descendant(child.parse().ok()?, name))
}

/// Seconds of CPU time that the Flight Recorder's threads have used.
fn recorder(pid: u32) -> Option<f64> {
    let mut found = None;
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let read = |name: &str| std::fs::read_to_string(task.path().join(name)).unwrap_or_default();
        if read("comm").starts_with("JFR ") {
            let nanoseconds: f64 = read("schedstat").split_ascii_whitespace().next()?.parse().ok()?;
            *found.get_or_insert(0.0) += nanoseconds / 1e9;
        }
    }
    found
}

fn cell(what: &str, jdk: u32, values: &[f64]) -> Value {
    json!({ "parameters": { "what": what, "jdk": jdk }, "processes": values.len(), "metrics": { "cpu": spread(values) } })
}
