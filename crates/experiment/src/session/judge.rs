//! From samples to findings, and what to say of noise.

use crate::measured::MeasuredCell;
use crate::results::{Findings, Results, State};
use crate::session::Planned;
use crate::session::schedule::Choice;
use crate::session::store::Store;
use crate::{Measured, Quantity, Runner, Sample, value};
use statistics::two_heaps;

/// An interval that reaches further than this to both sides of its median is called wide.
const WIDE: f64 = 0.2;
/// A canary that scatters more than this says that the machine was not quiet.
const SCATTER: f64 = 0.05;
/// A canary that drifts more than this says that the beginning and the end of a run are not comparable.
const DRIFT: f64 = 0.05;
/// Shares of CPU time that others may have before it is said.
const STOLEN: f64 = 0.02;
const OTHERS: f64 = 0.05;

/// What an experiment found.
pub(super) fn findings(planned: &Planned, choice: &Choice, store: &Store) -> Findings {
    // The reasons of cells whose last run failed, by the cell's name.
    let Planned { experiment, plan, started, failed } = planned;
    let declaration = &experiment.declaration;
    let mut missing = false;
    let mut cells: Vec<MeasuredCell> = (plan.cells.iter())
        .map(|cell| {
            let samples = store.samples(&declaration.name, &cell.parameters);
            let reason = match &cell.runner {
                Runner::Unavailable(reason) => reason.clone(),
                _ => match failed.get(&value::name(&cell.parameters)) {
                    Some(reason) => format!("failed: {reason}"),
                    None => "not measured yet; continue with --resume".into(),
                },
            };
            // Further rounds, asked for some cells, leave nothing missing in the others.
            let needed = if choice.measures(&cell.parameters) { plan } else { started };
            missing |= samples.len() < needed.rounds
                && !needed.is_precise(declaration.first_metric(), &samples)
                && !matches!(cell.runner, Runner::Unavailable(_));
            let metrics = declaration.metrics.iter().map(|metric| {
                let quantity = Quantity::of_samples(&metric.key, &samples, &reason);
                (metric.key.clone(), quantity)
            });
            let repeated = declaration
                .metrics
                .iter()
                .filter_map(|metric| Some((metric.key.clone(), repetitions(&metric.key, &samples)?)));
            let mut notes: Vec<String> = Vec::new();
            for note in samples.iter().flat_map(|sample| &sample.notes) {
                if !notes.contains(note) {
                    notes.push(note.clone());
                }
            }
            if !samples.is_empty()
                && samples.len() < plan.rounds
                && failed.contains_key(&value::name(&cell.parameters))
            {
                notes.push(reason.clone());
            }
            MeasuredCell {
                parameters: cell.parameters.clone(),
                runs: samples.len(),
                metrics: metrics.collect(),
                repetitions: repeated.collect(),
                notes,
                settings: samples.last().map(|sample| sample.settings.clone()).unwrap_or_default(),
                processes: samples.iter().map(|sample| sample.processes).sum(),
                impossible: matches!(cell.runner, Runner::Unavailable(_)),
                // What only some runs lack, more of them may have.
                inapplicable: (samples.iter().map(|sample| sample.inapplicable.clone()))
                    .reduce(|some, others| &some & &others)
                    .unwrap_or_default(),
            }
        })
        .collect();
    if let Some(derive) = experiment.derive {
        derive(&mut cells);
    }
    let measured = Measured { declaration, cells: &cells };
    let answer = (experiment.answer)(&measured);
    let checks = (experiment.claims)(&measured).iter().map(|claim| claim.check(&measured)).collect();
    let mut notes = plan.notes.clone();
    notes.extend(noise(declaration.first_metric(), &cells));
    let state = match (failed.is_empty(), missing) {
        (false, _) => State::Failed,
        (true, true) => State::Interrupted,
        (true, false) => State::Finished,
    };
    Findings {
        declaration: declaration.clone(),
        rounds: plan.rounds,
        state,
        seconds: store.taken(&declaration.name),
        cells,
        answer,
        checks,
        notes,
    }
}

