//! What the cells say.

use super::{CORE, NONE, PARALLEL, SMALLEST, TLAB};
use crate::experiment::{Check, Conclusion, Measured, Value};
use present::numbers::three;
use statistics::Interval;

/// "About half".
const HALF: f64 = 0.55;
/// "The same rate": the largest over the smallest.
const SAME: f64 = 1.25;

/// Everything that was measured of the smallest object, for one JDK and collector.
struct View<'a> {
    measured: &'a Measured<'a>,
    jdk: Value,
    collector: Value,
}

impl View<'_> {
    fn of(&self, bytes: u32, threads: u32, buffers: &str) -> Option<Interval> {
        let at = [
            ("jdk", self.jdk.clone()),
            ("collector", self.collector.clone()),
            ("bytes", bytes.into()),
            ("threads", threads.into()),
            ("buffers", buffers.into()),
        ];
        self.measured.get("rate", &at)
    }

    /// One and two threads.
    fn pair(&self, buffers: &str) -> Option<(Interval, Interval)> {
        self.of(SMALLEST, 1, buffers).zip(self.of(SMALLEST, 2, buffers))
    }

    fn name(&self) -> String {
        format!("{}, JDK {}", self.collector, self.jdk)
    }
}

/// For each JDK and collector; the source's collector first, as it is first among the cells.
fn views<'a>(measured: &'a Measured<'a>) -> Vec<View<'a>> {
    let mut views = Vec::new();
    // Words stay in the order of the cells: the JDK to use first is first.
    for jdk in measured.values("jdk", "rate") {
        for collector in measured.values("collector", "rate") {
            let view = View { measured, jdk: jdk.clone(), collector };
            if [TLAB, NONE, CORE].iter().any(|buffers| view.of(SMALLEST, 1, buffers).is_some()) {
                views.push(view);
            }
        }
    }
    views
}

fn ratio((one, two): (Interval, Interval)) -> f64 {
    two.median / one.median
}

fn millions(interval: Interval) -> String {
    format!("{} M/s", three(interval.median / 1e6))
}

/// The question's answer, and the source's claims.
pub(super) fn conclude(measured: &Measured) -> Conclusion {
    let views = views(measured);
    let answer = views
        .iter()
        .find_map(answer)
        .unwrap_or_else(|| "It could not be measured here; see the cells for the reason.".into());
    Conclusion {
        answer,
        checks: vec![
            collapses(&views),
            scale(&views, TLAB, "with TLABs a second thread adds to the rate"),
            half(&views),
            same(&views),
            scale(&views, CORE, "with core buffers in place of TLABs a second thread adds to the rate"),
        ],
    }
}

fn answer(view: &View) -> Option<String> {
    let (one, two) = view.pair(NONE)?;
    let (_, with) = view.pair(TLAB)?;
    let mut text = format!(
        "Without TLABs 2 threads allocate {} times as fast as 1 ({} against {}; 16 bytes, {}), a {} of what TLABs give them",
        three(ratio((one, two))),
        millions(two),
        millions(one),
        view.name(),
        part(two.median / with.median)
    );
    match view.pair(CORE) {
        // Both numbers: what a second thread gains, one may lose, because compiled code then calls for each object.
        Some((alone, core)) => text.push_str(&format!(
            "; core buffers bring them to {}, {} times as fast as without and a {} of TLABs, and one thread to {}, {} times.",
            millions(core),
            three(core.median / two.median),
            part(core.median / with.median),
            millions(alone),
            three(alone.median / one.median)
        )),
        None => text.push('.'),
    }
    Some(text)
}

/// 0.04 is a 25th.
fn part(share: f64) -> String {
    match (1.0 / share).round() as u64 {
        0 | 1 => format!("share of {share:.2}"),
        2 => "half".into(),
        3 => "third".into(),
        count => match (count % 10, count % 100) {
            (1, rest) if rest != 11 => format!("{count}st"),
            (2, rest) if rest != 12 => format!("{count}nd"),
            (3, rest) if rest != 13 => format!("{count}rd"),
            _ => format!("{count}th"),
        },
    }
}

/// Whether something holds for the source's collector with every JDK; what intervals leave open is open.
fn verdict(of: impl Iterator<Item = (bool, Option<bool>)>) -> Option<bool> {
    let all: Vec<Option<bool>> = of.filter(|(sources, _)| *sources).map(|(_, holds)| holds).collect();
    match all.as_slice() {
        [] => None,
        all if all.contains(&Some(false)) => Some(false),
        all if all.contains(&None) => None,
        _ => Some(true),
    }
}

