//! Programs that are waited for. A signal that asks us to stop goes on to them, and ends us, too.

use jvm::os::{self, Exit};
use jvm::{Error, Result};
use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

/// How long a signal may go unseen that another thread of ours got.
const LOOK: Duration = Duration::from_millis(500);
/// How often an end is looked for where it cannot be waited for.
const POLL: Duration = Duration::from_millis(5);
/// How long a program may take to end when asked to: `terrace lab run` ends its JVMs first.
const GRACE: Duration = Duration::from_secs(90);

/// An error once a signal has asked us to stop: nothing new is begun then.
pub fn go_on() -> Result<()> {
    os::stopped_by().map_or(Ok(()), |signal| Err(Error::interrupted(signal)))
}

/// Waits for so long, and no longer than until a signal asks us to stop.
pub fn pause(length: Duration) -> Result<()> {
    let deadline = Instant::now() + length;
    loop {
        go_on()?;
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(LOOK));
    }
}

/// Waits for a child's end. One that ended well is an error, too, once a signal has asked us to stop.
pub fn wait(child: &mut Child) -> Result<ExitStatus> {
    ended(child)?;
    let status = child.wait().map_err(lost)?;
    go_on().map(|()| status)
}

/// Waits until a child has ended, and tells how. The child is left to be waited for.
pub fn ended(child: &Child) -> Result<Exit> {
    let ending = os::ending(child.id()).ok();
    let mut passed_on: Option<Instant> = None;
    loop {
        if let Some(exit) = os::ended(child.id()).map_err(lost)? {
            return Ok(exit);
        }
        match (os::stopped_by(), passed_on) {
            (Some(signal), None) => {
                // A terminal sends its signal to all of us, `kill` to us alone.
                pass_on(child, signal);
                passed_on = Some(Instant::now());
            }
            (Some(_), Some(since)) if since.elapsed() > GRACE => pass_on(child, os::KILL),
            _ => {}
        }
        match &ending {
            Some(ending) => os::sleep_until(ending, LOOK),
            None => std::thread::sleep(POLL),
        }
    }
}

/// Runs a program to its end, with nothing to read; gives back what it printed into the pipes that the command has.
pub fn output(command: &mut Command) -> Result<Output> {
    go_on()?;
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| Error::failed(format!("{name}: {error}; install it, or put it on PATH")))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let printed = [scope.spawn(|| all_of(stdout)), scope.spawn(|| all_of(stderr))];
        let status = wait(&mut child);
        let [stdout, stderr] = printed.map(|reader| reader.join().unwrap_or_default());
        Ok(Output { status: status?, stdout, stderr })
    })
}

fn all_of(stream: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        // What was read before an error is what there is.
        let _ = stream.read_to_end(&mut bytes);
    }
    bytes
}

fn lost(error: std::io::Error) -> Error {
    Error::failed(format!("waiting for a program: {error}; try again"))
}

/// Signals a child and what it started, as far as a terminal's Ctrl-C would: cargo does not tell its children. Who is in a group of his own is
/// ended by whoever put him there.
fn pass_on(child: &Child, signal: i32) {
    let parents = our_group();
    let below = |pid: u32| {
        let line = std::iter::successors(parents.get(&pid).copied(), |pid| parents.get(pid).copied());
        // A process number that was given out again cannot make it endless.
        line.take(parents.len()).any(|pid| pid == child.id())
    };
    // Found before the first is told: whose parent has ended is below nobody.
    let all: Vec<u32> = parents.keys().copied().filter(|pid| below(*pid)).chain([child.id()]).collect();
    all.into_iter().for_each(|pid| os::signal(pid, signal));
}

/// The processes of our group, each with its parent.
fn our_group() -> BTreeMap<u32, u32> {
    const PARENT: usize = 4;
    const GROUP: usize = 5;
    let ours: Option<u32> = os::stat(std::process::id(), GROUP);
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| os::stat(*pid, GROUP) == ours)
        .filter_map(|pid| Some((pid, os::stat(pid, PARENT)?)))
        .collect()
}
