//! What a JVM did between two looks.

use crate::eden::Eden;
use crate::survey::Look;
use hab::Counter;
use jvm::counter_values::CounterValues;
use jvm::status::{Level, Status};
use serde::Serialize;

/// The buffers of a JVM whose agent this command cannot read.
pub(crate) const OTHER_VERSION: &str = "other version";

/// Rates are for each second.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Activity {
    pub pid: u32,
    /// Clock ticks from the machine's start to the JVM's.
    #[serde(skip)]
    pub started: u64,
    pub program: String,
    /// stock, on, off, bound, counts (an observer), other version, or what the agent says of itself: refused, withdrawn.
    pub buffers: String,
    /// Bytes. Of a stock JVM: what its collections freed of eden, which is known with each collection only, and only of those of a full eden.
    pub allocated: Option<f64>,
    /// Whether that is such an estimate.
    pub is_estimate: bool,
    /// Requests of threads, for TLABs and for objects outside them.
    pub tlabs: Option<f64>,
    /// Requests that the heap served: refills of the buffers nearest to it, and what went past all buffers.
    pub refills: Option<f64>,
    /// What buffers gave up, as a share of the bytes handed out.
    pub waste: Option<f64>,
    pub collections: Option<f64>,
    pub levels: Vec<Share>,
}

/// What one level of the buffers served.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Share {
    pub level: String,
    /// Of the bytes that threads got.
    pub of_bytes: f64,
    pub refills: f64,
    pub domains: Vec<Domain>,
}

/// One core's or processor's part.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Domain {
    pub number: usize,
    pub bytes: f64,
    pub tlabs: f64,
    pub refills: f64,
    /// Requests served by another domain's buffer, or whose thread had moved.
    pub foreign: f64,
}

/// Counters that only grow, and the seconds between.
struct Between<'a> {
    before: &'a CounterValues,
    now: &'a CounterValues,
    seconds: f64,
}

impl Between<'_> {
    fn grown(&self, counters: &[Counter]) -> f64 {
        let grown = |counter: &Counter| self.now.get(*counter).saturating_sub(self.before.get(*counter));
        counters.iter().map(|counter| grown(counter) as f64).sum()
    }

    fn rate(&self, counters: &[Counter]) -> f64 {
        self.grown(counters) / self.seconds
    }
}

impl Activity {
    /// Between two looks at one JVM.
    pub fn between(before: &Look, now: &Look) -> Activity {
        let seconds = (now.at - before.at).as_secs_f64().max(1e-6);
        let collections = || {
            let of = |look: &Look| look.counters.as_ref().map(|counters| counters.collections());
            Some(of(now)?.saturating_sub(of(before)?) as f64 / seconds)
        };
        let allocated = || {
            let of = |look: &Look| look.counters.as_ref().and_then(Eden::of);
            Some(of(now)?.allocated_since(&of(before)?)? as f64 / seconds)
        };
        let stock = Activity {
            pid: now.pid,
            started: now.started,
            program: now.program.clone(),
            buffers: if now.other_version.is_some() { OTHER_VERSION } else { "stock" }.into(),
            allocated: allocated(),
            is_estimate: true,
            tlabs: None,
            refills: None,
            waste: None,
            collections: collections(),
            levels: Vec::new(),
        };
        match (&before.agent, &now.agent) {
            (_, Some(status)) if !matches!(status.state.as_str(), "installed" | "observing") => {
                Activity { buffers: status.state.clone(), ..stock }
            }
            (Some(before), Some(now)) => stock.with(before, now, seconds),
            _ => stock,
        }
    }

    fn with(self, before: &Status, now: &Status, seconds: f64) -> Activity {
        let per_second = |before: u64, now: u64| now.saturating_sub(before) as f64 / seconds;
        let served = per_second(before.served_bytes, now.served_bytes);
        let waste = now.waste.since(&before.waste);
        let requests = Requests::between(before, now, seconds);
        Activity {
            buffers: if now.state == "observing" { "counts".into() } else { now.mode.clone() },
            allocated: Some(served),
            is_estimate: false,
            tlabs: Some(requests.of_threads),
            refills: Some(requests.of_heap),
            waste: waste.share(),
            collections: self.collections.or(Some(per_second(before.pauses, now.pauses))),
            levels: (now.levels.iter().zip(&before.levels))
                .map(|(now, before)| Share::between(before, now, served, seconds))
                .collect(),
            ..self
        }
    }
}

/// For each second: what threads asked for, and what of that reached the heap.
struct Requests {
    of_threads: f64,
    of_heap: f64,
}

impl Requests {
    /// A level is refilled from the one behind it, which counts that as a request: threads ask the first, and only the last asks the heap. Private
    /// buffers have both sides for themselves.
    fn between(before: &Status, now: &Status, seconds: f64) -> Requests {
        let private = now.shared_levels();
        let rate = |level: usize, counters: &[Counter]| -> f64 {
            let (Some(before), Some(now)) = (before.levels.get(level), now.levels.get(level)) else {
                return 0.0;
            };
            let pairs = now.domains.iter().zip(&before.domains);
            pairs.map(|(now, before)| Between { before, now, seconds }.rate(counters)).sum()
        };
        const SERVED: [Counter; 4] = [Counter::Buffers, Counter::Objects, Counter::Stolen, Counter::Direct];
        const ASKED: [Counter; 2] = [Counter::Refills, Counter::Direct];
        let all_private = |counters: &[Counter]| -> f64 {
            (private..now.levels.len()).map(|level| rate(level, counters)).sum()
        };
        let past = rate(0, &[Counter::Passed, Counter::Missed]);
        Requests {
            of_threads: rate(0, &SERVED) + all_private(&SERVED) + past,
            of_heap: rate(private - 1, &ASKED) + all_private(&ASKED) + past,
        }
    }
}

