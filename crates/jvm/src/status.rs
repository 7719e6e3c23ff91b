//! What terrace is doing in a running JVM.

use crate::counter_values::CounterValues;
use crate::counts::Waste;
use crate::observe::{in_force, served, waste, written};
use crate::refills::{RefillTimes, Summaries};
use crate::why::{self, Sizing};
use crate::{Error, Result, loaded, process};
use control::{Mode, View};
use serde::Serialize;
use serde_json::Value;

/// What a JVM's agent says at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The number of this structure's version.
    pub schema: u32,
    pub pid: u32,
    /// starting, installed, observing, refused, ended or withdrawn.
    pub state: String,
    /// Why it refused, or what it adjusted.
    pub message: String,
    /// on, off or bound.
    pub mode: String,
    /// The settings in force.
    pub settings: Value,
    /// Pauses of the collector.
    pub pauses: u64,
    /// Times that the heap was made parsable, within collections and outside.
    pub parsability: u64,
    /// Bytes of most new threads' first TLAB; 0 where that is HotSpot's affair.
    pub first_tlab: u64,
    /// Bytes handed out to threads.
    pub served_bytes: u64,
    pub waste: Waste,
    /// How long requests took, if an observer times them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<Summaries>,
    /// The sizes of buffers, and why.
    pub sizing: Sizing,
    /// The counters of each level.
    pub levels: Vec<Level>,
    /// Their sum.
    pub total: CounterValues,
}

#[derive(Clone, Debug, Serialize)]
pub struct Level {
    /// core, processor or private.
    pub name: String,
    pub domains: Vec<CounterValues>,
}

/// Reads the status of a process.
pub fn of(pid: u32) -> Result<Status> {
    process::status_of(pid)?;
    match View::of_process(pid)? {
        // In a container the JVM may know itself by another number than we do.
        Some(view) => Ok(Status { pid, ..read(&view) }),
        None => Err(without(pid, &loaded::maps(pid)?)),
    }
}

/// Why there is nothing to be seen.
fn without(pid: u32, maps: &str) -> Error {
    let remedy =
        format!("load it with 'terrace attach {pid}', or start the program with 'terrace run -- java ...'");
    Error::failed(if !loaded::runs_libjvm(maps) {
        format!("process {pid} is not a JVM; specify the JVM's own process ID ('terrace top' lists them)")
    } else if maps.contains("libterrace.so") {
        format!(
            "process {pid} has terrace, but a different version, or without the option control=auto; use the command of its version, or \
             restart it with that option"
        )
    } else {
        format!("process {pid} is a JVM without terrace; {remedy}")
    })
}

/// What an agent says now.
pub fn read(control: &View) -> Status {
    Reader::default().read(control)
}

/// For many looks at one agent, whose settings are parsed only when they have become others.
#[derive(Default)]
pub struct Reader {
    text: String,
    written: Value,
}

impl Reader {
    /// What the agent says now.
    pub fn read(&mut self, control: &View) -> Status {
        let text = control.settings();
        if text != self.text {
            self.written = written(text.clone());
            self.text = text;
        }
        status(control, in_force(self.written.clone(), control))
    }
}

fn status(control: &View, settings: Value) -> Status {
    let mode = match control.mode() {
        Mode::On => "on",
        Mode::Off => "off",
        Mode::Bound => "bound",
    };
    let named = settings["levels"].as_str().unwrap_or("").to_owned();
    let mut names = names(&named);
    let bound = control.levels() > shared(&named);
    let mut levels = Vec::new();
    for level in 0..control.levels() {
        levels.push(Level {
            name: unique(names.next().unwrap_or("private"), &levels),
            domains: control
                .counters(level)
                .iter()
                .map(|domain| CounterValues::of(|counter| domain.get(counter)))
                .collect(),
        });
    }
    Status {
        schema: 2,
        pid: control.pid(),
        state: control.state().map_or("unknown", |state| state.name()).to_owned(),
        message: control.message(),
        mode: mode.to_owned(),
        pauses: control.pauses(),
        parsability: control.parsability(),
        first_tlab: control.first_tlab(),
        served_bytes: served(control, bound),
        waste: waste(control, bound),
        times: RefillTimes::read(control).map(|times| times.summaries()),
        levels,
        sizing: why::read(control, &settings),
        total: CounterValues::of(|counter| control.total(counter)),
        settings,
    }
}

