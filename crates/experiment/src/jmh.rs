//! A JMH benchmark in a JVM of its own.

mod results;

use super::bench::Bench;
use super::sample::Sample;
use crate::{Error, Result};
use jvm::jdk::Jdk;
use jvm::launch::Launch;
use jvm::running::Running;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// For JMH's own JVM, which only starts the measured one and writes a file. JMH would refuse to start beside another JMH of this
/// machine; that is noise, which the lab watches for, and no reason to fail.
const LAUNCHER: [&str; 4] =
    ["-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Djmh.ignoreLock=true"];
/// A default, said aloud: where JMH is given no flags at all, the measured JVM inherits those of its launcher.
const NEVER_NONE: &str = "-Xshare:auto";
/// About how long the two JVMs need to start and end, in seconds.
const STARTS: f64 = 0.6;
/// About how much longer it takes with `perf` around the measured JVM, in seconds.
const COUNTING: f64 = 0.2;
/// How often `perf` reports, in ms: JMH counts whole reports only, so its default of 100 is too coarse for short iterations.
const COUNTING_INTERVAL: u32 = 20;

/// A JMH benchmark in a JVM of its own.
#[derive(Clone, Debug)]
pub struct Jmh {
    pub jdk: Jdk,
    pub flags: Vec<String>,
    /// The benchmark's full name: `terrace.benchmarks.Tlab.object16`.
    pub benchmark: String,
    /// JMH's own parameters, `-p name=value`.
    pub parameters: Vec<(String, String)>,
    pub threads: u32,
    /// Warm-up iterations and the length of each.
    pub warmup: (u32, Duration),
    /// Measured iterations and the length of each. Every iteration gives a value.
    pub iterations: (u32, Duration),
    /// JMH's names of results (the primary one is `""`) and how they become values of our metrics.
    pub reads: Vec<Read>,
    /// Events that `perf` counts, as it spells them: `cycles`. Each is a result of that name: events for each operation, one value
    /// for all iterations together. Ask [`crate::machine::counters`] first which there are.
    pub counters: Vec<String>,
}

/// How a result of JMH becomes a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// JMH's label of the secondary result, such as `retries`; empty for the primary one.
    pub label: String,
    pub metric: String,
    /// What JMH's number is multiplied by.
    pub factor: f64,
    /// 1 over JMH's number, times the factor: a rate becomes a time.
    pub inverse: bool,
}

impl Read {
    /// A result times a factor.
    pub fn times(label: &str, metric: &str, factor: f64) -> Read {
        Read { label: label.into(), metric: metric.into(), factor, inverse: false }
    }

    /// A factor over a result.
    pub fn over(label: &str, metric: &str, factor: f64) -> Read {
        Read { label: label.into(), metric: metric.into(), factor, inverse: true }
    }
}

fn total((times, each): (u32, Duration)) -> f64 {
    f64::from(times) * each.as_secs_f64()
}

impl Jmh {
    /// About how many seconds a run takes, with the start of two JVMs.
    pub fn seconds(&self) -> f64 {
        let counting = if self.counters.is_empty() { 0.0 } else { COUNTING };
        total(self.warmup) + total(self.iterations) + STARTS + counting
    }

    pub fn run(&self, bench: &Bench) -> Result<Sample> {
        let file =
            tempfile::Builder::new().prefix("jmh-").suffix(".json").tempfile_in(&bench.scratch).map_err(
                |error| {
                    Error::failed(format!(
                        "no file can be created in {}: {error}; choose a writable directory",
                        bench.scratch.display()
                    ))
                },
            )?;
        let launch = self.launch(&bench.install.benchmarks()?, file.path())?;
        let limit = Duration::from_secs_f64(60.0 + 10.0 * self.seconds());
        let mut running = Running::start(&launch, false)?;
        let Some((exit, _)) = running.wait(limit)? else {
            return Err(Error::failed(format!(
                "{} did not finish within {} s; is the machine overloaded?",
                self.benchmark,
                limit.as_secs()
            )));
        };
        if exit.code != Some(0) {
            return Err(match results::failure(&running.output()) {
                Some(reason) => Error::failed(format!("{}: {reason}", self.benchmark)),
                None => running.check().err().unwrap_or_else(|| Error::failed("JMH gave no reason")),
            });
        }
        let text = std::fs::read_to_string(file.path())
            .map_err(|error| Error::failed(format!("{}: {error}", file.path().display())))?;
        results::sample(&text, &self.reads)
    }

