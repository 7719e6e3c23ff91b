//! The agent's options, as typed values, and the `-agentpath` line made of them.

use crate::{Error, Result, size};
use control::Asked;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use strum::{EnumString, IntoStaticStr};

/// Which buffers stand between thread buffers and heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = unknown_levels)]
pub enum Levels {
    #[default]
    Core,
    /// One for each processor (the CPUs that share a last-level cache).
    Processor,
    /// Core buffers over processor buffers.
    #[strum(serialize = "core+processor")]
    Both,
    /// None: the agent only counts.
    None,
}

impl Levels {
    /// As the agent spells it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

fn unknown_levels(text: &str) -> Error {
    Error::usage(format!("unknown levels '{text}'; choose core, processor, core+processor or none"))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BufferSize {
    /// What is seen at collections, from the formula's size on.
    #[default]
    Auto,
    /// The agent's formula.
    Formula,
    Bytes(u64),
}

impl FromStr for BufferSize {
    type Err = Error;

    fn from_str(text: &str) -> Result<BufferSize> {
        match text {
            "auto" => Ok(BufferSize::Auto),
            "formula" => Ok(BufferSize::Formula),
            _ => size::parse(text)
                .map(BufferSize::Bytes)
                .map_err(|error| Error::usage(format!("{error}, auto or formula"))),
        }
    }
}

impl BufferSize {
    /// As control memory has it.
    pub fn asked(self) -> Asked {
        match self {
            BufferSize::Auto => Asked::Auto,
            BufferSize::Formula => Asked::Formula,
            BufferSize::Bytes(bytes) => Asked::Bytes(bytes),
        }
    }
}

/// How large thread buffers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tlab {
    /// The agent's choice: HotSpot's sizes, small ones for new threads.
    #[default]
    Auto,
    /// HotSpot's own sizes.
    Stock,
    Bytes(u64),
}

impl FromStr for Tlab {
    type Err = Error;

