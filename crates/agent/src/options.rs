//! The text behind `-agentpath:libterrace.so=`: `key=value,key=value`.

use crate::log::Severity;
use control::{Asked, size};

/// Which buffers stand between TLAB and heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Levels {
    /// None: observe only.
    None,
    Core,
    Processor,
    CoreAndProcessor,
}

impl Levels {
    const ALL: [(&'static str, Levels); 4] = [
        ("none", Levels::None),
        ("core", Levels::Core),
        ("processor", Levels::Processor),
        ("core+processor", Levels::CoreAndProcessor),
    ];

    pub(crate) fn name(self) -> &'static str {
        Levels::ALL.iter().find(|(_, levels)| *levels == self).map_or("none", |(name, _)| name)
    }
}

/// The size of a thread's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tlab {
    /// HotSpot's own sizes; new threads begin small (`growth`). The user's own -XX flags come first.
    Auto,
    /// HotSpot's own strategy.
    Stock,
    /// Fixed, in bytes.
    Fixed(usize),
}

/// The smallest TLAB that can be asked for: HotSpot keeps a reserve of some hundred bytes at each one's end.
pub(crate) const MIN_TLAB: usize = 1 << 10;
/// A day, in seconds.
const MAX_LEASE: u32 = 86_400;
const MAX_DELAY: usize = 1_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) levels: Levels,
    /// Whether the user has named them.
    pub(crate) levels_asked: bool,
    /// Whether the user has named a size of them.
    pub(crate) sizes_asked: bool,
    pub(crate) core: Asked,
    pub(crate) processor: Asked,
    pub(crate) tlab: Tlab,
    pub(crate) report: Option<String>,
    pub(crate) control: Option<String>,
    /// Whether what no command could find may be installed.
    pub(crate) unseen: bool,
    pub(crate) log: Severity,
    pub(crate) strict: bool,
    /// Whether a JDK newer than all that are known may be tried.
    pub(crate) try_unknown: bool,
    /// Whether buffers are on from the beginning.
    pub(crate) start: bool,
    /// Whether private buffers are kept ready for measuring the bound.
    pub(crate) bound: bool,
    /// Whether an observer times what it passes on.
    pub(crate) times: bool,
    /// Nothing is installed; an observer withdraws.
    pub(crate) withdraw: bool,
    /// Seconds after which it goes if the command that has put it there is not heard of; 0: it stays.
    pub(crate) lease: u32,
    /// For tests: all counters with locked additions, so that sums are exact.
    pub(crate) exact: bool,
    /// For tests: microseconds to sleep between receiving an extent and publishing it.
    pub(crate) delay: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            levels: Levels::Core,
            levels_asked: false,
            sizes_asked: false,
            core: Asked::Auto,
            processor: Asked::Auto,
            tlab: Tlab::Auto,
            report: None,
            control: None,
            unseen: true,
            log: Severity::Warn,
            strict: false,
            try_unknown: false,
            start: true,
            bound: false,
            times: false,
            withdraw: false,
            lease: 0,
            exact: false,
            delay: 0,
        }
    }
}

/// The keys, for the message about an unknown one.
const KEYS: &str = "levels, core, processor, tlab, report, control, unseen, log, strict, unknown, start, bound, times, withdraw, lease, exact, delay";

fn choose<T: Copy>(key: &str, value: &str, choices: &[(&str, T)]) -> Result<T, String> {
    choices.iter().find(|(name, _)| *name == value).map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        format!("{key}={value}: use one of {}", names.join(", "))
    })
}

fn bytes(key: &str, value: &str, least: usize) -> Result<usize, String> {
    let bytes = size::parse(value).map_err(|line| format!("{key}={value}: {line}"))?;
    if bytes < least {
        return Err(format!("{key}={value}: use at least {}", size::format(least)));
    }
    if !bytes.is_multiple_of(8) {
        return Err(format!("{key}={value}: use a multiple of 8 bytes"));
    }
    Ok(bytes)
}