fn names(levels: &str) -> impl Iterator<Item = &str> + Clone {
    levels.split('+').filter(|name| !name.is_empty())
}

/// How many levels have these names. A further one, that no name stands for, has the private buffers.
fn shared(levels: &str) -> usize {
    names(levels).count().max(1)
}

impl Status {
    /// How many levels threads share, from the nearest to them to the nearest to the heap; those behind have the private buffers. At least 1,
    /// also where there are no buffers (`levels=none`), whose first level counts what the heap served.
    pub fn shared_levels(&self) -> usize {
        shared(self.settings["levels"].as_str().unwrap_or("")).min(self.levels.len()).max(1)
    }
}

/// A name that no level before has: whoever starts has not written any yet, and a process may have written one twice.
fn unique(name: &str, before: &[Level]) -> String {
    let is_free = |name: &String| before.iter().all(|level| level.name != *name);
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::idle::Idle;
    use control::{Control, State};
    use hab::Counter;

    fn refused(pid: u32) -> String {
        of(pid).unwrap_err().to_string()
    }

    #[test]
    fn processes_without_terrace_are_told_apart() {
        assert!(refused(0x3fff_fff0).starts_with("no such process"));
        assert!(refused(Idle::start().pid()).contains("is not a JVM"));
        if crate::os::user() != 0 {
            assert!(refused(1).contains("belongs to another user"));
        }
    }

    #[test]
    fn what_an_agent_has_written_is_shown() {
        let control = Control::anonymous(&[2, 1]).unwrap();
        control.set_settings(r#"{"levels":"core+processor","jdk":"25"}"#);
        control.set_state(State::Installed);
        control.set_mode(Mode::On);
        control.counters(0)[1].add(Counter::BufferBytes, 4096);
        control.count_pause();
        control.set_first_tlab(20 << 10);
        let status = read(&control);
        assert_eq!((status.state.as_str(), status.mode.as_str()), ("installed", "on"));
        assert_eq!(
            status.levels.iter().map(|level| level.name.as_str()).collect::<Vec<_>>(),
            ["core", "processor"]
        );
        assert_eq!((status.served_bytes, status.total.get(Counter::BufferBytes)), (4096, 4096));
        let json = serde_json::to_value(&status).unwrap();
        assert_eq!(json["levels"][0]["domains"][1]["buffer_bytes"], 4096);
        assert_eq!((&json["pauses"], &json["parsability"]), (&1.into(), &0.into()));
        assert_eq!(json["first_tlab"], 20480);
    }

    #[test]
    fn no_two_levels_have_one_name() {
        let control = Control::anonymous(&[1, 1, 1]).unwrap();
        let names = || read(&control).levels.into_iter().map(|level| level.name).collect::<Vec<_>>();
        assert_eq!(names(), ["private", "private-2", "private-3"]);
        control.set_settings(r#"{"levels":"core-2+core+core"}"#);
        assert_eq!(names(), ["core-2", "core", "core-3"]);
    }

    #[test]
    fn settings_that_have_become_others_are_seen_by_the_same_reader() {
        let control = Control::anonymous(&[1]).unwrap();
        let mut reader = Reader::default();
        for levels in ["core", "core", "processor"] {
            control.set_settings(&format!(r#"{{"levels":"{levels}"}}"#));
            let status = reader.read(&control);
            assert_eq!(
                (&status.settings["levels"], status.levels[0].name.as_str()),
                (&levels.into(), levels)
            );
        }
    }

    #[test]
    fn what_a_hostile_process_has_written_does_not_reach_the_terminal() {
        let control = Control::anonymous(&[1]).unwrap();
        control.set_settings(r#"{"levels":"core\u001b[2J","\u0007":["\u001b"],"jdk":"\u0000"}"#);
        control.set_message("\u{1b}]0;title");
        control.counters(0)[0].add(Counter::BufferBytes, u64::MAX);
        control.counters(0)[0].add(Counter::ObjectBytes, u64::MAX);
        let status = read(&control);
        let text = crate::show::status(&status, 100);
        assert!(!text.contains(|letter: char| letter.is_control() && letter != '\n'), "{text:?}");
        assert_eq!(status.served_bytes, u64::MAX);
        for text in ["[".repeat(4096), "{\"a\":".repeat(600), "nonsense".into()] {
            control.set_settings(&text);
            read(&control);
        }
    }
}
