//! Kernels that are measured in this process: small loops whose instructions are known. The measuring itself is in [`time`].
//!
//! | part | what it is |
//! |---|---|
//! | [`atomics`] | threads that count, on one line or on lines of their own |
//! | [`bandwidth`] | what the machine can write at most |
//! | [`chase`] | loads of which each needs the one before |
//! | [`tensor`] | a 4-D tensor, at random and in its worst order |
//! | [`transfer`] | a line that two CPUs hand to each other |
//! | [`zeroing`] | ways to make memory zero |
//! | [`pin`] | threads that stay on their CPUs |
//! | [`quiet`] | measuring again what another program disturbed |

pub mod atomics;
pub mod bandwidth;
pub mod chase;
pub mod pin;
pub mod quiet;
pub mod tensor;
pub mod time;
pub mod transfer;
pub mod zeroing;