impl Share {
    fn between(before: &Level, now: &Level, served: f64, seconds: f64) -> Share {
        const SERVED: [Counter; 3] = [Counter::BufferBytes, Counter::ObjectBytes, Counter::StolenBytes];
        let pairs = now.domains.iter().zip(&before.domains);
        let domains: Vec<Domain> = (pairs.enumerate())
            .map(|(number, (now, before))| {
                let between = Between { before, now, seconds };
                Domain {
                    number,
                    bytes: between.rate(&SERVED),
                    tlabs: between.rate(&[Counter::Buffers, Counter::Stolen]),
                    refills: between.rate(&[Counter::Refills]),
                    foreign: between.rate(&[Counter::Foreign, Counter::Stolen]),
                }
            })
            .collect();
        let bytes: f64 = domains.iter().map(|domain| domain.bytes).sum();
        Share {
            level: now.name.clone(),
            of_bytes: if served > 0.0 { bytes / served } else { 0.0 },
            refills: domains.iter().map(|domain| domain.refills).sum(),
            domains,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use control::{Control, Mode, State};
    use std::time::{Duration, Instant};

    pub fn look(at: Instant, pid: u32, agent: Option<&Control>) -> Look {
        Look {
            at,
            pid,
            started: 7,
            began: Duration::from_millis(100_070),
            program: "App".into(),
            counters: None,
            agent: agent.map(|agent| jvm::status::read(agent)),
            other_version: None,
        }
    }

    #[test]
    fn rates_are_of_the_time_between() {
        let control = Control::anonymous(&[2]).unwrap();
        control.set_settings(r#"{"levels":"core"}"#);
        control.set_state(State::Installed);
        control.set_mode(Mode::On);
        control.counters(0)[1].add(Counter::BufferBytes, 1000);
        let begin = Instant::now();
        let before = look(begin, 5, Some(&control));
        control.counters(0)[1].add(Counter::BufferBytes, 3000);
        control.counters(0)[1].add(Counter::Buffers, 6);
        control.counters(0)[0].add(Counter::BufferBytes, 1000);
        control.counters(0)[0].add(Counter::Refills, 1);
        let found = Activity::between(&before, &look(begin + Duration::from_secs(2), 5, Some(&control)));
        assert_eq!((found.buffers.as_str(), found.allocated, found.is_estimate), ("on", Some(2000.0), false));
        assert_eq!((found.tlabs, found.refills, found.waste), (Some(3.0), Some(0.5), Some(0.0)));
        assert_eq!(found.levels.len(), 1);
        assert_eq!((found.levels[0].level.as_str(), found.levels[0].of_bytes), ("core", 1.0));
        assert_eq!(found.levels[0].domains[1].bytes, 1500.0);
        control.set_state(State::Refused);
        let found = Activity::between(&before, &look(begin + Duration::from_secs(3), 5, Some(&control)));
        assert_eq!((found.buffers.as_str(), found.allocated), ("refused", None));
    }

    /// Of a core's buffer, that of its processor, and buffers of threads, each counter once.
    #[test]
    fn requests_are_counted_where_they_begin_and_where_they_end() {
        let control = Control::anonymous(&[2, 1, 1]).unwrap();
        control.set_settings(r#"{"levels":"core+processor"}"#);
        control.set_state(State::Installed);
        let begin = Instant::now();
        let before = look(begin, 5, Some(&control));
        let [core, processor, thread] = [0, 1, 2].map(|level| &control.counters(level)[0]);
        for (domain, counter, count) in [
            (core, Counter::Buffers, 1),
            (core, Counter::Stolen, 10),
            (core, Counter::Direct, 100),
            (core, Counter::Passed, 1000),
            (core, Counter::Objects, 5),
            (core, Counter::Missed, 20_000),
            // The processor's requests: refills of cores, and what they passed on.
            (core, Counter::Refills, 7),
            (processor, Counter::Buffers, 87),
            (processor, Counter::Direct, 20),
            (processor, Counter::Refills, 300),
            (thread, Counter::Buffers, 100_000),
            (thread, Counter::Direct, 1_000_000),
            (thread, Counter::Refills, 4000),
        ] {
            domain.add(counter, count);
        }
        let found = Activity::between(&before, &look(begin + Duration::from_secs(1), 5, Some(&control)));
        assert_eq!(found.tlabs, Some(f64::from(1 + 10 + 100 + 1000 + 5 + 20_000 + 100_000 + 1_000_000)));
        assert_eq!(found.refills, Some(f64::from(300 + 20 + 4000 + 1_000_000 + 1000 + 20_000)));
    }

    #[test]
    fn an_agent_that_has_just_come_has_no_rates_yet() {
        let control = Control::anonymous(&[1]).unwrap();
        control.set_state(State::Installed);
        let begin = Instant::now();
        let now = look(begin + Duration::from_secs(1), 5, Some(&control));
        let found = Activity::between(&look(begin, 5, None), &now);
        assert_eq!((found.buffers.as_str(), found.tlabs), ("stock", None));
    }
}
