//! Machines with coherent caches, simulated: what a program of loads, stores and locked instructions costs on a machine that
//! is not at hand.
//!
//! [`machine`] describes such a machine: its shape, its protocol, and what each step costs, every number with its origin.

pub mod machine;