fn above(a: Interval, b: Interval) -> Option<bool> {
    match (a.low > b.high, a.high < b.low) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

fn is_sources(view: &View) -> bool {
    view.collector == PARALLEL.into()
}

fn told(claim: &str, found: Vec<(bool, String, Option<bool>)>) -> Check {
    if found.is_empty() {
        return Check::new(claim, "not measured; see the cells for the reason", None);
    }
    let holds = verdict(found.iter().map(|(sources, _, holds)| (*sources, *holds)));
    let text: Vec<String> = found.into_iter().map(|(_, text, _)| text).collect();
    Check::new(claim, text.join("; "), holds)
}

/// `2 threads over 1`, told for each view; `more` when that is to be above 1, otherwise below.
fn pairs(views: &[View], buffers: &str, more: bool) -> Vec<(bool, String, Option<bool>)> {
    views
        .iter()
        .filter_map(|view| {
            let (one, two) = view.pair(buffers)?;
            let holds = if more { above(two, one) } else { above(one, two) };
            let times = three(ratio((one, two)));
            let text = format!("{times} times ({}{})", view.name(), overlapping(holds));
            Some((is_sources(view), text, holds))
        })
        .collect()
}

fn collapses(views: &[View]) -> Check {
    told("without TLABs the rate of 2 threads together is below that of 1", pairs(views, NONE, false))
}

fn scale(views: &[View], buffers: &str, claim: &str) -> Check {
    told(claim, pairs(views, buffers, true))
}

fn half(views: &[View]) -> Check {
    let found = views.iter().filter_map(|view| {
        let (with, without) = (view.of(SMALLEST, 1, TLAB)?, view.of(SMALLEST, 1, NONE)?);
        let share = without.median / with.median;
        let text = format!("{} times ({})", three(share), view.name());
        Some((is_sources(view), text, Some(share <= HALF)))
    });
    told("one thread without TLABs is at most about half as fast as with", found.collect())
}

fn same(views: &[View]) -> Check {
    let found = views.iter().filter_map(|view| {
        let rates: Vec<Interval> =
            [SMALLEST, 48, 144].iter().map(|bytes| view.of(*bytes, 2, NONE)).collect::<Option<_>>()?;
        let most = rates.iter().copied().max_by(|a, b| a.median.total_cmp(&b.median))?;
        let least = rates.iter().copied().min_by(|a, b| a.median.total_cmp(&b.median))?;
        let holds = match most.median / least.median {
            ratio if ratio <= SAME => Some(true),
            // They differ, but the intervals do not say so.
            _ => above(most, least).map(|_| false),
        };
        let listed: Vec<String> = rates.iter().map(|rate| three(rate.median / 1e6)).collect();
        let text = format!(
            "{} M/s with 16, 48 and 144 bytes ({}{})",
            listed.join(", "),
            view.name(),
            overlapping(holds)
        );
        Some((is_sources(view), text, holds))
    });
    told(
        "contended, objects of 16, 48 and 144 bytes fall to about the same rate without TLABs",
        found.collect(),
    )
}

fn overlapping(holds: Option<bool>) -> &'static str {
    if holds.is_none() { ", intervals overlap" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Declaration, MeasuredCell, Quantity, parameters};

    fn cell(jdk: &str, bytes: u32, threads: u32, buffers: &str, rate: f64) -> MeasuredCell {
        MeasuredCell {
            parameters: parameters([
                ("jdk", jdk.into()),
                ("collector", PARALLEL.into()),
                ("bytes", bytes.into()),
                ("threads", threads.into()),
                ("buffers", buffers.into()),
            ]),
            metrics: [("rate".to_owned(), Quantity::of(vec![rate, rate * 1.01, rate * 0.99], ""))].into(),
            ..MeasuredCell::default()
        }
    }

    fn concluded(cells: &[MeasuredCell]) -> Conclusion {
        conclude(&Measured { declaration: &Declaration::default(), cells })
    }

    fn all(jdk: &str) -> Vec<MeasuredCell> {
        [
            (16, 1, TLAB, 1.5e9),
            (16, 1, NONE, 40e6),
            (16, 1, CORE, 40e6),
            (16, 2, TLAB, 3e9),
            (16, 2, NONE, 20e6),
            (16, 2, CORE, 80e6),
            (48, 2, NONE, 19e6),
            (144, 2, NONE, 18e6),
        ]
        .map(|(bytes, threads, buffers, rate)| cell(jdk, bytes, threads, buffers, rate))
        .into()
    }

    #[test]
    fn the_sentence_has_the_numbers_of_the_first_jdk() {
        let cells = [all("25"), all("17")].concat();
        let conclusion = concluded(&cells);
        assert_eq!(
            conclusion.answer,
            "Without TLABs 2 threads allocate 0.500 times as fast as 1 (20.0 M/s against 40.0 M/s; 16 bytes, Parallel, JDK 25), a \
             150th of what TLABs give them; core buffers bring them to 80.0 M/s, 4.00 times as fast as without and a 38th of TLABs, and one thread to 40.0 M/s, 1.00 times."
        );
        assert!(conclusion.checks.iter().all(|check| check.holds == Some(true)), "{:?}", conclusion.checks);
        assert!(
            conclusion.checks[0].found.contains("JDK 25") && conclusion.checks[0].found.contains("JDK 17")
        );
    }

    #[test]
    fn what_disagrees_is_said() {
        let mut cells = all("25");
        cells[4] = cell("25", 16, 2, NONE, 60e6);
        let conclusion = concluded(&cells);
        assert_eq!(conclusion.checks[0].holds, Some(false));
        assert_eq!(conclusion.checks[3].holds, Some(false), "{}", conclusion.checks[3].found);
        cells[4] = cell("25", 16, 2, NONE, 40.1e6);
        let open = &concluded(&cells).checks[0];
        assert!(open.holds.is_none() && open.found.contains("overlap"));
    }

    #[test]
    fn nothing_measured_is_nothing_claimed() {
        let conclusion = concluded(&[]);
        assert!(conclusion.answer.starts_with("It could not be measured"));
        assert!(conclusion.checks.iter().all(|check| check.holds.is_none()));
    }

    #[test]
    fn shares_are_named() {
        let names = [0.9, 0.5, 0.34, 0.048, 0.04, 1.0 / 111.0].map(part);
        assert_eq!(names, ["share of 0.90", "half", "third", "21st", "25th", "111th"]);
    }
}
