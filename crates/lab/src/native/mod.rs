//! Kernels that are measured in this process: small loops whose instructions are known. The measuring itself is in [`time`].
//!
//! | part | what it is |
//! |---|---|
//! | [`atomics`] | threads that count, on one line or on lines of their own |
//! | [`chase`] | loads of which each needs the one before |
//! | [`transfer`] | a line that two CPUs hand to each other |
//! | [`clock`] | the core's own clock |
//! | [`pin`] | threads that stay on their CPUs |

pub mod atomics;
pub mod chase;
pub mod clock;
pub mod pin;
pub mod time;
pub mod transfer;
