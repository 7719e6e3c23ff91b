//! Terrace: the arena. A bump allocator that threads share: an allocation is an addition in a buffer that belongs to the thread or to the core,
//! without a locked instruction, and everything is taken back at once. One arena takes the place of an arena for each thread.
//!
//! ```
//! let mut arena = arena::Arena::new();
//! std::thread::scope(|scope| {
//!     for number in 0..4_u64 {
//!         let arena = &arena;
//!         scope.spawn(move || *arena.alloc(number) += 1);
//!     }
//! });
//! arena.reset();
//! ```
//!
//! | path | what a request costs when it fits | memory |
//! |---|---|---|
//! | thread buffers | a compare, an add, a bounds check, a store | a buffer for each thread, 4 KB growing to 256 KB |
//! | [`Arena::local`] | an add, a bounds check, a store | a part of the thread's buffer, or a buffer for each hold, as above |
//! | core buffers in restartable sequences | ten instructions, none of them locked | a buffer for each core |
//! | core buffers by compare and swap | a locked instruction on a line that the core owns | a buffer for each core |
//! | one shared top | a locked instruction on a line that all cores want | none |
//!
//! | for | there is |
//! |---|---|
//! | values, slices, texts | [`Arena::alloc`] and what follows it, each with a `try_` form that gives an error in place of a panic |
//! | collections | `&Arena` and `&Local` are an `Allocator` of `allocator-api2`, with the feature `nightly` that of `core::alloc` |
//! | values that must be dropped | [`Arena::alloc_box`], or a collection |
//! | taking back a part | [`Arena::scope`]; [`Arena::checkpoint`] and [`Arena::reset_to`] |
//! | an arena for each request | [`Arena::new`], which costs less than a microsecond where one was dropped before; [`trim`] |
//! | knowing what is really used | [`Arena::stats`]; [`Arena::used_bytes`] for the bytes alone |
//!
//! With the feature `asan` AddressSanitizer, with `memcheck` Valgrind is told what is handed out: a use after a reset, a drop, a scope's end or a
//! `deallocate`, and an access past a block's end are then reported. Each block takes 16 bytes more. Without them it costs nothing.
//!
//! When not to use it: when objects die one by one while others live on, when one thread alone allocates (then `bumpalo` is smaller), on anything
//! but Linux. A table against its peers, and what was measured, is in `docs/arena.md` of the repository.
//!
//! In signal handlers only core buffers without zeroing, with a reserve, can be used: a handler that interrupts an allocation with thread buffers
//! would be given the same bytes.

#![cfg_attr(feature = "nightly", feature(allocator_api))]

mod allocator;
#[cfg(all(not(loom), not(no_sequences), any(target_arch = "x86_64", target_arch = "aarch64")))]
mod area;
mod arena;
mod blocks;
mod builder;
mod error;
mod front;
mod grain;
mod ground;
mod kept;
mod levels;
mod local;
mod nearby;
mod owned;
#[cfg_attr(
    any(no_sequences, not(any(target_arch = "x86_64", target_arch = "aarch64"))),
    allow(
        dead_code,
        unreachable_code,
        unused_variables,
        reason = "never reached where there are no sequences"
    )
)]
mod percpu;
mod piece;
#[cfg(all(not(loom), not(no_sequences), any(target_arch = "x86_64", target_arch = "aarch64")))]
mod pinned;
mod prefetch;
mod primitive;
mod reserve;
mod scope;
mod segments;
#[cfg_attr(loom, path = "sequence_model.rs")]
#[cfg_attr(
    all(not(loom), any(no_sequences, not(any(target_arch = "x86_64", target_arch = "aarch64")))),
    path = "sequence_none.rs"
)]
mod sequence;
#[cfg(all(test, not(loom), not(no_sequences), any(target_arch = "x86_64", target_arch = "aarch64")))]
mod sequence_test;
#[cfg_attr(
    any(no_sequences, not(any(target_arch = "x86_64", target_arch = "aarch64"))),
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
mod values;
mod watched;
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
