//! The machine that a measurement is from: [`page`] is what a report says of it; [`counters`] are the processor's own.

pub mod counters;
pub mod events;
pub mod page;
