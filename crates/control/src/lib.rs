//! The control file: how the agent inside a JVM and the `terrace` command outside it see each other.
//!
//! A file that both map. The agent creates it ([`Control::create`]) and writes state, settings and counters into it; the
//! command opens it ([`Control::open`]), reads them, and writes one word: the [`Mode`]. Layout: a [`Header`], then
//! `levels x domains` blocks of [`hab::Counters`], level by level.
//!
//! Put it on a memory file system (`/dev/shm`): counters are written on the allocation path, and a page of a disk file that
//! the kernel is writing back makes its writer wait.

mod file;
mod header;
pub mod size;

pub use file::{Control, Error, default_path, expand_path};
pub use header::{FORMAT, Header, MAX_LEVELS, MAX_MESSAGE, MAX_SETTINGS, Mode, State};