fn buffer(key: &str, value: &str) -> Result<Asked, String> {
    match value {
        "auto" => Ok(Asked::Auto),
        "formula" => Ok(Asked::Formula),
        _ => bytes(key, value, size::MIN_BUFFER).map(|bytes| Asked::Bytes(bytes as u64)),
    }
}

const SWITCH: [(&str, bool); 4] = [("true", true), ("false", false), ("on", true), ("off", false)];

impl Options {
    /// Reads the text. All of it is read before the first mistake is told, so that `strict` and `log` count wherever they stand.
    pub(crate) fn parse(text: &str) -> (Options, Result<(), String>) {
        let mut options = Options::default();
        let mut result = Ok(());
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let outcome = match part.split_once('=') {
                Some((key, value)) => options.set(key, value),
                None => {
                    Err(format!("'{part}' is not an option: write key=value, where key is one of {KEYS}"))
                }
            };
            result = result.and(outcome);
        }
        if options.times && !options.observes() {
            result = result.and(Err(
                "times=true: only requests that are passed on are timed; use levels=none, without bound"
                    .into(),
            ));
        }
        if options.lease != 0 && matches!(options.tlab, Tlab::Fixed(_)) {
            // The flags behind it are put back on attach only, not at the collection with which such an agent goes.
            result = result.and(Err(
                "lease: a fixed TLAB size would stay when the agent withdraws; use tlab=auto or stock, or no lease".into(),
            ));
        }
        (options, result)
    }

    /// Whether there are no buffers of any kind.
    pub(crate) fn observes(&self) -> bool {
        self.levels == Levels::None && !self.bound
    }

    /// Whether the user insists on buffers, or on TLABs of a size: by naming one of them, or that nothing may be missing (`strict`).
    pub(crate) fn insists_on_buffers(&self) -> bool {
        let named = match self.levels_asked {
            true => self.levels != Levels::None,
            false => self.sizes_asked || self.strict,
        };
        named || self.bound || matches!(self.tlab, Tlab::Fixed(_))
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "levels" => {
                self.levels = choose(key, value, &Levels::ALL)?;
                self.levels_asked = true;
            }
            "core" | "processor" => {
                let asked = buffer(key, value)?;
                *(if key == "core" { &mut self.core } else { &mut self.processor }) = asked;
                self.sizes_asked = true;
            }
            "tlab" => {
                self.tlab = match value {
                    "auto" => Tlab::Auto,
                    "stock" => Tlab::Stock,
                    _ => Tlab::Fixed(bytes(key, value, MIN_TLAB)?),
                }
            }
            "report" => self.report = Some(path(key, value)?),
            "control" => self.control = Some(path(key, value)?),
            "unseen" => self.unseen = choose(key, value, &[("refuse", false), ("allow", true)])?,
            "log" => self.log = choose(key, value, &Severity::ALL)?,
            "strict" => self.strict = choose(key, value, &SWITCH)?,
            "unknown" => self.try_unknown = choose(key, value, &[("refuse", false), ("try", true)])?,
            "start" => self.start = choose(key, value, &SWITCH)?,
            "bound" => self.bound = choose(key, value, &SWITCH)?,
            "times" => self.times = choose(key, value, &SWITCH)?,
            "withdraw" => self.withdraw = choose(key, value, &SWITCH)?,
            "lease" => {
                self.lease = value
                    .parse()
                    .ok()
                    .filter(|seconds| (1..=MAX_LEASE).contains(seconds))
                    .ok_or_else(|| format!("{key}={value}: use seconds, 1 to {MAX_LEASE}"))?;
            }
            "exact" => self.exact = choose(key, value, &SWITCH)?,
            "delay" => {
                self.delay = value
                    .parse()
                    .ok()
                    .filter(|delay| *delay <= MAX_DELAY)
                    .ok_or_else(|| format!("{key}={value}: use microseconds, 0 to {MAX_DELAY}"))?;
            }
            _ => return Err(format!("unknown option {key}: use one of {KEYS}")),
        }
        Ok(())
    }
}

