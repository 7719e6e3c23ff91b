//! How a kernel is measured in this process.
//!
//! | part | what it is |
//! |---|---|
//! | [`time`] | timing a kernel, alone or on several threads at once |
//! | [`pin`] | threads that stay on their CPUs |
//! | [`quiet`] | measuring again what another program disturbed |

pub mod pin;
pub mod quiet;
pub mod time;