    fn launch(&self, jar: &Path, results: &Path) -> Result<Launch> {
        let mut words: Vec<OsString> = LAUNCHER.iter().map(OsString::from).collect();
        words.extend(["-jar".into(), jar.into()]);
        let mut add = |values: &[&str]| words.extend(values.iter().map(OsString::from));
        add(&[&format!("^{}$", self.benchmark.replace('.', r"\.")), "-f", "1", "-foe", "true"]);
        add(&["-t", &self.threads.to_string()]);
        for (count, length, (times, each)) in [("-wi", "-w", self.warmup), ("-i", "-r", self.iterations)] {
            add(&[count, &times.to_string(), length, &format!("{}ms", each.as_millis().max(1))]);
        }
        for (name, value) in &self.parameters {
            add(&["-p", &format!("{name}={value}")]);
        }
        if !self.counters.is_empty() {
            let events = self.counters.join(",");
            add(&["-prof", &format!("perfnorm:interval={COUNTING_INTERVAL};events={events}")]);
        }
        let flags: Vec<String> = std::iter::once(NEVER_NONE)
            .chain(self.flags.iter().map(String::as_str))
            .map(quoted)
            .collect::<Result<_>>()?;
        add(&["-jvmArgs", &flags.join(" "), "-rf", "json", "-rff"]);
        words.push(results.into());
        Ok(Launch::new(self.jdk.java(), words))
    }
}

/// JMH splits at spaces, except between double quotes.
fn quoted(flag: &str) -> Result<String> {
    match flag {
        _ if flag.contains(['"', '\\']) => Err(Error::usage(format!(
            "{flag}: JMH cannot pass on a flag with a quote or a backslash; choose a path without"
        ))),
        _ if flag.contains(char::is_whitespace) => Ok(format!("\"{flag}\"")),
        _ => Ok(flag.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn jmh() -> Jmh {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("bin")).unwrap();
        std::fs::write(home.path().join("bin/java"), "").unwrap();
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(home.path().join("bin/java"), executable).unwrap();
        std::fs::write(home.path().join("release"), "JAVA_VERSION=\"25\"\n").unwrap();
        Jmh {
            jdk: Jdk::at(home.path()).unwrap(),
            flags: vec!["-XX:+UseSerialGC".into(), "-agentpath:/with space/lib.so=a=b".into()],
            benchmark: "terrace.benchmarks.Tlab.object16".into(),
            parameters: vec![("layout".into(), "shared".into())],
            threads: 2,
            warmup: (1, Duration::from_millis(300)),
            iterations: (4, Duration::from_millis(150)),
            reads: Vec::new(),
            counters: Vec::new(),
        }
    }

    #[test]
    fn the_command_names_one_benchmark_and_keeps_flags_whole() {
        let line = jmh().launch(Path::new("/b.jar"), Path::new("/r.json")).unwrap().describe();
        let (_, arguments) = line.split_once("/bin/java ").unwrap();
        assert_eq!(
            arguments,
            r#"-Xmx64m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djmh.ignoreLock=true -jar /b.jar '^terrace\.benchmarks\.Tlab\.object16$' -f 1 -foe true -t 2 -wi 1 -w 300ms -i 4 -r 150ms -p layout=shared -jvmArgs '-Xshare:auto -XX:+UseSerialGC "-agentpath:/with space/lib.so=a=b"' -rf json -rff /r.json"#
        );
    }

    #[test]
    fn the_measured_jvm_never_inherits_the_launchers_flags() {
        let bare = Jmh { flags: Vec::new(), ..jmh() };
        let line = bare.launch(Path::new("/b.jar"), Path::new("/r.json")).unwrap().describe();
        assert!(line.contains("-jvmArgs -Xshare:auto -rf"), "{line}");
    }

    #[test]
    fn counters_are_asked_for_by_name() {
        let counting = Jmh { counters: vec!["cycles".into(), "instructions".into()], ..jmh() };
        let line = counting.launch(Path::new("/b.jar"), Path::new("/r.json")).unwrap().describe();
        assert!(line.contains("-prof 'perfnorm:interval=20;events=cycles,instructions'"), "{line}");
        assert!(counting.seconds() > jmh().seconds() && jmh().seconds() > 0.9);
    }

    #[test]
    fn a_flag_that_jmh_would_change_is_refused() {
        assert!(quoted("-Dx=\"y\"").unwrap_err().to_string().contains("without"));
    }
}
