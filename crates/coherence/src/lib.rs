//! Terrace: the coherence simulator. Executes the source of `crates/hab` on a simulated cache-coherent machine.

pub mod machine;
pub mod memory;
pub mod programs;
pub mod protocol;
pub mod simulation;
