//! A source's claim as data, and the one rule by which all claims are decided.
//!
//! A claim compares two terms. Their 95 % intervals decide: it holds if it does for every pair of values in the two intervals, it does
//! not hold if it does for none, and otherwise it cannot be told. A claim about several JDKs, collectors or numbers of threads is
//! decided for each: it holds if it holds for all, does not hold if it does not for one, and otherwise cannot be told. What was not to
//! be measured in this run takes no part; what could not be measured leaves the claim open, with the cell's reason, unless the measured cells
//! decide it alone.

use super::measured::{Check, Measured, MeasuredCell};
use super::term::{Found, Lack, Scope, Term};
use super::value::{Parameters, Value};
use present::numbers;
use statistics::Interval;
use std::ops::RangeInclusive;

/// The source of claims that nobody has published.
pub const OWN: &str = "this project";
const NOT_PLANNED: &str = "no cells for it in this run; run the experiment with --full, and without --only";
const AGAIN: &str = "measure again with --full, or on a quieter machine";

#[derive(Clone, Debug)]
pub struct Claim {
    text: &'static str,
    source: &'static str,
    /// All have to hold.
    comparisons: Vec<Comparison>,
    each: Vec<(&'static str, RangeInclusive<f64>)>,
    only: Vec<(&'static str, Value)>,
    without: Vec<(&'static str, Value, &'static str)>,
    usable: fn(&MeasuredCell) -> Result<(), String>,
    lacks: Option<String>,
    context: Vec<Term>,
    otherwise: &'static str,
}

/// One term beside another.
#[derive(Clone, Debug)]
pub struct Comparison {
    left: Term,
    relation: Relation,
    right: Term,
}

/// What one term is said to be to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Relation {
    Above,
    Below,
    /// This many times the other, or more.
    AtLeast(f64),
    /// This many times the other, or less.
    AtMost(f64),
    /// The same within a factor, either way.
    Alike(f64),
    /// From so many to so many times the other.
    Between(f64, f64),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// Whatever values the intervals are taken at.
    Holds,
    /// At no values in the intervals.
    DoesNotHold,
    CannotBeTold(Open),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Open {
    /// A term has no value, for this reason.
    NotMeasured(String),
    /// Some values in the intervals are for it, some against.
    TooWide,
}

impl Relation {
    /// Whether `left` is to `right` as claimed. The same as asking whether the interval of [`over`] lies in the range of the relation,
    /// but by products, since a quantity may be 0.
    pub fn decide(self, left: &Interval, right: &Interval) -> Standing {
        let (least, most) = match self {
            Relation::Above => (Some(1.0), None),
            Relation::Below => (None, Some(1.0)),
            Relation::AtLeast(factor) => (Some(factor), None),
            Relation::AtMost(factor) => (None, Some(factor)),
            Relation::Alike(factor) => (Some(1.0 / factor), Some(factor)),
            Relation::Between(least, most) => (Some(least), Some(most)),
        };
        let strict = matches!(self, Relation::Above | Relation::Below);
        let exceeds = |a: f64, b: f64| if strict { a > b } else { a >= b };
        let always = least.is_none_or(|factor| exceeds(left.low, factor * right.high))
            && most.is_none_or(|factor| exceeds(factor * right.low, left.high));
        let ever = least.is_none_or(|factor| exceeds(left.high, factor * right.low))
            && most.is_none_or(|factor| exceeds(factor * right.high, left.low));
        match (always, ever) {
            (true, _) => Standing::Holds,
            (_, false) => Standing::DoesNotHold,
            _ => Standing::CannotBeTold(Open::TooWide),
        }
    }
}

impl Standing {
    /// All together: one that does not hold decides, then one that is open.
    fn all(outcomes: &[Standing]) -> Standing {
        let open = |outcome: &&Standing| matches!(outcome, Standing::CannotBeTold(_));
        if outcomes.contains(&Standing::DoesNotHold) {
            return Standing::DoesNotHold;
        }
        match outcomes.iter().find(open) {
            Some(open) => open.clone(),
            None if outcomes.is_empty() => Standing::CannotBeTold(Open::NotMeasured(NOT_PLANNED.into())),
            None => Standing::Holds,
        }
    }

    /// With the group that a reason is of.
    fn labelled(self, label: &str) -> Standing {
        match self {
            Standing::CannotBeTold(Open::NotMeasured(reason)) if !label.is_empty() => {
                Standing::CannotBeTold(Open::NotMeasured(format!("{reason} ({label})")))
            }
            outcome => outcome,
        }
    }

    fn holds(&self) -> Option<bool> {
        match self {
            Standing::Holds => Some(true),
            Standing::DoesNotHold => Some(false),
            Standing::CannotBeTold(_) => None,
        }
    }
}

impl Claim {
    /// A claim in the source's words, and where it was published.
    pub fn new(text: &'static str, source: &'static str) -> Claim {
        Claim {
            text,
            source,
            comparisons: Vec::new(),
            each: Vec::new(),
            only: Vec::new(),
            without: Vec::new(),
            usable: |_| Ok(()),
            lacks: None,
            context: Vec::new(),
            otherwise: "",
        }
    }

    /// What has to hold; with several, all of them.
    pub fn that(mut self, comparison: Comparison) -> Claim {
        self.comparisons.push(comparison);
        self
    }

    /// For each value of a parameter.
    pub fn each(self, key: &'static str) -> Claim {
        self.each_within(key, f64::NEG_INFINITY..=f64::INFINITY)
    }

    /// For each number of a parameter in a range.
    pub fn each_within(mut self, key: &'static str, range: RangeInclusive<f64>) -> Claim {
        self.each.push((key, range));
        self
    }

    /// Of those only these decide, since only they are the source's; the others are told.
    pub fn decided_at(mut self, key: &'static str, value: impl Into<Value>) -> Claim {
        self.only.push((key, value.into()));
        self
    }

    /// Not for this value, and why: what can never be measured there would leave the claim open, whatever the others show. Unlike
    /// that of a cell, the reason is of all runs.
    pub fn without(mut self, key: &'static str, value: impl Into<Value>, reason: &'static str) -> Claim {
        self.without.push((key, value.into(), reason));
        self
    }

    /// Cells that say nothing about the claim, and why.
    pub fn usable(mut self, usable: fn(&MeasuredCell) -> Result<(), String>) -> Claim {
        self.usable = usable;
        self
    }

    /// What the machine must have for it; the first that it lacks is the reason.
    pub fn needs(mut self, has: bool, reason: &str) -> Claim {
        if !has && self.lacks.is_none() {
            self.lacks = Some(reason.into());
        }
        self
    }

    /// Told with it, where it was measured; decides nothing.
    pub fn context(mut self, term: Term) -> Claim {
        self.context.push(term);
        self
    }

    /// What may be the reason where it does not hold.
    pub fn otherwise(mut self, reason: &'static str) -> Claim {
        self.otherwise = reason;
        self
    }

    /// Decides it by what was measured.
    pub fn check(&self, measured: &Measured) -> Check {
        let (outcome, mut told) = match &self.lacks {
            Some(reason) => (Standing::CannotBeTold(Open::NotMeasured(reason.clone())), Vec::new()),
            None => self.decide(measured),
        };
        match &outcome {
            Standing::CannotBeTold(Open::NotMeasured(reason)) => add(&mut told, untestable(reason)),
            Standing::CannotBeTold(Open::TooWide) => add(&mut told, AGAIN.into()),
            Standing::DoesNotHold => add(&mut told, self.otherwise.into()),
            Standing::Holds => {}
        }
        Check {
            claim: self.text.into(),
            source: self.source.into(),
            found: told.join("; "),
            holds: outcome.holds(),
        }
    }

    fn decide(&self, measured: &Measured) -> (Standing, Vec<String>) {
        let (mut outcomes, mut told) = (Vec::new(), Vec::new());
        for group in self.groups(measured) {
            let is = |(key, value, _): &&(&str, Value, &str)| group.get(*key) == Some(value);
            if let Some((_, value, reason)) = self.without.iter().find(is) {
                add(&mut told, format!("without {value}: {reason}"));
                continue;
            }
            let scope = Scope { measured: *measured, group: &group, usable: self.usable };
            let Some((of_group, numbers)) = self.compare(&scope) else { continue };
            let label = label(&group, measured);
            if self.only.iter().all(|(key, value)| group.get(*key) == Some(value)) {
                outcomes.push(of_group.labelled(&label));
            }
            let separator = if label.is_empty() { "" } else { ": " };
            if !numbers.is_empty() {
                add(&mut told, format!("{label}{separator}{}", numbers.join(", ")));
            }
        }
        (Standing::all(&outcomes), told)
    }

    /// The outcome for a group, and its numbers; `None` if some cell of it was not to be measured.
    fn compare(&self, scope: &Scope) -> Option<(Standing, Vec<String>)> {
        let (mut outcomes, mut numbers) = (Vec::new(), Vec::new());
        for comparison in &self.comparisons {
            match (comparison.left.look(scope), comparison.right.look(scope)) {
                (Err(Lack::NotPlanned), _) | (_, Err(Lack::NotPlanned)) => return None,
                (Err(Lack::Unavailable(reason)), _) | (_, Err(Lack::Unavailable(reason))) => {
                    outcomes.push(Standing::CannotBeTold(Open::NotMeasured(reason)));
                }
                (Ok(left), Ok(right)) => {
                    outcomes.push(comparison.decide(&left, &right));
                    let text = comparison.say(&left, &right, &numbers, &scope.measured);
                    add(&mut numbers, text);
                }
            }
        }
        if !numbers.is_empty() {
            let known = |term: &Term| Some(term.say(&term.look(scope).ok()?, &scope.measured));
            numbers.extend(self.context.iter().filter_map(known));
        }
        Some((Standing::all(&outcomes), numbers))
    }

    /// The different values of what it is decided for each of, as met among the cells.
    fn groups(&self, measured: &Measured) -> Vec<Parameters> {
        let mut groups: Vec<Parameters> = Vec::new();
        for cell in measured.cells {
            let value = |(key, range): &(&str, RangeInclusive<f64>)| {
                let value = cell.parameters.get(*key)?;
                let inside = value.number().is_none_or(|number| range.contains(&number));
                inside.then(|| ((*key).to_owned(), value.clone()))
            };
            let group: Option<Parameters> = self.each.iter().map(value).collect();
            groups.extend(group.filter(|group| !groups.contains(group)));
        }
        if self.each.is_empty() { vec![Parameters::new()] } else { groups }
    }
}

impl Term {
    /// What this term is to another.
    pub fn is(self, relation: Relation, right: impl Into<Term>) -> Comparison {
        Comparison { left: self, relation, right: right.into() }
    }
}

impl Comparison {
    /// By what is known, if nothing that is not could decide otherwise: one measured cell that is slower refutes that none is, but only all
    /// of them confirm it.
    fn decide(&self, left: &Found, right: &Found) -> Standing {
        let known = self.relation.decide(&left.interval, &right.interval);
        let reason = [left, right].into_iter().find_map(|found| Some(&found.gap.as_ref()?.reason));
        match reason {
            Some(reason) if self.relation.decide(left.possible(), right.possible()) != known => {
                Standing::CannotBeTold(Open::NotMeasured(reason.clone()))
            }
            _ => known,
        }
    }

    /// `40 ns against 20 ns (2.00 times)`. A term whose number was said before in `told` is only named.
    fn say(&self, left: &Found, right: &Found, told: &[String], measured: &Measured) -> String {
        let say = |term: &Term, found: &Found| {
            let text = term.say(found, measured);
            let again = told.iter().any(|before| before.contains(&text));
            if again { term.name().to_owned() } else { text }
        };
        let mut text = say(&self.left, left);
        if !self.right.is_constant() {
            text += &format!(" against {}", say(&self.right, right));
            if let Some(ratio) = left.interval.over(&right.interval) {
                text += &format!(" ({} times)", numbers::interval(&ratio, ""));
            }
        }
        match self.relation.decide(&left.interval, &right.interval) {
            Standing::CannotBeTold(_) if self.right.is_constant() => text + ", the interval includes a limit",
            Standing::CannotBeTold(_) => text + ", the intervals overlap",
            _ => text,
        }
    }
}

fn untestable(reason: &str) -> String {
    format!("not testable here: {reason}")
}

fn add(told: &mut Vec<String>, text: String) {
    if !text.is_empty() && !told.contains(&text) {
        told.push(text);
    }
}

/// `JDK 25, Parallel`: numbers with the parameter's name, words without.
fn label(group: &Parameters, measured: &Measured) -> String {
    let word = |(key, value): (&String, &Value)| {
        let text = value.to_string();
        let parameter = measured.declaration.parameters.iter().find(|parameter| parameter.key == *key);
        match parameter {
            Some(parameter) if parameter.unit == "bytes" => value.number().map_or(text, numbers::bytes),
            Some(parameter) if text.parse::<f64>().is_ok() => format!("{} {text}", parameter.name),
            _ => text,
        }
    };
    group.iter().map(word).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "claim_test.rs"]
mod test;
