//! Which processes are JVMs, and what each says at one moment. Nothing is asked of them: HotSpot's own counters lie in a file, the
//! agent's in shared memory.

use crate::others::Others;
use control::View;
use jvm::os;
use jvm::perfdata::{PerfData, PerfFile, PerfFolders};
use jvm::status::{self, Reader, Status};
use jvm::{Error, Result};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How often what was not there is looked for again: a shell may have become a JVM, and an agent may have been attached.
const AGAIN: Duration = Duration::from_secs(5);

/// Of a clock tick, to user space on every Linux that terrace runs on.
const TICK_MILLISECONDS: u64 = 10;

/// The JVMs that are known.
pub struct Survey {
    /// Those that have not ended; `None`: all.
    wanted: Option<Vec<u32>>,
    jvms: BTreeMap<u32, Jvm>,
    others: Others,
    folders: PerfFolders,
    looked_again: Option<Instant>,
}

struct Jvm {
    /// In clock ticks since the machine's start: another process may get the number later.
    started: u64,
    began: Duration,
    program: String,
    counters: Option<PerfFile>,
    agent: Agent,
    reader: Reader,
}

/// What a JVM says at one moment.
#[derive(Clone, Debug)]
pub struct Look {
    pub at: Instant,
    pub pid: u32,
    pub started: u64,
    /// The same since 1970: once found out for a process, it stays.
    pub began: Duration,
    /// The main class, or the jar.
    pub program: String,
    pub counters: Option<PerfData>,
    pub agent: Option<Status>,
    /// Why an agent of another version cannot be read.
    pub other_version: Option<Error>,
}

/// What of ours a JVM has.
enum Agent {
    Ours(View),
    OtherVersion(Error),
    Absent,
}

impl Agent {
    fn of(pid: u32) -> Agent {
        match View::of_process(pid) {
            Ok(Some(view)) => Agent::Ours(view),
            Err(error) if error.is_of_other_version() => Agent::OtherVersion(error.into()),
            // Another user's process, or one that has just ended.
            Ok(None) | Err(_) => Agent::Absent,
        }
    }

    /// Not one that was refused or has withdrawn: another may have come since.
    fn serves(&self) -> bool {
        let Agent::Ours(view) = self else { return false };
        matches!(view.state(), Some(control::State::Installed | control::State::Observing))
    }
}

impl Survey {
    pub fn of(wanted: &[u32]) -> Survey {
        Survey {
            wanted: (!wanted.is_empty()).then(|| wanted.to_owned()),
            jvms: BTreeMap::new(),
            others: Others::default(),
            folders: PerfFolders::default(),
            looked_again: None,
        }
    }

    /// All that run now. An error only where a process was named that is no JVM, or may not be looked into; one that has ended since
    /// the first look is left out.
    pub fn look(&mut self) -> Result<Vec<Look>> {
        self.find();
        for pid in self.wanted.iter().flatten() {
            if !self.jvms.contains_key(pid) {
                return Err(no_jvm(*pid));
            }
        }
        Ok(self.jvms.iter_mut().map(|(pid, jvm)| jvm.look(*pid)).collect())
    }

    /// Whether all that were named have ended.
    pub fn have_ended(&self) -> bool {
        self.wanted.as_ref().is_some_and(Vec::is_empty)
    }

    fn find(&mut self) {
        let now = Instant::now();
        let again = self.looked_again.is_none_or(|before| now - before > AGAIN);
        if again {
            self.looked_again = Some(now);
            self.others.forget(now);
        }
        let all = self.wanted.clone().unwrap_or_else(|| processes().collect());
        let candidates = all.into_iter().filter(|pid| !self.others.has(*pid));
        let running: BTreeMap<u32, u64> = candidates.filter_map(|pid| Some((pid, started(pid)?))).collect();
        let ended = self.jvms.extract_if(.., |pid, jvm| running.get(pid) != Some(&jvm.started));
        let ended: Vec<u32> = ended.map(|(pid, _)| pid).collect();
        if let Some(wanted) = &mut self.wanted {
            // Another process that gets the number later was not meant.
            wanted.retain(|pid| !ended.contains(pid));
        }
        for (pid, started) in running {
            if self.wanted.is_some() && ended.contains(&pid) {
                continue;
            }
            match self.jvms.get_mut(&pid) {
                Some(jvm) if again && !jvm.agent.serves() => jvm.agent = Agent::of(pid),
                Some(_) => {}
                None => match Jvm::of(pid, started, &mut self.folders) {
                    Some(jvm) => drop(self.jvms.insert(pid, jvm)),
                    None => self.others.add(pid, age(started), now),
                },
            }
        }
        if self.wanted.is_none() {
            // A child of a JVM has the memory of an agent of another version, too, until it becomes another program.
            self.jvms.retain(|_, jvm| jvm.is_one());
        }
    }
}

