//! The agent's side: what is written.
#![allow(clippy::disallowed_types, reason = "the words are shared with another process")]

use crate::Error;
use crate::copy::{self, Copy};
use crate::decisions::Decision;
use crate::header::{Asked, Mode, State};
use crate::kept::Kept;
use crate::limits::MAX_LEVELS;
use crate::memory::{self, Access, Memory};
use crate::view::{self, Counted, Geometry, View};
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The agent's memory, with the right to write.
pub struct Control {
    view: View,
    found_by: Mutex<FoundBy>,
}

/// What others find the memory by, open as long as the process.
#[derive(Default)]
struct FoundBy {
    _memory: Option<Kept>,
    copy: Option<Copy>,
    /// Whether it gets the file of the memory whose place it takes.
    inherits: bool,
}

impl Deref for Control {
    type Target = View;

    #[inline(always)]
    fn deref(&self) -> &View {
        &self.view
    }
}

impl Control {
    /// Memory that nobody else can see: what the agent uses when no control file was asked for.
    pub fn anonymous<'a>(counted: impl Into<Counted<'a>>) -> Result<Control, Error> {
        let geometry = geometry(counted.into())?;
        let memory = Memory::private(geometry.bytes())
            .map_err(|error| Error(format!("no memory for counters: {error}")))?;
        Ok(Control { view: View::begin(memory, geometry, 0, 0), found_by: Mutex::default() })
    }

    /// Memory that [`View::of_process`] finds.
    pub fn shared<'a>(counted: impl Into<Counted<'a>>) -> Result<Control, Error> {
        let geometry = geometry(counted.into())?;
        let failed = |error| {
            Error(format!(
                "cannot share counters with commands: {error}; allow memfd_create, or leave out control="
            ))
        };
        let file = memory::sealed(geometry.bytes()).map_err(failed)?;
        let memory = Memory::shared(&file, geometry.bytes(), Access::Write).map_err(failed)?;
        let inode = memory::identity(&file).map_or(0, |found| found.inode);
        let view = View::begin(memory, geometry, inode, file.as_raw_fd() as u32);
        let kept = Kept::new(file).map_err(failed)?;
        let found_by = FoundBy { _memory: Some(kept), ..FoundBy::default() };
        Ok(Control { view, found_by: Mutex::new(found_by) })
    }

    /// The same, with a file at `path` (mode 0600) that leads there and has the last state when the process has ended. A file of an
    /// earlier process is replaced; no other.
    pub fn create<'a>(path: &Path, counted: impl Into<Counted<'a>>) -> Result<Control, Error> {
        let control = Control::shared(counted)?;
        let (copy, place) = Copy::create(path)?;
        copy.write(&control.view.memory).map_err(|error| {
            copy.remove(&place);
            Error(format!("control file {}: {error}; specify a path with free space", path.display()))
        })?;
        control.found_by().copy = Some(copy);
        Ok(control)
    }

    /// What the agent's option `control=PLACE` asks for: `auto`, or a path, in which `%p` becomes the process ID as in HotSpot's own
    /// options.
    pub fn at<'a>(place: &str, counted: impl Into<Counted<'a>>) -> Result<Control, Error> {
        match path(place) {
            None => Control::shared(counted),
            Some(path) => Control::create(&path, counted),
        }
    }

    /// The same for what may take this memory's place ([`Control::make_way`]): until then a file that both ask for is this one's, which holds its lock.
    pub fn beside<'a>(&self, place: &str, counted: impl Into<Counted<'a>>) -> Result<Control, Error> {
        let is_own = |path: &PathBuf| self.found_by().copy.as_ref().is_some_and(|copy| copy.is_at(path));
        if path(place).as_ref().is_none_or(|path| !is_own(path)) {
            return Control::at(place, counted);
        }
        let control = Control::shared(counted)?;
        control.found_by().inherits = true;
        Ok(control)
    }

    /// What this memory counted for has withdrawn, and `next` is in its place: with its file, if it was asked for the same one.
    pub fn make_way(&self, next: &Control) {
        if std::mem::take(&mut next.found_by().inherits) {
            let copy = self.found_by().copy.take();
            next.found_by().copy = copy;
            next.write_copy();
        }
        self.set_state(State::Withdrawn);
    }

    /// Opens the control file of a running JVM of this user for switching. Of one that has ended, what is switched is a copy.
    pub fn open(path: &Path) -> Result<Control, Error> {
        Ok(Control::over(copy::open(path, Access::Write)?))
    }

    /// Takes this memory for another attempt to install, if the last was refused and the next would get memory alike: each would otherwise leave a mapping
    /// in a JVM that is asked again and again. `place` is what `control=` asks for. Whether it did.
    pub fn try_again<'a>(&self, place: Option<&str>, counted: impl Into<Counted<'a>>) -> bool {
        let is_alike = {
            let found_by = self.found_by();
            let is_shared = found_by._memory.is_some();
            found_by.copy.is_none()
                && place.is_none_or(|place| place == "auto")
                && place.is_some() == is_shared
        };
        let was_refused = matches!(self.state(), Some(State::Starting | State::Refused));
        if !(is_alike && was_refused && Geometry::new(counted.into()) == Some(self.view.geometry())) {
            return false;
        }
        self.set_message("");
        self.set_settings("");
        // As in new memory.
        self.set_mode(Mode::Off);
        self.ask_to_stay();
        let header = self.header();
        header.asked.iter().for_each(|word| word.store(Asked::Nothing.word(), Ordering::Relaxed));
        self.take_sizes(header.asked_number.load(Ordering::Relaxed));
        self.set_state_in_memory(State::Starting);
        true
    }

    pub(crate) fn over(view: View) -> Control {
        Control { view, found_by: Mutex::default() }
    }

    fn found_by(&self) -> MutexGuard<'_, FoundBy> {
        self.found_by.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody finds it any more, its file may be taken over, and its counters, from now on of another installation, take no memory, unless the kernel commits
    /// strictly: a thread that is still on its way may count once more. The state stays for who looks already.
    pub fn give_up(&self) {
        *self.found_by() = FoundBy::default();
        self.view.release_counters();
    }

    /// Publishes a state, and with it the texts written before. The file waits: for a safepoint, which must not wait for a file system.
    pub fn set_state_in_memory(&self, state: State) {
        // Release: whoever sees the state sees the texts.
        self.header().state.store(state as u32, Ordering::Release);
    }

    /// The same, and what the file has follows.
    pub fn set_state(&self, state: State) {
        self.set_state_in_memory(state);
        self.write_copy();
    }

    fn write_copy(&self) {
        if let Some(copy) = &self.found_by().copy {
            // A copy that cannot be written is no reason to disturb the application.
            let _ = copy.write(&self.view.memory);
        }
    }

    /// Switches. Requests under way finish as they began.
    pub fn set_mode(&self, mode: Mode) {
        // Relaxed: as in `mode`.
        self.header().mode.store(mode as u32, Ordering::Relaxed);
    }

    /// Tells the agent to withdraw: an observer with the next request or collection, buffers with the first collection that finds them
    /// switched off and none of them being refilled.
    pub fn ask_to_withdraw(&self) {
        // Relaxed: as in `is_to_withdraw`.
        self.header().withdrawal.store(1, Ordering::Relaxed);
    }

    /// Takes that back, and ends the lease, also one that has run out: it is another's who says so.
    pub fn ask_to_stay(&self) {
        // Relaxed: as in `is_to_withdraw`.
        self.header().lease.store(0, Ordering::Relaxed);
        // Pairs with the one in `is_leased`: either this end of the lease is seen there, or what was stored before that look is overwritten here, and by
        // the mode that follows.
        fence(Ordering::SeqCst);
        self.header().lapsed.store(0, Ordering::Relaxed);
        self.header().withdrawal.store(0, Ordering::Relaxed);
    }

    /// Whether the lease still stands. Who has stored something by its right looks afterwards: if not, what was stored is to be undone.
    pub fn is_leased(&self) -> bool {
        // Pairs with the one in `ask_to_stay`.
        fence(Ordering::SeqCst);
        self.lease() != 0
    }

    /// Has the agent stay so many seconds after each renewal, or for good with 0.
    pub fn set_lease(&self, seconds: u32) {
        // Relaxed: nothing depends on when it is seen.
        self.header().lapsed.store(0, Ordering::Relaxed);
        self.header().lease.store(seconds, Ordering::Relaxed);
    }

    /// Says that the command is still there for which the agent was installed.
    pub fn renew(&self) {
        // Relaxed: as above.
        self.header().renewals.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that the lease has run out. Whether nobody has done so before.
    pub fn lapse(&self) -> bool {
        // Relaxed: it publishes nothing.
        self.header().lapsed.swap(1, Ordering::Relaxed) == 0
    }

    /// Asks for sizes from now on: for levels by their number, the threads' level first. The agent holds them to what an installation
    /// would accept.
    pub fn ask_for_sizes(&self, asked: &[(usize, Asked)]) {
        for (level, size) in asked {
            if let Some(word) = self.header().asked.get(*level) {
                word.store(size.word(), Ordering::Relaxed);
            }
        }
        // Release: who sees the number sees the sizes.
        self.header().asked_number.fetch_add(1, Ordering::Release);
    }

    /// Writes the sizes in force.
    pub fn set_sizes(&self, sizes: &[usize]) {
        for (word, size) in self.header().sizes.iter().zip(sizes) {
            word.store(*size as u64, Ordering::Relaxed);
        }
    }

    /// Notes how large most new threads' first TLAB is, in bytes.
    pub fn set_first_tlab(&self, bytes: usize) {
        self.header().first_tlab.store(bytes as u64, Ordering::Relaxed);
    }

    /// Says that sizes asked for, up to this number, have been looked at.
    pub fn take_sizes(&self, number: u32) {
        // Release: who sees the number sees what is in force.
        self.header().taken_number.store(number, Ordering::Release);
    }

    /// Writes what an evaluation of a level came to. One thread at a time.
    pub fn note_decision(&self, decision: &Decision) {
        self.header().decisions.note(decision);
    }

    /// Writes a change of an adaptive size. One thread at a time.
    pub fn note_change(&self, decision: &Decision) {
        self.header().decisions.change(decision);
    }

    /// Counts a pause of the collector.
    pub fn count_pause(&self) {
        // Relaxed: a statistic publishes nothing.
        self.header().pauses.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request to make the heap parsable.
    pub fn count_parsability(&self) {
        // Relaxed: a statistic publishes nothing.
        self.header().parsability.fetch_add(1, Ordering::Relaxed);
    }

    /// Writes the settings in force (JSON). Only before [`Control::set_state`]; longer text is cut.
    pub fn set_settings(&self, settings: &str) {
        view::write(&self.header().settings, &self.header().settings_bytes, settings);
    }

    /// Writes the message (one line). Only before [`Control::set_state`]; longer text is cut.
    pub fn set_message(&self, message: &str) {
        view::write(&self.header().message, &self.header().message_bytes, message);
    }
}

/// The file that is asked for, if it is one.
fn path(place: &str) -> Option<PathBuf> {
    (place != "auto").then(|| place.replace("%p", &std::process::id().to_string()).into())
}

fn geometry(counted: Counted<'_>) -> Result<Geometry, Error> {
    Geometry::new(counted).ok_or_else(|| {
        let domains = counted.levels;
        Error(format!("counters for {domains:?} domains: {MAX_LEVELS} levels are possible"))
    })
}

#[cfg(test)]
#[path = "control_test.rs"]
pub(crate) mod tests;
