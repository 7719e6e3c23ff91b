//! The JVMs of one program, seen through their control files.

mod counted;
mod stopped;

use crate::accounts::Accounts;
use crate::agent::{AgentOptions, BufferSize, Levels};
use crate::counts::Counts;
use crate::cpu::{CpuTime, Threads};
use crate::withdraw::withdraw;
use crate::{Error, Result, os};
use control::{Asked, Control, Mode, State};
pub(crate) use counted::{in_force, written};
pub use counted::{requests, served, settings, waste};
use hab::Counter;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stopped::Logs;
use tempfile::TempDir;

/// Enough requests to judge their mean size by.
const MANY: u64 = 10_000;
/// HotSpot's thread buffers are larger than this (`MinTLABSize` is 2 KB); single objects hardly are.
const SMALLEST_TLAB: u64 = 512;

struct Jvm {
    path: PathBuf,
    /// Its number here; in a container it may know itself by another.
    pid: u32,
    control: Control,
    cpu: Option<CpuTime>,
    threads: Threads,
    accounts: Option<Accounts>,
    /// Bytes that its threads had allocated when that was last read.
    allocated: Option<u64>,
}

impl Jvm {
    fn new(path: PathBuf, pid: u32, control: Control) -> Jvm {
        Jvm { path, pid, control, cpu: None, threads: Threads::of(pid), accounts: None, allocated: None }
    }

    fn has_ended(&self) -> bool {
        self.control.state() == Some(State::Ended) || !os::is_running(self.pid)
    }

    /// What objects took, by HotSpot's own accounts, tried for so long at most. `None` of a JVM that runs and whose accounts cannot be read: what was
    /// read last would say that it has done nothing since. Of one that has ended that is all there is. Reserved bytes would count the waste of thread
    /// buffers, too, in which the sides differ.
    fn allocated_within(&mut self, limit: Duration) -> Option<u64> {
        let has_accounts =
            |jvm: &Jvm| matches!(jvm.control.state(), Some(State::Installed | State::Observing));
        if self.accounts.is_none() && has_accounts(self) {
            self.accounts = Accounts::from_settings(self.pid, &settings(&self.control));
        }
        let read = self.accounts.as_mut().and_then(|accounts| accounts.read_within(limit));
        self.allocated = read.or(self.allocated);
        if read.is_none() && has_accounts(self) && os::is_running(self.pid) {
            return None;
        }
        Some(self.allocated.unwrap_or_default())
    }
}

/// For accounts whose threads change while they are read.
const PATIENCE: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(10);

/// Every JVM that a program has started with our agent. Its files are in a directory of ours, which goes with this.
pub struct Jvms {
    directory: TempDir,
    logs: Logs,
    bound: bool,
    levels: Levels,
    mode: Option<Mode>,
    sizes: Option<[BufferSize; 2]>,
    found: Vec<Jvm>,
    /// Whether somebody else has started it: it goes on as it is.
    ran_before: bool,
}

impl Drop for Jvms {
    fn drop(&mut self) {
        if !self.ran_before {
            self.leave();
        }
    }
}

impl Jvms {
    /// A private directory for the control files of a program that will be started with [`Jvms::options`].
    pub fn new() -> Result<Jvms> {
        Ok(Jvms {
            directory: private_directory()?,
            logs: Logs::default(),
            bound: false,
            levels: Levels::Core,
            mode: None,
            sizes: None,
            found: Vec::new(),
            ran_before: false,
        })
    }

    /// A JVM that runs and has the agent.
    pub fn of_process(pid: u32) -> Result<Jvms> {
        let control = Control::of_process(pid)?.ok_or_else(|| {
            Error::failed(format!("process {pid} has no terrace; see 'terrace status {pid}'"))
        })?;
        let mut jvms = Jvms::new()?;
        jvms.ran_before = true;
        jvms.found.push(Jvm::new(PathBuf::new(), pid, control));
        Ok(jvms)
    }

    /// The same options, with control files where we find them, and a JVM that refuses rather than runs without.
    pub fn options(&mut self, options: &AgentOptions) -> AgentOptions {
        self.bound = options.bound;
        self.levels = options.levels();
        let path = self.directory.path().join("%p");
        AgentOptions { control: Some(path.to_string_lossy().into_owned()), strict: true, ..options.clone() }
    }

