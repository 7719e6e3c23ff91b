//! The events of `terrace.jar` in recordings of the Flight Recorder, read by the JDK's own tool.

use crate::artifacts;
use crate::attach::{COLLECTING, collect_times, outlasting};
use crate::jdk;
use crate::launch::Launch;
use crate::matrix::{MAIN, USUAL, hazard};
use crate::process::{ANSWER, Finished, Running};
use crate::report::Report;
use crate::runner::Case;
use crate::zgc::ZGCS;
use control::{Control, Mode};
use hab::Counter;
use hotspot::collector::Collector;
use jvm::attach::Attached;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// What an event of a level says, and the report's name for it.
const COUNTED: [(&str, &str); 14] = [
    ("refills", "refills"),
    ("refilled", "refill_bytes"),
    ("served", "buffers"),
    ("servedMemory", "buffer_bytes"),
    ("objects", "objects"),
    ("objectMemory", "object_bytes"),
    ("wasteAtRefills", "waste_refill_bytes"),
    ("wasteAtCollections", "waste_collection_bytes"),
    ("wasteByAlignment", "waste_alignment_bytes"),
    ("foreign", "foreign"),
    ("stolen", "stolen"),
    ("stolenMemory", "stolen_bytes"),
    ("direct", "direct"),
    ("directMemory", "direct_bytes"),
];
/// What goes on while buffers are off.
const PASSED: [(&str, &str); 4] = [
    ("passed", "passed"),
    ("passedMemory", "passed_bytes"),
    ("missed", "missed"),
    ("missedMemory", "missed_bytes"),
];

/// A load under heap verification with the jar's agent, and with a recording from the start if it has a text.
fn recorded(collector: Collector, options: &str, recording: &str) -> Launch {
    let jar = artifacts::jar().unwrap_or_else(|why| panic!("{why}"));
    let agent = format!("-javaagent:{}={options},control=auto,exact=true,report=report.json", jar.display());
    // The recorder's own start takes a minute in a program that is hardly out of its verified collections.
    let launch = outlasting(collector).args(&["gc=300"]).flag(agent);
    let launch = if USUAL.contains(&collector) { launch.flags("-Xmx256m -Xmn64m") } else { launch };
    if recording.is_empty() {
        return launch;
    }
    launch.flags(&format!("-XX:StartFlightRecording:filename=ended.jfr,{recording}"))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// `jcmd PID ...`, also of a runtime that has no such tool.
fn diagnose(running: &Running<'_>, command: &str) -> Result<String, String> {
    let jvm = Attached::to(running.pid(), ANSWER).map_err(text)?;
    jvm.diagnose(command).map_err(text)
}

/// Writes what was recorded so far; gives the file.
fn dump(running: &Running<'_>, name: &str, of: &str) -> Result<PathBuf, String> {
    let file = running.directory.join(name);
    let answer = diagnose(running, &format!("JFR.dump {of} filename={}", file.display()))?;
    if file.is_file() { Ok(file) } else { Err(answer) }
}

/// The `jfr` of the newest JDK that has it.
fn jfr(arguments: &[&str], file: &Path) -> Result<String, String> {
    let tool =
        jdk::all().iter().rev().find_map(|jdk| jdk.tool("jfr")).ok_or("no JDK here has the tool jfr")?;
    let output = Command::new(tool).args(arguments).arg(file).output().map_err(text)?;
    let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(told(&output.stdout)),
        false => Err(format!("jfr {arguments:?}: {}{}", told(&output.stdout), told(&output.stderr))),
    }
}

/// What a recording has of terrace.
struct Events(Vec<Value>);

impl Events {
    fn of(file: &Path, types: &str) -> Result<Events, String> {
        let json = jfr(&["print", "--json", "--events", types], file)?;
        let mut json: Value = serde_json::from_str(&json).map_err(text)?;
        let events = json["recording"]["events"].as_array_mut().ok_or("no events")?;
        events.sort_by_key(|event| event["values"]["startTime"].as_str().map(str::to_owned));
        Ok(Events(std::mem::take(events)))
    }

    /// Those of a type, in the order of their times.
    fn named(&self, name: &str) -> Vec<&Value> {
        let name = format!("terrace.{name}");
        self.0.iter().filter(|event| event["type"] == name).map(|event| &event["values"]).collect()
    }

