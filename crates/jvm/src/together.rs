//! Programs of ours whose measured windows are one and the same: whoever reads their progress opens and closes it (`--window external`).
//!
//! JVMs in turn meet a machine of another speed each time. JVMs at the same time share it: they begin their work together when the last is
//! ready for it, warm up, open their windows together, and none stops before the last has closed its window. If each began when it could,
//! the first would take the CPUs from the others' start, warm up longest, and be ahead in its whole window.

use crate::arrival::had_agent;
use crate::launch::Launch;
use crate::observe::Jvms;
use crate::progress_file::{Phase, ProgressFile};
use crate::running::Running;
use crate::workload::Report;
use crate::{Error, Result};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often an ending or a phase is looked for.
const POLL: Duration = Duration::from_millis(10);
/// How long each step may take that the programs take by themselves: to come to work, to end.
const STEP: Duration = Duration::from_secs(240);

/// The options that leave the window to the reader of this file.
pub fn options(progress: &Path) -> [std::ffi::OsString; 4] {
    ["--window".into(), "external".into(), "--progress".into(), progress.as_os_str().to_owned()]
}

/// Where a JVM whose files are here is to write its progress.
pub fn progress_in(jvms: &Jvms) -> PathBuf {
    jvms.directory().join("progress")
}

/// A program that runs and waits for its window.
pub struct Member {
    /// What errors call it.
    name: String,
    running: Running,
    /// Its agent's files, and its own.
    pub jvms: Jvms,
    has_agent: bool,
    progress: ProgressFile,
}

impl Member {
    /// Starts it with [`options`] in its command line; `jvms` has the file of [`progress_in`].
    pub fn start(name: &str, launch: &Launch, jvms: Jvms, has_agent: bool, show: bool) -> Result<Member> {
        let progress = ProgressFile::at(&progress_in(&jvms));
        let running = Running::start(launch, show)?;
        Ok(Member { name: name.to_owned(), running, jvms, has_agent, progress })
    }

    /// An error if it has ended: it was not to.
    fn still_runs(&mut self) -> Result<()> {
        if self.running.poll()?.is_none() {
            return Ok(());
        }
        self.ended_well()?;
        Err(Error::failed(format!("{} ended before it was measured; run it alone to see why", self.name)))
    }

    fn ended_well(&mut self) -> Result<()> {
        match self.has_agent {
            true => had_agent(&mut self.running, &mut self.jvms),
            false => self.running.check(),
        }
    }

    /// Everything that it wrote on standard output, once it has ended.
    pub fn output(&mut self) -> String {
        self.running.output()
    }
}

/// Measures these programs in one window of this length. They begin their work when all are ready, and the window opens when all have been at
/// work for `warmup`. All have ended afterwards, and have left their reports on their last line.
pub fn measure(members: &mut [Member], warmup: Duration, window: Duration) -> Result<Vec<Report>> {
    reach(members, Phase::Ready)?;
    tell(members, ProgressFile::ask_to_work)?;
    reach(members, Phase::WarmingUp)?;
    pass(members, warmup)?;
    tell(members, ProgressFile::ask_to_begin)?;
    reach(members, Phase::Measuring)?;
    pass(members, window)?;
    tell(members, ProgressFile::ask_to_end)?;
    reach(members, Phase::Finished)?;
    tell(members, ProgressFile::ask_to_stop)?;
    let since = Instant::now();
    members.iter_mut().map(|member| report(member, since)).collect()
}

fn report(member: &mut Member, since: Instant) -> Result<Report> {
    if member.running.wait(STEP.saturating_sub(since.elapsed()))?.is_none() {
        return Err(too_long(member, "end"));
    }
    member.ended_well()?;
    Report::read(&member.output())
}