/// Every number of a metric in all runs, where runs of native kernels have several and are one value each: two modes of a kernel show in
/// its repetitions, of which a run has many.
fn repetitions(metric: &str, samples: &[&Sample]) -> Option<Vec<f64>> {
    let is_native = samples.iter().all(|sample| sample.processes == 0);
    let values: Vec<f64> = samples.iter().flat_map(|sample| sample.numbers(metric)).collect();
    (is_native && values.len() > samples.len()).then_some(values)
}

/// What to say of an experiment's own scatter, by its first metric.
fn noise(metric: &str, cells: &[MeasuredCell]) -> Vec<String> {
    let mut notes = Vec::new();
    let known: Vec<_> = (cells.iter())
        .filter_map(|cell| match cell.metrics.get(metric)? {
            Quantity::Known { interval, .. } => Some((cell, interval)),
            Quantity::Unavailable { .. } => None,
        })
        .collect();
    let wide = known
        .iter()
        .filter(|(_, interval)| {
            interval.low < interval.median * (1.0 - WIDE) || interval.high > interval.median * (1.0 + WIDE)
        })
        .count();
    if wide > 0 {
        notes.push(format!(
            "noisy: in {wide} of {} cells the interval extends more than {:.0} % from the median; run it again with \
             --full, or on a quieter machine",
            known.len(),
            WIDE * 100.0
        ));
    }
    let single = cells.iter().filter(|cell| cell.processes == 1).count();
    if single > 0 {
        notes.push(format!(
            "one process: in {single} of {} cells the interval is from a single JVM and says nothing about other \
             JVMs; compare several with --rounds 3 or more",
            cells.len()
        ));
    }
    let one_round = |cell: &&MeasuredCell| cell.runs == 1 && !cell.repetitions.is_empty();
    let single = cells.iter().filter(one_round).count();
    if single > 0 {
        notes.push(format!(
            "one round: in {single} of {} cells the interval is from a single round and says nothing about other places of memory and \
             threads; measure several with --rounds 5",
            cells.len()
        ));
    }
    let bimodal: Vec<String> = known
        .iter()
        .filter(|(cell, _)| two_heaps(cell.single_values(metric)).is_some())
        .map(|(cell, _)| value::name(&cell.parameters))
        .collect();
    if let Some(first) = bimodal.first() {
        notes.push(format!(
            "bimodal: the values of {} of {} cells (for example {first}) have two modes, so something other than the parameters decides there, such as the placement of virtual CPUs or memory; inspect the individual values",
            bimodal.len(),
            known.len()
        ));
    }
    notes
}

