//! The beginning of the memory that agent and command share.
#![allow(clippy::disallowed_types, reason = "the words are shared with another process")]

use crate::decisions::Decisions;
use crate::limits::{MAX_LEVELS, MAX_MESSAGE, MAX_SETTINGS};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// The format's number. A reader refuses any other.
pub const FORMAT: u32 = 10;

/// The mark at the beginning of what is ours, in memory and in files.
pub(crate) const MAGIC: [u8; 8] = *b"TERRACE\0";

/// Where [`State`] stands in every format since 5, with the same numbers: of an agent of another version no more has to be known than whether it is there.
pub(crate) const STATE_AT: usize = 48;

/// The format's number, where what is ours begins with another one than [`FORMAT`]. Mark and number stand at the beginning in every format.
pub(crate) fn other_format(beginning: [u8; 12]) -> Option<u32> {
    let [mark @ .., a, b, c, d] = beginning;
    let format = u32::from_ne_bytes([a, b, c, d]);
    (mark == MAGIC && format != FORMAT).then_some(format)
}

/// What the agent is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// Loaded; the JVM is still starting.
    Starting = 0,
    /// Hooks are in place.
    Installed = 1,
    /// Hooks are in place, without buffers (`levels=none`).
    Observing = 2,
    /// Nothing was installed; the message says why.
    Refused = 3,
    /// The JVM is ending (VMDeath); counters are final but for its last threads.
    Ended = 4,
    /// There was an observer, or buffers; HotSpot's own functions are back in their places.
    Withdrawn = 5,
}

impl State {
    pub(crate) fn from_number(number: u32) -> Option<State> {
        use State::{Ended, Installed, Observing, Refused, Starting, Withdrawn};
        [Starting, Installed, Observing, Refused, Ended, Withdrawn]
            .into_iter()
            .find(|state| *state as u32 == number)
    }

    /// The word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            State::Starting => "starting",
            State::Installed => "installed",
            State::Observing => "observing",
            State::Refused => "refused",
            State::Ended => "ended",
            State::Withdrawn => "withdrawn",
        }
    }
}

/// Which way requests go. Written by the command, read by the agent at every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Mode {
    /// Straight to HotSpot's original function.
    Off = 0,
    /// Through the buffers.
    On = 1,
    /// Through a private buffer for each thread (only with the agent's option `bound=true`): the bound that no shared
    /// hierarchy can beat.
    Bound = 2,
}

/// A size for the buffers of a level that was asked for, at installation or while they are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// None: that of the installation holds.
    Nothing,
    /// What is seen at collections ([`hab::adaptive`]), from the formula's size on.
    Auto,
    /// The formula's, whatever is seen ([`hab::sizing`]).
    Formula,
    /// So many bytes.
    Bytes(u64),
}

/// No size: an odd one is none.
const FORMULA: u64 = u64::MAX - 2;

impl Asked {
    pub(crate) fn from_word(word: u64) -> Asked {
        match word {
            0 => Asked::Nothing,
            u64::MAX => Asked::Auto,
            FORMULA => Asked::Formula,
            bytes => Asked::Bytes(bytes),
        }
    }

    /// As options and reports spell it.
    pub fn text(self) -> String {
        match self {
            Asked::Nothing => "as installed".into(),
            Asked::Auto => "auto".into(),
            Asked::Formula => "formula".into(),
            Asked::Bytes(bytes) => crate::size::format(bytes as usize),
        }
    }

    pub(crate) fn word(self) -> u64 {
        match self {
            Asked::Nothing => 0,
            Asked::Auto => u64::MAX,
            Asked::Formula => FORMULA,
            Asked::Bytes(bytes) => bytes,
        }
    }
}

const _: () = assert!(std::mem::offset_of!(Header, state) == STATE_AT, "other versions read it there");

/// The header. All numbers are in the machine's byte order. Every word is atomic: another process may write any of them at any
/// time, whatever it is supposed to do.
#[repr(C, align(128))]
pub(crate) struct Header {
    /// [`MAGIC`]; stored last, with release order, when the rest is in place.
    pub(crate) magic: AtomicU64,
    pub(crate) format: AtomicU32,
    pub(crate) pid: AtomicU32,
    /// Inode number of the memory, by which a copy knows the living one; 0 if nobody else can map it.
    pub(crate) inode: AtomicU64,
    /// The memory's descriptor in the process.
    pub(crate) descriptor: AtomicU32,
    /// Number of levels that have counters.
    pub(crate) levels: AtomicU32,
    /// Domains of each level.
    pub(crate) domains: [AtomicU32; MAX_LEVELS],
    /// Domains that have times of requests, behind all counters and before what is known of threads; 0 if none are taken.
    pub(crate) timed: AtomicU32,
    /// [`State`]; stored with release order, after settings and message.
    pub(crate) state: AtomicU32,
    /// [`Mode`].
    pub(crate) mode: AtomicU32,
    /// Not 0: the agent is to withdraw. Written by the command.
    pub(crate) withdrawal: AtomicU32,
    /// Seconds for which the agent stays without a renewal; 0: as long as the JVM. Written by the agent, and 0 by who ends it.
    pub(crate) lease: AtomicU32,
    /// Not 0: the lease has run out. Written by the agent, and 0 by who ends the lease.
    pub(crate) lapsed: AtomicU32,
    /// How often the lease was renewed. Written by the command.
    pub(crate) renewals: AtomicU64,
    /// How often sizes were asked for. Written by the command, with release order, after `asked`.
    pub(crate) asked_number: AtomicU32,
    /// The last of them that the agent has looked at.
    pub(crate) taken_number: AtomicU32,
    /// Sizes asked for since installation, for each level: see [`Asked`].
    pub(crate) asked: [AtomicU64; MAX_LEVELS],
    /// Bytes of a buffer in force, for each level; 0 for a level that is not there.
    pub(crate) sizes: [AtomicU64; MAX_LEVELS],
    /// Pauses of the collector (GarbageCollectionStart).
    pub(crate) pauses: AtomicU64,
    /// Calls of `ensure_parsability`, within collections and outside.
    pub(crate) parsability: AtomicU64,
    /// Bytes of most new threads' first TLAB; 0 where the agent leaves that to HotSpot.
    pub(crate) first_tlab: AtomicU64,
    pub(crate) decisions: Decisions,
    pub(crate) settings_bytes: AtomicU32,
    pub(crate) message_bytes: AtomicU32,
    pub(crate) settings: [AtomicU8; MAX_SETTINGS],
    pub(crate) message: [AtomicU8; MAX_MESSAGE],
}
