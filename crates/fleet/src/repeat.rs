//! A file with metrics, written again and again. What goes wrong meanwhile may pass: it is told once, and the others are exported.

use crate::export::Exporter;
use jvm::Result;
use jvm::out_file::OutFile;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

pub struct Repeat {
    exporter: Exporter,
    out: PathBuf,
    told: Told,
}

/// What one round came to.
#[derive(Debug, PartialEq, Eq)]
pub struct Round {
    /// What is wrong now and was not in the round before.
    pub news: Vec<String>,
    /// All that were named have ended, and the file is empty.
    pub is_last: bool,
}

impl Repeat {
    /// Writes the file for the first time. An error for what was asked for wrongly, and for a file that cannot be written.
    pub fn start(mut exporter: Exporter, out: PathBuf) -> Result<(Repeat, Round)> {
        let first = exporter.first()?;
        OutFile::open(&out)?.write(&first.text)?;
        let mut repeat = Repeat { exporter, out, told: Told::default() };
        let news = repeat.told.news(texts(&first.omitted));
        Ok((repeat, Round { news, is_last: false }))
    }

    /// Writes it again.
    pub fn round(&mut self) -> Round {
        let mut wrong = Vec::new();
        let written = self.exporter.export().and_then(|exported| {
            wrong = texts(&exported.omitted);
            // Without this a reader would take the last values for those of now.
            let text = if self.exporter.have_ended() { "" } else { &exported.text };
            OutFile::open(&self.out)?.write(text)
        });
        let is_last = written.is_ok() && self.exporter.have_ended();
        wrong.extend(written.err().map(|error| error.to_string()));
        Round { news: self.told.news(wrong), is_last }
    }

    /// Until all that were named have ended; without names, until somebody stops us.
    pub fn run(exporter: Exporter, out: PathBuf, every: Duration, tell: impl Fn(&str)) -> Result<()> {
        let (mut repeat, mut round) = Repeat::start(exporter, out)?;
        loop {
            round.news.iter().for_each(|news| tell(news));
            if round.is_last {
                return Ok(());
            }
            std::thread::sleep(every);
            round = repeat.round();
        }
    }
}

fn texts(errors: &[jvm::Error]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// What was wrong in the last round.
#[derive(Default)]
struct Told(BTreeSet<String>);

impl Told {
    /// Of what is wrong now: what was not in the round before.
    fn news(&mut self, now: Vec<String>) -> Vec<String> {
        let before = std::mem::replace(&mut self.0, now.iter().cloned().collect());
        now.into_iter().filter(|text| !before.contains(text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Agent;
    use crate::export::Protocol;
    use std::fs;

    fn quiet() -> Round {
        Round { news: Vec::new(), is_last: false }
    }

    #[test]
    fn an_end_leaves_the_others_and_the_last_end_an_empty_file() {
        for protocol in [Protocol::Prometheus, Protocol::OpenTelemetry] {
            let (one, two) = (Agent::start(&[1]), Agent::start(&[1]));
            let (first, second) = (one.pid().to_string(), two.pid().to_string());
            let folder = tempfile::tempdir().unwrap();
            let out = folder.path().join("terrace.prom");
            let exporter = Exporter::of(&[one.pid(), two.pid()], protocol);
            let (mut repeat, round) = Repeat::start(exporter, out.clone()).unwrap();
            let has = |pid: &str| fs::read_to_string(&out).unwrap().contains(&format!("\"{pid}\""));
            assert_eq!((round, has(&first), has(&second)), (quiet(), true, true));
            // Nobody has waited for it, as for a container's first process that cares for no children.
            jvm::os::signal(one.pid(), 9);
            one.ended();
            assert_eq!((repeat.round(), has(&first), has(&second)), (quiet(), false, true));
            drop(one);
            assert_eq!((repeat.round(), has(&first), has(&second)), (quiet(), false, true));
            drop(two);
            assert_eq!(repeat.round(), Round { news: Vec::new(), is_last: true });
            assert_eq!(fs::read_to_string(&out).unwrap(), "");
        }
    }

    #[test]
    fn what_passes_is_told_once() {
        let agent = Agent::start(&[1]);
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        let out = inner.join("terrace.prom");
        let start = || Repeat::start(Exporter::of(&[agent.pid()], Protocol::Prometheus), out.clone());
        assert!(start().is_err(), "the first time it is an error");
        fs::create_dir(&inner).unwrap();
        let (mut repeat, _) = start().unwrap();
        let mut counted = BTreeSet::new();
        for _ in 0..2 {
            fs::remove_dir_all(&inner).unwrap();
            let round = repeat.round();
            assert!(round.news.len() == 1 && round.news[0].contains("terrace.prom"), "{round:?}");
            assert_eq!(repeat.round(), quiet());
            fs::create_dir(&inner).unwrap();
            assert_eq!(repeat.round(), quiet());
            agent.control.count_pause();
            let text = fs::read_to_string(&out).unwrap();
            assert!(text.contains("terrace_agent_info"));
            counted.insert(
                text.lines().find(|line| line.starts_with("terrace_collector_pauses")).map(str::to_owned),
            );
        }
        assert_eq!(counted.len(), 2, "{counted:?}");
        fs::remove_dir_all(&inner).unwrap();
        drop(agent);
        assert!(!repeat.round().is_last, "the last values are still to be taken away");
        fs::create_dir(&inner).unwrap();
        assert!(repeat.round().is_last);
    }
}
