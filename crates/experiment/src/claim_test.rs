use super::*;
use crate::fixture::cell;
use crate::{Declaration, Parameter, Quantity, parameters};
use Relation::{Above, Alike, AtLeast, AtMost, Below, Between};
use Standing::{CannotBeTold, DoesNotHold, Holds};

const OPEN: Standing = CannotBeTold(Open::TooWide);

#[test]
fn intervals_decide_every_relation() {
    let interval = |low, high| Interval { median: (low + high) / 2.0, low, high };
    let four = interval(4.0, 5.0);
    for (relation, left, outcome) in [
        (Above, interval(5.1, 6.0), Holds),
        (Above, interval(5.0, 6.0), OPEN),
        (Above, interval(3.0, 4.0), DoesNotHold),
        (Below, interval(3.0, 3.9), Holds),
        (Below, interval(3.0, 4.1), OPEN),
        (Below, interval(5.0, 6.0), DoesNotHold),
        (AtLeast(2.0), interval(10.0, 11.0), Holds),
        (AtLeast(2.0), interval(9.0, 11.0), OPEN),
        (AtLeast(2.0), interval(7.0, 7.9), DoesNotHold),
        (AtMost(0.5), interval(1.0, 2.0), Holds),
        (AtMost(0.5), interval(1.0, 2.6), OPEN),
        (AtMost(0.5), interval(2.6, 3.0), DoesNotHold),
        (Alike(1.5), interval(4.0, 5.0), Holds),
        (Alike(1.25), interval(4.0, 5.1), OPEN),
        (Alike(1.25), interval(7.0, 9.0), DoesNotHold),
        (Alike(1.25), interval(2.0, 3.1), DoesNotHold),
        (Between(1.0, f64::INFINITY), interval(5.0, 9.0), Holds),
        (Between(1.0, 2.0), interval(1.0, 20.0), OPEN),
    ] {
        assert_eq!(relation.decide(&left, &four), outcome, "{left:?} {relation:?} {four:?}");
    }
}

#[test]
fn zeros_can_be_compared() {
    let (zero, many) = (Interval::exactly(0.0), Interval::exactly(100.0));
    assert_eq!(AtMost(0.01).decide(&zero, &many), Holds);
    assert_eq!(Above.decide(&many, &zero), Holds);
    assert_eq!(Above.decide(&zero, &zero), DoesNotHold);
    assert_eq!(AtMost(1.0).decide(&zero, &zero), Holds);
}

#[test]
fn one_that_does_not_hold_decides_and_one_that_is_open_leaves_it_open() {
    let lacking = CannotBeTold(Open::NotMeasured("no JDK".into()));
    assert_eq!(Standing::all(&[Holds, Holds]), Holds);
    assert_eq!(Standing::all(&[Holds, OPEN, DoesNotHold, lacking.clone()]), DoesNotHold);
    assert_eq!(Standing::all(&[Holds, lacking.clone(), OPEN]), lacking);
    assert_eq!(Standing::all(&[]).holds(), None);
}

fn declaration() -> Declaration {
    Declaration { parameters: vec![Parameter::new("jdk", "JDK", "")], ..Declaration::default() }
}

fn cells(figures: &[(&str, u32, f64)]) -> Vec<MeasuredCell> {
    let of = |(jdk, threads, rate): &(&str, u32, f64)| {
        cell(parameters([("jdk", (*jdk).into()), ("threads", (*threads).into())]), &[("rate", *rate)])
    };
    figures.iter().map(of).collect()
}

fn claim() -> Claim {
    let rate = |threads: u32| Term::metric(format!("{threads} threads"), "rate").at("threads", threads);
    Claim::new("two are faster", "A. Nobody 2001").each("jdk").that(rate(2).is(Above, rate(1)))
}

fn check(claim: Claim, cells: &[MeasuredCell]) -> Check {
    claim.check(&Measured { declaration: &declaration(), cells })
}

#[test]
fn a_check_has_claim_source_and_numbers() {
    let found = check(claim(), &cells(&[("25", 1, 10.0), ("25", 2, 20.0)]));
    let expected = Check {
        claim: "two are faster".into(),
        source: "A. Nobody 2001".into(),
        found: "JDK 25: 2 threads 20.0 [19.8, 20.2] against 1 threads 10.0 [9.90, 10.1] (2.00 [1.96, 2.04] times)"
            .into(),
        holds: Some(true),
    };
    assert_eq!(found, expected);
}

#[test]
fn every_jdk_is_decided_and_told() {
    let both = [("25", 1, 10.0), ("25", 2, 20.0), ("17", 1, 10.0), ("17", 2, 5.0)];
    let found = check(claim().otherwise("their code calls"), &cells(&both));
    assert_eq!(found.holds, Some(false));
    assert!(found.found.contains("JDK 17: 2 threads 5.00"), "{found:?}");
    assert!(found.found.contains("JDK 25: ") && found.found.ends_with("; their code calls"), "{found:?}");
    // The other one is told all the same.
    let found = check(claim().decided_at("jdk", "25"), &cells(&both));
    assert!(found.holds == Some(true) && found.found.contains("JDK 17: "), "{found:?}");
}