/// Until all are in this phase or a later one.
fn reach(members: &mut [Member], phase: Phase) -> Result<()> {
    let since = Instant::now();
    for member in members.iter_mut() {
        while member.progress.phase() < phase {
            member.still_runs()?;
            if since.elapsed() > STEP {
                let step = match phase {
                    Phase::Ready => "prepare its work",
                    Phase::WarmingUp => "begin its work",
                    _ => "answer",
                };
                return Err(too_long(member, step));
            }
            std::thread::sleep(POLL);
        }
    }
    Ok(())
}

fn too_long(member: &Member, what: &str) -> Error {
    Error::failed(format!(
        "{} did not {what} within {} s; use a less busy machine",
        member.name,
        STEP.as_secs()
    ))
}

/// Lets time pass in which all have to go on. It sleeps meanwhile: what it would take from the programs, it would take from what is measured.
fn pass(members: &mut [Member], time: Duration) -> Result<()> {
    let until = Instant::now() + time;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        members.iter_mut().try_for_each(Member::still_runs)?;
        if left.is_zero() {
            return Ok(());
        }
        // The end of any is seen now and then; the user's Ctrl-C, too.
        std::thread::sleep(left.min(Duration::from_millis(200)));
    }
}

fn tell(members: &[Member], ask: fn(&ProgressFile) -> Result<()>) -> Result<()> {
    members.iter().try_for_each(|member| ask(&member.progress))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(script: &str) -> Member {
        let launch = Launch::new("/bin/sh".into(), vec!["-c".into(), script.into()]);
        Member::start("h2", &launch, Jvms::new().unwrap(), false, false).unwrap()
    }

    #[test]
    fn one_that_ends_before_it_is_measured_ends_the_measurement() {
        for (script, said) in
            [("echo broken >&2; exit 3", "broken"), ("exit 0", "h2 ended before it was measured")]
        {
            let mut members = [member(script), member("sleep 1000")];
            let error = measure(&mut members, Duration::ZERO, Duration::ZERO).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn the_first_that_is_ready_waits_for_the_last() {
        let jvms = [(); 2].map(|()| Jvms::new().unwrap());
        let ends: Vec<PathBuf> = jvms.iter().map(|jvms| jvms.directory().join("end")).collect();
        let files = [0, 1].map(|one: usize| progress_in(&jvms[one]));
        let mut members: Vec<Member> = (jvms.into_iter().zip(&ends))
            .map(|(jvms, end)| {
                let script = format!("until [ -e '{}' ]; do sleep 0.01; done", end.display());
                let launch = Launch::new("/bin/sh".into(), vec!["-c".into(), script.into()]);
                Member::start("h2", &launch, jvms, false, false).unwrap()
            })
            .collect();
        let ready = |file: &Path| {
            let mut bytes = [0; 256];
            bytes[..8].copy_from_slice(b"TERRPROG");
            (bytes[8], bytes[16], bytes[24]) = (1, 1, 128);
            std::fs::write(file, bytes).unwrap();
        };
        let asked = |file: &Path| std::fs::read(file).unwrap()[64] == 1;
        ready(&files[0]);
        std::thread::scope(|scope| {
            let measured = scope.spawn(|| measure(&mut members, Duration::ZERO, Duration::ZERO));
            // However long it takes, it is not asked: the time only makes it likelier that an error is seen.
            std::thread::sleep(5 * POLL);
            assert!(!asked(&files[0]), "the other is not ready");
            ready(&files[1]);
            while !files.iter().all(|file| asked(file)) && !measured.is_finished() {
                std::thread::sleep(POLL);
            }
            assert!(files.iter().all(|file| asked(file)), "{:?}", measured.join().unwrap());
            ends.iter().for_each(|end| std::fs::write(end, "").unwrap());
            assert!(measured.join().unwrap().is_err(), "they end before they are measured");
        });
    }

    #[test]
    fn the_reader_and_the_program_agree_on_the_file() {
        let words = options(Path::new("/tmp/p"));
        assert_eq!(words, ["--window", "external", "--progress", "/tmp/p"]);
    }
}
