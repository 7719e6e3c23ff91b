//! One JVM of a soak: started, disturbed, ended, and held to its report.

use super::plan::RoundPlan;
use super::state::Counts;
use crate::child::go_on;
use crate::files::{at, copy};
use control::{Asked, Control, Mode, State};
use jvm::attach::{Attached, Loaded};
use jvm::os;
use jvm::{Error, Result};
use serde_json::Value;
use statistics::Random;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A JVM that neither begins, nor answers, nor ends within this is hung: at idle priority beside builds it may have a second of a CPU in ten minutes.
const LIMIT: Duration = Duration::from_secs(1800);

/// What every round needs.
pub struct Kit {
    pub agent: PathBuf,
    pub classes: PathBuf,
    /// How long a JVM is disturbed.
    pub time: Duration,
}

/// A JVM in a folder of its own; killed when this is dropped.
struct Jvm<'a> {
    child: Child,
    folder: &'a Path,
}

impl Drop for Jvm<'_> {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl<'a> Jvm<'a> {
    fn start(kit: &Kit, plan: &RoundPlan, folder: &'a Path) -> Result<Jvm<'a>> {
        let mut command = Command::new(plan.cell.jdk.java());
        command.arg(format!("-agentpath:{}={}", kit.agent.display(), plan.options));
        command.args(&plan.flags).arg("-cp").arg(&kit.classes).arg("Soak").args(&plan.arguments);
        for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"] {
            command.env_remove(variable);
        }
        let file = |name: &str| File::create(folder.join(name)).map_err(at(folder));
        command.current_dir(folder).stdin(Stdio::null()).stdout(file("stdout")?).stderr(file("stderr")?);
        command.process_group(0);
        os::die_with_us(&mut command);
        fs::write(folder.join("command"), format!("{command:?}\n")).map_err(at(folder))?;
        let child = command.spawn().map_err(at(&plan.cell.jdk.java()))?;
        Ok(Jvm { child, folder })
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.folder.join(name)).unwrap_or_default()).into_owned()
    }

    fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for something; an error if the JVM ends before, or hangs.
    fn wait_until<T>(&mut self, what: &str, ready: impl Fn(&Jvm<'_>) -> Option<T>) -> Result<T> {
        let since = Instant::now();
        loop {
            if let Some(ready) = ready(self) {
                return Ok(ready);
            }
            go_on()?;
            if !self.is_running() {
                return Err(Error::failed(format!("the JVM ended before {what}: {}", self.last_words())));
            }
            if since.elapsed() > LIMIT {
                return Err(Error::failed(format!("the JVM hangs: not {what} within {LIMIT:?}")));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn last_words(&self) -> String {
        let text = self.text("stdout") + &self.text("stderr");
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(4)..].join(" | ")
    }

    /// Waits for the end, and looks at what the JVM left behind.
    fn end(&mut self) -> Result<()> {
        fs::write(self.folder.join("stop"), "").map_err(at(self.folder))?;
        let since = Instant::now();
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if since.elapsed() > LIMIT => return Err(Error::failed("the JVM does not end")),
                Ok(None) => std::thread::sleep(Duration::from_millis(10)),
                Err(error) => return Err(at(self.folder)(error)),
            }
            go_on()?;
        };
        if !status.success() || !self.text("stdout").contains("done ") {
            return Err(Error::failed(format!("{status}: {}", self.last_words())));
        }
        if self.text("stderr").contains("panicked") {
            return Err(Error::failed(self.last_words()));
        }
        Ok(())
    }
}

/// Runs a round in an empty folder.
pub fn run(kit: &Kit, plan: &RoundPlan, folder: &Path, random: &mut Random) -> Result<Counts> {
    let since = Instant::now();
    let mut jvm = Jvm::start(kit, plan, folder)?;
    let control = jvm.wait_until("installed", |jvm| {
        let control = Control::open(&jvm.folder.join("control")).ok()?;
        (control.state() == Some(State::Installed)).then_some(control)
    })?;
    jvm.wait_until("running", |jvm| jvm.text("stdout").contains("running").then_some(()))?;
    let mut counts = disturb(kit, plan, &mut jvm, &control, random).map_err(|error| {
        if error.is_interruption() { error } else { Error::failed(format!("{error}; {}", jvm.last_words())) }
    })?;
    jvm.end()?;
    let report = serde_json::from_str(&jvm.text("report.json"))
        .map_err(|error| Error::failed(format!("report.json: {error}")))?;
    account(&report, &mut counts)?;
    let printed = jvm.text("stdout");
    let checked = printed.split_whitespace().find_map(|word| word.strip_prefix("checked=")?.parse().ok());
    counts.checked = checked.unwrap_or(0);
    counts.rounds = 1;
    counts.seconds = since.elapsed().as_secs_f64();
    Ok(counts)
}