#[test]
fn what_is_open_says_why_and_what_to_do() {
    let wide = check(claim(), &cells(&[("25", 1, 10.0), ("25", 2, 10.1)]));
    assert_eq!(wide.holds, None);
    assert!(wide.found.contains("the intervals overlap") && wide.found.contains("--full"), "{wide:?}");

    let mut lacking = cells(&[("25", 1, 10.0), ("25", 2, 20.0), ("17", 1, 10.0), ("17", 2, 20.0)]);
    lacking[2].metrics.insert("rate".into(), Quantity::of(vec![], "failed: no memory"));
    let found = check(claim(), &lacking);
    assert_eq!(found.holds, None);
    assert!(found.found.ends_with("not testable here: failed: no memory (JDK 17)"), "{found:?}");

    let never = check(claim(), &[]);
    assert!(never.holds.is_none() && never.found.starts_with("not testable here: no cells"), "{never:?}");
    let few = check(claim().needs(true, "one").needs(false, "two CPUs").needs(false, "four"), &lacking);
    assert_eq!((few.holds, few.found.as_str()), (None, "not testable here: two CPUs"));
}

#[test]
fn what_was_not_to_be_measured_takes_no_part() {
    // JDK 17 has one thread only.
    let found = check(claim(), &cells(&[("25", 1, 10.0), ("25", 2, 20.0), ("17", 1, 10.0)]));
    assert_eq!(found.holds, Some(true), "{found:?}");
    assert!(!found.found.contains("JDK 17"), "{found:?}");
}

#[test]
fn what_can_never_be_measured_for_a_value_leaves_the_others_to_decide() {
    let mut lacking = cells(&[("25", 1, 10.0), ("25", 2, 20.0), ("17", 1, 10.0), ("17", 2, 20.0)]);
    lacking[2].metrics.insert("rate".into(), Quantity::of(vec![], "not to be read"));
    assert_eq!(check(claim(), &lacking).holds, None);
    let without = || claim().without("jdk", "17", "it counts nothing");
    let found = check(without(), &lacking);
    assert_eq!(found.holds, Some(true), "{found:?}");
    assert!(found.found.ends_with("without 17: it counts nothing"), "{found:?}");
    assert_eq!(check(without(), &lacking[2..]).holds, None, "nothing else is there");
}

#[test]
fn of_several_comparisons_all_have_to_hold() {
    let both = cells(&[("25", 1, 10.0), ("25", 2, 20.0)]);
    let rate = || Term::metric("fastest", "rate").highest();
    assert_eq!(check(claim().that(rate().is(AtMost(1.0), 30.0)), &both).holds, Some(true));
    assert_eq!(check(claim().that(rate().is(AtMost(1.0), 20.0)), &both).holds, None);
    assert_eq!(check(claim().that(rate().is(AtMost(1.0), 15.0)), &both).holds, Some(false));
    // A number is told once.
    let again = claim().that(Term::metric("1 threads", "rate").at("threads", 1_u32).is(Below, rate()));
    let told = check(again, &both).found;
    assert!(told.contains("times), 1 threads against fastest 20.0"), "{told}");
    let told = check(claim().context(rate()), &both).found;
    assert!(told.ends_with("fastest 20.0 [19.8, 20.2] (jdk=25 threads=2)"), "{told}");
}

/// A quarter of the cells says nothing of the rest, unless it is enough: that one is too slow, or that one is fast.
#[test]
fn the_worst_of_many_is_not_known_before_all_are_measured() {
    let mut some = cells(&[("25", 1, 10.0), ("25", 2, 20.0), ("25", 4, 40.0)]);
    some[1].metrics.insert("rate".into(), Quantity::of(vec![], "not measured yet"));
    let rate = || Term::metric("the rate", "rate");
    for (comparison, expected) in [
        (rate().lowest().is(Above, 5.0), None),
        (rate().lowest().is(Above, 15.0), Some(false)),
        (rate().lowest().is(Below, 15.0), Some(true)),
        (rate().lowest().is(Below, 5.0), None),
        (rate().highest().is(Below, 50.0), None),
        (rate().highest().is(Below, 30.0), Some(false)),
        (rate().highest().is(Above, 30.0), Some(true)),
        (rate().mean().is(Above, 5.0), None),
        (Term::ratio("", "", rate().highest(), rate().at("threads", 1_u32)).is(Above, 1.0), None),
        (rate().at("threads", 4_u32).is(Above, rate().at("threads", 1_u32)), Some(true)),
    ] {
        let found = check(Claim::new("", OWN).that(comparison.clone()), &some);
        assert_eq!(found.holds, expected, "{comparison:?}: {found:?}");
        let told = found.found.ends_with("not testable here: 1 of 3 cells have no value: not measured yet");
        assert_eq!(told, expected.is_none(), "{found:?}");
    }
    // What this machine cannot run is not among them.
    some[1].impossible = true;
    let found = check(Claim::new("", OWN).that(rate().lowest().is(Above, 5.0)), &some);
    assert_eq!(found.holds, Some(true), "{found:?}");
    // Nor is a cell that cannot have this metric, but only of this one.
    some[1].impossible = false;
    for (metric, expected) in [("other", None), ("rate", Some(true))] {
        some[1].inapplicable.insert(metric.into());
        let found = check(Claim::new("", OWN).that(rate().lowest().is(Above, 5.0)), &some);
        assert_eq!(found.holds, expected, "{metric}: {found:?}");
    }
}