    fn from_str(text: &str) -> Result<Tlab> {
        match text {
            "auto" => Ok(Tlab::Auto),
            "stock" => Ok(Tlab::Stock),
            _ => size::parse(text).map(Tlab::Bytes),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentOptions {
    /// Which buffers; `None` leaves that to the agent, which takes core buffers and leaves a JVM without TLABs alone.
    pub levels: Option<Levels>,
    pub core: BufferSize,
    pub processor: BufferSize,
    pub tlab: Tlab,
    /// Where the exit report goes: a path, in which `%p` is the process ID, or `-` for standard error.
    pub report: Option<String>,
    /// Where the control file is: a path, in which `%p` is the process ID, or `auto`.
    pub control: Option<String>,
    /// The agent refuses to be where no command can find it; otherwise it says so.
    pub seen: bool,
    /// How much the agent tells on standard error: error, warn, info or debug.
    pub log: Option<String>,
    /// The JVM does not start when the agent cannot do what is asked; otherwise it runs without us.
    pub strict: bool,
    /// Buffers are off until they are switched on.
    pub start_off: bool,
    /// Keep a private buffer for each thread ready, to measure the bound.
    pub bound: bool,
    /// Time the requests that are passed on (only with `levels=none`).
    pub times: bool,
    /// Seconds for which the agent stays without hearing of us ([`crate::lease`]); 0: as long as the JVM.
    pub lease: u32,
    /// Try a JDK that is not known to work.
    pub try_unknown: bool,
}

impl AgentOptions {
    /// Stock behaviour, observed: HotSpot's own thread buffers, no buffers of ours, everything counted.
    pub fn observing() -> AgentOptions {
        AgentOptions { levels: Some(Levels::None), tlab: Tlab::Stock, ..AgentOptions::default() }
    }

    /// The levels that the agent takes.
    pub fn levels(&self) -> Levels {
        self.levels.unwrap_or(Levels::Core)
    }

    /// Whether there are no buffers of any kind.
    pub fn observes(&self) -> bool {
        self.levels() == Levels::None && !self.bound
    }

    /// Reads what users write for a JVM that runs already: `key=value`, with the agent's own keys.
    pub fn read(words: &[String]) -> Result<AgentOptions> {
        AgentOptions::default().with(words)
    }

    /// The same with these words as well.
    pub fn with(self, words: &[String]) -> Result<AgentOptions> {
        let mut options = self;
        for word in words {
            let (key, value) = word
                .split_once('=')
                .ok_or_else(|| Error::usage(format!("'{word}': write key=value, such as core=256k")))?;
            let wrong = |error: Error| Error::usage(format!("{key}: {error}"));
            match key {
                "levels" => options.levels = Some(value.parse().map_err(wrong)?),
                "core" => options.core = value.parse().map_err(wrong)?,
                "processor" => options.processor = value.parse().map_err(wrong)?,
                "tlab" => options.tlab = value.parse().map_err(wrong)?,
                "report" => options.report = Some(absolute(value)?),
                "log" => options.log = Some(one_of(key, value, &["error", "warn", "info", "debug"])?.into()),
                "start" => options.start_off = one_of(key, value, &["on", "off"])? == "off",
                "bound" => options.bound = one_of(key, value, &["true", "false"])? == "true",
                "times" => options.times = one_of(key, value, &["true", "false"])? == "true",
                "unknown" => options.try_unknown = one_of(key, value, &["refuse", "try"])? == "try",
                _ => {
                    return Err(Error::usage(format!(
                        "'{key}' is not an option here; use levels, core, processor, tlab, report, log, start, bound, times or unknown"
                    )));
                }
            }
        }
        Ok(options)
    }

    /// `-agentpath:LIBRARY=key=value,...`
    pub fn flag(&self, library: &Path) -> Result<String> {
        let text = self.text()?;
        let separator = if text.is_empty() { "" } else { "=" };
        Ok(format!("-agentpath:{}{separator}{text}", library.display()))
    }

    /// `key=value,...`: what differs from the defaults.
    pub fn text(&self) -> Result<String> {
        let mut text = String::new();
        let mut add = |key: &str, value: &str| {
            let separator = if text.is_empty() { "" } else { "," };
            let _ = write!(text, "{separator}{key}={value}");
        };
        if let Some(levels) = self.levels {
            add("levels", levels.name());
        }
        for (key, buffer) in [("core", self.core), ("processor", self.processor)] {
            if buffer != BufferSize::Auto {
                add(key, &buffer.asked().text());
            }
        }
        match self.tlab {
            Tlab::Auto => {}
            Tlab::Stock => add("tlab", "stock"),
            Tlab::Bytes(bytes) => add("tlab", &size::format(bytes)),
        }
        for (key, value) in [("report", &self.report), ("control", &self.control), ("log", &self.log)] {
            let Some(value) = value else { continue };
            if value.contains(',') {
                return Err(Error::usage(format!(
                    "{key} '{value}': the agent's options are separated by commas; choose a path without one"
                )));
            }
            add(key, value);
        }
        // Without buffers every request belongs straight to the heap. "On" would send it to buffers that are not there: HotSpot
        // then gets no thread buffer at all and allocates each object by itself, many times slower, a false baseline.
        let off = self.start_off || self.levels() == Levels::None;
        for (key, differs, value) in [
            ("unseen", self.seen, "refuse"),
            ("unknown", self.try_unknown, "try"),
            ("strict", self.strict, "true"),
            ("start", off, "off"),
            ("bound", self.bound, "true"),
            ("times", self.times, "true"),
        ] {
            if differs {
                add(key, value);
            }
        }
        if self.lease != 0 {
            add("lease", &self.lease.to_string());
        }
        Ok(text)
    }
}

fn one_of<'v>(key: &str, value: &'v str, known: &[&str]) -> Result<&'v str> {
    let unknown = || Error::usage(format!("{key}={value}: use one of {}", known.join(", ")));
    known.contains(&value).then_some(value).ok_or_else(unknown)
}

/// A path given by the user, as the agent must see it whatever its working directory is: absolute.
pub fn absolute(path: &str) -> Result<String> {
    if matches!(path, "-" | "auto") {
        return Ok(path.to_owned());
    }
    let absolute: PathBuf =
        std::path::absolute(path).map_err(|error| Error::usage(format!("'{path}': {error}")))?;
    Ok(absolute.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_what_differs_from_the_defaults() {
        let library = Path::new("/opt/libterrace.so");
        assert_eq!(AgentOptions::default().flag(library).unwrap(), "-agentpath:/opt/libterrace.so");
        let options = AgentOptions {
            levels: Some(Levels::Both),
            core: BufferSize::Bytes(65536),
            tlab: Tlab::Bytes(2048),
            control: Some("/dev/shm/x/%p".into()),
            strict: true,
            start_off: true,
            bound: true,
            ..AgentOptions::default()
        };
        assert_eq!(
            options.flag(library).unwrap(),
            "-agentpath:/opt/libterrace.so=levels=core+processor,core=64k,tlab=2k,control=/dev/shm/x/%p,strict=true,\
             start=off,bound=true"
        );
        let attached = AgentOptions { control: Some("auto".into()), seen: true, ..AgentOptions::default() };
        assert_eq!(attached.text().unwrap(), "control=auto,unseen=refuse");
        let leased = AgentOptions { lease: 30, ..AgentOptions::default() };
        assert_eq!(leased.text().unwrap(), "lease=30");
        assert!(
            AgentOptions::observing().flag(library).unwrap().ends_with("levels=none,tlab=stock,start=off")
        );
    }

    #[test]
    fn words_for_a_running_jvm() {
        let read = |words: &str| {
            AgentOptions::read(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        };
        assert_eq!(
            read("core=256k start=off tlab=4k").unwrap().text().unwrap(),
            "core=256k,tlab=4k,start=off"
        );
        assert_eq!(read("core=formula processor=auto").unwrap().text().unwrap(), "core=formula");
        assert_eq!(read("").unwrap(), AgentOptions::default());
        for (words, remedy) in [
            ("core", "write key=value"),
            ("cores=1", "use levels, core"),
            (
                "core=many",
                "core: invalid size 'many'; write bytes, or a number with k, m or g, such as 64k, auto or formula",
            ),
            ("start=maybe", "use one of on, off"),
            ("levels=l3", "choose core"),
        ] {
            let error = read(words).unwrap_err().to_string();
            assert!(error.contains(remedy), "{words}: {error}");
        }
    }

    #[test]
    fn a_comma_in_a_path_is_refused() {
        let options = AgentOptions { report: Some("/tmp/a,b".into()), ..AgentOptions::default() };
        assert!(options.flag(Path::new("x")).unwrap_err().to_string().contains("without one"));
    }

    #[test]
    fn a_jdk_that_is_not_known_may_be_tried() {
        let read = |word: &str| AgentOptions::read(&[word.to_owned()]).and_then(|options| options.text());
        assert_eq!(read("unknown=try").unwrap(), "unknown=try");
        assert_eq!(read("unknown=refuse").unwrap(), "");
        assert!(read("unknown=maybe").unwrap_err().to_string().contains("refuse, try"));
    }

    #[test]
    fn values_are_read_as_the_agent_spells_them() {
        assert_eq!("core+processor".parse::<Levels>().unwrap(), Levels::Both);
        assert!("cores".parse::<Levels>().unwrap_err().to_string().contains("choose core"));
        assert_eq!("stock".parse::<Tlab>().unwrap(), Tlab::Stock);
        assert_eq!("2k".parse::<Tlab>().unwrap(), Tlab::Bytes(2048));
        assert_eq!("auto".parse::<BufferSize>().unwrap(), BufferSize::Auto);
        assert_eq!("formula".parse::<BufferSize>().unwrap(), BufferSize::Formula);
        assert!("stock".parse::<BufferSize>().is_err());
    }
}