    /// A place for other files that live as long as this.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Looks for JVMs that are new. One that refused is an error, in the agent's words.
    pub fn refresh(&mut self) -> Result<()> {
        self.look()?;
        self.refusal().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// A JVM whose agent refused, and why.
    pub fn refusal(&self) -> Option<(u32, Error)> {
        let jvm = self.found.iter().find(|jvm| jvm.control.state() == Some(State::Refused))?;
        let why = format!("the agent refused: {}", or_silence(jvm.control.message()));
        Some((jvm.pid, Error::failed(why)))
    }

    /// Looks for JVMs that are new.
    pub fn look(&mut self) -> Result<()> {
        for entry in std::fs::read_dir(self.directory.path()).into_iter().flatten().flatten() {
            let path = entry.path();
            let numbered = path
                .file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| name.parse::<u32>().is_ok());
            if !numbered || self.found.iter().any(|jvm| jvm.path == path) {
                continue;
            }
            // A file that is still being made cannot be opened yet; it is looked at again. One of another version stays so.
            if let Some(error) = control::Error::of_other_version(&path) {
                return Err(error.into());
            }
            if let Ok(control) = Control::open(&path) {
                if let Some(mode) = self.mode {
                    control.set_mode(mode);
                }
                if let Some(sizes) = self.sizes {
                    control.ask_for_sizes(&self.asked(sizes));
                }
                self.found.push(Jvm::new(path, control.process(), control));
            }
        }
        Ok(())
    }

    /// Why an agent has left before it was told to, if one has: what was counted since is of a JVM without it.
    pub fn left(&self) -> Option<String> {
        self.found.iter().find(|jvm| jvm.control.has_lapsed()).map(|jvm| jvm.control.message())
    }

    /// Whether any of them is up, with hooks in place.
    pub fn ready(&self) -> bool {
        self.settled().is_some()
    }

    /// Those that are up and have not ended.
    pub fn living(&self) -> Vec<u32> {
        let lives = |jvm: &&Jvm| {
            matches!(jvm.control.state(), Some(State::Installed | State::Observing))
                && os::is_running(jvm.pid)
        };
        self.found.iter().filter(lives).map(|jvm| jvm.pid).collect()
    }

    /// Those that still live after so long: a program that has ended should leave none.
    pub fn left_behind(&self, limit: Duration) -> Vec<u32> {
        let since = Instant::now();
        loop {
            let living = self.living();
            if living.is_empty() || since.elapsed() >= limit {
                return living;
            }
            std::thread::sleep(STEP);
        }
    }

    /// Has all leave that have outlived the program that started them, as a build tool's daemon does: observers withdraw, buffers are off, and go
    /// with the next collection.
    fn leave(&mut self) {
        // What cannot be read cannot be switched, either.
        let _ = self.look();
        self.switch(Mode::Off);
        for jvm in self.found.iter().filter(|jvm| jvm.control.state() == Some(State::Installed)) {
            jvm.control.ask_to_withdraw();
        }
        let observes = |jvm: &&Jvm| jvm.control.state() == Some(State::Observing) && os::is_running(jvm.pid);
        for jvm in self.found.iter().filter(observes) {
            // Nobody is left to be told; the word in its memory stays.
            let _ = withdraw(jvm.pid, &jvm.control);
        }
    }

    /// All that were found so far, also those that have ended.
    pub fn processes(&self) -> impl Iterator<Item = u32> {
        self.found.iter().map(|jvm| jvm.pid)
    }

    /// One that runs, if there is one, and otherwise the last that was measured: a script's first JVM may only have told it its version.
    fn settled(&self) -> Option<&Jvm> {
        let settled = || {
            self.found.iter().filter(|jvm| {
                matches!(jvm.control.state(), Some(State::Installed | State::Observing | State::Ended))
            })
        };
        let running = settled().find(|jvm| !jvm.has_ended());
        running.or_else(|| settled().rfind(|jvm| self.logs.measures(jvm.pid))).or_else(|| settled().last())
    }

    /// Switches all of them, and those that come later.
    pub fn switch(&mut self, mode: Mode) {
        self.mode = Some(mode);
        self.found.iter().for_each(|jvm| jvm.control.set_mode(mode));
    }

    /// Asks all of them for sizes of core and processor buffers, and those that come later. Asked twice alike, once.
    pub fn ask_for_sizes(&mut self, sizes: [BufferSize; 2]) {
        if self.sizes.replace(sizes) != Some(sizes) {
            let asked = self.asked(sizes);
            self.found.iter().for_each(|jvm| jvm.control.ask_for_sizes(&asked));
        }
    }

    /// Whether the sizes asked for are in force everywhere.
    pub fn have_taken_sizes(&self) -> bool {
        self.found.iter().all(|jvm| jvm.control.has_taken_sizes())
    }

    fn asked(&self, [core, processor]: [BufferSize; 2]) -> Vec<(usize, Asked)> {
        match self.levels {
            Levels::Core => vec![(0, core.asked())],
            Levels::Processor => vec![(0, processor.asked())],
            Levels::Both => vec![(0, core.asked()), (1, processor.asked())],
            Levels::None => vec![],
        }
    }

