//! The two sides of a claim: a metric of some cells, a ratio of two such, or a number; and how each is looked up, always with its
//! 95 % interval.

use super::measured::{Measured, MeasuredCell, Quantity};
use super::value::{Parameters, Value, name};
use present::numbers;
use statistics::Interval;
use std::ops::RangeInclusive;

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct Term {
    name: String,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Metric(Selection),
    Ratio(Box<(Term, Term)>, &'static str),
    Given(Interval),
}

/// A metric of the cells that meet all conditions.
#[derive(Clone, Debug)]
struct Selection {
    metric: &'static str,
    conditions: Vec<(&'static str, Condition)>,
    take: Take,
}

#[derive(Clone, Debug)]
enum Condition {
    Is(Value),
    Within(RangeInclusive<f64>),
    /// The largest value with which the metric was measured.
    Largest,
}

/// What is taken where several cells are meant.
#[derive(Clone, Copy, Debug)]
enum Take {
    First,
    Highest,
    Lowest,
    Mean,
}

impl Take {
    /// Where it may lie if there are cells of which nothing is known, but that what is measured is never negative.
    fn with_unknown(self, known: &Interval) -> Interval {
        match self {
            Take::First => *known,
            Take::Highest => Interval { high: f64::INFINITY, ..*known },
            Take::Lowest => Interval { low: 0.0, ..*known },
            Take::Mean => Interval { low: 0.0, high: f64::INFINITY, ..*known },
        }
    }
}

/// Among which cells a term is looked up.
pub(super) struct Scope<'a, 'g> {
    pub(super) measured: Measured<'a>,
    /// What is the same for all terms of a comparison. A term that names a parameter itself means its own value.
    pub(super) group: &'g Parameters,
    /// Whether a cell says anything about the claim, or why not.
    pub(super) usable: fn(&MeasuredCell) -> Result<(), String>,
}

#[derive(Clone, Debug)]
pub struct Found<'a> {
    pub interval: Interval,
    /// The cell that it is of, where it is of one.
    pub cell: Option<&'a MeasuredCell>,
    /// Cells that belong to it and have no value.
    pub gap: Option<Gap>,
}

/// What is not known of the highest, lowest or mean of many cells, because some have no value.
#[derive(Clone, Debug)]
pub struct Gap {
    /// Within what they leave it.
    pub possible: Interval,
    /// How many there are, and why the first has none.
    pub reason: String,
}

impl Found<'_> {
    /// Where it may lie, whatever the cells without a value would have.
    pub(super) fn possible(&self) -> &Interval {
        self.gap.as_ref().map_or(&self.interval, |gap| &gap.possible)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Lack {
    /// No such cell was to be measured in this run.
    NotPlanned,
    /// The cell's own reason.
    Unavailable(String),
}

impl Term {
    /// A metric of the first measured cell that meets all conditions.
    pub fn metric(name: impl Into<String>, metric: &'static str) -> Term {
        let selection = Selection { metric, conditions: Vec::new(), take: Take::First };
        Term { name: name.into(), what: What::Metric(selection) }
    }

    pub fn ratio(name: &str, unit: &'static str, above: Term, below: Term) -> Term {
        Term { name: name.into(), what: What::Ratio(Box::new((above, below)), unit) }
    }

    /// What an experiment computes from the cells itself.
    pub fn given(name: impl Into<String>, interval: Interval) -> Term {
        Term { name: name.into(), what: What::Given(interval) }
    }

    fn selection(mut self, change: impl FnOnce(&mut Selection)) -> Term {
        if let What::Metric(selection) = &mut self.what {
            change(selection);
        }
        self
    }

    fn when(self, key: &'static str, condition: Condition) -> Term {
        self.selection(|selection| selection.conditions.push((key, condition)))
    }

    /// Of cells with this value.
    pub fn at(self, key: &'static str, value: impl Into<Value>) -> Term {
        self.when(key, Condition::Is(value.into()))
    }

    /// Of cells with a number in this range.
    pub fn within(self, key: &'static str, range: RangeInclusive<f64>) -> Term {
        self.when(key, Condition::Within(range))
    }

    /// Of the cell with the largest value with which the metric was measured.
    pub fn largest(self, key: &'static str) -> Term {
        self.when(key, Condition::Largest)
    }

    pub fn highest(self) -> Term {
        self.selection(|selection| selection.take = Take::Highest)
    }

    pub fn lowest(self) -> Term {
        self.selection(|selection| selection.take = Take::Lowest)
    }

    /// The geometric mean of all such cells.
    pub fn mean(self) -> Term {
        self.selection(|selection| selection.take = Take::Mean)
    }

    /// Looks it up among all cells.
    pub fn of<'a>(&self, measured: &Measured<'a>) -> Option<Found<'a>> {
        let (group, usable) = (Parameters::new(), |_: &_| Ok(()));
        let scope = Scope { measured: *measured, group: &group, usable };
        self.look(&scope).ok()
    }

    pub(super) fn look<'a>(&self, scope: &Scope<'a, '_>) -> Result<Found<'a>, Lack> {
        let (interval, gap) = match &self.what {
            What::Metric(selection) => return selection.look(scope),
            What::Ratio(terms, _) => {
                let (above, below) = (terms.0.look(scope)?, terms.1.look(scope)?);
                let ratio = above
                    .interval
                    .over(&below.interval)
                    .ok_or_else(|| Lack::Unavailable(format!("{} may be 0", terms.1.name)))?;
                let unknown = |gap: Gap| Gap { possible: Take::Mean.with_unknown(&ratio), ..gap };
                (ratio, above.gap.or(below.gap).map(unknown))
            }
            What::Given(interval) => (*interval, None),
        };
        Ok(Found { interval, cell: None, gap })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn is_constant(&self) -> bool {
        self.name.is_empty()
    }

    /// The term with its value, and for the highest or lowest which cell it is of.
    pub(super) fn say(&self, found: &Found, measured: &Measured) -> String {
        let unit = match &self.what {
            What::Metric(selection) => selection.unit(measured),
            What::Ratio(_, unit) => unit,
            What::Given(_) => "",
        };
        let value = format!("{} {}", self.name, numbers::interval(&found.interval, unit));
        let of = match (&self.what, found.cell) {
            (What::Metric(selection), Some(cell)) if selection.is_extreme() => {
                format!(" ({})", name(&selection.rest(&cell.parameters)))
            }
            _ => String::new(),
        };
        let one = if found.cell.is_some_and(|cell| cell.processes == 1) { " in one process" } else { "" };
        format!("{value}{one}{of}")
    }
}

impl From<f64> for Term {
    fn from(value: f64) -> Term {
        Term::given("", Interval::exactly(value))
    }
}

impl Selection {
    fn unit<'a>(&self, measured: &Measured<'a>) -> &'a str {
        let unit = measured.declaration.metric(self.metric).map_or("", |metric| &metric.unit);
        if unit == "ratio" { "" } else { unit }
    }

    const fn is_extreme(&self) -> bool {
        matches!(self.take, Take::Highest | Take::Lowest)
    }

    /// The values of a cell that the selection does not fix.
    fn rest(&self, cell: &Parameters) -> Parameters {
        let fixed = |key: &str| {
            self.conditions
                .iter()
                .any(|(own, condition)| *own == key && matches!(condition, Condition::Is(_)))
        };
        cell.iter().filter(|(key, _)| !fixed(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    fn look<'a>(&self, scope: &Scope<'a, '_>) -> Result<Found<'a>, Lack> {
        let cells = self.cells(scope);
        let mut known = Vec::new();
        let (mut lacks, mut reason) = (Vec::new(), None);
        for cell in &cells {
            match self.value(cell, scope) {
                Ok(interval) => known.push((interval, *cell)),
                Err(lack) if cell.cannot_have(self.metric) => reason = reason.or(Some(lack)),
                Err(lack) => lacks.push(lack),
            }
        }
        type Known<'a> = (Interval, &'a MeasuredCell);
        let by_median = |(a, _): &&Known, (b, _): &&Known| a.median.total_cmp(&b.median);
        let chosen = match self.take {
            Take::First | Take::Mean => known.first(),
            Take::Highest => known.iter().max_by(by_median),
            Take::Lowest => known.iter().min_by(by_median),
        };
        let Some((of_chosen, chosen)) = chosen else {
            return Err(lacks.into_iter().next().or(reason).map_or(Lack::NotPlanned, Lack::Unavailable));
        };
        let all = |of: fn(&Interval) -> f64| known.iter().map(move |(interval, _)| of(interval));
        // An extreme or a mean of intervals: the same of their lower ends to the same of their upper ends.
        let together = |of: fn(&Interval) -> f64| match self.take {
            Take::First => of(of_chosen),
            Take::Highest => all(of).fold(f64::NEG_INFINITY, f64::max),
            Take::Lowest => all(of).fold(f64::INFINITY, f64::min),
            Take::Mean => (all(of).map(f64::ln).sum::<f64>() / known.len() as f64).exp(),
        };
        let interval =
            Interval { median: together(|i| i.median), low: together(|i| i.low), high: together(|i| i.high) };
        let of_many = !matches!(self.take, Take::First);
        let gap = lacks.first().filter(|_| of_many).map(|reason| Gap {
            possible: self.take.with_unknown(&interval),
            reason: format!("{} of {} cells have no value: {reason}", lacks.len(), lacks.len() + known.len()),
        });
        Ok(Found { interval, cell: Some(*chosen), gap })
    }

    fn value(&self, cell: &MeasuredCell, scope: &Scope) -> Result<Interval, String> {
        match cell.metrics.get(self.metric) {
            // One value says nothing of its scatter. What is derived from intervals has one value, too, and an interval.
            Some(Quantity::Known { interval, values })
                if values.len() == 1 && interval.low == interval.high =>
            {
                Err("measured only once, so there is no interval; run the experiment with --full".into())
            }
            Some(Quantity::Known { interval, .. }) => (scope.usable)(cell).map(|()| *interval),
            Some(Quantity::Unavailable { unavailable }) => Err(unavailable.clone()),
            None => Err("not measured in this cell".into()),
        }
    }

    /// The cells that meet all conditions, measured or not.
    fn cells<'a>(&self, scope: &Scope<'a, '_>) -> Vec<&'a MeasuredCell> {
        let own = |key: &str| self.conditions.iter().any(|(other, _)| *other == key);
        let meets = |cell: &MeasuredCell, key: &str, condition: &Condition| match condition {
            Condition::Is(value) => cell.parameters.get(key) == Some(value),
            Condition::Within(range) => number(cell, key).is_some_and(|value| range.contains(&value)),
            Condition::Largest => true,
        };
        let mut cells: Vec<&MeasuredCell> = (scope.measured.cells.iter())
            .filter(|cell| {
                scope.group.iter().all(|(key, value)| own(key) || cell.parameters.get(key) == Some(value))
                    && self.conditions.iter().all(|(key, condition)| meets(cell, key, condition))
            })
            .collect();
        for (key, condition) in &self.conditions {
            let known = cells.iter().filter(|cell| self.value(cell, scope).is_ok());
            let largest = known.filter_map(|cell| number(cell, key)).reduce(f64::max);
            // Where nothing was measured the cells stay, for their reasons.
            if matches!(condition, Condition::Largest) && largest.is_some() {
                cells.retain(|cell| number(cell, key) == largest);
            }
        }
        cells
    }
}

fn number(cell: &MeasuredCell, key: &str) -> Option<f64> {
    cell.parameters.get(key)?.number()
}

#[cfg(test)]
#[path = "term_test.rs"]
mod test;
