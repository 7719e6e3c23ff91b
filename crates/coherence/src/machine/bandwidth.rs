//! What memory, the links between packages, and the cores' ways there carry.

/// Bandwidths in bytes a second, reads and writes together unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth {
    /// Of one core.
    pub core: f64,
    /// Of a cluster's way to the rest of its package.
    pub cluster: f64,
    /// Of a package's memory channels.
    pub channels: f64,
    /// Out of a package to all others, in one direction.
    pub link: f64,
    /// Bytes that go to or from memory for each byte of new objects: 2 where a line is read before it is written and written back
    /// later, 1 with stores that go past the caches.
    pub traffic: f64,
    /// Bytes of one cluster's last cache.
    pub last_cache: f64,
}
