//! What is asked of a level.

/// A request. Sizes are whole grains, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub(crate) min: usize,
    pub(crate) desired: usize,
    pub(crate) policy: Policy,
}

/// How far a level goes for a request. No policy waits for another thread; who may wait in the upper source is told by the column
/// "upper source".
///
/// | policy | own buffer | refill | others' tails | upper source |
/// |---|---|---|---|---|
/// | `Buffer` | yes | yes | yes | yes |
/// | `Object` | first one only | no | no | no |
/// | `ObjectWithRefill` | yes | yes | no | for the refill |
/// | `ObjectFromTails` | spare ones only | no | yes | no |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    Buffer,
    Object,
    ObjectWithRefill,
    ObjectFromTails,
}

impl Request {
    /// A buffer for a thread, of `min` to `desired` bytes: whatever it takes.
    #[inline(always)]
    pub const fn buffer(min: usize, desired: usize) -> Request {
        Request { min, desired, policy: Policy::Buffer }
    }

    /// A single object, only from what the own buffer holds.
    #[inline(always)]
    pub const fn object(bytes: usize) -> Request {
        Request { min: bytes, desired: bytes, policy: Policy::Object }
    }

    /// A single object; the own buffer is refilled if need be. For users without thread buffers, whose objects are the only requests.
    #[inline(always)]
    pub const fn object_with_refill(bytes: usize) -> Request {
        Request { min: bytes, desired: bytes, policy: Policy::ObjectWithRefill }
    }

    /// A single object from any tail: the own domain's spare buffers, then the other domains'. For when the upper source has nothing
    /// left and would collect while buffers still hold memory.
    #[inline(always)]
    pub const fn object_from_tails(bytes: usize) -> Request {
        Request { min: bytes, desired: bytes, policy: Policy::ObjectFromTails }
    }
}
