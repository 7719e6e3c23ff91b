//! How results are shown: the same numbers, tables and progress everywhere.

#![allow(missing_docs, reason = "not published")]

pub mod grid;
pub mod numbers;
pub mod progress;
pub mod steps;
pub mod table;
