//! Kernels that are measured in this process: small loops whose instructions are known. The measuring itself is in [`time`].

pub mod atomics;
pub mod bandwidth;
pub mod pin;
pub mod quiet;
pub mod tensor;
pub mod time;
pub mod zeroing;
