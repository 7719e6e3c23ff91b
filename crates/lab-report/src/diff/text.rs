//! A diff as text for the terminal.

use super::{Change, Diff, Direction, FEW_VALUES};
use present::numbers;
use present::table::{Table, labelled};

/// So many changes within drift are named; the JSON has all of them.
const MOST_NAMED: usize = 20;

/// As text that fits so many columns.
pub fn text(diff: &Diff, columns: u16) -> String {
    let mut text = String::new();
    for warning in &diff.warnings {
        text.push_str(&labelled("note", warning, columns));
    }
    if !diff.changes.is_empty() {
        let table = Table::new(["cell", "metric", "A", "B", "B/A", ""]).with(diff.changes.iter().map(row));
        text.push_str(&table.text(columns));
    }
    let mut line = |name: &str, value: &str| text.push_str(&labelled(name, value, columns));
    line("result", &summary(diff));
    match diff.drift {
        Some(drift) if !diff.within_drift.is_empty() => {
            let count = diff.within_drift.len();
            let drift = numbers::share(drift);
            line(
                "within drift",
                &format!("{count} more differ, but by less than the machine's own drift of {drift}:"),
            );
            diff.within_drift.iter().take(MOST_NAMED).for_each(|change| line("", &named(change)));
            if count > MOST_NAMED {
                line("", &format!("and {} more; --format json has all", count - MOST_NAMED));
            }
        }
        Some(drift) => line(
            "drift",
            &format!(
                "changes below {} are attributed to the machine, except those of interleaved ratios",
                numbers::share(drift)
            ),
        ),
        None => line(
            "drift",
            "unavailable: no canaries; a change of the machine cannot be distinguished from one of the program",
        ),
    }
    if diff.undecided > 0 {
        line(
            "undecided",
            &format!(
                "{} had fewer than {FEW_VALUES} values on a side, one of each round: run both with --rounds 5 or --full",
                diff.undecided
            ),
        );
    }
    for (name, cells) in
        [("only in A", &diff.only_in_a), ("only in B", &diff.only_in_b), ("not in both", &diff.unavailable)]
    {
        for (index, cell) in cells.iter().enumerate() {
            line(if index == 0 { name } else { "" }, cell);
        }
    }
    text
}

fn row(change: &Change) -> Vec<String> {
    vec![
        format!("{}: {}", change.experiment, change.cell),
        change.name.clone(),
        numbers::quantity(change.a.median, &change.unit),
        numbers::quantity(change.b.median, &change.unit),
        ratio(change),
        change.direction.words().to_owned(),
    ]
}

fn ratio(change: &Change) -> String {
    match (&change.ratio, change.b.median / change.a.median) {
        (Some(ratio), _) => numbers::ratio(ratio),
        (None, ratio) if ratio.is_finite() && ratio > 0.0 => format!("{ratio:.3}, no upper end"),
        (None, _) => "from or to 0".into(),
    }
}

/// `atomics: lock add, threads 1: time per increment: 1.031 [1.012, 1.043]`.
fn named(change: &Change) -> String {
    format!("{}: {}: {}: {}", change.experiment, change.cell, change.name, ratio(change))
}

fn summary(diff: &Diff) -> String {
    if diff.compared == 0 {
        return "nothing to compare: the runs have no cell in common".into();
    }
    if diff.changes.is_empty() {
        return format!("nothing changed significantly ({} compared)", diff.compared);
    }
    let count = |direction| diff.changes.iter().filter(|change| change.direction == direction).count();
    format!(
        "{} of {} changed significantly: {} better, {} worse, {} neither; by chance alone about {:.1} would",
        diff.changes.len(),
        diff.compared,
        count(Direction::Better),
        count(Direction::Worse),
        count(Direction::Changed),
        diff.by_chance
    )
}