/// What to say of the whole run.
pub fn notes(results: &Results) -> Vec<String> {
    let mut notes = Vec::new();
    let percent = |share: f64| present::numbers::percent(share, 1);
    if let Some(steal) = results.disturbance.steal_share.filter(|share| *share > STOLEN) {
        notes.push(format!(
            "the hypervisor gave {} of the CPU time to others; run again at another time or on a dedicated machine",
            percent(steal)
        ));
    }
    if let Some(others) = results.disturbance.others_share.filter(|share| *share > OTHERS) {
        notes.push(format!(
            "other programs used {} of the CPUs during the run; stop them and run again",
            percent(others)
        ));
    }
    for canary in &results.canaries {
        if let Some(scatter) = canary.scatter.filter(|scatter| *scatter > SCATTER) {
            notes.push(format!(
                "the canary '{}' varied by {}: the machine itself was not steady; trust only differences that are much \
                 larger, or run again when it is quiet",
                canary.name,
                percent(scatter)
            ));
        }
        if let Some(drift) = canary.drift.filter(|drift| (drift - 1.0).abs() > DRIFT) {
            notes.push(format!(
                "the canary '{}' ended at {drift:.2} times its first value: compare cells within an experiment, not experiments",
                canary.name
            ));
        }
    }
    if let Some(overhead) = results.overhead.filter(|overhead| overhead.low > 1.02) {
        notes.push(format!(
            "the harness itself added {:.1} % to a native kernel, more than the permitted 2 %; the machine is too busy: stop other programs and run again",
            (overhead.median - 1.0) * 100.0
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What runs of so many JVMs each come to, of which these are the iterations.
    fn of_runs(processes: usize, runs: &[&[f64]]) -> Quantity {
        let run = |values: &&[f64]| Sample {
            processes,
            values: [("ns".to_owned(), values.to_vec())].into(),
            ..Sample::default()
        };
        let samples: Vec<Sample> = runs.iter().map(run).collect();
        Quantity::of_samples("ns", &samples.iter().collect::<Vec<_>>(), "not run")
    }

    #[test]
    fn each_jvm_is_one_value_however_often_it_was_measured() {
        let near = |centre: f64| [0.99 * centre, centre, 1.01 * centre].repeat(20);
        let (fast, slow) = (near(100.0), near(120.0));
        let Quantity::Known { interval, values } = of_runs(1, &[&fast, &slow]) else { panic!() };
        assert_eq!(values, [100.0, 120.0]);
        assert!(
            interval.low < 99.0 && interval.high > 121.0,
            "what differs between them counts: {interval:?}"
        );
        let one = of_runs(1, &[&fast]).interval().unwrap();
        assert!(one.median == 100.0 && one.low >= 99.0 && one.high <= 101.0, "{one:?}");
        assert!(
            of_runs(1, &[&[0.0, 0.0], &[2.0, 2.0]]).interval().unwrap().median == 1.0,
            "none is a count, too"
        );
    }

    /// Repetitions of a kernel share where its memory lies.
    #[test]
    fn a_kernels_runs_differ_more_than_its_repetitions() {
        let near = |centre: f64| [0.99 * centre, centre, 1.01 * centre].repeat(20);
        let runs = [100.0, 120.0, 110.0].map(near);
        let Quantity::Known { interval, values } = of_runs(0, &[&runs[0], &runs[1], &runs[2]]) else {
            panic!()
        };
        assert!(interval.low < 100.0 && interval.high > 120.0, "{interval:?}");
        assert_eq!(values, [100.0, 120.0, 110.0], "a run is one value, for whoever compares two of three");
        let samples = runs
            .each_ref()
            .map(|run| Sample { values: [("ns".to_owned(), run.clone())].into(), ..Sample::default() });
        let samples: Vec<&Sample> = samples.iter().collect();
        assert_eq!(repetitions("ns", &samples).unwrap().len(), 180, "all are kept");
        let alone = Sample::default().value("ns", 1.0);
        assert_eq!(repetitions("ns", &[&alone, &alone]), None, "each run is one value");
        let one = of_runs(0, &[&runs[0]]).interval().unwrap();
        assert!(one.low >= 99.0 && one.high <= 101.0, "{one:?}");
    }

    #[test]
    fn a_cell_of_one_jvm_is_said_to_be_that() {
        let cell = MeasuredCell { processes: 1, ..MeasuredCell::default() };
        assert!(noise("ns", std::slice::from_ref(&cell))[0].starts_with("one process: in 1 of 1 cells"));
        assert!(noise("ns", &[MeasuredCell { processes: 2, ..cell }]).is_empty());
    }

    #[test]
    fn a_cell_of_one_round_of_a_kernel_is_said_to_be_that_and_its_modes_are_found() {
        let of = |values: &[f64], runs| MeasuredCell {
            runs,
            metrics: [("ns".to_owned(), Quantity::of(vec![1.0], ""))].into(),
            repetitions: [("ns".to_owned(), values.to_vec())].into(),
            ..MeasuredCell::default()
        };
        let one = noise("ns", &[of(&[1.0, 1.1], 1), of(&[1.0, 1.1], 2)]);
        assert!(one.len() == 1 && one[0].starts_with("one round: in 1 of 2 cells"), "{one:?}");
        assert!(noise("ns", &[MeasuredCell { runs: 1, ..MeasuredCell::default() }]).is_empty());
        let two = noise("ns", &[of(&[1.0, 1.0, 1.0, 1.5, 1.5, 1.5], 2)]);
        assert!(two.len() == 1 && two[0].starts_with("bimodal"), "{two:?}");
    }
}
