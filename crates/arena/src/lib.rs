//! Terrace: the arena. A bump allocator that many threads share, on the hierarchy of `crates/hab`.
//!
//! | path | what a request costs when it fits | memory |
//! |---|---|---|
//! | thread buffers | a compare, an add, a bounds check, a store | a buffer for each thread, 4 KB growing to 256 KB |
//! | core buffers in restartable sequences | ten instructions, none of them locked | a buffer for each core |
//! | core buffers by compare and swap | a locked instruction on a line that the core owns | a buffer for each core |
//! | one shared top | a locked instruction on a line that all cores want | none |
//!
//! Allocation is not for signal handlers: a handler that interrupts an allocation with thread buffers would be given the same bytes.

#![cfg_attr(feature = "nightly", feature(allocator_api))]

mod allocator;
mod arena;
mod builder;
mod error;
mod front;
mod ground;
mod kept;
mod levels;
mod local;
mod owned;
#[cfg_attr(
    any(no_sequences, not(target_arch = "x86_64")),
    allow(
        dead_code,
        unreachable_code,
        unused_variables,
        reason = "never reached where there are no sequences"
    )
)]
mod percpu;
#[cfg_attr(
    any(loom, no_sequences, not(target_arch = "x86_64")),
    allow(dead_code, reason = "only sequences need it")
)]
mod pinned;
mod prefetch;
mod primitive;
mod reserve;
mod scope;
mod segments;
#[cfg_attr(loom, path = "sequence_model.rs")]
#[cfg_attr(all(not(loom), any(no_sequences, not(target_arch = "x86_64"))), path = "sequence_none.rs")]
mod sequence;
#[cfg_attr(
    any(no_sequences, not(target_arch = "x86_64")),
    allow(
        dead_code,
        unreachable_code,
        unused_variables,
        reason = "never reached where there are no sequences"
    )
)]
mod slot;
mod stats;
mod text;
mod thread;
mod zero;

pub use arena::{Arena, Checkpoint};
pub use builder::{Builder, Path, Size};
pub use error::{AllocError, BuildError};
pub use kept::trim;
pub use local::Local;
pub use pages::{PageSize, Policy};
pub use scope::Scope;
pub use stats::{LevelStats, Stats};
pub use text::String;
pub use zero::Zeroing;
