//! Finding the agent's memory in another process, by its descriptors in `/proc`.
//!
//! The kernel names them, so that neither names in a directory nor process IDs in a container's own numbering can be mistaken, and it
//! lets only those look who may read the process's memory anyway: its user, and root.

use crate::header::{STATE_AT, State, other_format};
use crate::memory::{self, Access, Identity, LINK, Memory};
use crate::view::View;
use crate::{Control, Error};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

pub(crate) fn user() -> u32 {
    // SAFETY: geteuid has no preconditions.
    unsafe { libc::geteuid() }
}

/// Who a process runs as, and its ID in its own PID namespace.
struct Process {
    user: u32,
    own_pid: Option<u32>,
}

impl Process {
    fn of(directory: &Path) -> Option<Process> {
        // A name that was cut may end within a letter.
        let text = std::fs::read(directory.join("status")).ok()?;
        let text = String::from_utf8_lossy(&text);
        let words = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key));
            line.map(|line| {
                line.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<u32>>()
            })
        };
        Some(Process {
            user: *words("Uid:")?.get(1)?,
            own_pid: words("NSpid:").and_then(|numbers| numbers.last().copied()),
        })
    }

    /// Whether we may do this with memory that the process has. A command never acts for another user: it writes only to what
    /// belongs to its own user; root also to what belongs to the user of the process.
    fn lets(&self, access: Access, found: Identity) -> bool {
        let ours = found.owner == user();
        let its_own = found.owner == self.user;
        match access {
            Access::Read => ours || its_own,
            Access::Write => ours || (user() == 0 && its_own),
        }
    }
}

impl View {
    /// Looks for the agent's memory in a process; `None` if there is none.
    pub fn of_process(pid: u32) -> Result<Option<View>, Error> {
        find(pid, Access::Read)
    }
}

impl Control {
    /// The same, for switching.
    pub fn of_process(pid: u32) -> Result<Option<Control>, Error> {
        Ok(find(pid, Access::Write)?.map(Control::over))
    }
}

/// The agent's memory in a process.
fn find(pid: u32, access: Access) -> Result<Option<View>, Error> {
    let directory = PathBuf::from(format!("/proc/{pid}"));
    let cannot = |why: &dyn std::fmt::Display| {
        Error(format!(
            "process {pid} cannot be inspected: {why}; run this command as its user, or as root with CAP_SYS_PTRACE"
        ))
    };
    let process = Process::of(&directory).ok_or_else(|| cannot(&"its owner is unknown"))?;
    let descriptors = std::fs::read_dir(directory.join("fd")).map_err(|error| cannot(&error.kind()))?;
    let (mut found, mut other) = (None, None);
    for link in descriptors.flatten().map(|entry| entry.path()) {
        if std::fs::read_link(&link).is_ok_and(|target| target.as_os_str() == LINK) {
            match open(&link, &process, access, |_| true) {
                // A child that was forked and has not become another program has it, too.
                Opened::Ours(view) if process.own_pid.is_none_or(|own| view.pid() == own) => {
                    let view = view.found_in(pid);
                    // A second agent that was refused has memory, too.
                    if matches!(view.state(), Some(State::Installed | State::Observing)) {
                        return Ok(Some(view));
                    }
                    found = Some(view);
                }
                Opened::OfFormat(format) => other = Some(format),
                Opened::Ours(_) | Opened::Nothing => {}
            }
        }
    }
    match (found, other) {
        (None, Some(format)) => Err(Error::other_version(&format_args!("in process {pid}"), format)),
        (found, _) => Ok(found),
    }
}

/// The living memory that a copy speaks of, if the process still runs. Only what belongs to the copy's `owner`.
pub(crate) fn of_copy(copy: &View, owner: u32, access: Access) -> Option<View> {
    let (inode, descriptor) = copy.living()?;
    let right = |found: Identity| found.inode == inode && found.owner == owner;
    let in_process = |directory: PathBuf| {
        let process = Process::of(&directory)?;
        let link = directory.join(format!("fd/{descriptor}"));
        let Opened::Ours(view) = open(&link, &process, access, right) else { return None };
        let number = directory.file_name()?.to_str()?.parse().ok()?;
        (view.living() == copy.living() && view.pid() == copy.pid()).then(|| view.found_in(number))
    };
    // In a container's own numbering it may be another process, or none: then it is looked for among all.
    in_process(PathBuf::from(format!("/proc/{}", copy.pid()))).or_else(|| {
        let numbered = |path: &PathBuf| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.parse::<u32>().is_ok())
        };
        let all = std::fs::read_dir("/proc").ok()?;
        all.flatten().map(|entry| entry.path()).filter(numbered).find_map(in_process)
    })
}

/// What is behind a descriptor.
enum Opened {
    Ours(View),
    /// An agent's of another version.
    OfFormat(u32),
    Nothing,
}

/// Whether an agent of another version has nothing in place any more, and so is in nobody's way. What cannot be read may be there.
fn has_gone(memory: &std::fs::File) -> bool {
    let mut state = [0; 4];
    memory.read_exact_at(&mut state, STATE_AT as u64).is_ok()
        && matches!(
            State::from_number(u32::from_ne_bytes(state)),
            Some(State::Withdrawn | State::Refused | State::Ended)
        )
}

fn open(link: &Path, process: &Process, access: Access, right: impl Fn(Identity) -> bool) -> Opened {
    let lets = |found| process.lets(access, found) && right(found);
    let Some((file, found)) = memory::take(link, access, lets) else { return Opened::Nothing };
    let file = std::fs::File::from(file);
    let mut beginning = [0; 12];
    if file.read_exact_at(&mut beginning, 0).is_ok()
        && let Some(format) = other_format(beginning)
    {
        return if has_gone(&file) { Opened::Nothing } else { Opened::OfFormat(format) };
    }
    if found.bytes > memory::MOST_BYTES || found.bytes == 0 {
        return Opened::Nothing;
    }
    let memory = Memory::shared(&file.into(), found.bytes, access).ok();
    memory.and_then(View::over).map_or(Opened::Nothing, Opened::Ours)
}