    fn statistics(&self, level: &str) -> Vec<&Value> {
        self.named("BufferStatistics").into_iter().filter(|event| event["level"] == level).collect()
    }
}

fn number(event: &Value, field: &str) -> u64 {
    event[field].as_u64().unwrap_or(u64::MAX)
}

/// Of `PT0.0262S`, which is how long events here take.
fn seconds(duration: &Value) -> Option<f64> {
    duration.as_str()?.strip_prefix("PT")?.strip_suffix('S')?.parse().ok()
}

/// How many events of these types a recording has.
fn counted<const N: usize>(file: &Path, names: [&str; N]) -> Result<[u64; N], String> {
    let summary = jfr(&["summary"], file)?;
    let of = |name: &str| {
        let mut lines = summary.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines.find(|words| words.first() == Some(&name)).and_then(|words| words.get(1)?.parse().ok())
    };
    Ok(names.map(|name| of(&format!("terrace.{name}")).unwrap_or(0)))
}

/// Waits until a dump of what was recorded has more than two events of each of these types.
fn dump_with<const N: usize>(running: &mut Running<'_>, names: [&str; N], most: u64) -> Result<(), String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    running.wait_until(&format!("events {names:?}"), |running| {
        std::thread::sleep(Duration::from_millis(500));
        // There is none before the first recording has begun.
        let Ok(file) = dump(running, "dump.jfr", "") else { return Ok(false) };
        // A chunk to which HotSpot still writes may be shorter in the dump than its header says ("Trying to read at 647049, but file is only 529553
        // bytes", JDK 25): the next dump has all of it.
        match counted(&file, names) {
            Ok(counts) => Ok(counts.iter().all(|count| *count > most)),
            Err(error) if error.contains("but file is only") => Ok(false),
            Err(error) => Err(error),
        }
    })
}

fn control(running: &Running<'_>) -> Result<Control, String> {
    Control::of_process(running.pid()).map_err(text)?.ok_or_else(|| "no control memory".into())
}

/// Records until both kinds of events are there; then the buffers are switched off and emptied, and what was recorded is kept: from then on nothing
/// counts that buffers do.
fn record(running: &mut Running<'_>, settings: Option<&str>) -> Result<(), String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    if let Some(settings) = settings {
        diagnose(running, &format!("JFR.start {settings}"))?;
    }
    let control = control(running)?;
    dump_with(running, ["BufferStatistics", "Refill"], 2)?;
    // `jfr view` knows the events of a recording's beginning.
    diagnose(running, "JFR.start name=viewed")?;
    control.set_mode(Mode::Off);
    collect_times(running, 3)?;
    dump(running, "viewed.jfr", "name=viewed")?;
    dump(running, "last.jfr", "").map(drop)
}

/// What was recorded last, and the report, which was written later.
fn agrees(finished: &Finished, levels: &[&str], least: f64) -> Result<(), String> {
    let report = finished.report()?;
    report.check_exactly()?;
    let events = Events::of(&finished.directory.join("last.jfr"), "terrace.*")?;
    for (at, level) in levels.iter().enumerate() {
        let statistics = events.statistics(level);
        let last = *statistics.last().ok_or_else(|| format!("no statistics of {level}"))?;
        for (field, counter) in COUNTED {
            if number(last, field) != report.sum(at, counter) {
                return Err(format!("{counter} of {level} is {}: {last:#}", report.sum(at, counter)));
            }
        }
        for (field, counter) in PASSED {
            if number(last, field) > report.sum(at, counter) {
                return Err(format!("{counter} of {level} is {}: {last:#}", report.sum(at, counter)));
            }
        }
        if number(last, "remaining") != 0 || number(last, "refills") == 0 {
            return Err(format!("{last:#}"));
        }
    }
    let settings = *events.named("Settings").last().ok_or("no settings")?;
    let collector = report.setting("collector");
    if settings["state"] != "installed" || settings["on"] != false || settings["collector"] != *collector {
        return Err(format!("{settings:#}"));
    }
    for event in events.named("Refill") {
        let plausible = seconds(&event["duration"]).is_some_and(|took| took >= least && took < 300.0)
            && (levels.iter().any(|level| event["level"] == *level) || event["level"] == "thread")
            && ["heap", "processor"].iter().any(|source| event["source"] == *source)
            && number(event, "osThreadId") < 1 << 22;
        if !plausible {
            return Err(format!("{event:#}"));
        }
    }
    let known = |event: &&&Value| {
        event["thread"]["javaName"].as_str().is_some_and(|name| name.starts_with("Thread-"))
    };
    if events.named("Refill").iter().filter(known).count() == 0 {
        return Err("no refill is of one of the program's threads, all of which live".into());
    }
    opens(&finished.directory)
}

