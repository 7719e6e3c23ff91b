//! The declaration of a launch.

use crate::artifacts;
use crate::domains;
use crate::jdk::Jdk;
use crate::process::{Finished, Running};
use crate::surroundings::Surroundings;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a JVM's exit code has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    NotZero,
}

type Beside = Box<dyn Fn(&mut Running<'_>) -> Result<(), String>>;
type After = Box<dyn Fn(&Finished) -> Result<(), String>>;

/// A launch: what runs, and what has to come of it.
pub struct Launch {
    main: &'static str,
    surroundings: Surroundings,
    args: Vec<String>,
    flags: Vec<String>,
    /// Whether the flags are only those given.
    bare: bool,
    /// Options of the agent; `None` runs the JVM without it.
    agent: Option<String>,
    /// Whether its option comes last.
    behind: bool,
    /// `terrace.jar` as `-javaagent` in place of the library.
    jar: Option<PathBuf>,
    report: bool,
    exit: Exit,
    prints: Vec<String>,
    /// Lines that begin with `terrace:`, each with a text to look for: these and no others.
    says: Vec<String>,
    /// The same, for what need not be said.
    may_say: Vec<String>,
    /// Core domains from which on it shows nothing.
    most_domains: usize,
    /// Texts that must not appear on either output.
    never: Vec<String>,
    collections: u64,
    beside: Option<Beside>,
    after: Option<After>,
}

/// Flags that let HotSpot check the whole heap, and what points into it, before and after each collection. Its own tables (symbols, classes, metaspace) lie
/// outside of the heap, no buffer can damage them, and they take a seventh of a launch's time.
const VERIFIED: [&str; 5] = [
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:+VerifyBeforeGC",
    "-XX:+VerifyAfterGC",
    "-XX:VerifySubSet=threads,heap,codecache,jni_handles",
];
/// Small buffers of a fixed size: many refills.
pub const SMALL_TLABS: [&str; 2] = ["-XX:-ResizeTLAB", "-XX:TLABSize=8k"];

/// The usual buffers serve in a young generation of 4 MB with as many core domains.
const USUAL_DOMAINS: usize = 16;
/// A young generation of so many megabytes is small on purpose: for many collections.
const SMALL_YOUNG: usize = 16;

/// Programs that use `terrace.jar` (`tests/jar`).
const OF_JAR: [&str; 3] = ["Api", "Beside", "Released"];

impl Launch {
    /// A program with heap verification, small TLABs and the agent's buffers of 64 KB, which prints `done`.
    pub fn new(main: &'static str) -> Launch {
        let flags = VERIFIED.iter().chain(&SMALL_TLABS).map(|flag| (*flag).to_owned()).collect();
        Launch {
            main,
            surroundings: Surroundings::default(),
            args: vec![],
            flags,
            bare: false,
            agent: Some("core=64k".into()),
            behind: false,
            jar: None,
            report: true,
            exit: Exit::Code(0),
            prints: vec!["done".into()],
            says: vec![],
            // With many cores the usual young generation is too small for the usual buffers. Where that is the subject it is in `says`.
            may_say: vec!["is too large for this heap".into()],
            most_domains: usize::MAX,
            never: vec!["CORRUPT".into(), "fatal error".into(), "panicked".into()],
            collections: 0,
            beside: None,
            after: None,
        }
    }

    /// A program with no flags but those given.
    pub fn bare(main: &'static str) -> Launch {
        Launch { flags: vec![], bare: true, ..Launch::new(main) }
    }

    pub fn args(mut self, args: &[&str]) -> Launch {
        self.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        self
    }

    /// Further flags, split at blanks.
    pub fn flags(mut self, flags: &str) -> Launch {
        self.flags.extend(flags.split_whitespace().map(str::to_owned));
        self
    }

    /// Another flag, as one word: a path in it may have blanks.
    pub fn flag(mut self, flag: impl Into<String>) -> Launch {
        self.flags.push(flag.into());
        self
    }

    /// Without these of the usual flags.
    pub fn without(mut self, flags: &[&str]) -> Launch {
        self.flags.retain(|flag| !flags.contains(&flag.as_str()));
        self
    }

    /// The agent's options, in place of the usual ones.
    pub fn agent(mut self, options: impl Into<String>) -> Launch {
        self.agent = Some(options.into());
        self
    }

    /// In surroundings that are not the usual ones.
    pub fn within(mut self, surroundings: Surroundings) -> Launch {
        self.surroundings = surroundings;
        self
    }

    /// Without the agent.
    pub fn stock(mut self) -> Launch {
        self.agent = None;
        self
    }

    /// The agent comes behind the agents that the flags name.
    pub fn behind_others(mut self) -> Launch {
        self.behind = true;
        self
    }

    /// The agent comes out of this jar, by `-javaagent`.
    pub fn by_jar(mut self, jar: impl Into<PathBuf>) -> Launch {
        self.jar = Some(jar.into());
        self
    }

    /// No report is asked for, and none is looked at.
    pub fn unreported(mut self) -> Launch {
        self.report = false;
        self
    }

    pub fn exit(mut self, exit: Exit) -> Launch {
        self.exit = exit;
        self
    }

    /// Texts on standard output, in place of `done`.
    pub fn prints(mut self, texts: &[&str]) -> Launch {
        self.prints = texts.iter().map(|text| (*text).to_owned()).collect();
        self
    }

    /// A line that the agent must say.
    pub fn says(mut self, text: impl Into<String>) -> Launch {
        self.says.push(text.into());
        self
    }

    /// A line that the agent may say.
    pub fn maybe_says(mut self, text: &str) -> Launch {
        self.may_say.push(text.to_owned());
        self
    }

    /// Only for machines with at most so many core domains: with more, the heap does not bear the sizes that the launch needs.
    pub fn up_to_domains(mut self, most: usize) -> Launch {
        self.most_domains = most;
        self
    }

    /// Why it would show nothing here.
    pub fn impossible(&self) -> Option<String> {
        let (most, here) = (self.most_domains, domains::possible());
        (here > most).then(|| format!("at most {most} core domains: the agent has up to {here} here"))
    }

    /// A text that must not appear.
    pub fn never(mut self, text: &str) -> Launch {
        self.never.push(text.to_owned());
        self
    }

    /// The program runs until so many pauses for collections have been announced: with fewer the launch has shown nothing.
    pub fn collects(mut self, at_least: u64) -> Launch {
        self.collections = at_least;
        self
    }

    /// The program runs until the collector's log (`-Xlog:...:file=gc.log`) has one of these texts.
    pub fn until_logged(self, texts: &'static [&'static str]) -> Launch {
        self.args(&["until=released", "gentle=false"]).when_written("gc.log", texts)
    }

    /// What is done while the program runs ([`Launch::beside`], which comes before this) begins when a file of its directory has one of these texts.
    pub fn when_written(mut self, file: &'static str, texts: &'static [&'static str]) -> Launch {
        let then = self.beside.take();
        self.beside(move |running| {
            running.wait_until(&format!("one of {texts:?} in {file}"), |running| {
                let log = std::fs::read(running.directory.join(file)).unwrap_or_default();
                let log = String::from_utf8_lossy(&log);
                Ok(texts.iter().any(|text| log.contains(text)))
            })?;
            then.as_ref().map_or(Ok(()), |then| then(running))
        })
    }

    /// What to do while the program runs.
    pub fn beside(mut self, body: impl Fn(&mut Running<'_>) -> Result<(), String> + 'static) -> Launch {
        self.beside = Some(Box::new(body));
        self
    }

    /// A further check.
    pub fn after(mut self, body: impl Fn(&Finished) -> Result<(), String> + 'static) -> Launch {
        self.after = Some(Box::new(body));
        self
    }

    fn command(&self, jdk: &Jdk) -> Result<Command, String> {
        let mut command = self.surroundings.command(&jdk.java());
        let agent = self.agent.as_ref().map(|options| {
            // Sums are held to the byte.
            let report = if self.report { ",exact=true,report=report.json" } else { "" };
            match &self.jar {
                Some(jar) => format!("-javaagent:{}={options}{report}", jar.display()),
                None => format!("-agentpath:{}={options}{report}", artifacts::agent().display()),
            }
        });
        command.args(agent.iter().filter(|_| !self.behind));
        command.args(["-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=hs_err.log"]);
        command
            .args(self.flags_for(domains::possible()))
            .args(agent.iter().filter(|_| self.behind))
            .arg("-cp")
            .arg(self.class_path()?)
            .arg(self.main)
            .args(&self.args);
        if self.collections > 0 {
            // The JVM's beans count a pause that collected the young, and then the whole heap, twice.
            command.arg(format!("pauses={}", 2 * self.collections));
        }
        Ok(command)
    }

    /// The flags where there are so many core domains. A buffer smaller than a TLAB serves nothing: beyond [`USUAL_DOMAINS`] a small
    /// young generation grows with their number, and the heap with it.
    fn flags_for(&self, domains: usize) -> Vec<String> {
        let mut flags = self.flags.clone();
        if flags.iter().all(|flag| !flag.starts_with("-Xmx")) {
            flags.insert(0, "-Xmx64m".into());
        }
        let megabytes = |flag: &str, name| flag.strip_prefix(name)?.strip_suffix('m')?.parse().ok();
        let young = flags.iter().filter_map(|flag| megabytes(flag, "-Xmn")).next_back().unwrap_or(0);
        if !self.bare && young <= SMALL_YOUNG {
            let more = young * (domains.div_ceil(USUAL_DOMAINS) - 1);
            for flag in &mut flags {
                for name in ["-Xmn", "-Xmx"] {
                    if let Some(size) = megabytes(flag, name) {
                        *flag = format!("{name}{}m", size + more);
                    }
                }
            }
        }
        flags
    }

    /// Programs that use `terrace.jar` find it there.
    fn class_path(&self) -> Result<OsString, String> {
        let classes = artifacts::classes()?.as_os_str().to_owned();
        if !OF_JAR.contains(&self.main) {
            return Ok(classes);
        }
        let jar = self.jar.clone().map_or_else(artifacts::jar, Ok)?;
        std::env::join_paths([jar, artifacts::programs_of_jar()?.into(), classes.into()])
            .map_err(|error| error.to_string())
    }

    /// Runs it and checks what came of it; gives its result back for further checks.
    pub fn run(&self, jdk: &Jdk) -> Result<Finished, String> {
        let directory = tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
        self.run_in(jdk, directory.path())
    }

    /// As [`Launch::run`], in a directory that the caller has prepared.
    pub fn run_in(&self, jdk: &Jdk, directory: &Path) -> Result<Finished, String> {
        let mut running = Running::start(jdk, directory, self.command(jdk)?)?;
        let beside = self.beside.as_ref().map_or(Ok(()), |body| body(&mut running));
        running.release();
        let finished = running.finish()?;
        // The JVM's own end comes first: what was done beside it may have failed because of it, or the other way round.
        let why = match (self.check(&finished), beside) {
            (Ok(()), Ok(())) => return Ok(finished),
            (Err(why), Ok(())) | (Ok(()), Err(why)) => why,
            (Err(why), Err(beside)) => format!("{why}\nbeside it: {beside}"),
        };
        Err(finished.describe(&why))
    }

    fn check(&self, finished: &Finished) -> Result<(), String> {
        for text in &self.never {
            if finished.stdout.contains(text) || finished.stderr.contains(text) {
                return Err(format!("the output has '{text}'"));
            }
        }
        let right = match self.exit {
            Exit::Code(code) => finished.status.code() == Some(code),
            Exit::NotZero => finished.status.code().is_some_and(|code| code != 0),
        };
        if !right {
            return Err(format!("expected exit {:?}", self.exit));
        }
        if let Some(text) = self.prints.iter().find(|text| !finished.stdout.contains(*text)) {
            return Err(format!("standard output lacks '{text}'"));
        }
        let mut said: Vec<&str> =
            finished.stderr.lines().filter(|line| line.starts_with("terrace:")).collect();
        let has = |texts: &[String], line: &str| texts.iter().any(|text| line.contains(text));
        said.retain(|line| has(&self.says, line) || !has(&self.may_say, line));
        if let Some(text) = self.says.iter().find(|text| !said.iter().any(|line| line.contains(*text))) {
            return Err(format!("no line of the agent has '{text}'"));
        }
        if said.len() != self.says.len() {
            return Err(format!(
                "the agent said {} lines, expected {}: {said:#?}",
                said.len(),
                self.says.len()
            ));
        }
        if self.agent.is_some() && self.report {
            let report = finished.report()?;
            // Daemon threads allocate while it is written.
            if ["Leave", "Classes"].contains(&self.main) {
                report.check()?
            } else {
                report.check_exactly()?
            }
            if report.number("pauses") < self.collections {
                return Err(format!(
                    "only {} collections: too few to show anything",
                    report.number("pauses")
                ));
            }
        }
        self.after.as_ref().map_or(Ok(()), |body| body(finished))
    }
}
