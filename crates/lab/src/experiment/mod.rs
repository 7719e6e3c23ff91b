//! What an experiment is: a declaration (data), a plan (the cells to measure on this machine) and a conclusion (a sentence and
//! checks, made from what was measured). Everything else is common: order, repetition, intervals, noise, resuming, output.
//!
//! | part | what it is |
//! |---|---|
//! | [`declaration`] | question, parameters, metrics, plots, published values |
//! | [`value`] | the values of parameters |
//! | [`bench`] | how much is measured, and where |
//! | [`plan`] | cells and how each is run |
//! | [`sample`] | what one run of a cell gave |
//! | [`measured`] | looking up what was measured, for conclusions |
//! | [`jmh`] | the runner that starts a JVM |

pub mod bench;
pub mod declaration;
pub mod jmh;
pub mod measured;
pub mod plan;
pub mod sample;
pub mod value;

pub use bench::{Bench, Effort};
pub use declaration::{Better, Declaration, Kind, Metric, Parameter, Plot, Reference, Source};
pub use measured::{Check, Conclusion, Measured, MeasuredCell, Quantity};
pub use plan::{Cell, Plan, Runner};
pub use sample::Sample;
pub use value::{Parameters, Value, parameters};

use crate::Result;

/// An experiment.
#[derive(Clone)]
pub struct Experiment {
    /// What it asks and in what words.
    pub declaration: Declaration,
    /// The cells for this machine.
    pub plan: fn(&Bench) -> Result<Plan>,
    /// Metrics that need more than one cell, such as a ratio to another cell; added to the cells before anything is said of them.
    pub derive: Option<fn(&mut [MeasuredCell])>,
    /// What the cells say.
    pub conclude: fn(&Measured) -> Conclusion,
}
