//! What terrace is doing in a running JVM.

use crate::comparison::measure::Waste;
use crate::jvm::observe::{served, settings, waste};
use crate::{Error, Result, os};
use control::{Control, Mode, default_path};
use hab::Counter;
use serde::Serialize;
use serde_json::{Map, Value};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A JVM's control file at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The layout's number.
    pub schema: u32,
    /// The process.
    pub pid: u32,
    /// starting, installed, observing, refused or ended.
    pub state: String,
    /// Why it refused, or what it adjusted.
    pub message: String,
    /// on, off or bound.
    pub mode: String,
    /// The settings in force.
    pub settings: Value,
    /// Pauses of the collector.
    pub pauses: u64,
    /// Requests to make the heap parsable.
    pub parsability: u64,
    /// Bytes handed out to threads.
    pub served_bytes: u64,
    /// Waste by cause.
    pub waste: Waste,
    /// The counters of each level.
    pub levels: Vec<Level>,
    /// Their sum.
    pub total: Map<String, Value>,
}

/// One level.
#[derive(Clone, Debug, Serialize)]
pub struct Level {
    /// core, processor or private.
    pub name: String,
    /// The counters of each domain, by name.
    pub domains: Vec<Map<String, Value>>,
}

/// Reads the status of a process.
pub fn of(pid: u32) -> Result<Status> {
    let process = PathBuf::from(format!("/proc/{pid}"));
    let owner = process
        .metadata()
        .map_err(|_| Error::failed(format!("no such process {pid}; 'jps' lists the JVMs that run")))?
        .uid();
    if os::user() != 0 && owner != os::user() {
        return Err(Error::failed(format!(
            "process {pid} belongs to another user (number {owner}); ask as that user"
        )));
    }
    let control = match Control::open(&default_path(owner, pid)).ok().filter(|control| control.pid() == pid) {
        Some(control) => control,
        None => by_its_maps(pid, &process)?,
    };
    Ok(read(&control))
}

/// A control file elsewhere is found among what the process has mapped, even if its name is gone.
fn by_its_maps(pid: u32, process: &Path) -> Result<Control> {
    let maps = std::fs::read_to_string(process.join("maps")).map_err(|error| {
        Error::failed(format!("process {pid} cannot be looked into: {error}; ask as its user"))
    })?;
    for line in maps.lines() {
        let mut fields = line.splitn(6, char::is_whitespace);
        let (Some(range), Some(permissions)) = (fields.next(), fields.next()) else { continue };
        let name = fields.nth(3).unwrap_or_default().trim_start();
        if permissions != "rw-s" || !name.starts_with('/') {
            continue;
        }
        // The process may see another file tree than we do (a container).
        let seen_by_it = process.join("root").join(name.trim_start_matches('/'));
        let opened = match name.strip_suffix(" (deleted)") {
            Some(_) => copy_of(&process.join("map_files").join(range)),
            None => Control::open(Path::new(name)).ok().or_else(|| copy_of(&seen_by_it)),
        };
        if let Some(control) = opened {
            return Ok(control);
        }
    }
    let remedy = "start it with 'terrace run -- java ...'";
    Err(Error::failed(if !maps.contains("libjvm.so") {
        format!("process {pid} is not a JVM; name the JVM's own number ('jps' lists them)")
    } else if maps.contains("libterrace.so") {
        format!(
            "process {pid} has terrace but no control file; {remedy}, or with the agent's option control=auto"
        )
    } else {
        format!("process {pid} is a JVM without terrace; {remedy}")
    }))
}

/// A snapshot of a control file that has no name to be opened by.
fn copy_of(path: &Path) -> Option<Control> {
    const MOST: u64 = 16 << 20;
    let found = path.metadata().ok().filter(|found| found.is_file() && found.len() <= MOST)?;
    let bytes = std::fs::read(path).ok().filter(|bytes| bytes.len() as u64 == found.len())?;
    let directory = tempfile::tempdir().ok()?;
    let copy = directory.path().join("copy");
    std::fs::write(&copy, bytes).ok()?;
    Control::open(&copy).ok()
}

/// What a control file says now.
pub fn read(control: &Control) -> Status {
    let settings = settings(control);
    let mode = match control.mode() {
        Mode::On => "on",
        Mode::Off => "off",
        Mode::Bound => "bound",
    };
    let named = settings["levels"].as_str().unwrap_or("").to_owned();
    let mut names = named.split('+').filter(|name| !name.is_empty());
    // A level that no name stands for has the private buffers.
    let bound = control.levels() > names.clone().count().max(1);
    let levels = (0..control.levels()).map(|level| Level {
        name: names.next().unwrap_or("private").to_owned(),
        domains: control
            .counters(level)
            .iter()
            .map(|domain| counters(|counter| domain.get(counter)))
            .collect(),
    });
    Status {
        schema: 1,
        pid: control.pid(),
        state: control.state().map_or("unknown", |state| state.name()).to_owned(),
        message: control.message(),
        mode: mode.to_owned(),
        pauses: control.pauses(),
        parsability: control.parsability(),
        served_bytes: served(control, bound),
        waste: waste(control, bound),
        levels: levels.collect(),
        total: counters(|counter| control.total(counter)),
        settings,
    }
}

fn counters(value: impl Fn(Counter) -> u64) -> Map<String, Value> {
    Counter::ALL.iter().map(|counter| (counter.name().to_owned(), Value::from(value(*counter)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::State;

    fn refused(pid: u32) -> String {
        of(pid).unwrap_err().to_string()
    }

    #[test]
    fn processes_without_terrace_are_told_apart() {
        assert!(refused(0x3fff_fff0).starts_with("no such process"));
        assert!(refused(std::process::id()).contains("is not a JVM"));
        if os::user() != 0 {
            assert!(refused(1).contains("belongs to another user"));
        }
    }

    #[test]
    fn a_control_file_anywhere_is_found_by_its_mapping() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let control = Control::create(&directory.path().join("here"), &[2, 1]).unwrap();
        control.set_settings(r#"{"levels":"core+processor","jdk":"25"}"#);
        control.set_state(State::Installed);
        control.set_mode(Mode::On);
        control.counters(0)[1].add(Counter::BufferBytes, 4096);
        // Looked up by maps only: another test of this process may have a default control file some day.
        let us = std::process::id();
        let found = by_its_maps(us, &PathBuf::from(format!("/proc/{us}")));
        let Ok(found) = found else { panic!("not found") };
        let status = read(&found);
        assert_eq!((status.state.as_str(), status.mode.as_str()), ("installed", "on"));
        assert_eq!(
            status.levels.iter().map(|level| level.name.as_str()).collect::<Vec<_>>(),
            ["core", "processor"]
        );
        assert_eq!((status.served_bytes, status.total["buffer_bytes"].as_u64()), (4096, Some(4096)));
        let json = serde_json::to_value(&status).unwrap();
        assert_eq!(json["levels"][0]["domains"][1]["buffer_bytes"], 4096);
    }
}