    /// The settings in force in one of them that is up, of those that run if there are any.
    pub fn settings(&self) -> Value {
        self.settled().map_or(Value::Null, |jvm| settings(&jvm.control))
    }

    /// Why a program that counts no operations has nothing to be compared by, if that is so.
    pub fn uncounted(&self) -> Option<String> {
        // One that only told a script its version may have ended before anyone could read.
        let unread = !self.found.is_empty() && self.found.iter().all(|jvm| jvm.allocated.is_none());
        unread.then(|| {
            "allocated bytes could not be read from the JVM's memory: permit access to it (the same user; kernel.yama.ptrace_scope=0, \
             or 1 for a program that terrace starts; CAP_SYS_PTRACE in a container)"
                .into()
        })
    }

    /// What they have to say: sizes that were reduced, and the like; and what should have been.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for jvm in &self.found {
            let message = jvm.control.message();
            if !message.is_empty() && !notes.contains(&message) {
                notes.push(message);
            }
        }
        let observing = |jvm: &Jvm| jvm.control.state() == Some(State::Observing);
        if self.levels != Levels::None && self.found.iter().any(observing) {
            notes.push("the agent only observed: it installed no buffers".into());
        }
        let requests: u64 = self.found.iter().map(|jvm| jvm.control.total(Counter::Passed)).sum();
        let bytes: u64 = self.found.iter().map(|jvm| jvm.control.total(Counter::PassedBytes)).sum();
        if self.levels == Levels::None && requests > MANY && bytes / requests < SMALLEST_TLAB {
            notes.push(format!(
                "the observed side requested {} bytes from the heap at a time, so it ran without TLABs and is not a typical \
                 baseline; leave out -XX:-UseTLAB",
                bytes / requests
            ));
        }
        if self.found.len() > 1 {
            notes.push(format!("{} JVMs were started; the counters are their sum", self.found.len()));
        }
        notes
    }

    /// Reads what threads have allocated so far, for the time when the JVM has ended.
    pub fn read_accounts(&mut self) {
        self.found.iter_mut().for_each(|jvm| {
            jvm.allocated_within(Duration::ZERO);
        });
    }

    /// Looks for new threads, so that [`Jvms::counts`] tells collectors from the application.
    pub fn refresh_threads(&mut self) {
        self.found.iter_mut().for_each(|jvm| jvm.threads.refresh());
    }

    /// As [`Jvms::counts`], at the end or the beginning of something long: where thousands of threads a second come and go, one attempt to read what
    /// they have allocated often fails, and all of it would have no count.
    pub fn counts_patiently(&mut self) -> Counts {
        let read: Vec<_> = self.found.iter_mut().map(|jvm| jvm.allocated_within(PATIENCE)).collect();
        self.counts_or(&read)
    }

    /// The counters of all of them at this moment. The counters of one that has ended stay.
    pub fn counts(&mut self) -> Counts {
        self.counts_or(&[])
    }

    /// With the bytes that were just read of each where they cannot be read again.
    fn counts_or(&mut self, just_read: &[Option<u64>]) -> Counts {
        let mut counts = Counts { at: os::monotonic(), bytes: Some(0), ..Counts::default() };
        let just_read = just_read.iter().copied().chain(std::iter::repeat(None));
        for (jvm, just_read) in self.found.iter_mut().zip(just_read) {
            let bytes = jvm.allocated_within(Duration::ZERO).or(just_read);
            counts.bytes = counts.bytes.zip(bytes).map(|(sum, bytes)| sum + bytes);
            jvm.cpu = jvm.threads.cpu().or(jvm.cpu);
            let cpu = jvm.cpu.unwrap_or_default();
            counts.cpu = Some(counts.cpu.unwrap_or_default() + cpu.process);
            counts.application_cpu = Some(counts.application_cpu.unwrap_or_default() + cpu.application());
            counts.collections += jvm.control.pauses();
            counts.waste += waste(&jvm.control, self.bound);
            counts.requests += requests(&jvm.control);
        }
        counts
    }
}

fn or_silence(message: String) -> String {
    if message.is_empty() {
        "it gave no reason; see the program's output with --verbose".into()
    } else {
        message
    }
}

/// In memory: the counters are written on the allocation path.
fn private_directory() -> Result<TempDir> {
    use std::os::unix::fs::PermissionsExt;
    let make = |parent: &Path| {
        let mut builder = tempfile::Builder::new();
        builder.prefix("terrace-lab-").permissions(std::fs::Permissions::from_mode(0o700)).tempdir_in(parent)
    };
    make(Path::new("/dev/shm")).or_else(|_| make(&std::env::temp_dir())).map_err(|error| {
        Error::failed(format!(
            "no private directory in /dev/shm or TMPDIR: {error}; set TMPDIR to a writable directory"
        ))
    })
}

#[cfg(test)]
#[path = "observe_test.rs"]
mod tests;