fn path(key: &str, value: &str) -> Result<String, String> {
    if value.is_empty() { Err(format!("{key}=: specify a path")) } else { Ok(value.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str) -> String {
        Options::parse(text).1.unwrap_err()
    }

    #[test]
    fn nothing_asked_for_is_the_defaults() {
        assert_eq!(Options::parse(""), (Options::default(), Ok(())));
    }

    #[test]
    fn every_option() {
        let (options, result) = Options::parse(
            "levels=core+processor,core=256k,processor=1m,tlab=4k,report=-,control=auto,unseen=refuse,log=debug,strict=true,\
             unknown=try,start=off,bound=on,exact=on,delay=50",
        );
        assert_eq!(result, Ok(()));
        assert_eq!(
            options,
            Options {
                levels: Levels::CoreAndProcessor,
                levels_asked: true,
                sizes_asked: true,
                core: Asked::Bytes(256 << 10),
                processor: Asked::Bytes(1 << 20),
                tlab: Tlab::Fixed(4096),
                report: Some("-".into()),
                control: Some("auto".into()),
                unseen: false,
                log: Severity::Debug,
                strict: true,
                try_unknown: true,
                start: false,
                bound: true,
                times: false,
                withdraw: false,
                lease: 0,
                exact: true,
                delay: 50,
            }
        );
        let sizes = Options::parse("core=formula,processor=auto").0;
        assert_eq!((sizes.core, sizes.processor), (Asked::Formula, Asked::Auto));
        assert_eq!(Options::parse("core=auto,tlab=stock,levels=none").0.tlab, Tlab::Stock);
        assert_eq!(Options::parse("lease=30,tlab=stock").0.lease, 30);
        let (options, result) = Options::parse("times=true,levels=none");
        assert!(result.is_ok() && options.times && options.observes());
    }

    #[test]
    fn who_names_buffers_insists_on_them() {
        for text in [
            "levels=core",
            "core=64k",
            "processor=auto",
            "tlab=4k",
            "strict=true",
            "levels=none,bound=true",
            "levels=none,tlab=4k",
        ] {
            assert!(Options::parse(text).0.insists_on_buffers(), "{text}");
        }
        for text in
            ["", "levels=none", "levels=none,strict=true,core=64k", "tlab=stock,start=off,control=auto"]
        {
            assert!(!Options::parse(text).0.insists_on_buffers(), "{text}");
        }
    }

    #[test]
    fn every_mistake_names_the_remedy() {
        for (text, remedy) in [
            ("cores=64k", "use one of levels, core"),
            ("core", "write key=value"),
            ("core=64kb", "write bytes, or a number with k"),
            ("core=100", "use at least 4k"),
            ("core=65537", "multiple of 8"),
            ("tlab=512", "use at least 1k"),
            ("levels=l3", "use one of none, core, processor, core+processor"),
            ("strict=maybe", "use one of true, false"),
            ("unknown=maybe", "use one of refuse, try"),
            ("unseen=maybe", "use one of refuse, allow"),
            ("report=", "specify a path"),
            ("times=true", "use levels=none"),
            ("times=true,levels=none,bound=true", "without bound"),
            ("delay=-1", "use microseconds"),
            ("lease=0", "use seconds, 1 to 86400"),
            ("tlab=4k,lease=30", "use tlab=auto or stock"),
            ("lease=30,tlab=4k,levels=none", "or no lease"),
        ] {
            assert!(mistake(text).contains(remedy), "{text}: {}", mistake(text));
        }
    }

    #[test]
    fn strict_counts_behind_a_mistake_too() {
        let (options, result) = Options::parse("core=1,strict=true,log=error");
        assert!(result.is_err() && options.strict && options.log == Severity::Error);
    }
}
