//! Kernels that are measured in this process: small loops whose instructions are known. The measuring itself is in [`time`].

pub mod atomics;
pub mod chase;
pub mod clock;
pub mod pin;
pub mod time;
pub mod transfer;
