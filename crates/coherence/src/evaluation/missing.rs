//! The counters' tables of docs/simulator.md, and an analysis that is not blind: which of the missed points another number, or a mechanism
//! that the model has not, would explain. Nothing of the model was changed for it.

use super::counters::simulate;
use super::published::{self, Series};
use super::setting::Setting;
use super::{Role, machine};
use crate::programs::counters::Increment;
use std::io;

/// How near is near enough.
const NEAR: f64 = 0.25;

fn number(value: f64) -> String {
    if value < 9.95 { format!("{value:.1}") } else { format!("{value:.0}") }
}

fn numbers(values: &[f64]) -> String {
    values.iter().copied().map(number).collect::<Vec<_>>().join(", ")
}

fn within(published: &[f64], simulated: &[f64]) -> usize {
    let near = |(published, simulated): &(&f64, &f64)| (*simulated - *published).abs() <= NEAR * **published;
    published.iter().zip(simulated).filter(near).count()
}

/// All series of a machine.
fn series(machine: &str) -> Vec<(Role, &'static Series)> {
    let of = published::counters().filter(|(_, counters)| counters.machine == machine);
    of.flat_map(|(role, counters)| counters.series.iter().map(move |series| (role, series))).collect()
}

/// What was measured on Downs' machines and what the simulator gives, by operation.
///
/// # Errors
/// When there is no memory for the threads' stacks.
pub fn counters_markdown() -> io::Result<String> {
    let mut text = String::from(
        "| operation | Skylake | simulated | | Ice Lake | simulated | |\n|---|---|---|---|---|---|---|\n",
    );
    let shipped = Setting::default();
    let (skylake, ice_lake) = (machine("downs-skylake"), machine("downs-ice-lake"));
    for (role, on_skylake) in series("downs-skylake") {
        let of_name = |(_, one): &(Role, &'static Series)| one.what == on_skylake.what;
        let Some((there, on_ice_lake)) = series("downs-ice-lake").into_iter().find(of_name) else { continue };
        let (increment, layout) = (on_skylake.increment.increment(), on_skylake.increment.layout());
        let simulated = simulate(&shipped, &skylake, increment, layout, on_skylake.nanoseconds.len())?;
        let found = simulate(&shipped, &ice_lake, increment, layout, on_ice_lake.nanoseconds.len())?;
        text.push_str(&format!(
            "| {} (`{}`) | {} | {} | {role} | {} | {} | {there} |\n",
            on_skylake.increment.title(),
            on_skylake.what,
            numbers(&on_skylake.nanoseconds),
            numbers(&simulated),
            numbers(&on_ice_lake.nanoseconds),
            numbers(&found)
        ));
    }
    Ok(text)
}

/// Ice Lake as it is predicted, with a line's transfer at the low end of its range, and where a load has the value of the
/// thread's own last store in no time: in brackets how many of the points of each row are within 25 %.
///
/// # Errors
/// When there is no memory for the threads' stacks.
pub fn missing_markdown() -> io::Result<String> {
    let shipped = Setting::default();
    let frozen = machine("downs-ice-lake");
    let mut near = frozen.clone();
    let low = frozen.figure("costs.transfer_cluster").and_then(|figure| figure.low).unwrap_or(f64::NAN);
    near.costs.transfer_cluster = (low * 1e3).round() as u64;
    let mut text = format!(
        "| operation, Ice Lake | published | simulated | not blind: transfer of {low} ns | not blind: stores forwarded in no time |\n\
         |---|---|---|---|---|\n"
    );
    let mut sums = [0; 3];
    for (_, series) in series("downs-ice-lake") {
        let (increment, count) = (series.increment.increment(), series.nanoseconds.len());
        let layout = series.increment.layout();
        let forwarded = if increment == Increment::Plain { Increment::Forwarded } else { increment };
        let found = [
            simulate(&shipped, &frozen, increment, layout, count)?,
            simulate(&shipped, &near, increment, layout, count)?,
            simulate(&shipped, &frozen, forwarded, layout, count)?,
        ];
        text.push_str(&format!("| `{}` | {} |", series.what, numbers(&series.nanoseconds)));
        for (sum, found) in sums.iter_mut().zip(&found) {
            let within = within(&series.nanoseconds, found);
            *sum += within;
            text.push_str(&format!(" {} ({within}) |", numbers(found)));
        }
        text.push('\n');
    }
    let [shipped, near, forwarded] = sums;
    text.push_str(&format!("| within 25 % | of 20 | {shipped} | {near} | {forwarded} |\n"));
    Ok(text)
}
