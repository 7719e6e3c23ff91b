//! Kernels that are measured in this process: small loops whose instructions are known. The measuring itself is in [`time`].

pub mod bandwidth;
pub mod tensor;
pub mod time;
pub mod zeroing;
