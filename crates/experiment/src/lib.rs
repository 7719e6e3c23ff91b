//! What an experiment is, how a run of experiments goes, and what it found.
//!
//! An experiment is a declaration (data), a plan (the cells to measure on this machine), claims (data) and an answer (a sentence made from
//! what was measured). Everything else is common, and here: order, repetition, intervals, deciding, noise, resuming.
//!
//! | part | what it is |
//! |---|---|
//! | [`declaration`] | question, parameters, metrics, plots, published values |
//! | [`value`] | the values of parameters |
//! | [`bench`] | how much is measured, and where |
//! | [`plan`] | cells and how each is run |
//! | [`native`], [`jmh`], [`compared`], [`beside`] | the runners: kernels in this process, a JVM, two ways of running a JVM, several beside a stock one |
//! | [`sample`] | what one run of a cell gave |
//! | [`session`] | a run of experiments: order, repetition, noise, resuming |
//! | [`machine`] | where it runs |
//! | [`measured`] | looking up what was measured |
//! | [`term`] | a quantity of a claim: which metric of which cells |
//! | [`claim`] | a source's claim, and how all claims are decided |
//! | [`results`] | what a run found |

#![allow(missing_docs, reason = "not published")]

pub mod bench;
pub mod beside;
pub mod claim;
pub mod compared;
pub mod declaration;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod jmh;
pub mod machine;
pub mod measured;
pub mod native;
pub mod plan;
pub mod results;
pub mod sample;
pub mod session;
pub mod term;
pub mod value;

pub use bench::{Bench, Effort, Wanted};
pub use claim::{Claim, Comparison, Relation, Standing};
pub use declaration::{Better, Declaration, Metric, Parameter, Plot, Reference, Source};
pub use jvm::{Error, Result};
pub use measured::{Check, Measured, MeasuredCell, NO_ANSWER, NONE_BELOW, Quantity};
pub use plan::{Cell, Plan, QUICK_ROUNDS, Runner};
pub use present::figure::Kind;
pub use sample::Sample;
pub use term::Term;
pub use value::{Parameters, Value, parameters};

#[derive(Clone)]
pub struct Experiment {
    /// What it asks and in what words.
    pub declaration: Declaration,
    /// The cells for this machine.
    pub plan: fn(&Bench) -> Result<Plan>,
    /// Metrics that need more than one cell, such as a ratio to another cell; added to the cells before anything is said of them.
    pub derive: Option<fn(&mut [MeasuredCell])>,
    /// The sources' claims. They are data, but which numbers of threads contend or where caches end is this machine's.
    pub claims: fn(&Measured) -> Vec<Claim>,
    /// The question's answer in a sentence, with numbers of this run.
    pub answer: fn(&Measured) -> String,
}

impl Experiment {
    pub fn new(
        declaration: Declaration,
        plan: fn(&Bench) -> Result<Plan>,
        claims: fn(&Measured) -> Vec<Claim>,
        answer: fn(&Measured) -> String,
    ) -> Experiment {
        Experiment { declaration, plan, derive: None, claims, answer }
    }

    pub fn derive(self, derive: fn(&mut [MeasuredCell])) -> Experiment {
        Experiment { derive: Some(derive), ..self }
    }
}
