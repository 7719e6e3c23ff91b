//! How results are shown: the same numbers, tables, figures, pages and progress everywhere.

#![allow(missing_docs, reason = "not published")]

#[cfg(feature = "pages")]
pub mod figure;
pub mod numbers;
#[cfg(feature = "pages")]
pub mod page;
pub mod progress;
pub mod steps;
pub mod table;
pub mod told;
