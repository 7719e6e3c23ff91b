use super::*;
use crate::fixture::cell;
use crate::{Declaration, parameters};

fn cells() -> Vec<MeasuredCell> {
    let of = |threads: u32, layout: &str, ns: f64| {
        cell(parameters([("threads", threads.into()), ("layout", layout.into())]), &[("ns", ns)])
    };
    vec![of(1, "shared", 10.0), of(2, "shared", 40.0), of(4, "shared", 90.0), of(2, "padded", 10.0)]
}

fn median(term: &Term, cells: &[MeasuredCell]) -> Option<f64> {
    let declaration = Declaration::default();
    let found = term.of(&Measured { declaration: &declaration, cells })?;
    assert!(found.interval.low <= found.interval.median && found.interval.median <= found.interval.high);
    Some(found.interval.median)
}

fn shared() -> Term {
    Term::metric("shared", "ns").at("layout", "shared")
}

#[test]
fn cells_are_chosen_by_value_range_and_extreme() {
    let cells = cells();
    for (term, expected) in [
        (shared().at("threads", 2_u32), Some(40.0)),
        (shared().largest("threads"), Some(90.0)),
        (shared().within("threads", 2.0..=3.0), Some(40.0)),
        (shared().highest(), Some(90.0)),
        (shared().lowest(), Some(10.0)),
        (shared().within("threads", 1.0..=2.0).mean(), Some(20.0)),
        (shared().at("threads", 8_u32), None),
        (Term::metric("", "rate"), None),
        (Term::ratio("", "", shared().largest("threads"), shared().at("threads", 1_u32)), Some(9.0)),
        (Term::from(3.0), Some(3.0)),
        (Term::given("", Interval::exactly(4.0)), Some(4.0)),
    ] {
        let found = median(&term, &cells);
        let near = |expected: f64| found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-9);
        assert!(expected.map_or(found.is_none(), near), "{term:?}: {found:?}");
    }
}

#[test]
fn the_largest_is_the_largest_that_was_measured() {
    let mut cells = cells();
    cells[2].metrics.insert("ns".into(), Quantity::of(vec![], "not enough memory"));
    assert_eq!(median(&shared().largest("threads"), &cells), Some(40.0));
}

#[test]
fn a_ratio_is_as_uncertain_as_both_of_its_parts() {
    let interval = |median, low, high| Interval { median, low, high };
    let ratio = interval(10.0, 8.0, 12.0).over(&interval(5.0, 4.0, 8.0)).unwrap();
    assert_eq!(ratio, interval(2.0, 1.0, 3.0));
    assert_eq!(Interval::exactly(1.0).over(&interval(1.0, 0.0, 2.0)), None);
}

#[test]
fn what_is_missing_says_why() {
    let mut cells = cells();
    cells[3].metrics.insert("ns".into(), Quantity::of(vec![], "no counters here"));
    let declaration = Declaration::default();
    let measured = Measured { declaration: &declaration, cells: &cells };
    let look = |term: Term, usable: fn(&MeasuredCell) -> Result<(), String>| {
        let group = parameters([("threads", 2_u32.into())]);
        let found = term.look(&Scope { measured, group: &group, usable });
        found.map(|found| found.interval.median)
    };
    let padded = || Term::metric("", "ns").at("layout", "padded");
    assert_eq!(look(padded(), |_| Ok(())), Err(Lack::Unavailable("no counters here".into())));
    assert_eq!(look(padded().at("threads", 8_u32), |_| Ok(())), Err(Lack::NotPlanned));
    assert_eq!(look(shared(), |_| Err("disturbed".into())), Err(Lack::Unavailable("disturbed".into())));
    // A term's own value, not the group's.
    assert_eq!(look(shared().at("threads", 4_u32), |_| Ok(())), Ok(90.0));
    assert_eq!(look(shared(), |_| Ok(())), Ok(40.0));
}

#[test]
fn an_extreme_says_which_cell_it_is_of() {
    let cells = cells();
    let declaration = Declaration::default();
    let measured = Measured { declaration: &declaration, cells: &cells };
    let term = shared().highest();
    let text = term.say(&term.of(&measured).unwrap(), &measured);
    assert_eq!(text, "shared 90.0 [89.1, 90.9] (threads=4)");
}
