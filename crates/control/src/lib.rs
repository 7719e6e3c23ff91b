//! How the agent inside a JVM and the `terrace` command outside it see each other.
//!
//! The agent's state, settings and counters lie in a sealed memory file ([`Control`]). The command finds it among the process's
//! descriptors, maps it and reads ([`View`]); for switching it writes one word: the [`Mode`]. Layout: a header, then
//! `levels x domains` blocks of [`hab::Counters`], level by level, then, if requests are timed, a block of [`times::Times`] for each domain, [`new_threads::NewThreads`] and [`thread_waste::ThreadWaste`]. Why it is not a file: `docs/decisions/control-memory.md`.
//!
//! | part | what it is |
//! |---|---|
//! | `memory` | memory that is shared and cannot be taken away |
//! | `header`, `limits` | what stands at its beginning; how much it has room for |
//! | `view` | reading it |
//! | `control` | writing it |
//! | [`times`], `sampling`, `request` | how long requests took, which of them are timed, and what they were for |
//! | [`large`] | how large those were that G1 may give regions of their own |
//! | [`new_threads`] | threads by name that have asked for their first TLAB |
//! | [`thread_waste`] | what each thread leaves unused |
//! | `decisions` | why adaptive sizes are what they are |
//! | `copy` | the file at `control=PATH` |
//! | `process` | finding the memory of a process |

mod control;
mod copy;
mod decisions;
mod error;
pub mod folder;
mod header;
mod kept;
pub mod large;
mod limits;
mod memory;
pub mod new_threads;
mod process;
mod request;
mod sampling;
pub mod size;
pub mod thread_waste;
pub mod times;
mod view;

pub use control::Control;
pub use decisions::{Decision, MAX_CHANGES};
pub use error::Error;
pub use header::{Asked, FORMAT, Mode, State};
pub use limits::{MAX_DOMAINS, MAX_LEVELS, MAX_MESSAGE, MAX_SETTINGS};
pub use view::{Counted, View};
