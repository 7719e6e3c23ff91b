//! What several experiments measure in this process, and how: small loops whose instructions are known. A kernel that one experiment
//! needs is in its folder. The measuring itself is in [`time`].
//!
//! | part | what it is |
//! |---|---|
//! | [`atomics`] | threads that count, on one line or on lines of their own |
//! | [`pin`] | threads that stay on their CPUs |
//! | [`quiet`] | measuring again what another program disturbed |

pub mod atomics;
pub mod pin;
pub mod quiet;
pub mod time;