/// Other sizes of the buffers of some of the levels.
fn sizes(levels: usize, random: &mut Random) -> Vec<(usize, Asked)> {
    let one = |random: &mut Random| {
        let bytes = Asked::Bytes(1 << (14 + random.below(6)));
        random.one(&[Asked::Nothing, Asked::Auto, Asked::Formula, bytes, bytes])
    };
    let first = random.below(levels);
    (first..levels).map(|level| (level, one(random))).collect()
}

/// Switches, other sizes, walks, collections and attempts to attach, at random, until the time is over or the program has done its work.
fn disturb(
    kit: &Kit,
    plan: &RoundPlan,
    jvm: &mut Jvm<'_>,
    control: &Control,
    random: &mut Random,
) -> Result<Counts> {
    let mut counts = Counts::default();
    let attached = Attached::to(jvm.child.id(), LIMIT)?;
    let another = jvm.folder.join("libterrace.so");
    copy(&kit.agent, &another)?;
    let until = Instant::now() + kit.time;
    while Instant::now() < until {
        go_on()?;
        if !jvm.is_running() {
            return Err(Error::failed("the JVM ended too early"));
        }
        match random.below(100) {
            0..6 => {
                let walks = ["GC.class_histogram -all", "GC.class_histogram", "GC.run"];
                attached.diagnose(random.one(&walks))?;
                counts.walks += 1;
            }
            6 => {
                attached
                    .diagnose(random.one(&["GC.heap_dump -all walk.hprof", "GC.heap_dump walk.hprof"]))?;
                let _ = fs::remove_file(jvm.folder.join("walk.hprof"));
                counts.walks += 1;
            }
            7..12 => {
                let (library, options) =
                    (random.one(&[&kit.agent, &another]), random.one(&["", "core=64k", "nonsense"]));
                if attached.load(library, options)? == Loaded::Yes {
                    return Err(Error::failed(format!("{} was loaded a second time", library.display())));
                }
                counts.attaches += 1;
            }
            12..15 => {
                control.ask_for_sizes(&sizes(plan.levels, random));
                counts.switches += 1;
            }
            _ => {
                // Mostly on: the rest of the time no refill is made that a soak is after.
                let modes =
                    [Mode::On, Mode::On, Mode::Off, if plan.has_bound { Mode::Bound } else { Mode::On }];
                let mode = random.one(&modes);
                control.set_mode(mode);
                counts.switches += 1;
                std::thread::sleep(Duration::from_millis(match mode {
                    Mode::On => 1 + random.below(400) as u64,
                    _ => random.below(20) as u64,
                }));
            }
        }
    }
    control.set_mode(Mode::On);
    Ok(counts)
}

/// No byte may be lost: on each level reserved = allocated + waste + remaining, exactly.
fn account(report: &Value, counts: &mut Counts) -> Result<()> {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    for (rank, level) in report["levels"].as_array().into_iter().flatten().enumerate() {
        let name = level["name"].as_str().unwrap_or_default();
        let domains = level["domains"].as_array().map_or(&[][..], Vec::as_slice);
        let sum = |counter: &str| domains.iter().map(|domain| number(&domain[counter])).sum::<u64>();
        let remaining = level["remaining_bytes"]
            .as_u64()
            .ok_or_else(|| Error::failed(format!("{name}: the report has no remaining_bytes")))?;
        let reserved = sum("refill_bytes");
        let parts = ["buffer", "object", "stolen", "waste_refill", "waste_collection", "waste_alignment"]
            .map(|part| sum(&format!("{part}_bytes")));
        let found = parts.iter().sum::<u64>() + remaining;
        if reserved != found {
            return Err(Error::failed(format!(
                "{name}: reserved {reserved} is not {found} = buffers {} + objects {} + stolen {} + waste {} + {} + {} + remaining {remaining}",
                parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]
            )));
        }
        if rank == 0 {
            counts.refills += sum("buffers");
        }
        counts.buffer_refills += sum("refills");
    }
    counts.pauses = number(&report["pauses"]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_lost_byte_is_found() {
        let report = |reserved: u64| {
            let one = json!({ "refills": 2, "refill_bytes": reserved, "buffers": 5, "buffer_bytes": 60 });
            let two = json!({ "refill_bytes": 40, "object_bytes": 20, "stolen_bytes": 5, "waste_refill_bytes": 4,
                "waste_collection_bytes": 3, "waste_alignment_bytes": 2 });
            json!({ "pauses": 7, "levels": [{ "name": "core", "remaining_bytes": 46, "domains": [one, two] }] })
        };
        let mut counts = Counts::default();
        account(&report(100), &mut counts).unwrap();
        assert_eq!((counts.refills, counts.buffer_refills, counts.pauses), (5, 2, 7));
        for wrong in [99, 101] {
            assert!(
                account(&report(wrong), &mut counts).is_err_and(|error| error.to_string().contains("core"))
            );
        }
        assert!(account(&json!({ "levels": [{ "name": "core", "domains": [] }] }), &mut counts).is_err());
    }
}
