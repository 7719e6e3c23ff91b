//! The experiments, a folder each: `docs/architecture.md` adds one.

pub mod applications;
pub mod atomics;
pub mod baseline;
pub mod bound;
pub mod constants;
pub mod defaults;
pub mod demo;
pub mod hab;
pub mod latency;
pub mod matrix;
pub mod observer;
pub mod pages;
pub mod pools;
pub mod sizing;
pub mod startup;
pub mod tlab;
pub mod waste;
pub mod zeroing;

use crate::simulated::Simulation;
use experiment::Experiment;

/// All of them, in the order in which they are run and shown, each with its simulated counterpart.
fn list() -> Vec<(Experiment, Option<Simulation>)> {
    vec![
        (atomics::experiment(), Some(atomics::simulated::SIMULATION)),
        (tlab::experiment(), Some(tlab::simulated::SIMULATION)),
        (hab::experiment(), Some(hab::simulated::SIMULATION)),
        (zeroing::experiment(), None),
        (pages::experiment(), None),
        (latency::experiment(), None),
        (demo::experiment(), None),
        (defaults::experiment(), None),
        (matrix::experiment(), None),
        (bound::experiment(), None),
        (baseline::experiment(), None),
        (observer::experiment(), None),
        (waste::experiment(), None),
        (sizing::experiment(), None),
        (pools::experiment(), None),
        (constants::experiment(), None),
        (startup::experiment(), None),
        (applications::experiment(), None),
    ]
}

/// All experiments, in the order in which they are run and shown.
pub fn all() -> Vec<Experiment> {
    list().into_iter().map(|(experiment, _)| experiment).collect()
}

/// How the cells of the experiment with this name are simulated.
pub(crate) fn simulation(name: &str) -> Option<Simulation> {
    list().into_iter().find(|(experiment, _)| experiment.declaration.name == name)?.1
}

#[cfg(test)]
mod tests {
    #[test]
    fn plots_and_references_name_what_is_declared() {
        for declaration in super::all().into_iter().map(|experiment| experiment.declaration) {
            let known = |key: &String| declaration.parameters.iter().any(|parameter| parameter.key == *key);
            for plot in &declaration.plots {
                let metric = declaration.metric(&plot.metric);
                assert!(metric.is_some() && known(&plot.x), "{}: {}", declaration.name, plot.title);
                assert!(
                    plot.series.iter().chain(&plot.panels).chain(plot.only.keys()).all(known),
                    "{}",
                    plot.title
                );
            }
            for reference in &declaration.references {
                assert!(declaration.metric(&reference.metric).is_some(), "{}", reference.label);
                assert!(reference.parameters.keys().all(known), "{}", reference.label);
            }
        }
    }
}