/// The JDK's tool shows what there is.
fn opens(directory: &Path) -> Result<(), String> {
    let summary = jfr(&["summary"], &directory.join("last.jfr"))?;
    let view = jfr(&["view", "--width", "400", "terrace.BufferStatistics"], &directory.join("viewed.jfr"))?;
    let shown = view.contains("Waste at Collections") && summary.contains("terrace.Settings");
    if shown { Ok(()) } else { Err(format!("{summary}\n{view}")) }
}

/// With a threshold of nothing each refill of a level is there or was lost. Gives how many were lost.
fn none_is_missing(finished: &Finished, file: &str, level: &str) -> Result<u64, String> {
    let (report, file) = (finished.report()?, &finished.directory.join(file));
    // As text: they are many.
    let refills = jfr(&["print", "--events", "terrace.Refill"], file)?;
    let first =
        refills.lines().find_map(|line| line.trim().strip_prefix("startTime = ")).ok_or("no refills")?;
    let (time, date) = first.split_once(" (").ok_or("no date")?;
    let first = format!("{}T{time}", date.trim_end_matches(')'));
    let events = Events::of(file, "terrace.BufferStatistics,terrace.RefillLoss")?;
    let statistics = events.statistics(level);
    // From here on they were recorded.
    let later = |event: &&&Value| {
        event["startTime"].as_str().is_some_and(|start| start.get(..first.len()) > Some(first.as_str()))
    };
    let (since, last) = statistics.iter().find(later).zip(statistics.last()).ok_or("no statistics")?;
    let lost = events.named("RefillLoss").iter().map(|event| number(event, "lost")).sum::<u64>();
    let level = format!("level = \"{level}\"");
    let found = |direct: bool| {
        let direct = format!("direct = {direct}");
        let is = |event: &&str| {
            [&level, &direct].iter().all(|text| event.contains(*text)) && !event.contains("memory = 0 bytes")
        };
        refills.split("\n}").filter(is).count() as u64
    };
    for (name, there) in [("refills", found(false)), ("direct", found(true))] {
        let (since, last, end) = (number(since, name), number(last, name), report.sum(0, name));
        if there + lost < last - since || there > end {
            return Err(format!("{there} {name} and {lost} lost, of {since} to {last}, {end} at the end"));
        }
    }
    Ok(lost)
}

/// More refills than the library keeps, which nobody reads before the next dump.
fn overflow(running: &mut Running<'_>) -> Result<(), String> {
    dump_with(running, ["BufferStatistics"], 0)?;
    let control = control(running)?;
    let count = || control.total(Counter::Refills) + control.total(Counter::Direct);
    let enough = count() + 20_000;
    running.wait_until("refills", |_| Ok(count() > enough))?;
    // Statistics that were being made are in an earlier chunk than the dump's.
    control.set_mode(Mode::Off);
    collect_times(running, 3)?;
    dump(running, "dump.jfr", "").map(drop)
}

/// What an observer times, and counts.
fn observes(finished: &Finished) -> Result<(), String> {
    let report: Report = finished.report()?;
    let events = Events::of(&finished.directory.join("dump.jfr"), "terrace.*")?;
    let last = *events.statistics("observed").last().ok_or("no statistics")?;
    let right = number(last, "passed") > 0
        && number(last, "passed") <= report.sum(0, "passed")
        && number(last, "refills") == 0
        && events.named("Settings").iter().all(|event| event["state"] == "observing")
        && events.named("Refill").iter().all(|event| event["level"] == "thread" && event["source"] == "heap");
    if right { Ok(()) } else { Err(format!("{last:#}")) }
}

