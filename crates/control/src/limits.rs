//! How much the memory has room for. A part of its format.

/// The most levels that have counters: a level each for core and processor, and the comparison level with private buffers.
pub const MAX_LEVELS: usize = 3;
/// Bytes of room for the settings in force (JSON text).
pub const MAX_SETTINGS: usize = 4096;
/// Bytes of room for the message (one line: why the agent refused, or what it adjusted).
pub const MAX_MESSAGE: usize = 1024;

/// The most domains of a level: more than Linux has CPUs.
pub const MAX_DOMAINS: usize = 8192;
