//! How results are shown: the same numbers, tables and progress everywhere.

pub mod grid;
pub mod numbers;
pub mod progress;
pub mod steps;
pub mod table;