/// A jar of the agent in Java that needs some stack for each class.
fn deep() -> Result<PathBuf, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let build = || {
        let (jar, manifest) = (artifacts::scratch().join("deep.jar"), artifacts::scratch().join("deep.mf"));
        std::fs::write(&manifest, "Premain-Class: Deep\n").map_err(text)?;
        let tool = jdk::compiler().ok_or("no JDK with a compiler")?.with_file_name("jar");
        let mut command = Command::new(tool);
        command.args(["--create", "--file"]).arg(&jar).arg("--manifest").arg(&manifest);
        command.arg("-C").arg(artifacts::classes()?).arg("Deep.class");
        let output = command.output().map_err(text)?;
        let said = || String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(jar) } else { Err(said()) }
    };
    BUILT.get_or_init(build).clone()
}

const ALL: &str = "+terrace.Refill#enabled=true,+terrace.Refill#threshold=0ns";
const SLOW: &str = "+terrace.Refill#enabled=true +terrace.Refill#threshold=1us";

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "flight::from_the_start", MAIN, COLLECTING, |setting| {
        recorded(setting.collector, "core=128k", ALL).beside(|running| record(running, None)).after(
            |finished| {
                agrees(finished, &["core"], 0.0)?;
                none_is_missing(finished, "last.jfr", "core")?;
                // What was recorded to the end.
                let [statistics] = counted(&finished.directory.join("ended.jfr"), ["BufferStatistics"])?;
                if statistics > 0 { Ok(()) } else { Err("the recording to the end has none".into()) }
            },
        )
    });
    hazard(cases, "flight::later", MAIN, USUAL, |setting| {
        let options = "levels=core+processor,core=32k,processor=256k";
        recorded(setting.collector, options, "")
            .beside(|running| record(running, Some(SLOW)))
            .after(|finished| agrees(finished, &["core", "processor"], 0.99e-6))
    });
    hazard(cases, "flight::beside_an_agent_that_needs_stack", MAIN, USUAL, |setting| {
        recorded(setting.collector, "core=128k", "")
            .flag(format!("-javaagent:{}", deep().unwrap_or_else(|why| panic!("{why}")).display()))
            .never("NO STACK")
            .never("Exception in thread")
            .beside(|running| {
                if !running.wait_for("running") {
                    return Err("the program ended before it began".into());
                }
                diagnose(running, "JFR.start")?;
                dump_with(running, ["BufferStatistics"], 2)
            })
            .prints(&["transformed terrace/jfr/BufferStatistics", "done"])
    });
    hazard(cases, "flight::overflow", MAIN, USUAL, |setting| {
        let rarely = format!("{ALL},+terrace.Refill#period=1h");
        recorded(setting.collector, "core=4k", &rarely).args(&["gentle=false"]).beside(overflow).after(
            |finished| match none_is_missing(finished, "dump.jfr", "core")? {
                0 => Err("none was lost".into()),
                _ => Ok(()),
            },
        )
    });
    hazard(cases, "flight::zgc", MAIN, ZGCS, |setting| {
        recorded(setting.collector, "times=true,levels=none", ALL)
            .flags("-Xmx192m")
            .beside(|running| dump_with(running, ["BufferStatistics", "Refill"], 2))
            .after(observes)
    });
    hazard(cases, "flight::observer", MAIN, USUAL, |setting| {
        recorded(setting.collector, "levels=none,times=true", ALL)
            .beside(|running| dump_with(running, ["BufferStatistics", "Refill"], 2))
            .after(observes)
    });
    hazard(cases, "flight::refused", MAIN, &[Collector::Z], |setting| {
        recorded(setting.collector, "core=64k", ALL)
            .unreported()
            .says("ZGC already allocates from per-CPU pages")
            .beside(|running| dump_with(running, ["Settings"], 0))
            .after(|finished| {
                let events = Events::of(&finished.directory.join("dump.jfr"), "terrace.*")?;
                let told = |event: &Value| {
                    let (state, message) = (&event["values"]["state"], &event["values"]["message"]);
                    state == "refused" && message.as_str().is_some_and(|line| line.contains("ZGC already"))
                };
                if !events.0.is_empty() && events.0.iter().all(told) {
                    return Ok(());
                }
                Err(format!("{:#?}", events.0))
            })
    });
}