impl Jvm {
    /// `None` if it is no JVM, or another user's.
    fn of(pid: u32, started: u64, folders: &mut PerfFolders) -> Option<Jvm> {
        let counters = folders.file_of(pid);
        let agent = Agent::of(pid);
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<String> =
            line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let jvm = Jvm {
            started,
            began: boot() + since_boot(started),
            program: program(&words),
            counters,
            agent,
            reader: Reader::default(),
        };
        jvm.is_one().then_some(jvm)
    }

    fn is_one(&self) -> bool {
        self.counters.is_some() || !matches!(self.agent, Agent::Absent)
    }

    fn look(&mut self, pid: u32) -> Look {
        let (agent, other_version) = match &self.agent {
            Agent::Ours(view) => (Some(self.reader.read(view)), None),
            Agent::OtherVersion(error) => (None, Some(error.clone())),
            Agent::Absent => (None, None),
        };
        Look {
            at: Instant::now(),
            pid,
            started: self.started,
            began: self.began,
            program: self.program.clone(),
            counters: self.counters.as_ref().and_then(PerfFile::read),
            agent: agent.map(|status| Status { pid, ..status }),
            other_version,
        }
    }
}

/// The processes of this machine, or container.
fn processes() -> impl Iterator<Item = u32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// When a process started (proc(5), field 22 of `stat`). `None` for one that has ended, if nobody has waited for it yet, too.
fn started(pid: u32) -> Option<u64> {
    let line = os::read_text(format!("/proc/{pid}/stat")).ok()?;
    let has_ended = matches!(os::stat_field(&line, 3), Some('Z' | 'X'));
    os::stat_field(&line, 22).filter(|_| !has_ended)
}

fn since_boot(started: u64) -> Duration {
    Duration::from_millis(started.saturating_mul(TICK_MILLISECONDS))
}

/// How long a process runs that started then.
fn age(started: u64) -> Duration {
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    let uptime = uptime.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0.0);
    let up = Duration::try_from_secs_f64(uptime).unwrap_or_default();
    up.saturating_sub(since_boot(started))
}

/// When the machine started, since 1970, to the second (proc(5), `btime`). Unlike now less the time that it has been up, it changes only
/// when somebody sets the clock.
fn boot() -> Duration {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("btime "));
    Duration::from_secs(line.and_then(|seconds| seconds.trim().parse().ok()).unwrap_or(0))
}

fn no_jvm(pid: u32) -> Error {
    match status::of(pid) {
        // It has become one, or may be looked into, since.
        Ok(_) => Error::failed(format!("process {pid} could not be inspected; try again")),
        Err(error) => error,
    }
}

/// What a command line of java's runs. Control characters are taken out: a terminal would obey them.
fn program(words: &[String]) -> String {
    const WITH_VALUE: [&str; 6] =
        ["-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules"];
    let mut words = words.iter().skip(1);
    let mut found = None;
    while let Some(word) = words.next() {
        if word == "-jar" || word == "-m" || word == "--module" {
            found = words.next();
            break;
        }
        if WITH_VALUE.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') && !word.starts_with('@') && !word.is_empty() {
            found = Some(word);
            break;
        }
    }
    let name = found.map_or("?", String::as_str);
    let name = name.rsplit('/').next().unwrap_or(name);
    jvm::printable::line(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents;
    use std::time::{SystemTime, UNIX_EPOCH};

    fn named(line: &str) -> String {
        program(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn programs_have_the_names_that_people_know() {
        assert_eq!(named("java -Xmx1g -cp a:b --add-modules x com.acme.Main --port 1"), "com.acme.Main");
        assert_eq!(named("/usr/bin/java -ea -jar /opt/shop/app.jar run"), "app.jar");
        assert_eq!(named("java -m shop/com.acme.Main"), "com.acme.Main");
        assert_eq!(named("java @options Main\u{1b}[2J"), "Main [2J");
        assert_eq!(named("java -version"), "?");
    }

    /// To the second that the machine's start is known to.
    #[test]
    fn a_start_is_when_it_was() {
        let child = agents::Agent::start(&[1]);
        let began = Survey::of(&[child.pid()]).look().unwrap()[0].began;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        assert!(began < now && now - began < Duration::from_secs(60), "{began:?} {now:?}");
    }

    #[test]
    fn who_had_an_agent_of_another_version_as_a_child_is_forgotten() {
        let child = agents::Agent::start(&[1]);
        let mut survey = Survey::of(&[]);
        let mut knows = || {
            survey.looked_again = None;
            survey.look().unwrap().iter().any(|look| look.pid == child.pid())
        };
        child.is_newer();
        assert!(knows());
        child.is_of(1);
        assert!(!knows());
    }

    #[test]
    fn another_program_is_none() {
        // Not this process, which has the memory of the tests beside this one.
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let error = Survey::of(&[child.id()]).look().unwrap_err().to_string();
        child.kill().and_then(|()| child.wait()).unwrap();
        assert!(error.contains("is not a JVM"), "{error}");
        assert!(started(std::process::id()).unwrap() >= started(1).unwrap());
    }
}
