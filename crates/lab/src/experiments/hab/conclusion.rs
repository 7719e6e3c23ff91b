//! What the cells say.

use super::GROWING;
use crate::experiment::{Check, Conclusion, Measured, MeasuredCell};
use statistics::Interval;

/// "As well as": not more than this much slower.
const AS_WELL: f64 = 0.97;
/// TLABs that count as small.
const SMALL: [&str; 2] = ["1k", "4k"];

fn shown(interval: &Interval) -> String {
    format!("{:.2} [{:.2}, {:.2}]", interval.median, interval.low, interval.high)
}

fn described(cell: &MeasuredCell) -> String {
    let of = |key: &str| cell.parameters.get(key).map(ToString::to_string).unwrap_or_default();
    format!("{} TLABs with {} buffers of {}", of("tlab"), of("level"), of("size"))
}

/// The cell of small TLABs with the best of a metric.
fn best<'a>(measured: &Measured<'a>, metric: &str, tlabs: &[&str]) -> Option<(&'a MeasuredCell, Interval)> {
    measured
        .cells
        .iter()
        .filter(|cell| tlabs.iter().any(|tlab| cell.parameters.get("tlab") == Some(&(*tlab).into())))
        .filter_map(|cell| Some((cell, cell.metrics.get(metric)?.interval()?)))
        .max_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))
}

/// The paper's question in a sentence, and its claims.
pub fn conclude(measured: &Measured) -> Conclusion {
    let answer = match best(measured, "over_growing", &SMALL) {
        None => "It could not be measured here; see the cells for the reason.".to_owned(),
        Some((cell, interval)) => {
            let verdict = if interval.low >= AS_WELL {
                "Yes"
            } else if interval.high < AS_WELL {
                "No, not here"
            } else {
                "Undecided here"
            };
            format!(
                "{verdict}: {} give {} times the rate of growing TLABs without buffers.",
                described(cell),
                shown(&interval)
            )
        }
    };
    Conclusion {
        answer,
        checks: vec![small_win(measured), growing_wins(measured), levels(measured), rare(measured)],
    }
}

fn small_win(measured: &Measured) -> Check {
    let claim = "the smaller the TLAB, the more the buffers speed it up";
    let small = best(measured, "speedup", &["1k"]);
    let large = best(measured, "speedup", &["64k"]);
    match small.zip(large) {
        None => Check::new(claim, "not measured: TLABs of 1k and 64k are needed", None),
        Some(((_, small), (_, large))) => Check::new(
            claim,
            format!("at best {} with TLABs of 1k, {} with 64k", shown(&small), shown(&large)),
            Some(small.low > large.high),
        ),
    }
}

fn growing_wins(measured: &Measured) -> Check {
    let claim = "performance also improves with growing TLABs";
    match best(measured, "speedup", &[GROWING]) {
        None => Check::new(claim, "not measured", None),
        Some((_, interval)) => {
            Check::new(claim, format!("at best {}", shown(&interval)), Some(interval.low > 1.0))
        }
    }
}

fn levels(measured: &Measured) -> Check {
    let claim = "core buffers do slightly better than processor buffers on average";
    let mean = |level: &str| {
        let of: Vec<f64> = measured
            .select(&[("level", level.into())])
            .filter_map(|cell| Some(cell.metrics.get("speedup")?.interval()?.median.ln()))
            .collect();
        (!of.is_empty()).then(|| (of.iter().sum::<f64>() / of.len() as f64).exp())
    };
    match mean("core").zip(mean("processor")) {
        None => Check::new(claim, "not measured: both levels are needed", None),
        Some((core, processor)) => Check::new(
            claim,
            format!(
                "speed-up {core:.3} with core buffers, {processor:.3} with processor buffers (geometric means)"
            ),
            Some(core > processor),
        ),
    }
}

fn rare(measured: &Measured) -> Check {
    let claim = "foreign allocations are rare: below 3 % in all of the paper's cells";
    let most = (measured.cells.iter())
        .filter_map(|cell| Some((cell, cell.metrics.get("foreign")?.interval()?.median)))
        .max_by(|(_, a), (_, b)| a.total_cmp(b));
    match most {
        None => Check::new(claim, "not measured", None),
        Some((cell, share)) => {
            Check::new(claim, format!("at most {share:.2} % ({})", described(cell)), Some(share < 3.0))
        }
    }
}
