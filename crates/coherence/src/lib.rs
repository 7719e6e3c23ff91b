//! Machines with coherent caches, simulated: what the buffers of `crates/hab` buy on another machine.
//!
//! | part | what it is |
//! |---|---|
//! | [`constants`] | every number of the model that belongs to no machine |
//! | [`evaluation`] | the simulator against what was published, and the four-level hierarchy |
//! | [`machine`] | such a machine: its shape, its protocol, what each step costs; every number with its origin |
//! | [`protocol`] | the states of a line, and what reads and writes make of them |
//! | [`memory`] | the lines: who has them from when to when, and what their moves cost |
//! | [`simulation`] | threads on CPUs over that memory, by a seeded scheduler |
//! | [`profile`] | recorded profiles of real programs |
//! | [`programs`] | what is simulated: counters, and allocation through the source of `crates/hab` |
//! | [`scenario`] | one simulation as a user asks for it, and what came of it |
//! | [`plan`](mod@plan) | which buffers to use on a machine |
//! | [`explain`] | which line bounced between whom, and what that cost |
//! | [`sweep`] | many of them at once |
//! | [`watched`] | atomics that tell a simulation of each access: what `crates/hab` and the programs run on |

pub mod constants;
pub mod evaluation;
pub mod explain;
pub mod machine;
pub mod memory;
pub mod plan;
pub mod profile;
pub mod programs;
pub mod protocol;
mod ranges;
pub mod scenario;
pub mod simulation;
pub mod sweep;
pub mod watched;
